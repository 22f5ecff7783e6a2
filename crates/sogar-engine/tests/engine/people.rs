//! Random people, a model of them, and random settings, for tests that compare two ways to the same result.

#![allow(dead_code)] // no test needs all of it

use std::path::Path;

use sogar::CancelToken;
use sogar::config::{Bins, Config, CostKind};
use sogar::model::{Answers, Callback, LoadedModel, ModelInfo};
use sogar::pipeline::{Prepared, Search};
use sogar::summary::FrontFile;
use sogar::table::{Column, Table};

/// Numbers that follow from a seed.
pub struct Draw(pub u64);

impl Draw {
    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Rows of two numbers, a category, a truth value and a weight.
pub struct People {
    pub rows: Vec<(f64, f64, &'static str, &'static str, u64)>,
}

impl People {
    /// Random ones.
    pub fn drawn(draw: &mut Draw, rows: u64) -> People {
        let mut person = |number: u64| {
            let (debt, income) = (draw.below(12) as f64, draw.below(300) as f64 / 8.0);
            let region = ["north", "south", "west"][if number < 3 { number } else { draw.below(3) } as usize];
            let member = ["no", "yes"][if number < 2 { number } else { draw.below(2) } as usize];
            (debt, income, region, member, 1 + draw.below(4))
        };
        People { rows: (0..rows).map(&mut person).collect() }
    }

    /// A row each, with a column of weights, which are divided by some number.
    pub fn weighted(&self, by: f64) -> Table {
        let mut columns = self.columns();
        let weights = self.rows.iter().map(|row| row.4 as f64 / by).collect();
        columns.push(Column::numbers("people", weights));
        Table::from_columns("people", columns).unwrap()
    }

    /// Every row as often as its weight says.
    pub fn repeated(&self) -> Table {
        let rows = self.rows.iter().flat_map(|row| std::iter::repeat_n(*row, row.4 as usize)).collect();
        Table::from_columns("people", People { rows }.columns()).unwrap()
    }

    pub fn columns(&self) -> Vec<Column> {
        vec![
            Column::numbers("debt", self.rows.iter().map(|row| row.0).collect()),
            Column::numbers("income", self.rows.iter().map(|row| row.1).collect()),
            Column::text("region", self.rows.iter().map(|row| Some(row.2))),
            Column::text("member", self.rows.iter().map(|row| Some(row.3))),
        ]
    }
}

/// Income against debt, with a little help for members and the south.
pub fn model(threshold: f64) -> LoadedModel {
    let list = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
    let info = ModelInfo {
        format: "function".into(),
        description: "income and debt".into(),
        columns: list(&["debt", "income", "region", "member"]),
        categories: vec![vec![], vec![], list(&["north", "south", "west"]), list(&["no", "yes"])],
        unplaced_categories: vec![],
        classes: 2,
        class_names: vec![],
        threshold: Some(threshold),
    };
    let score = |row: &[f64]| row[1] - 2.0 * row[0] + 4.0 * f64::from(row[2] == 1.0) + 3.0 * row[3];
    Callback::new(info, move |rows| Ok(Answers::Scores(rows.iter().map(score).collect())))
        .into_model("model", b"model")
}

/// Random settings.
pub fn config(draw: &mut Draw) -> Config {
    let bins = [Bins::Count(4), Bins::Named("auto".into()), Bins::Named("quantile:3".into())];
    let mut config = Config { bins: bins[draw.below(3) as usize].clone(), ..Config::default() };
    config.cost.kind =
        [CostKind::Mps, CostKind::Cet, CostKind::Logshift, CostKind::L1][draw.below(4) as usize];
    config.limits.max_depth = Some(1 + draw.below(2) as u32);
    config.limits.max_edits = Some(1 + draw.below(2) as u32);
    config.limits.min_leaf = (draw.below(3) > 0).then(|| 1 + draw.below(6) as u32);
    config.limits.threads = Some(1);
    for feature in ["debt", "income"] {
        config.features.entry(feature.into()).or_default().steps = Some(vec![1, 3]);
    }
    config.features.entry("member".into()).or_default().immutable = Some(draw.below(2) == 0);
    config
}

/// The same with weights.
pub fn weighing(mut config: Config) -> Config {
    config.data.weight = Some("people".into());
    config
}

/// A table with its front, where the random numbers made a problem.
pub fn solved(config: &Config, table: &Table, threshold: f64) -> Option<(Prepared, FrontFile)> {
    let prepared = Prepared::new(config.clone(), Path::new(""), table, model(threshold), None).ok()?;
    let front = Search(&prepared).solve(&(), &CancelToken::new()).unwrap();
    Some((prepared, front))
}
