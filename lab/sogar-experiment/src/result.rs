//! The result of a cell, in the form in which it is stored: one line of JSON, figures alone and no rows of people.

use serde::{Deserialize, Serialize};

use super::cell::Cell;
use sogar_baselines::contract::FitStatus;
use sogar_baselines::evaluate::Score;

/// The result of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// The cell's key.
    pub key: String,
    /// Of a method that a limit ended: the key without that limit, and its seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<(String, f64)>,
    /// A hash of the tables and the model.
    pub inputs: String,
    /// The fold.
    pub fold: u32,
    /// The method.
    pub method: String,
    /// What differs from the usual run; empty: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub setting: String,
    /// The protocol that it was first run for.
    pub protocol: String,
    /// How the method ended.
    pub status: FitStatus,
    /// When it was run, in UTC.
    pub date: String,
    /// Seconds from the prepared run to proposals for every affected row.
    pub seconds: f64,
    /// Threads.
    pub threads: usize,
    /// Whether the machine had nothing else to do, so that times may be quoted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed: bool,
    /// On the affected rows of the train table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Figures>,
    /// On those of the held-out table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<Figures>,
    /// Of sogar's search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// Groups of people under the method's proposals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupScore>,
    /// Groups of people along sogar's front.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<GroupFigures>,
    /// Points of sogar's front, at most [`CURVE`] of them: cost and loss on train rows, then on held-out rows. First fold only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub front: Vec<[f64; 4]>,
}

/// Most points of a stored curve: enough for a figure.
pub const CURVE: usize = 120;

/// The score of a method, without what follows from the rest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Affected rows.
    pub rows: usize,
    /// Sum of costs, in the cost model's units.
    pub cost_sum: u64,
    /// Mean cost.
    pub cost: f64,
    /// People who keep the undesired outcome.
    pub loss_count: u64,
    /// Share of people with a proposal.
    pub coverage: f64,
    /// Leaves, rules, actions, … in use.
    pub parts: usize,
    /// Changed features per person.
    pub sparsity: f64,
    /// People whose proposal changes nothing.
    pub unchanged: usize,
    /// People whose change is not allowed.
    pub violations: usize,
}

impl Figures {
    /// Mean loss.
    pub fn loss(&self) -> f64 {
        self.loss_count as f64 / self.rows.max(1) as f64
    }

    /// Mean cost plus mean loss.
    pub fn invalidity(&self) -> f64 {
        self.cost + self.loss()
    }
}

impl From<Score> for Figures {
    fn from(score: Score) -> Figures {
        let Score {
            rows, cost_sum, cost, loss_count, coverage, parts, sparsity, unchanged, violations, ..
        } = score;
        Figures {
            rows,
            cost_sum,
            cost,
            loss_count,
            coverage,
            parts,
            sparsity: rounded(sparsity),
            unchanged,
            violations,
        }
    }
}

/// Figures of sogar's search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Summaries on the front.
    pub points: usize,
    /// Actions in all.
    pub actions: usize,
    /// Seconds for outcomes.
    pub seconds_outcomes: f64,
    /// Seconds for the search.
    pub seconds_search: f64,
    /// Mean distance between a summary's (cost, loss) on train and on held-out rows.
    pub mean_distance: f64,
    /// Its standard deviation over the front.
    pub sd_distance: f64,
}

/// One group of people under a method's proposals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupScore {
    /// `train` or `held-out`.
    pub table: String,
    /// The group.
    pub group: String,
    /// Its affected rows.
    pub rows: usize,
    /// Mean cost.
    pub cost: f64,
    /// Mean loss.
    pub loss: f64,
}

/// One group of people on one table, along the front.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupFigures {
    /// `train` or `held-out`.
    pub table: String,
    /// The group.
    pub group: String,
    /// Its rows.
    pub rows: usize,
    /// Those turned down.
    pub affected: usize,
    /// Share of its rows turned down.
    pub adverse_rate: Option<f64>,
    /// True positive rate of the classifier.
    pub tpr: Option<f64>,
    /// Cost, loss and invalidity.
    pub measures: Vec<GroupMeasure>,
}

/// A measure of a group along the front.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupMeasure {
    /// `cost`, `loss` or `invalidity`.
    pub measure: String,
    /// Mean over the front.
    pub mean: f64,
    /// Standard deviation over the front.
    pub sd: f64,
    /// Mean gap to everyone else.
    pub gap: f64,
    /// Share of the front with a positive gap.
    pub worse: f64,
    /// The measure at the points of the stored front. First fold, train rows only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<f64>,
}

impl CellResult {
    /// A result of a cell, without figures yet.
    pub fn new(cell: &Cell, inputs: String, status: FitStatus, seconds: f64) -> CellResult {
        CellResult {
            key: cell.key(status == FitStatus::TimeLimit),
            cut: cell
                .limit()
                .filter(|_| status == FitStatus::TimeLimit)
                .map(|limit| (cell.key(false), limit)),
            inputs,
            fold: cell.fold,
            method: cell.method.name.to_owned(),
            setting: cell.setting.label.clone(),
            protocol: cell.protocol.clone(),
            status,
            date: sogar::clock::utc_now(),
            seconds: rounded(seconds),
            threads: 1,
            timed: false,
            train: None,
            held_out: None,
            search: None,
            groups: Vec::new(),
            audit: Vec::new(),
            front: Vec::new(),
        }
    }

    /// The seconds to which a limit applies: sogar's search, or the whole method.
    pub fn limited_seconds(&self) -> f64 {
        self.search.map_or(self.seconds, |search| search.seconds_search)
    }

    /// Where a repeated run of a complete cell differs from this one, in words; `None`: nowhere. Times and dates do not count.
    pub fn difference(&self, again: &CellResult) -> Option<String> {
        let count = |search: Option<Search>| search.map(|search| (search.points, search.actions));
        let pairs = [
            ("status", format!("{:?}", self.status), format!("{:?}", again.status)),
            ("train", format!("{:?}", self.train), format!("{:?}", again.train)),
            ("held-out", format!("{:?}", self.held_out), format!("{:?}", again.held_out)),
            ("front", format!("{:?}", count(self.search)), format!("{:?}", count(again.search))),
            ("groups", format!("{:?}", self.groups), format!("{:?}", again.groups)),
        ];
        pairs
            .into_iter()
            .find(|(_, one, other)| one != other)
            .map(|(what, one, other)| format!("{what}: stored {one}, now {other}"))
    }
}

/// Five decimals: more than any table or figure shows.
pub fn rounded(value: f64) -> f64 {
    (value * 1e5).round() / 1e5
}

/// Positions of at most [`CURVE`] of so many points, the first and the last among them.
pub fn thinned(points: usize) -> Vec<usize> {
    if points <= CURVE {
        return (0..points).collect();
    }
    (0..CURVE).map(|step| step * (points - 1) / (CURVE - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::result;
    use super::*;

    #[test]
    fn curves_keep_their_ends() {
        assert_eq!(thinned(3), [0, 1, 2]);
        let many = thinned(4000);
        assert_eq!((many.len(), many[0], many[CURVE - 1]), (CURVE, 0, 3999));
    }

    #[test]
    fn a_repeated_run_differs_by_figures_and_not_by_times() {
        let stored = result("sogar", 1, 0.1, 0.02);
        let later = CellResult { seconds: 99.0, date: "later".into(), ..stored.clone() };
        assert_eq!(stored.difference(&later), None);
        let other = result("sogar", 1, 0.1, 0.03);
        assert!(stored.difference(&other).unwrap().starts_with("train: stored "));
    }
}
