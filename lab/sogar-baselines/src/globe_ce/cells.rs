//! When two rows must get the same answer: a sum of trees only depends on which of its thresholds a number passes.
//!
//! A person who goes along a direction in a thousand small steps passes few thresholds, so most steps need no scoring.

use sogar::model::{Missing, Test};
use sogar::pipeline::Prepared;

use crate::candidate_elimination::same;

/// For each feature the thresholds between which its number does not matter; `None`: every value may matter.
pub(super) struct Cells {
    edges: Vec<Option<Vec<f64>>>,
}

impl Cells {
    /// The cells of a run's model. Rules depend on the values themselves, so with them every value may matter.
    pub fn new(prepared: &Prepared) -> Cells {
        let features = &prepared.table().features;
        let trees = prepared.model().predictor.tree_ensemble().filter(|_| prepared.rules().is_empty());
        let Some(trees) = trees else { return Cells { edges: vec![None; features.len()] } };
        let numeric = |feature: usize| {
            let mut columns = prepared.encoder().columns.iter().filter(|column| column.feature == feature);
            features[feature].is_numeric() && columns.all(|column| column.map.is_none())
        };
        let mut edges: Vec<Option<Vec<f64>>> =
            (0..features.len()).map(|feature| numeric(feature).then(Vec::new)).collect();
        for node in trees.trees.iter().flat_map(|tree| &tree.nodes) {
            let Some(source) = prepared.encoder().columns.get(node.column) else { continue };
            let plain = match node.test {
                Test::AtMost { threshold, missing: Missing::AsZero | Missing::NaNIsMissing, .. } => {
                    Some(threshold)
                }
                _ => None,
            };
            let feature = &mut edges[source.feature];
            match (plain, feature.as_mut()) {
                (Some(threshold), Some(edges)) => edges.push(threshold),
                _ => *feature = None,
            }
        }
        for edges in edges.iter_mut().flatten() {
            edges.sort_by(f64::total_cmp);
            edges.dedup();
        }
        Cells { edges }
    }

    /// Whether the model must answer the same for both rows.
    pub fn alike(&self, one: &[f64], other: &[f64]) -> bool {
        let place = |edges: &[f64], value: f64| edges.partition_point(|&edge| edge < value);
        self.edges.iter().zip(one.iter().zip(other)).all(|(edges, (&a, &b))| match edges {
            Some(edges) if !a.is_nan() && !b.is_nan() => place(edges, a) == place(edges, b),
            _ => same(&[a], &[b]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::black_box::BlackBox;
    use crate::testing::{german, prepared};

    #[test]
    fn rows_that_are_alike_get_the_same_answer() {
        let prepared = german();
        let (cells, black_box) = (Cells::new(&prepared), BlackBox::new(&prepared));
        let (mut alike, mut numbers) = (0, 0);
        for feature in (0..prepared.table().features.len()).filter(|&f| cells.edges[f].is_some()) {
            numbers += 1;
            for &row in prepared.problem_rows().iter().take(40) {
                let before = prepared.table().row(row);
                for by in [-7.0, -0.5, 0.25, 1.0, 12.0, 300.0] {
                    let mut after = before.clone();
                    after[feature] += by;
                    if cells.alike(&before, &after) {
                        alike += 1;
                        assert!(!black_box.desired(&after).unwrap()[0]);
                    }
                }
            }
        }
        assert!(numbers >= 3 && alike > 100, "{numbers} {alike}");
    }

    #[test]
    fn nothing_is_assumed_of_other_models() {
        let cells = Cells::new(&prepared("x,y\n1,2\n3,4\n5,6\n", "", |row| row[0] > 2.0));
        assert!(cells.alike(&[1.0, f64::NAN], &[1.0, f64::NAN]));
        assert!(!cells.alike(&[1.0, 2.0], &[1.0, 2.1]));
    }
}
