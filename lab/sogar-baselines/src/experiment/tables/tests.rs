//! Tables from results made by hand.

use sogar::config::CostKind;

use super::super::inputs::{CLASSIFIERS, DATA_SETS};
use super::*;
use crate::methods::Method;

fn cell(method: &str, fold: u32, setting: &str) -> Cell {
    Cell {
        data: DATA_SETS[1],
        model: CLASSIFIERS[2],
        fold,
        cost: CostKind::Cet,
        method: Method::named(method).unwrap(),
        setting: super::super::Setting { label: setting.to_owned(), ..Default::default() },
        audited: false,
        seed: 0,
        time_limit: None,
    }
}

fn score(cost: f64, loss: f64) -> Option<Score> {
    let (rows, cost_sum, loss_count, coverage) = (100, 0, 0, 1.0);
    let invalidity = cost + loss;
    Some(Score {
        rows,
        cost_sum,
        loss_count,
        cost,
        loss,
        invalidity,
        coverage,
        parts: 3,
        sparsity: 1.0,
        violations: 0,
    })
}

fn result(cost: f64, loss: f64) -> Option<CellResult> {
    Some(CellResult {
        status: FitStatus::Complete,
        seconds: 1.5,
        threads: 2,
        date: String::new(),
        score: score(cost, loss),
        held_out: score(cost + 0.1, loss),
        search: None,
        audit: None,
    })
}

fn failed(reason: &str) -> Option<CellResult> {
    let status = FitStatus::NoResult { reason: reason.to_owned() };
    result(0.0, 0.0).map(|result| CellResult { status, score: None, held_out: None, ..result })
}

#[test]
fn folds_are_brought_together_and_the_lowest_is_marked() {
    let cells = [
        cell("sogar", 1, ""),
        cell("t-crex-0.9", 1, ""),
        cell("sogar", 2, ""),
        cell("t-crex-0.9", 2, ""),
        cell("sogar", 3, ""),
    ];
    let results =
        [result(0.1, 0.0), result(0.2, 0.5), result(0.1, 0.02), failed("nothing, \"at all\""), None];
    let tables = Tables::new(Name::Table1, &cells, &results);
    let [ours, other] = tables.rows() else { panic!("two rows") };
    assert_eq!((ours.folds, ours.asked, other.folds, other.asked), (2, 3, 1, 2));
    let train = ours.train.unwrap();
    assert!((train.invalidity.mean - 0.11).abs() < 1e-12);
    let text = tables.markdown();
    assert!(text.contains("**0.110 ± 0.014**"), "{text}");
    assert!(text.contains("| sogar | **0.110** (**0.210**) |\n| t-crex-0.9 | 0.700 (0.800) |"), "{text}");
    assert!(text.contains("lowest mean invalidity in 1 of 1 cells on train rows, and in 1 of 1"), "{text}");
    assert!(
        text.contains("at or below the paper's own invalidity (to two digits) in 1 of 1 cells."),
        "{text}"
    );
    assert!(text.contains("0.11 / 0.03 / 0.14 / 41.9"), "the paper's figures are beside ours: {text}");
    assert!(text.contains("t-crex-0.9 on german, LightGBM, cost `cet`: nothing, \"at all\""), "{text}");
    let csv = tables.csv();
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.contains("\"nothing, \"\"at all\"\"\""), "{csv}");
    assert_eq!(tables.json().unwrap()["rows"][0]["method"], "sogar");
}

#[test]
fn settings_are_compared_with_the_usual_one() {
    let cells = [cell("sogar", 1, "1 s"), cell("sogar", 1, "none")];
    let tables = Tables::new(Name::Timeouts, &cells, &[result(0.11, 0.0), result(0.1, 0.0)]);
    let text = tables.markdown();
    assert!(text.contains("+10.0 %"), "{text}");
    assert!(text.contains("with 1 s for the search, invalidity is at most +10.0 % off"), "{text}");
}

#[test]
fn without_results_there_is_a_table_all_the_same() {
    let cells = [cell("sogar", 1, "")];
    let tables = Tables::new(Name::Table1, &cells, &[None]);
    assert!(tables.markdown().contains("No cell has a result yet."));
    assert_eq!(tables.csv().lines().count(), 2);
}
