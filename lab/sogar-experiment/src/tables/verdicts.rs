//! Counts what the figures show: where sogar is lowest, how near the published figures are, and how far limits take it from its
//! complete front.

use super::super::name::Name;
use super::{Figure, Read, Row, Tables, distinct, held_out, is_lower, same_table, shared, train};
use sogar_baselines::methods::MethodKind;

/// How near a figure must be to count as reached.
pub const NEAR: f64 = 0.02;

impl Tables {
    /// Whether no method of a row's kind (or no method at all) has a lower invalidity on the folds that both have.
    pub(super) fn is_best(&self, row: &Row, read: Read, of_kind: bool) -> bool {
        let rivals = self
            .rows
            .iter()
            .filter(|other| same_table(row, other) && (!of_kind || row.method.kind == other.method.kind));
        let lower = |other: &Row| is_lower(other, row, read, Figure::Invalidity);
        row.results.values().any(|result| read(result).is_some())
            && !rivals.filter_map(lower).any(|lower| lower)
    }

    /// The relative change of a row's invalidity (for `hardware`: of its time) against the usual setting, over the folds that both have.
    pub fn change_of(&self, row: &Row) -> Option<f64> {
        let usual = self.name.usual()?;
        let base = self.rows.iter().find(|other| same_table(row, other) && other.setting == usual)?;
        // Searches that end by themselves have results for every longer limit: such folds alone would say that limits do not matter.
        let chosen = self.name == Name::Timeouts && base.folds() != row.folds();
        if base.setting == row.setting || chosen {
            return None;
        }
        let read = |row: &Row, other: &Row| match self.name {
            Name::Hardware => row.seconds().map(|seconds| seconds.mean),
            _ => shared(row, other, train).map(|(means, _)| means[Figure::Invalidity as usize]),
        };
        Some(read(row, base)? / read(base, row)? - 1.0)
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
                count(train, true),
                count(held_out, true),
                count(train, false),
                count(held_out, false),
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

    /// The methods of a kind that have a lower figure than a row's, on the rows that were learned from and over the folds that both
    /// have; `None`: nothing can be compared.
    pub fn lower_than(
        &self,
        row: &Row,
        kind: Option<MethodKind>,
        figure: Figure,
    ) -> Option<Vec<&'static str>> {
        let compared: Vec<(&'static str, bool)> = self
            .rows
            .iter()
            .filter(|other| same_table(row, other) && other.method.name != row.method.name)
            .filter(|other| kind.is_none_or(|kind| other.method.kind == kind))
            .filter_map(|other| Some((other.method.name, is_lower(other, row, train, figure)?)))
            .collect();
        let lower = compared.iter().filter(|(_, lower)| *lower).map(|(name, _)| *name).collect();
        (!compared.is_empty()).then_some(lower)
    }

    /// The same for sogar's row of every column that has one.
    pub fn lower_than_sogar(
        &self,
        kind: Option<MethodKind>,
        figure: Figure,
    ) -> Vec<(&Row, Vec<&'static str>)> {
        let ours = self.rows.iter().filter(|row| row.method.name == "sogar");
        ours.filter_map(|row| Some((row, self.lower_than(row, kind, figure)?))).collect()
    }
}
