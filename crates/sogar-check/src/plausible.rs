//! How usual rows are, computed anew from the specification (§11): grows the forest and adds up path lengths with code of its own.

use std::fmt::Write;

use super::{Verdict, defect, same};
use sogar_base::draw::Draw;
use sogar_base::error::Result;
use sogar_base::files::sha256_hex;
use sogar_front::summary::{FrontFile, UsualRef};
use sogar_prepare::plausibility::{Measure, Plausibility};
use sogar_prepare::prepared::Prepared;
use sogar_table::feature::{Feature, Kind};

use super::admissible::Action;
use super::trees::Walk;

/// A tree of a forest.
enum Tree {
    Leaf(u64),
    Test { feature: usize, sign: &'static str, value: f64, passed: Box<Tree>, failed: Box<Tree> },
}

enum Numbers<'a> {
    Forest(Vec<Tree>),
    /// A function can only be called.
    Function(&'a Plausibility),
}

/// How usual rows are among the people of the reference table.
pub(super) struct Usual<'a> {
    features: &'a [Feature],
    numbers: Numbers<'a>,
    /// The numbers of real people, ascending, each with the weight of the rows up to it.
    people: Vec<(f64, u64)>,
    /// The limit, in millionths.
    limit: u128,
    hash: String,
}

impl<'a> Usual<'a> {
    /// `None` if the configuration does not ask.
    pub fn new(prepared: &'a Prepared) -> Result<Option<Usual<'a>>> {
        let (Some(limit), Some(known)) =
            (prepared.config().plausibility.millionths(), prepared.plausibility())
        else {
            return Ok(None);
        };
        let table = prepared.table();
        let features = &table.features;
        let (numbers, hash) = match known.measure {
            Measure::Function(_) => (Numbers::Function(known), known.hash.clone()),
            Measure::Forest(..) => {
                let trees: Vec<Tree> = (0..100).map(|number| tree(prepared, number)).collect();
                let mut text = String::new();
                trees.iter().for_each(|tree| written(tree, features, &mut text));
                (Numbers::Forest(trees), sha256_hex(text.as_bytes()))
            }
        };
        let mut usual = Usual { features, numbers, people: Vec::new(), limit: u128::from(limit), hash };
        let rows: Vec<Vec<f64>> = (0..table.rows).map(|row| table.row(row)).collect();
        let mut people: Vec<(f64, u64)> = usual
            .of_rows(&rows)?
            .into_iter()
            .enumerate()
            .map(|(row, number)| (number, u64::from(table.weight(row))))
            .collect();
        people.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0;
        for person in &mut people {
            sum += person.1;
            person.1 = sum;
        }
        usual.people = people;
        Ok(Some(usual))
    }

    fn of_rows(&self, rows: &[Vec<f64>]) -> Result<Vec<f64>> {
        match &self.numbers {
            Numbers::Function(known) => known.measured(rows),
            Numbers::Forest(trees) => {
                let length =
                    |row: &Vec<f64>| trees.iter().map(|tree| self.leaf(tree, row)).sum::<u64>() as f64;
                Ok(rows.iter().map(length).collect())
            }
        }
    }

    fn leaf(&self, tree: &Tree, row: &[f64]) -> u64 {
        match tree {
            Tree::Leaf(value) => *value,
            Tree::Test { feature, sign, value, passed, failed } => {
                let passes = passes(&self.features[*feature], sign, *value, row[*feature]);
                self.leaf(if passes { passed } else { failed }, row)
            }
        }
    }

    /// The weight of people who are less usual than a row with this number.
    fn below(&self, number: f64) -> u64 {
        let count = self.people.partition_point(|person| person.0 < number);
        self.people[..count].last().map_or(0, |last| last.1)
    }

    fn everybody(&self) -> u64 {
        self.people.last().map_or(0, |last| last.1)
    }

    /// Whether edited rows count for the people who had the rows before.
    pub fn allowed(&self, before: &[Vec<f64>], after: &[Vec<f64>]) -> Result<Vec<bool>> {
        let (own, edited) = (self.of_rows(before)?, self.of_rows(after)?);
        let counts = |(own, edited): (f64, f64)| {
            let below_the_limit =
                1_000_000 * u128::from(self.below(edited)) < self.limit * u128::from(self.everybody());
            !(below_the_limit && edited < own)
        };
        Ok(own.into_iter().zip(edited).map(counts).collect())
    }

    /// Checks the block of a result.
    pub fn check(front: &FrontFile, usual: Option<&Usual<'_>>, walk: &Walk<'_>) -> Verdict<((), String)> {
        let (said, usual) = match (&front.plausibility, usual) {
            (Some(said), Some(usual)) => (said, usual),
            (None, None) => return Ok(((), String::new())),
            _ => {
                return defect(
                    "the file has a block and its configuration asks for none, or the other way round",
                );
            }
        };
        let (measure, forest) = match usual.numbers {
            Numbers::Forest(_) => ("forest", Some((walk.prepared.config().seed, 100, 256))),
            Numbers::Function(_) => ("function", None),
        };
        same("the measure", said.measure.as_str(), measure)?;
        same("the hash of the measure", said.hash.as_str(), usual.hash.as_str())?;
        if said.forest.map(|forest| (forest.seed, forest.trees, forest.draws)) != forest {
            return defect("the forest was grown with another seed or size");
        }
        same("the number of actions", said.actions.len(), walk.actions.len())?;
        same("the number of points", said.points.len(), front.points.len())?;
        let before = usual.of_people(walk, None)?;
        let mut after = Vec::with_capacity(walk.actions.len());
        for (action, said) in walk.actions.iter().zip(&said.actions) {
            after.push(usual.of_people(walk, Some(action))?);
            let all: Vec<usize> = (0..before.len()).collect();
            let found = usual.mean(walk, action, &all, &before, &after[after.len() - 1]);
            if *said != found {
                return defect("an action's figures are others");
            }
        }
        for (number, (point, said)) in front.points.iter().zip(&said.points).enumerate() {
            let rules = point.tree.rules();
            same(&format!("the number of leaves of point {number}"), said.len(), rules.len())?;
            for ((tests, leaf), said) in rules.iter().zip(said) {
                let table = walk.prepared.table();
                let here = |position: &usize| {
                    let row = walk.prepared.affected()[*position];
                    tests.iter().all(|&(split, passed)| {
                        let split = &walk.splits[split];
                        split.passes(&table.features, table.values[split.feature][row]) == passed
                    })
                };
                let people: Vec<usize> = (0..before.len()).filter(here).collect();
                let action = leaf.action();
                if *said != usual.mean(walk, &walk.actions[action], &people, &before, &after[action]) {
                    return defect(format!("a leaf of point {number} has other figures"));
                }
            }
        }
        let text = format!("the {measure} has the recorded hash, and every action and leaf its figures");
        Ok(((), text))
    }

    /// How many people are less usual than each affected person, after an action if there is one.
    fn of_people(&self, walk: &Walk<'_>, action: Option<&Action>) -> Result<Vec<u64>> {
        let edited = walk.prepared.affected().iter().map(|&row| {
            let mut row = walk.prepared.table().row(row);
            action.iter().flat_map(|action| &action.edits).for_each(|edit| edit.apply(&mut row));
            row
        });
        let numbers = self.of_rows(&edited.collect::<Vec<_>>())?;
        Ok(numbers.into_iter().map(|number| self.below(number)).collect())
    }

    /// The mean shares of those people for whom an action works.
    fn mean(
        &self,
        walk: &Walk<'_>,
        action: &Action,
        people: &[usize],
        before: &[u64],
        after: &[u64],
    ) -> Option<UsualRef> {
        let weight =
            |position: usize| u128::from(walk.prepared.table().weight(walk.prepared.affected()[position]));
        let works: Vec<usize> = people.iter().copied().filter(|&position| action.flips[position]).collect();
        let sum = |of: &dyn Fn(usize) -> u128| works.iter().map(|&position| of(position)).sum::<u128>();
        let all = sum(&weight);
        let mean = |less: &[u64]| {
            sum(&|at| weight(at) * u128::from(less[at])) as f64 / all as f64 / self.everybody() as f64
        };
        (all > 0).then(|| UsualRef { before: mean(before), after: mean(after) })
    }
}

/// Whether a value passes a test.
fn passes(feature: &Feature, sign: &str, than: f64, value: f64) -> bool {
    let amount = !value.is_nan() && !feature.codes.contains(&value);
    // A level that the table does not have has no place in an order.
    let known = feature.is_numeric() || value < feature.levels().len() as f64;
    match sign {
        "<=" => amount && known && value <= than,
        "<" => amount && known && value < than,
        "=" => value == than,
        _ => value.is_nan(),
    }
}

/// Grows a tree: draws its people, then its tests.
fn tree(prepared: &Prepared, number: u64) -> Tree {
    let table = prepared.table();
    let mut draw = Draw::new(prepared.config().seed, 10_000 + number);
    let weight = |row: usize| u64::from(table.weight(row));
    let mut up_to = Vec::with_capacity(table.rows);
    let mut sum = 0;
    for row in 0..table.rows {
        sum += weight(row);
        up_to.push(sum);
    }
    let drawn: Vec<usize> = (0..256)
        .map(|_| {
            let person = draw.below(sum as usize) as u64;
            up_to.partition_point(|&last| last <= person)
        })
        .collect();
    let settings = &prepared.config().features;
    let tested: Vec<usize> = (0..table.features.len())
        .filter(|&feature| match settings.get(&table.features[feature].name) {
            Some(setting) if setting.protected != Some(true) => {
                !(setting.immutable == Some(true) && setting.split == Some(false))
            }
            _ => true,
        })
        .collect();
    grown(prepared, &drawn, &tested, drawn.clone(), 0, &mut draw)
}

fn grown(
    prepared: &Prepared,
    drawn: &[usize],
    tested: &[usize],
    here: Vec<usize>,
    depth: u64,
    draw: &mut Draw,
) -> Tree {
    let size = here.len();
    if size < 2 || depth == 8 {
        let mut steps = depth as f64;
        if size > 1 {
            let mut harmonic = 0.0;
            for i in 1..size {
                harmonic += 1.0 / i as f64;
            }
            steps += 2.0 * harmonic - 2.0 * (size - 1) as f64 / size as f64;
        }
        return Tree::Leaf((1000.0 * steps).round() as u64);
    }
    let table = prepared.table();
    let feature = tested[draw.below(tested.len())];
    let value = table.values[feature][drawn[draw.below(drawn.len())]];
    let about = &table.features[feature];
    let sign = match about.kind {
        Kind::Categorical { .. } | Kind::Binary { .. } => "=",
        _ if value.is_nan() => "missing",
        _ if about.codes.contains(&value) => "=",
        _ => ["<=", "<"][draw.below(2)],
    };
    let (left, right): (Vec<usize>, Vec<usize>) =
        here.into_iter().partition(|&row| passes(about, sign, value, table.values[feature][row]));
    let passed = Box::new(grown(prepared, drawn, tested, left, depth + 1, draw));
    let failed = Box::new(grown(prepared, drawn, tested, right, depth + 1, draw));
    Tree::Test { feature, sign, value, passed, failed }
}

/// A tree as the lines that are hashed.
fn written(tree: &Tree, features: &[Feature], text: &mut String) {
    // Writing to a string does not fail.
    match tree {
        Tree::Leaf(value) => _ = writeln!(text, "{value}"),
        Tree::Test { feature, sign, value, passed, failed } => {
            let name = &features[*feature].name;
            _ = match *sign {
                "missing" => writeln!(text, "{name}\tmissing"),
                sign => writeln!(text, "{name}\t{sign}\t{:016x}", value.to_bits()),
            };
            written(passed, features, text);
            written(failed, features, text);
        }
    }
}
