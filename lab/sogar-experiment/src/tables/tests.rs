//! Tables from results made by hand.

use super::super::testing::{cell, failed, result};
use super::*;

fn store(cells: &[(Cell, CellResult)]) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    for (cell, result) in cells {
        store.keep(cell, CellResult { key: cell.key(false), ..result.clone() }).unwrap();
    }
    (folder, store)
}

#[test]
fn folds_are_brought_together_and_kinds_of_methods_are_kept_apart() {
    let cells = [
        (cell("sogar", 1, ""), result("sogar", 1, 0.1, 0.0)),
        (cell("t-crex-0.9", 1, ""), result("t-crex-0.9", 1, 0.2, 0.5)),
        (cell("glance", 1, ""), result("glance", 1, 0.05, 0.0)),
        (cell("sogar", 2, ""), result("sogar", 2, 0.1, 0.02)),
        (cell("t-crex-0.9", 2, ""), failed("t-crex-0.9", 2, "nothing, \"at all\"")),
    ];
    let (_folder, store) = store(&cells);
    let mut asked: Vec<Cell> = cells.iter().map(|(cell, _)| cell.clone()).collect();
    asked.push(cell("sogar", 3, ""));
    let tables = Tables::new(Name::Table1, &asked, &store);
    let [ours, other, _] = tables.rows() else { panic!("three rows") };
    assert_eq!((ours.folds(), ours.asked, other.folds(), other.asked), (2, 3, 1, 2));
    assert!((ours.train.unwrap().invalidity.mean - 0.11).abs() < 1e-12);
    let text = tables.markdown();
    assert!(text.contains("**0.110 ± 0.014**"), "{text}");
    assert!(text.contains("| sogar | **0.110** (**0.210**) |\n| t-crex-0.9 | 0.700 (0.800) |"), "{text}");
    assert!(text.contains("| *individual search* | |\n| glance | **0.050** (**0.150**) |"), "{text}");
    assert!(text.contains("among summaries in 1 of 1 columns on train rows"), "{text}");
    assert!(text.contains("individual search included, in 0 and 0"), "{text}");
    assert!(text.contains("german lightgbm 0.11 against 0.14"), "{text}");
    assert!(text.contains("0.11 / 0.03 / 0.14"), "the paper's figures are beside ours: {text}");
    assert!(text.contains("t-crex-0.9 on german, LightGBM, protocol `paper`: nothing, \"at all\""), "{text}");
    let csv = tables.csv();
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.contains("\"nothing, \"\"at all\"\"\""), "{csv}");
    assert_eq!(tables.json()["rows"][0]["method"], "sogar");
}

#[test]
fn methods_are_compared_on_the_folds_that_both_have() {
    let mut cells = vec![
        (cell("sogar", 1, ""), result("sogar", 1, 0.1, 0.0)),
        (cell("sogar", 2, ""), result("sogar", 2, 0.9, 0.9)),
        (cell("t-crex-0.9", 1, ""), result("t-crex-0.9", 1, 0.2, 0.5)),
    ];
    let claims = |cells: &[(Cell, CellResult)]| {
        let (_folder, store) = store(cells);
        let asked: Vec<Cell> = cells.iter().map(|(cell, _)| cell.clone()).collect();
        let tables = Tables::new(Name::Table1, &asked, &store);
        let overview = tables.overviews();
        let claims = super::super::claims::claims(&store, &[super::super::testing::paper().into()]).unwrap();
        (overview, claims)
    };
    let (overview, text) = claims(&cells);
    assert!(overview.contains("| sogar | **0.950** (**1.050**) |"), "{overview}");
    let lowest = "| lowest of all methods in 1 of 1 columns with results, lowest of summaries in 1 of 1 | as far as it was run |";
    assert!(text.contains(lowest), "{text}");
    assert!(text.contains("| no cells | not decided |"), "{text}");
    cells.push((cell("glance", 2, ""), result("glance", 2, 0.8, 0.9)));
    let (overview, text) = claims(&cells);
    assert!(overview.contains("| sogar | **0.950** (**1.050**) |"), "glance is no summary: {overview}");
    let lower = "| lowest of all methods in 0 of 1 columns with results, lowest of summaries in 1 of 1; lower: german lightgbm (glance) | no |";
    assert!(text.contains(lower), "{text}");
}

#[test]
fn settings_are_compared_with_the_usual_one() {
    let (short, none) = (cell("sogar", 1, "1 s"), cell("sogar", 1, "none"));
    let short = Cell { setting: super::super::Setting { max_depth: Some(2), ..short.setting }, ..short };
    let (_folder, store) = store(&[
        (short.clone(), result("sogar", 1, 0.11, 0.0)),
        (none.clone(), result("sogar", 1, 0.1, 0.0)),
    ]);
    let text = Tables::new(Name::Timeouts, &[short, none], &store).markdown();
    assert!(text.contains("+10.0 %"), "{text}");
    assert!(text.contains("with 1 s for the search, invalidity is at most +10.0 % off"), "{text}");
}

#[test]
fn a_variant_is_compared_on_the_folds_that_both_have() {
    let variant = |fold| Cell { protocol: "other".into(), seed: 9, ..cell("sogar", fold, "") };
    let same = |fold| Cell { protocol: "same".into(), ..cell("sogar", fold, "") };
    let cells = [
        (cell("sogar", 1, ""), result("sogar", 1, 0.1, 0.1)),
        (cell("sogar", 2, ""), result("sogar", 2, 0.9, 0.9)),
        (variant(1), result("sogar", 1, 0.2, 0.05)),
    ];
    let (_folder, store) = store(&cells);
    let asked = [cell("sogar", 1, ""), cell("sogar", 2, ""), variant(1), variant(2), same(1), same(2)];
    let text = Tables::new(Name::Hypotheses, &asked, &store).markdown();
    assert!(
        text.contains(
            "| other | german | LightGBM | 100 | 0.200 | 0.050 | 0.250 | +0.100 | -0.050 | +0.050 | 1 |"
        ),
        "{text}"
    );
    assert!(text.contains("1 pairs of variant and column are left out"), "{text}");
}

#[test]
fn without_results_there_is_a_table_all_the_same() {
    let (_folder, store) = store(&[]);
    let tables = Tables::new(Name::Table1, &[cell("sogar", 1, "")], &store);
    assert!(tables.markdown().contains("No cell has a result yet."));
    assert_eq!(tables.csv().lines().count(), 2);
}
