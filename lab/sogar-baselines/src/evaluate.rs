//! Applies and scores proposals, for every method alike.
//!
//! A proposal is applied as the user's data allow ([`Reach`]). Then the run's own cost model gives the exact cost and its own
//! model the outcome ([`BlackBox`]). A failed proposal still costs.

use serde::{Deserialize, Serialize};
use sogar::error::{Error, ErrorKind, Result};
use sogar::feature::FeatureTable;
use sogar::pipeline::Prepared;
use sogar::predict::predict_table;

use crate::black_box::{BlackBox, Moved};
use crate::constraints::Constraints;
use crate::contract::Assigned;
use crate::reach::Reach;

/// Rows to apply and score at a time.
const BATCH: usize = 4096;

/// The score of a method on some people.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Number of people.
    pub rows: usize,
    /// Sum of costs, in the cost model's units: exact.
    pub cost_sum: u64,
    /// Number of people who keep the undesired outcome.
    pub loss_count: u64,
    /// Mean cost.
    pub cost: f64,
    /// Mean loss.
    pub loss: f64,
    /// Mean cost plus mean loss.
    pub invalidity: f64,
    /// Share of people with a proposal.
    pub coverage: f64,
    /// Number of distinct parts (leaves, rules, regions, …) of the proposals.
    pub parts: usize,
    /// Mean number of features that change, over all people.
    pub sparsity: f64,
    /// People whose proposal changes nothing, or who have none.
    pub unchanged: usize,
    /// People whose change the configuration does not allow. Counted, but not added to the loss.
    pub violations: usize,
}

/// The rows of a table that the model turns down.
pub fn turned_down(prepared: &Prepared, table: &FeatureTable) -> Result<Vec<usize>> {
    let predictions = predict_table(&*prepared.model().predictor, prepared.encoder(), table)?;
    Ok(prepared.classes().turned_down(&predictions))
}

/// Scores one proposal per row; `rows` are affected rows of `table`.
pub fn evaluate(
    prepared: &Prepared,
    table: &FeatureTable,
    rows: &[usize],
    assigned: &[Assigned],
) -> Result<Score> {
    if rows.is_empty() || rows.len() != assigned.len() {
        let (proposals, people) = (assigned.len(), rows.len());
        return Err(Error::new(ErrorKind::Population, format!("{proposals} proposals for {people} people")));
    }
    let reach = Reach::new(prepared.table());
    let constraints = Constraints::new(prepared);
    let black_box = BlackBox::new(prepared);
    let (mut cost_sum, mut loss_count, mut changes, mut unchanged, mut violations) = (0, 0, 0, 0, 0);
    for (rows, assigned) in rows.chunks(BATCH).zip(assigned.chunks(BATCH)) {
        let mut moved = Moved::default();
        for (&row, proposal) in rows.iter().zip(assigned) {
            let before = table.row(row);
            let after = if proposal.covered { reach.apply(&before, &proposal.to)? } else { before.clone() };
            let changed = |feature: usize| differ(before[feature], after[feature]);
            let changed = (0..before.len()).filter(|&feature| changed(feature)).count();
            changes += changed;
            unchanged += usize::from(changed == 0);
            violations += usize::from(!constraints.allow(&before, &after));
            cost_sum += prepared.cost().move_cost(&before, &after)?;
            moved.push(&before, &after);
        }
        let flipped = black_box.flips(&moved)?;
        let lost = |(proposal, flipped): (&Assigned, bool)| !proposal.covered || !flipped;
        loss_count += assigned.iter().zip(flipped).filter(|&pair| lost(pair)).count() as u64;
    }
    let people = rows.len() as f64;
    let cost = cost_sum as f64 / (prepared.cost().unit() as f64 * people);
    let loss = loss_count as f64 / people;
    let covered = || assigned.iter().filter(|proposal| proposal.covered);
    let mut parts: Vec<u32> = covered().filter_map(|proposal| proposal.part).collect();
    parts.sort_unstable();
    parts.dedup();
    Ok(Score {
        rows: rows.len(),
        cost_sum,
        loss_count,
        cost,
        loss,
        invalidity: cost + loss,
        coverage: covered().count() as f64 / people,
        parts: parts.len(),
        sparsity: changes as f64 / people,
        unchanged,
        violations,
    })
}

/// Whether a value changed; missing equals missing.
fn differ(before: f64, after: f64) -> bool {
    before != after && !(before.is_nan() && after.is_nan())
}

#[cfg(test)]
mod tests {
    use crate::testing::prepared;

    use super::*;

    /// x = 1..10, so that Q(v) = v/10; a category a×5 b×3 c×2; a real number; turned down below x = 6.
    const TABLE: &str =
        "x,c,r\n1,a,0.5\n2,a,1.5\n3,a,2.5\n4,b,0\n5,b,0\n6,a,0\n7,a,0\n8,b,0\n9,c,0\n10,c,4\n";

    fn run(config: &str) -> Prepared {
        prepared(TABLE, config, |row| row[0] >= 6.0 || row[1] == 2.0)
    }

    fn proposal(part: u32, to: &[(usize, f64)]) -> Assigned {
        Assigned { to: to.to_vec(), part: Some(part), covered: true }
    }

    #[test]
    fn known_costs_and_losses_are_found() {
        let prepared = run("");
        assert_eq!(prepared.problem_rows(), [0, 1, 2, 3, 4]);
        let assigned = [
            proposal(0, &[(0, 6.0)]),           // 1 → 6 costs 5 and works
            proposal(0, &[(0, 4.4)]),           // 2 → 4 costs 2 and fails
            proposal(3, &[(1, 2.0), (0, 4.0)]), // a → c costs max(5, 2), 3 → 4 costs 1: 5, and works
            proposal(7, &[(0, 99.0)]),          // 4 → 10, clamped, costs 6 and works
            Assigned { to: vec![(0, 9.0)], part: Some(9), covered: false }, // no proposal: 0, fails
        ];
        let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
        assert_eq!((score.cost_sum, score.loss_count, score.rows), (18, 2, 5));
        assert_eq!((score.cost, score.loss), (0.36, 0.4));
        assert_eq!(score.invalidity, score.cost + score.loss);
        assert_eq!((score.coverage, score.parts, score.sparsity), (0.8, 3, 1.0));
        assert_eq!((score.unchanged, score.violations), (1, 0));
    }

    #[test]
    fn what_cannot_be_done_is_skipped() {
        let prepared = run("");
        let table = FeatureTable {
            features: prepared.table().features.clone(),
            values: vec![vec![f64::NAN, 3.0], vec![0.0, 3.0], vec![0.0, 9.0]],
            rows: 2,
            weights: None,
        };
        let assigned = [proposal(0, &[(0, 9.0)]), proposal(0, &[(0, f64::NAN), (1, 3.0), (2, 9.0)])];
        let score = evaluate(&prepared, &table, &[0, 1], &assigned).unwrap();
        // Missing stays missing; no such number, no such level; only r moves, from 9 to the largest known 4.
        assert_eq!((score.loss_count, score.sparsity, score.coverage), (2, 0.5, 1.0));
        assert_eq!(score.cost_sum, 0, "no row is passed beyond the end of the table");
    }

    #[test]
    fn rules_turn_success_into_failure_and_constraints_are_counted() {
        let prepared =
            run("rules = [\"x <= 7\"]\n[features]\nx.direction = \"decrease\"\nr.immutable = true\n");
        let assigned: Vec<Assigned> = [6.0, 7.0, 8.0, 1.0, 5.0].map(|x| proposal(0, &[(0, x)])).to_vec();
        let score = evaluate(&prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
        assert_eq!(score.loss_count, 3, "8 breaks the rule, 1 and 5 fail");
        assert_eq!(score.violations, 3, "three go up");
        assert_eq!(score.sparsity, 0.8, "the last stays");
    }

    #[test]
    fn proposals_that_do_not_fit_the_people_are_errors() {
        let prepared = run("");
        let one = [proposal(0, &[])];
        assert!(evaluate(&prepared, prepared.table(), prepared.problem_rows(), &one).is_err());
        assert!(evaluate(&prepared, prepared.table(), &[], &[]).is_err());
        let error = evaluate(&prepared, prepared.table(), &[0], &[proposal(0, &[(3, 1.0)])]).unwrap_err();
        assert!(error.to_string().contains("feature 3"), "{error}");
    }

    #[test]
    fn the_rows_turned_down_are_the_affected_ones() {
        let prepared = run("");
        assert_eq!(turned_down(&prepared, prepared.table()).unwrap(), prepared.problem_rows());
    }
}
