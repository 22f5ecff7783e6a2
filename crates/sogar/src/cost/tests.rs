use super::*;
use crate::actions::{Change, Follower};
use crate::feature::{Columns, Feature};

fn feature(name: &str, kind: Kind) -> Feature {
    Feature { name: name.into(), kind, columns: Columns::One(name.into()), codes: Vec::new() }
}

fn levels(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// x = 1..=10, a category a×5 b×3 c×2, a binary with three 1s.
fn reference() -> FeatureTable {
    FeatureTable {
        features: vec![
            feature("x", Kind::Integer),
            feature("c", Kind::Categorical { levels: levels(&["a", "b", "c"]), missing: None }),
            feature("b", Kind::Binary { levels: levels(&["no", "yes"]) }),
        ],
        values: vec![
            (1..=10).map(f64::from).collect(),
            vec![0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0],
            vec![1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ],
        rows: 10,
        weights: None,
    }
}

fn shift(by: f64) -> Edit {
    Edit { feature: 0, change: Change::shift(by, 1.0, 10.0), followers: vec![] }
}

fn set(feature: usize, to: usize) -> Edit {
    Edit { feature, change: Change::Set { to, not_from: vec![] }, followers: vec![] }
}

fn model(kind: CostKind) -> CostModel {
    let config = Config { cost: crate::config::CostConfig { kind, table: None }, ..Config::default() };
    let edits = [shift(1.0), set(1, 0), set(2, 1)];
    CostModel::new(&reference(), &edits, &config, Path::new("")).unwrap()
}

fn cost(kind: CostKind, edit: &Edit, row: [f64; 3]) -> u32 {
    model(kind).edit_cost(edit, &row).unwrap()
}

#[test]
fn percentile_shifts_are_whole_rows_of_the_reference_table() {
    let mps = model(CostKind::Mps);
    assert_eq!((mps.unit(), mps.combine()), (10, Combine::Max));
    let row = [4.0, 0.0, 0.0];
    assert_eq!(mps.edit_cost(&shift(3.0), &row).unwrap(), 3);
    assert_eq!(mps.edit_cost(&shift(-9.0), &row).unwrap(), 3); // clamped to 1
    assert_eq!(mps.edit_cost(&set(1, 2), &row).unwrap(), 5); // max(p_a, p_c)
    assert_eq!(mps.edit_cost(&set(1, 0), &row).unwrap(), 0); // already there
    assert_eq!(mps.edit_cost(&set(2, 1), &row).unwrap(), 3); // the larger value's share …
    assert_eq!(mps.edit_cost(&set(2, 0), &[4.0, 0.0, 1.0]).unwrap(), 3); // … either way
    assert_eq!(mps.edit_cost(&shift(3.0), &[f64::NAN, 0.0, 0.0]).unwrap(), 0);
    assert_eq!(mps.edit_cost(&set(1, 1), &[4.0, 3.0, 0.0]).unwrap(), 3); // from a category nobody had
}

#[test]
fn what_follows_is_part_of_the_edits_cost() {
    let mut linked = set(2, 1);
    linked.followers =
        vec![Follower { feature: 0, factor: 6.0, lo: 1.0, hi: 10.0, whole: true, codes: Vec::new() }];
    assert_eq!(cost(CostKind::Mps, &linked, [2.0, 0.0, 0.0]), 6);
    assert_eq!(cost(CostKind::Mps, &linked, [9.0, 0.0, 0.0]), 3); // the follower stops at 10, the edit itself costs 3
}

#[test]
fn a_move_costs_what_its_edits_cost_together() {
    let (from, to) = ([4.0, 0.0, 0.0], [8.0, 1.0, 1.0]);
    let edits = [shift(4.0), set(1, 1), set(2, 1)];
    let single = |model: &CostModel| {
        edits.iter().map(|edit| u64::from(model.edit_cost(edit, &from).unwrap())).collect::<Vec<_>>()
    };
    let mps = model(CostKind::Mps);
    assert_eq!(single(&mps), [4, 5, 3]);
    assert_eq!(mps.move_cost(&from, &to).unwrap(), 5);
    let l1 = model(CostKind::L1);
    assert_eq!(l1.move_cost(&from, &to).unwrap(), single(&l1).iter().sum::<u64>());
    for kind in [CostKind::Mps, CostKind::Cet, CostKind::Logshift, CostKind::L1] {
        assert_eq!(model(kind).move_cost(&from, &from).unwrap(), 0);
    }
}

#[test]
fn weights_turn_rows_into_millionths() {
    let mut config = Config::default();
    config.features.entry("x".into()).or_default().weight = Some(0.5);
    let weighted = CostModel::new(&reference(), &[shift(1.0)], &config, Path::new("")).unwrap();
    assert_eq!(weighted.unit(), MILLION);
    assert_eq!(weighted.edit_cost(&shift(3.0), &[4.0, 0.0, 0.0]).unwrap(), 150_000);
}

#[test]
fn range_normalised_distance_and_log_shift() {
    assert_eq!(cost(CostKind::L1, &shift(3.0), [4.0, 0.0, 0.0]), 333_333);
    assert_eq!(cost(CostKind::L1, &set(1, 2), [4.0, 0.0, 0.0]), MILLION as u32);
    // from Q = .4 to Q = .7: |log2((.3 + .1) / (.6 + .1))|
    let expected = ((0.4f64 / 0.7).log2().abs() * 1e6).round() as u32;
    assert_eq!(cost(CostKind::Logshift, &shift(3.0), [4.0, 0.0, 0.0]), expected);
    assert_eq!(model(CostKind::Logshift).combine(), Combine::Sum);
}

#[test]
fn the_cet_variant_charges_targets_and_a_smooth_distribution() {
    assert_eq!(cost(CostKind::Cet, &set(1, 2), [4.0, 0.0, 0.0]), 200_000); // share of the target
    assert_eq!(cost(CostKind::Cet, &set(2, 0), [4.0, 0.0, 1.0]), 300_000);
    // scipy: gaussian_kde(range(1, 11)) on the grid 1..=10, cumulated with 1e-6 added to either tail
    assert_eq!(cost(CostKind::Cet, &shift(3.0), [4.0, 0.0, 0.0]), CET_SHIFT);
}

/// Made with SciPy 1.17.1: `p = gaussian_kde(np.arange(1., 11))(np.arange(1., 11))`,
/// `q = (1e-6 + p.cumsum()) / (p.sum() + 2e-6)`, `round((q[6] - q[3]) * 1e6)`.
const CET_SHIFT: u32 = 346_257;

#[test]
fn a_users_table_prefers_the_most_specific_row_and_knows_no_free_change() {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &str| {
        std::fs::write(folder.path().join("costs.csv"), text).unwrap();
        let mut config = Config::default();
        config.cost.kind = CostKind::Table;
        config.cost.table = Some("costs.csv".into());
        CostModel::new(&reference(), &[set(1, 0)], &config, folder.path())
    };
    let model = read("feature,from,to,cost\nc,a,b,0.25\nc,a,*,2\nc,*,*,3\n").unwrap();
    assert_eq!(model.edit_cost(&set(1, 1), &[4.0, 0.0, 0.0]).unwrap(), 250_000);
    assert_eq!(model.edit_cost(&set(1, 2), &[4.0, 0.0, 0.0]).unwrap(), 2_000_000);
    assert_eq!(model.edit_cost(&set(1, 2), &[4.0, 1.0, 0.0]).unwrap(), 3_000_000);
    let error = model.edit_cost(&shift(1.0), &[4.0, 0.0, 0.0]).unwrap_err();
    assert!(error.to_string().contains("no cost for changing `x` from 4 to 5"), "{error}");
    for (text, complaint) in [
        ("feature,from,to\n", "no column `cost`"),
        ("feature,from,to,cost\nq,a,b,1\n", "q"),
        ("feature,from,to,cost\nc,a,z,1\n", "`z` is not a value of `c`"),
        ("feature,from,to,cost\nc,a,b,-1\n", "`-1` is not a cost"),
        ("feature,from,to,cost\nc,a,b,1\nc,a,b,2\n", "listed twice"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.to_string().contains(complaint), "{error}");
    }
}

/// The price of an edit's feature, times the row's first value; and how often it was asked.
struct Prices(Vec<f64>);

impl CostFunction for Prices {
    fn costs(&self, edit: &Edit, features: &[Feature], moves: &[(&[f64], &[f64])]) -> Result<Vec<f64>> {
        assert_eq!(features.len(), 3);
        assert!(moves.iter().all(|(before, after)| before != after), "only rows that the edit changes");
        Ok(moves.iter().map(|(before, _)| self.0[edit.feature] * before[0]).collect())
    }
}

#[test]
fn a_function_prices_what_an_edit_changes() {
    let mut config = Config {
        cost: crate::config::CostConfig { kind: CostKind::Function, table: None },
        ..Config::default()
    };
    config.features.entry("c".into()).or_default().weight = Some(2.0);
    let edits = [shift(1.0), set(1, 0), set(2, 1)];
    let mut costs = CostModel::new(&reference(), &edits, &config, Path::new("")).unwrap();
    assert_eq!((costs.unit(), costs.combine()), (1_000_000, Combine::Max));
    let row = [4.0, 1.0, 1.0];
    assert!(costs.edit_cost(&edits[0], &row).unwrap_err().to_string().contains("none is given here"));
    costs.set_function(Arc::new(Prices(vec![0.25, 1.0, -1.0])));
    assert_eq!(costs.edit_cost(&edits[0], &row).unwrap(), 1_000_000);
    assert_eq!(costs.edit_cost(&edits[1], &row).unwrap(), 8_000_000, "weights count");
    assert_eq!(costs.edit_cost(&edits[2], &row).unwrap(), 0, "an edit that changes nothing costs nothing");
    assert!(
        costs.edit_cost(&edits[2], &[4.0, 1.0, 0.0]).unwrap_err().to_string().contains("between 0 and 4294")
    );
    let table = reference();
    let all = edit_costs(&costs, &edits[..2], &table, &[0, 9]).unwrap();
    assert_eq!(all, [[250_000, 0], [0, 20_000_000]]);
    assert!(costs.move_cost(&row, &[5.0, 1.0, 1.0]).is_err(), "a move is not an edit");
}
