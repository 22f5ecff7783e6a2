//! Sogar's summaries as proposals, scored by the same code as everything else.
//!
//! A person follows the tree's tests to a leaf, and gets the values of the leaf's action. Only actual changes are proposed: an
//! edit without effect on a person is not a change.

use sogar::Result;
use sogar::feature::FeatureTable;
use sogar::router::Router;
use sogar::summary::{FrontFile, Node};

use crate::contract::Assigned;

/// The proposals of a front's summary to each of `rows` of a table with the front's features. Parts are the tree's leaves from
/// left to right.
pub fn proposals(
    front: &FrontFile,
    tree: &Node,
    table: &FeatureTable,
    rows: &[usize],
) -> Result<Vec<Assigned>> {
    let features = &front.features;
    let (router, actions) = (Router::new(front, features)?, front.edits_of_actions(features)?);
    let propose = |&row: &usize| {
        let before = table.row(row);
        let (number, leaf) = router.leaf(tree, |feature| before[feature]);
        let mut after = before.clone();
        actions[leaf.action()].iter().for_each(|edit| edit.apply(&mut after));
        let changed = (0..before.len()).filter(|&feature| before[feature] != after[feature]);
        let to = changed.filter(|&feature| !after[feature].is_nan()).map(|feature| (feature, after[feature]));
        Assigned { to: to.collect(), part: Some(number as u32), covered: true }
    };
    Ok(rows.iter().map(propose).collect())
}

#[cfg(test)]
mod tests {
    use sogar::CancelToken;
    use sogar::pipeline::{Prepared, Search};

    use crate::evaluate::evaluate;
    use crate::testing::{german_with, prepared};

    use super::*;

    /// The evaluator's integers are those of the front, at every point.
    fn compare(prepared: &Prepared) {
        let front = Search(prepared).solve(&(), &CancelToken::new()).unwrap();
        assert!(front.points.len() > 5);
        for point in front.points.iter().step_by(1 + front.points.len() / 40) {
            let assigned = proposals(&front, &point.tree, prepared.table(), prepared.problem_rows()).unwrap();
            let score = evaluate(prepared, prepared.table(), prepared.problem_rows(), &assigned).unwrap();
            assert_eq!((score.cost_sum, score.loss_count), (point.cost_sum, point.loss_count));
            assert_eq!(score.parts, point.leaves as usize);
            assert_eq!((score.coverage, score.violations), (1.0, 0));
        }
    }

    #[test]
    fn the_evaluator_counts_what_the_search_counted() {
        compare(&german_with(|config| {
            config.limits.max_depth = Some(2);
            config.limits.max_edits = Some(2);
        }));
    }

    #[test]
    fn linked_features_limits_and_other_costs_are_counted_alike() {
        let rows: String = (0..200)
            .map(|i| format!("{},{},{}.5,{}\n", i % 17, i % 10, i % 23, ["a", "b", "c"][i % 3]))
            .collect();
        let table = format!("x,y,r,c\n{rows}");
        let link = "[[links]]\nfrom = \"x\"\nto = \"r\"\nfactor = 1\n";
        for (cost, link) in [("mps", link), ("cet", link), ("l1", "")] {
            let config = format!(
                "[cost]\nkind = \"{cost}\"\n[limits]\nmin_leaf = 10\nmax_depth = 2\n\
                 [features]\nx.direction = \"increase\"\ny.direction = \"decrease\"\nr.immutable = true\n{link}"
            );
            compare(&prepared(&table, &config, |row| row[0] + row[2] - row[1] > 25.0 - 3.0 * row[3]));
        }
    }
}
