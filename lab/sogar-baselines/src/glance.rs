//! GLANCE (Kavouras and others, 2025; the variant C-GLANCE): clusters of people, and one action for each of the few that remain
//! after merging.
//!
//! The affected people are clustered by k-means, counterfactuals are found for the average of every cluster, and the clusters
//! that are most alike in people and in counterfactuals are merged until ten are left. The step from an average to its
//! counterfactual is an action; each final cluster keeps the one with which the model accepts most of its people.
//!
//! In the authors' evaluation a person takes the cheapest of all ten actions that works, regardless of their cluster
//! ([`GlanceMode::BestOf`]): the description does not tell people which one that is. [`GlanceMode::Cluster`] gives each person
//! the action of their own cluster, which is a summary.

mod action;
mod cluster;
mod counterfactuals;
mod kmeans;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use sogar::describe::{spoken, spoken_number};
use sogar::error::{Error, ErrorKind, Result};
use sogar::feature::{Feature, FeatureTable};
use sogar::pipeline::Prepared;
use sogar_solver::stop::{Stop, StopReason};

use crate::black_box::{BlackBox, Moved};
use crate::candidate_elimination::{CandidateElimination, same};
use crate::contract::{Assigned, Baseline, Description, FitStatus, Fitted, Group};
use crate::moves::{Moves, changes, people};
use action::Action;
use cluster::{Cluster, Weights, average, merge};
use counterfactuals::Search;
use kmeans::{Points, cluster};

/// How people get their action.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GlanceMode {
    /// Of all actions that work for the person, the one with the smallest change: the authors' evaluation.
    #[default]
    BestOf,
    /// The action of the person's own cluster; new people belong to the cluster with the nearest centroid.
    Cluster,
}

/// The method's settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Glance {
    /// Clusters that k-means makes.
    pub initial_clusters: usize,
    /// Clusters that are left after merging.
    pub final_clusters: usize,
    /// Counterfactuals of a centroid.
    pub counterfactuals: usize,
    /// Random people for the search of a centroid's counterfactuals.
    pub samples: usize,
    /// The weight of the distance of centroids when clusters are merged.
    pub centroid_weight: f64,
    /// The weight of the distance of their counterfactuals.
    pub counterfactual_weight: f64,
    /// How people get their action.
    pub mode: GlanceMode,
}

/// The authors' settings.
impl Default for Glance {
    fn default() -> Self {
        Glance {
            initial_clusters: 100,
            final_clusters: 10,
            counterfactuals: 5,
            samples: 1000,
            centroid_weight: 0.5,
            counterfactual_weight: 0.5,
            mode: GlanceMode::BestOf,
        }
    }
}

impl Glance {
    /// The authors' settings, with everyone taking their own cluster's action.
    pub fn by_cluster() -> Glance {
        Glance { mode: GlanceMode::Cluster, ..Glance::default() }
    }

    fn check(&self) -> Result<()> {
        let counts = [
            ("initial clusters", self.initial_clusters, 100),
            ("final clusters", self.final_clusters, 10),
            ("counterfactuals", self.counterfactuals, 5),
            ("samples", self.samples, 1000),
        ];
        for (what, count, usual) in counts {
            if count == 0 {
                let error = Error::new(ErrorKind::Usage, format!("GLANCE: 0 {what} are too few"));
                return Err(error.help(format!("give at least 1; the authors use {usual}")));
            }
        }
        for (what, weight) in
            [("centroids", self.centroid_weight), ("counterfactuals", self.counterfactual_weight)]
        {
            if !(weight >= 0.0 && weight.is_finite()) {
                let message = format!("GLANCE: the distance of {what} cannot have the weight {weight}");
                return Err(
                    Error::new(ErrorKind::Usage, message).help("give a number from 0 on, such as 0.5")
                );
            }
        }
        Ok(())
    }
}

impl Baseline for Glance {
    fn name(&self) -> String {
        match self.mode {
            GlanceMode::BestOf => "GLANCE".to_owned(),
            GlanceMode::Cluster => "GLANCE cluster".to_owned(),
        }
    }

    fn fit(&self, prepared: &Prepared, seed: u64, stop: &Stop) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let (moves, black_box) = (Moves::new(prepared), BlackBox::new(prepared));
        let mut rows = prepared.problem_rows().to_vec();
        rows.sort_unstable();
        let people = people(prepared.table(), &rows);
        let fitting =
            Fitting { settings: self, moves: &moves, black_box: &black_box, people: &people, seed, stop };
        let (clusters, mut stopped) = fitting.clusters()?;
        let mut parts = Vec::new();
        let mut part_of = vec![None; prepared.table().rows];
        for (part, cluster) in clusters.into_iter().enumerate() {
            cluster.rows.iter().for_each(|&place| part_of[rows[place]] = Some(part));
            let (chosen, reason) = fitting.choose(part, cluster)?;
            stopped = stopped.or(reason);
            parts.push(chosen);
        }
        let status = match stopped {
            Some(reason) => reason.into(),
            None if parts.is_empty() => {
                FitStatus::NoResult { reason: "no counterfactual was found for any cluster".to_owned() }
            }
            None => FitStatus::Complete,
        };
        Ok(Box::new(FittedGlance { parts, part_of, mode: self.mode, status }))
    }
}

/// What all steps of a fit need.
struct Fitting<'a> {
    settings: &'a Glance,
    moves: &'a Moves<'a>,
    black_box: &'a BlackBox<'a>,
    /// The affected people, one row after the other.
    people: &'a [f64],
    seed: u64,
    stop: &'a Stop,
}

impl Fitting<'_> {
    /// The final clusters.
    fn clusters(&self) -> Result<(Vec<Cluster>, Option<StopReason>)> {
        let points = Points::new(self.people, self.moves);
        let (members, stopped) = cluster(&points, self.settings.initial_clusters, self.seed, self.stop);
        let Some(members) = members else { return Ok((Vec::new(), stopped)) };
        let rows = |members: &Vec<usize>| average(members.iter().map(|&row| self.person(row)), self.moves);
        let centroids: Vec<Vec<f64>> = members.par_iter().map(rows).collect();
        let search = Search {
            black_box: self.black_box,
            moves: self.moves,
            samples: self.settings.samples,
            wanted: self.settings.counterfactuals,
            seed: self.seed,
            stop: self.stop,
        };
        let (found, stopped_too) = search.all(&centroids)?;
        let clusters: Vec<Cluster> = members
            .into_iter()
            .zip(centroids)
            .zip(found)
            .filter(|(_, counterfactuals)| !counterfactuals.is_empty())
            .map(|((rows, centroid), found)| Cluster::new(rows, centroid, found, self.moves))
            .collect();
        let weights = Weights {
            centroids: self.settings.centroid_weight,
            counterfactuals: self.settings.counterfactual_weight,
        };
        let merged = merge(clusters, self.settings.final_clusters, weights, self.people, self.moves);
        Ok((merged, stopped.or(stopped_too)))
    }

    /// The action of a cluster that flips most of its people.
    fn choose(&self, number: usize, cluster: Cluster) -> Result<(Part, Option<StopReason>)> {
        let mut actions: Vec<Action> = Vec::new();
        for action in cluster.actions {
            if !actions.contains(&action) {
                actions.push(action);
            }
        }
        let people: Vec<f64> = cluster.rows.iter().flat_map(|&row| self.person(row)).copied().collect();
        let elimination = CandidateElimination {
            black_box: self.black_box,
            moves: self.moves,
            people: &people,
            stop: self.stop,
        };
        let apply = |action: usize, before: &[f64], after: &mut [f64]| {
            actions[action].apply(self.moves, before, after);
        };
        let winner = elimination.winner(actions.len(), self.seed.wrapping_add(number as u64), apply)?;
        let (chosen, flipped, stopped) =
            winner.map_or((0, 0, None), |winner| (winner.candidate, winner.flips, winner.stopped));
        let action = actions.swap_remove(chosen);
        let part = Part {
            words: action.words(self.moves),
            action,
            typical: typical(&cluster.centroid, self.moves),
            centroid: cluster.centroid,
            rows: cluster.rows.len(),
            flipped,
        };
        Ok((part, stopped))
    }

    fn person(&self, row: usize) -> &[f64] {
        let width = self.moves.features.len();
        &self.people[row * width..(row + 1) * width]
    }
}

/// An average person in words, one feature each.
fn typical(centroid: &[f64], moves: &Moves<'_>) -> Vec<String> {
    let words = |(feature, &value): (&Feature, &f64)| {
        let value = match value {
            value if feature.is_numeric() && !value.is_nan() => spoken_number(value),
            value => spoken(&feature.value_text(value)),
        };
        format!("`{}` {value}", feature.name)
    };
    moves.features.iter().zip(centroid).map(words).collect()
}

/// A final cluster.
struct Part {
    action: Action,
    /// The action in words.
    words: Vec<String>,
    centroid: Vec<f64>,
    /// The centroid in words.
    typical: Vec<String>,
    /// Affected people in it.
    rows: usize,
    /// Those whom the action flips.
    flipped: usize,
}

struct FittedGlance {
    parts: Vec<Part>,
    /// The cluster of each row of the reference table, if it has one.
    part_of: Vec<Option<usize>>,
    mode: GlanceMode,
    status: FitStatus,
}

impl FittedGlance {
    /// For each person, the working action with the smallest change.
    fn best_of(&self, moves: &Moves<'_>, black_box: &BlackBox<'_>, people: &[f64]) -> Result<Vec<Assigned>> {
        let width = black_box.width();
        let group = (black_box.rows_at_once() / self.parts.len().max(1)).max(1);
        let assigned = black_box.in_groups(people, group * width, |people| {
            let mut best: Vec<Option<(f64, Assigned)>> = vec![None; people.len() / width];
            let (mut moved, mut asked) = (Moved::default(), Vec::new());
            for (place, before) in people.chunks_exact(width).enumerate() {
                for (number, part) in self.parts.iter().enumerate() {
                    let mut after = before.to_vec();
                    part.action.apply(moves, before, &mut after);
                    if !same(before, &after) {
                        moved.push(before, &after);
                        asked.push((place, number));
                    }
                }
            }
            let flips = black_box.flips(&moved)?;
            for ((&(place, number), (before, after)), flips) in
                asked.iter().zip(moved.pairs(width)).zip(flips)
            {
                let far = moves.distance(before, after);
                if flips && best[place].as_ref().is_none_or(|(least, _)| far < *least) {
                    let to = changes(before, after);
                    best[place] = Some((far, Assigned { to, part: Some(number as u32), covered: true }));
                }
            }
            Ok(best
                .into_iter()
                .map(|best| best.map_or_else(Assigned::nothing, |(_, best)| best))
                .collect::<Vec<_>>())
        })?;
        Ok(assigned.into_iter().flatten().collect())
    }

    /// The action of a person's cluster: the one that they were in when it was made, otherwise the nearest.
    fn of_cluster(&self, moves: &Moves<'_>, known: Option<usize>, before: &[f64]) -> Assigned {
        let far = |part: &Part| moves.distance(&part.centroid, before);
        let distances: Vec<f64> = self.parts.iter().map(far).collect();
        let nearest = || (0..distances.len()).min_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        let Some(part) = known.or_else(nearest) else { return Assigned::nothing() };
        let mut after = before.to_vec();
        self.parts[part].action.apply(moves, before, &mut after);
        Assigned { to: changes(before, &after), part: Some(part as u32), covered: true }
    }
}

impl Fitted for FittedGlance {
    fn assign(&self, prepared: &Prepared, table: &FeatureTable, rows: &[usize]) -> Result<Vec<Assigned>> {
        let (moves, black_box) = (Moves::new(prepared), BlackBox::new(prepared));
        match self.mode {
            GlanceMode::BestOf => self.best_of(&moves, &black_box, &people(table, rows)),
            GlanceMode::Cluster => {
                // Only rows of the reference table itself were clustered.
                let own = std::ptr::eq(table, prepared.table());
                let known = |row: usize| self.part_of.get(row).copied().flatten().filter(|_| own);
                let assign = |&row: &usize| self.of_cluster(&moves, known(row), &table.row(row));
                Ok(rows.par_iter().map(assign).collect())
            }
        }
    }

    fn describe(&self) -> Description {
        let group = |part: &Part| Group {
            conditions: if self.mode == GlanceMode::Cluster { part.typical.clone() } else { Vec::new() },
            edits: part.words.clone(),
            rows: part.rows,
            flipped: part.flipped,
        };
        let choice = match self.mode {
            GlanceMode::BestOf => {
                "Everybody takes the action that asks for least among those that work for them."
            }
            GlanceMode::Cluster => "Everybody takes the action of the people whom they are most like.",
        };
        Description::ActionSet { actions: self.parts.iter().map(group).collect(), choice: choice.to_owned() }
    }

    fn status(&self) -> FitStatus {
        self.status.clone()
    }
}
