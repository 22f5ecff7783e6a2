//! Counts what the figures show: where sogar is lowest, how near the published figures are, and how far limits take it from its
//! complete front.

use super::super::name::Name;
use super::super::statistics::MeanSd;
use super::{Means, Row, Tables, distinct, same_table};
use crate::methods::MethodKind;

/// How near a figure must be to count as reached.
pub const NEAR: f64 = 0.02;

/// Which people a figure is about.
type Read = fn(&Row) -> Option<Means>;

impl Tables {
    /// Whether a row has the lowest invalidity of its table, among methods of its kind or among all.
    pub(super) fn is_best(&self, row: &Row, read: Read, of_kind: bool) -> bool {
        let invalidity = |row: &Row| read(row).map(|means| means.invalidity.mean);
        let lowest = self
            .rows
            .iter()
            .filter(|other| same_table(row, other) && (!of_kind || row.method.kind == other.method.kind))
            .filter_map(invalidity)
            .min_by(f64::total_cmp);
        lowest.is_some() && invalidity(row) == lowest
    }

    /// The relative change of a row's quality (for `hardware`: of its time) against the usual setting.
    pub fn change_of(&self, row: &Row) -> Option<f64> {
        let usual = self.name.usual()?;
        let base = self.rows.iter().find(|other| same_table(row, other) && other.setting == usual)?;
        if base.setting == row.setting || base.folds() != row.folds() {
            return None;
        }
        let read = |row: &Row| match self.name {
            Name::Hardware => row.seconds().map(|seconds| seconds.mean),
            _ => row.train.map(|train| train.invalidity.mean),
        };
        Some(read(row)? / read(base)? - 1.0)
    }

    /// Sentences with counts.
    pub fn verdicts(&self) -> Vec<String> {
        let protocols = distinct(self.rows.iter().map(|row| row.protocol.as_str()));
        protocols
            .into_iter()
            .flat_map(|protocol| {
                let rows: Vec<&Row> = self.rows.iter().filter(|row| row.protocol == protocol).collect();
                match self.name {
                    Name::Table1 => self.against_others(protocol, &rows),
                    Name::Timeouts => self.against_complete(protocol, &rows),
                    _ => Vec::new(),
                }
            })
            .collect()
    }

    fn against_others(&self, protocol: &str, rows: &[&Row]) -> Vec<String> {
        let ours: Vec<&Row> =
            rows.iter().copied().filter(|row| row.method.name == "sogar" && row.train.is_some()).collect();
        let contested = |row: &&&Row| {
            rows.iter()
                .any(|other| same_table(row, other) && other.method.name != "sogar" && other.folds() > 0)
        };
        let cells: Vec<&Row> = ours.iter().filter(contested).copied().collect();
        let mut verdicts = Vec::new();
        if !cells.is_empty() {
            let count = |read: Read, of_kind: bool| {
                cells.iter().filter(|row| self.is_best(row, read, of_kind)).count()
            };
            let all = cells.len();
            verdicts.push(format!(
                "Protocol `{protocol}`: sogar has the lowest mean invalidity among summaries in {} of {all} columns on train rows and \
                 in {} of {all} on held-out rows; among all methods, individual search included, in {} and {}.",
                count(|row| row.train, true),
                count(|row| row.held_out, true),
                count(|row| row.train, false),
                count(|row| row.held_out, false),
            ));
        }
        let beside: Vec<(&Row, f64, f64)> = ours
            .iter()
            .filter_map(|row| Some((*row, row.train?.invalidity.mean, row.paper?.invalidity()?)))
            .collect();
        if !beside.is_empty() {
            let near = |(_, ours, published): &&(&Row, f64, f64)| (ours - published).abs() <= NEAR + 1e-9;
            let off: Vec<String> = beside
                .iter()
                .filter(|pair| !near(pair))
                .map(|(row, ours, published)| {
                    format!("{} {} {ours:.2} against {published:.2}", row.dataset, row.model)
                })
                .collect();
            let off =
                if off.is_empty() { String::new() } else { format!(" Further off: {}.", off.join("; ")) };
            verdicts.push(format!(
                "Protocol `{protocol}`: within {NEAR} of the paper's own SOGAR in {} of {} columns.{off}",
                beside.iter().filter(near).count(),
                beside.len(),
            ));
        }
        verdicts
    }

    fn against_complete(&self, protocol: &str, rows: &[&Row]) -> Vec<String> {
        distinct(rows.iter().map(|row| row.setting.as_str()))
            .into_iter()
            .filter_map(|label| {
                let changes = rows.iter().filter(|row| row.setting == label).filter_map(|row| {
                    self.change_of(row).map(|change| (change, format!("{} {}", row.dataset, row.model)))
                });
                let (worst, place) = changes.max_by(|one, other| one.0.total_cmp(&other.0))?;
                let worst = 100.0 * worst;
                Some(format!(
                    "Protocol `{protocol}`: with {label} for the search, invalidity is at most {worst:+.1} % off the complete front's ({place})."
                ))
            })
            .collect()
    }

    /// Of the columns in which sogar and others of a kind have results: in how many sogar is at most as high, by this figure.
    pub fn wins(&self, kind: Option<MethodKind>, read: fn(&Means) -> MeanSd) -> (usize, usize) {
        let sogar = self.rows.iter().filter(|row| row.method.name == "sogar");
        let (mut won, mut all) = (0, 0);
        for row in sogar {
            let others: Vec<f64> = self
                .rows
                .iter()
                .filter(|other| same_table(row, other) && other.method.name != "sogar")
                .filter(|other| kind.is_none_or(|kind| other.method.kind == kind))
                .filter_map(|other| other.train.as_ref().map(|means| read(means).mean))
                .collect();
            let Some(own) = row.train.as_ref().map(|means| read(means).mean).filter(|_| !others.is_empty())
            else {
                continue;
            };
            all += 1;
            won += usize::from(others.iter().all(|&other| own <= other));
        }
        (won, all)
    }
}
