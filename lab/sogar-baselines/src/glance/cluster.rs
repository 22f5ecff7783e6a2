//! Clusters of people with counterfactuals, and how they are merged.

use std::collections::BTreeMap;

use super::action::Action;
use crate::moves::Moves;

/// Similar people, and what would help their average.
#[derive(Debug, Clone)]
pub(super) struct Cluster {
    /// Positions of the people.
    pub rows: Vec<usize>,
    /// Their average.
    pub centroid: Vec<f64>,
    /// Accepted people near the averages of the clusters that were merged into this one.
    counterfactuals: Vec<Vec<f64>>,
    /// Their average.
    goal: Vec<f64>,
    /// The step to each counterfactual from the average that it was found for.
    pub actions: Vec<Action>,
}

impl Cluster {
    /// A cluster with the counterfactuals of its centroid.
    pub fn new(
        rows: Vec<usize>,
        centroid: Vec<f64>,
        counterfactuals: Vec<Vec<f64>>,
        moves: &Moves<'_>,
    ) -> Cluster {
        let actions = counterfactuals.iter().map(|to| Action::between(&centroid, to, moves)).collect();
        let goal = average(counterfactuals.iter().map(Vec::as_slice), moves);
        Cluster { rows, centroid, counterfactuals, goal, actions }
    }

    /// Absorbs another cluster.
    fn absorb(&mut self, other: Cluster, people: &[f64], moves: &Moves<'_>) {
        self.rows.extend(other.rows);
        self.counterfactuals.extend(other.counterfactuals);
        self.actions.extend(other.actions);
        let width = moves.features.len();
        let rows = self.rows.iter().map(|&row| &people[row * width..(row + 1) * width]);
        self.centroid = average(rows, moves);
        self.goal = average(self.counterfactuals.iter().map(Vec::as_slice), moves);
    }
}

/// The weights of the two kinds of distance between clusters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    pub centroids: f64,
    pub counterfactuals: f64,
}

/// Merges the smallest cluster into the one that is nearest in people and counterfactuals until there are at most this many; the
/// first on ties.
pub(super) fn merge(
    mut clusters: Vec<Cluster>,
    most: usize,
    weights: Weights,
    people: &[f64],
    moves: &Moves<'_>,
) -> Vec<Cluster> {
    while clusters.len() > most.max(1) {
        let Some(smallest) = (0..clusters.len()).min_by_key(|&cluster| clusters[cluster].rows.len()) else {
            break;
        };
        // Removing it keeps the others in order, so that ties go to the first.
        let small = clusters.remove(smallest);
        let apart = |cluster: &Cluster| {
            weights.centroids * moves.distance(&small.centroid, &cluster.centroid)
                + weights.counterfactuals * moves.distance(&small.goal, &cluster.goal)
        };
        let distances: Vec<f64> = clusters.iter().map(apart).collect();
        let nearest = (0..clusters.len()).min_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        if let Some(nearest) = nearest {
            clusters[nearest].absorb(small, people, moves);
        }
    }
    clusters
}

/// The average of people: means of numbers (for ordered levels the nearest one), the most common category, the first one seen on
/// ties. A number that all of them lack is missing.
pub(super) fn average<'a>(people: impl Iterator<Item = &'a [f64]> + Clone, moves: &Moves<'_>) -> Vec<f64> {
    let value = |feature: usize| {
        let values = people.clone().map(|person| person[feature]);
        if moves.is_ordered(feature) {
            let (sum, count) = values
                .filter(|value| !value.is_nan())
                .fold((0.0, 0usize), |(sum, count), value| (sum + value, count + 1));
            let mean = sum / count as f64; // 0/0 is missing
            return if moves.features[feature].levels().is_empty() { mean } else { mean.round() };
        }
        let mut counts: BTreeMap<u64, (usize, std::cmp::Reverse<usize>)> = BTreeMap::new();
        for (place, value) in values.enumerate() {
            counts.entry(value.to_bits()).or_insert((0, std::cmp::Reverse(place))).0 += 1;
        }
        counts.iter().max_by_key(|(_, count)| **count).map_or(f64::NAN, |(&bits, _)| f64::from_bits(bits))
    };
    (0..moves.features.len()).map(value).collect()
}
