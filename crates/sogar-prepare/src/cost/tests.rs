use super::*;
use crate::actions::{Change, Follower};
use sogar_table::feature::Feature;

fn levels(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// x = 1..=10, a category a×5 b×3 c×2, a binary with three 1s.
fn reference() -> FeatureTable {
    FeatureTable {
        features: vec![
            Feature::new("x", Kind::Integer),
            Feature::new("c", Kind::Categorical { levels: levels(&["a", "b", "c"]), missing: None }),
            Feature::new("b", Kind::Binary { levels: levels(&["no", "yes"]) }),
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
    let config = Config { cost: sogar_table::config::CostConfig { kind, table: None }, ..Config::default() };
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
    assert_eq!(mps.edit_cost(&set(1, 1), &[4.0, 3.0, 0.0]).unwrap(), 3); // from an unknown category
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
fn a_wide_range_takes_no_more_memory_and_costs_the_same() {
    // Whole numbers up to the limit of the grid of step 1, and the same twice as far apart.
    let near: Vec<f64> = (0..2000u64).map(|i| (i * i * 7919 % 131_072) as f64).chain([131_071.0]).collect();
    let far: Vec<f64> = near.iter().map(|value| 2.0 * value).collect();
    let smooth = |values: &[f64]| SmoothCdf::new(&Ordered::new(values, None), 1, true).unwrap();
    let (one, other) = (smooth(&near), smooth(&far));
    assert_eq!(one.bytes(), 8 * 131_072);
    assert!(other.bytes() < one.bytes(), "{}", other.bytes());
    for pair in near.windows(2) {
        let (cost, same) =
            (one.at(pair[1]) - one.at(pair[0]), other.at(2.0 * pair[1]) - other.at(2.0 * pair[0]));
        assert!((cost - same).abs() < 1e-5, "{cost} {same}");
    }
    let widest = 9_007_199_254_740_992.0;
    for values in
        [vec![-widest, widest], vec![0.0, 1.0, widest], (0..3000).map(|i| f64::from(i).powi(4)).collect()]
    {
        assert!(smooth(&values).bytes() <= 8 << 20);
    }
    // One of a thousand million people is far away from all others.
    let lonely = Ordered::new(&[0.0, widest], None);
    assert!(SmoothCdf::new(&lonely, 1, true).unwrap().bytes() <= 8 << 20);
}

/// A cost model of a user's table, with edits of `x` and `c`.
fn user_table(text: &str) -> Result<CostModel> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("costs.csv"), text).unwrap();
    let mut config = Config::default();
    config.cost.kind = CostKind::Table;
    config.cost.table = Some("costs.csv".into());
    let edits = [shift(1.0), set(1, 0), set(1, 1), set(1, 2)];
    CostModel::new(&reference(), &edits, &config, folder.path())
}

#[test]
fn a_users_table_prefers_the_most_specific_row_and_knows_no_free_change() {
    let model = user_table("feature,from,to,cost\nc,a,b,0.25\nc,a,*,2\nc,*,*,3\n").unwrap();
    assert_eq!(model.edit_cost(&set(1, 1), &[4.0, 0.0, 0.0]).unwrap(), 250_000);
    assert_eq!(model.edit_cost(&set(1, 2), &[4.0, 0.0, 0.0]).unwrap(), 2_000_000);
    assert_eq!(model.edit_cost(&set(1, 2), &[4.0, 1.0, 0.0]).unwrap(), 3_000_000);
    assert_eq!(model.edit_cost(&set(1, 2), &[4.0, 3.0, 0.0]).unwrap(), 3_000_000, "a value that nobody had");
    let error = model.edit_cost(&shift(1.0), &[4.0, 0.0, 0.0]).unwrap_err();
    assert!(error.to_string().contains("no cost for changing `x` from 4 to 5"), "{error}");
}

#[test]
fn values_of_a_users_table_are_compared_as_the_features_values() {
    let text = "feature;from;to;cost\nx;2.0;03;0.5\n x ; 3e0;4.0 ;0.75\nx;+4;*; 1 \nx;*;*;2\nc;a;*;1\n";
    let model = user_table(text).unwrap();
    let cost = |x: f64| model.edit_cost(&shift(1.0), &[x, 0.0, 0.0]).unwrap();
    assert_eq!([2.0, 3.0, 4.0, 5.0].map(cost), [500_000, 750_000, 1_000_000, 2_000_000]);
}

#[test]
fn a_row_of_a_users_table_that_can_match_nothing_is_an_error() {
    for (rows, complaint, help) in [
        ("q,a,b,1", "line 2, column `feature`: there is no feature `q`", "known names"),
        ("c,a,z,1", "line 2, column `to`: `z` is not a value of `c`", "use * for any value"),
        ("c,a,b ,1", "`b ` is not a value of `c`", "trim = true"),
        ("x,low,*,1", "`low` is not a value of `x`", "write a number"),
        ("c,a,b,-1", "column `cost`: `-1` is not a cost", ""),
        (
            "c,a,b,1\nc,a,b,2",
            "line 3: the change of `c` from a to b is listed twice, first in line 2",
            "keep one",
        ),
        ("x,2,3,1\n\nx,2.0,3e0,1", "line 4: the change of `x` from 2.0 to 3e0 is listed twice", "keep one"),
        ("x,2,4,1", "the change of `x` from 2 to 4 never happens: no edit leads there", "remove it"),
        ("x,11,12,1", "never happens: no row of the table has the first value", "remove it"),
        ("x,10,*,1", "no edit leads there", "remove it"),
        ("x,*,1,1", "no edit leads there", "remove it"),
        ("c,a,a,1", "no edit leads there", "remove it"),
        ("b,no,yes,1", "no edit changes the feature", "remove it"),
        ("b,*,*,1", "no edit changes the feature", "remove it"),
    ] {
        let error = user_table(&format!("feature,from,to,cost\n{rows}\n")).unwrap_err();
        let (message, remedy) = (error.to_string(), error.remedy().unwrap_or_default());
        assert!(message.contains(complaint) && message.contains("costs.csv"), "{rows}: {message}");
        assert!(remedy.contains(help), "{rows}: {remedy}");
    }
    let error = user_table("feature,from,to\nc,a,b\n").unwrap_err();
    assert!(error.to_string().contains("no column `cost`"), "{error}");
}

#[test]
fn what_follows_an_edit_has_its_prices_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.cost.kind = CostKind::Table;
    config.cost.table = Some("costs.csv".into());
    let mut linked = set(2, 1);
    linked.followers =
        vec![Follower { feature: 0, factor: 2.0, lo: 1.0, hi: 10.0, whole: true, codes: Vec::new() }];
    let read = |rows: &str| {
        std::fs::write(folder.path().join("costs.csv"), format!("feature,from,to,cost\nb,*,*,1\n{rows}\n"))
            .unwrap();
        CostModel::new(&reference(), std::slice::from_ref(&linked), &config, folder.path())
    };
    let model = read("x,4,6,3\nx,*,*,1").unwrap();
    assert_eq!(model.edit_cost(&linked, &[4.0, 0.0, 0.0]).unwrap(), 3_000_000);
    assert_eq!(model.edit_cost(&linked, &[5.0, 0.0, 0.0]).unwrap(), 1_000_000);
    assert!(read("x,4,5,3").unwrap_err().to_string().contains("no edit leads there"));
}

/// The price of an edit's feature, times the row's first value; and how often it was called.
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
        cost: sogar_table::config::CostConfig { kind: CostKind::Function, table: None },
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
