//! Compares the verifier's prices with the definitions, written out over the whole table, and with the costs of a run.

use std::path::Path;

use super::fixture;
use crate::numbering::rivals;
use crate::pricing::Prices;
use sogar_prepare::actions::Edit;
use sogar_prepare::model::Source;
use sogar_prepare::prepared::Prepared;
use sogar_table::config::{Config, CostKind, Link};
use sogar_table::feature::Kind;
use sogar_table::table::Table;

/// The small problem with other settings.
fn prepared(folder: &Path, change: impl FnOnce(&mut Config)) -> Prepared {
    let text = std::fs::read_to_string(fixture("sogar.toml")).unwrap();
    let mut config = Config::parse(&text, Path::new("sogar.toml")).unwrap();
    change(&mut config);
    let table = Table::read(&fixture("people.csv"), &config.read_options().unwrap()).unwrap();
    let model = Source::File(fixture("model.txt")).open(&table, &config).unwrap();
    Prepared::new(config, folder, &table, model, None).unwrap()
}

fn linked(config: &mut Config) {
    let link = |from: &str, to: &str, factor| Link { from: from.into(), to: to.into(), factor };
    config.links = vec![link("hours", "income", 0.7), link("hours", "age", 0.2)];
}

/// The cost of a change of a feature by SPEC §5, counted row by row; mps in rows, the others unrounded.
fn defined(prepared: &Prepared, feature: usize, from: f64, to: f64) -> f64 {
    let table = prepared.table();
    let values = &table.values[feature];
    let at_most = |v: f64| values.iter().filter(|&&value| value <= v).count() as f64;
    let share = |v: f64| values.iter().filter(|&&value| value == v).count() as f64;
    let n = table.rows as f64;
    let categorical = matches!(table.features[feature].kind, Kind::Categorical { .. });
    let binary = matches!(table.features[feature].kind, Kind::Binary { .. });
    match prepared.config().cost.kind {
        CostKind::Mps if categorical => share(from).max(share(to)),
        CostKind::Mps => (at_most(to) - at_most(from)).abs(),
        CostKind::L1 if categorical || binary => 1.0,
        CostKind::L1 => {
            let known = values.iter().copied().filter(|value| !value.is_nan());
            let range = known.clone().fold(f64::MIN, f64::max) - known.fold(f64::MAX, f64::min);
            (to - from).abs() / range
        }
        CostKind::Logshift => {
            let shift = |before: f64, after: f64| {
                ((1.0 - after / n + 1.0 / n) / (1.0 - before / n + 1.0 / n)).log2().abs()
            };
            if categorical {
                shift(n, n - share(from)) + shift(n - share(to), n)
            } else {
                shift(at_most(from), at_most(to))
            }
        }
        _ => unreachable!(),
    }
}

/// The price of some edits by SPEC §5 and §9.
fn by_definition(prepared: &Prepared, edits: &[&Edit], before: &[f64]) -> u64 {
    let mut after = before.to_vec();
    edits.iter().for_each(|edit| edit.apply(&mut after));
    let adds = matches!(prepared.config().cost.kind, CostKind::L1 | CostKind::Logshift);
    let joined = |all: Vec<f64>| {
        if adds { all.iter().sum() } else { all.into_iter().fold(0.0, f64::max) }
    };
    let of_edit = |edit: &&Edit| {
        let changed = edit.touched().filter(|&f| before[f].to_bits() != after[f].to_bits());
        let cost: f64 = joined(changed.map(|f| defined(prepared, f, before[f], after[f])).collect());
        if adds { (cost * 1e6).round() } else { cost }
    };
    joined(edits.iter().map(of_edit).collect()) as u64
}

#[test]
fn prices_are_those_of_the_definitions_links_included() {
    let folder = tempfile::tempdir().unwrap();
    for kind in [CostKind::Mps, CostKind::L1, CostKind::Logshift] {
        let prepared = prepared(folder.path(), |config| {
            linked(config);
            config.cost.kind = kind;
        });
        let prices = Prices::new(&prepared).unwrap();
        let followed = prepared.edits().iter().filter(|edit| !edit.followers.is_empty()).count();
        assert!(followed > 0);
        let mut priced = 0;
        for &row in prepared.affected().iter().step_by(7) {
            let person = prepared.table().row(row);
            for (at, one) in prepared.edits().iter().enumerate() {
                for other in prepared.edits()[at..].iter().step_by(3) {
                    let edits: Vec<&Edit> = match rivals(one, other) {
                        true => vec![one],
                        false => vec![one, other],
                    };
                    let owned: Vec<Edit> = edits.iter().map(|&edit| edit.clone()).collect();
                    let found = prices.price(&person, &owned).unwrap();
                    assert_eq!(
                        found,
                        by_definition(&prepared, &edits, &person),
                        "{kind:?} {edits:?} {person:?}"
                    );
                    priced += 1;
                }
            }
        }
        assert!(priced > 500, "{priced}");
    }
}

#[test]
fn prices_of_single_edits_are_the_costs_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let costs = "feature,from,to,cost\nage,*,*,1\nincome,*,*,0.25\nhours,*,*,0.5\nhours,30,*,0.75\nschool,none,*,2\n\
                 school,*,*,1\njob,*,*,0.5\njob,*,teacher,0.125\njob,clerk,teacher,3\nowner,no,yes,0.5\nowner,*,*,0\n";
    std::fs::write(folder.path().join("costs.csv"), costs).unwrap();
    let kinds = [CostKind::Mps, CostKind::Cet, CostKind::Logshift, CostKind::L1, CostKind::Table];
    for (kind, weighted) in kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let prepared = prepared(folder.path(), |config| {
            linked(config);
            config.cost.kind = kind;
            config.cost.table = (kind == CostKind::Table).then(|| "costs.csv".into());
            if weighted {
                config.features.entry("hours".into()).or_default().weight = Some(1.7);
                config.features.entry("owner".into()).or_default().weight = Some(0.3);
            }
        });
        let prices = Prices::new(&prepared).unwrap();
        assert_eq!(Prices::unit_of(&prepared), prepared.cost().unit());
        for &row in prepared.affected() {
            let person = prepared.table().row(row);
            for edit in prepared.edits() {
                let cost = prepared.cost().edit_cost(edit, &person).unwrap();
                let price = prices.price(&person, std::slice::from_ref(edit)).unwrap();
                assert_eq!(price, u64::from(cost), "{kind:?} {edit:?} {person:?}");
            }
        }
    }
}
