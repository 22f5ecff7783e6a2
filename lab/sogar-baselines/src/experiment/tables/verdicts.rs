//! What the figures amount to, counted: where sogar is lowest, and how far limits take it from its complete front.

use super::super::name::Name;
use super::markdown::same_table;
use super::{Figures, Row, Tables};

/// Two figures that print alike are equal.
fn rounded(value: f64) -> i64 {
    (value * 100.0).round() as i64
}

impl Tables {
    /// Whether a row has the lowest invalidity of its table.
    pub(super) fn is_best(&self, row: &Row, read: fn(&Row) -> Option<Figures>) -> bool {
        let invalidity = |row: &Row| read(row).map(|figures| figures.invalidity.mean);
        let lowest = self
            .rows
            .iter()
            .filter(|other| same_table(row, other))
            .filter_map(invalidity)
            .min_by(f64::total_cmp);
        lowest.is_some() && invalidity(row) == lowest
    }

    /// The relative change of a row's quality (for `hardware`: of its time) against the usual setting.
    pub(super) fn change(&self, row: &Row) -> Option<f64> {
        let usual = self.name.usual()?;
        let base = self.rows.iter().find(|other| same_table(row, other) && other.setting == usual)?;
        if base.setting == row.setting {
            return None;
        }
        let read = |row: &Row| match self.name {
            Name::Hardware => row.seconds.map(|seconds| seconds.mean),
            _ => row.train.map(|train| train.invalidity.mean),
        };
        Some(read(row)? / read(base)? - 1.0)
    }

    /// Sentences that count.
    pub(super) fn verdicts(&self) -> Vec<String> {
        let mut costs: Vec<&str> = self.rows.iter().map(|row| row.cost).collect();
        costs.dedup();
        costs.sort_unstable();
        costs.dedup();
        costs.into_iter().flat_map(|cost| self.verdicts_of(cost)).collect()
    }

    fn verdicts_of(&self, cost: &str) -> Vec<String> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.cost == cost).collect();
        match self.name {
            Name::Table1 => self.against_others(cost, &rows),
            Name::Timeouts => self.against_complete(cost, &rows),
            _ => Vec::new(),
        }
    }

    fn against_others(&self, cost: &str, rows: &[&Row]) -> Vec<String> {
        let ours: Vec<&Row> =
            rows.iter().copied().filter(|row| row.method == "sogar" && row.train.is_some()).collect();
        let contested = |row: &&&Row| {
            rows.iter().any(|other| same_table(row, other) && other.method != "sogar" && other.folds > 0)
        };
        let cells: Vec<&Row> = ours.iter().filter(contested).copied().collect();
        let mut verdicts = Vec::new();
        if !cells.is_empty() {
            let train = cells.iter().filter(|row| self.is_best(row, |row| row.train)).count();
            let elsewhere = cells.iter().filter(|row| self.is_best(row, |row| row.held_out)).count();
            let all = cells.len();
            verdicts.push(format!(
                "Cost `{cost}`: sogar has the lowest mean invalidity in {train} of {all} cells on train rows, and in {elsewhere} of {all} on held-out rows."
            ));
        }
        let beside: Vec<(&Row, f64, f64)> = ours
            .iter()
            .filter_map(|row| Some((*row, row.train?.invalidity.mean, row.paper?.invalidity()?)))
            .collect();
        if !beside.is_empty() {
            let at_most = |(_, ours, published): &&(&Row, f64, f64)| rounded(*ours) <= rounded(*published);
            let above: Vec<String> = beside
                .iter()
                .filter(|pair| !at_most(pair))
                .map(|(row, ours, published)| {
                    format!("{} {} {ours:.2} against {published:.2}", row.dataset, row.model)
                })
                .collect();
            let above =
                if above.is_empty() { String::new() } else { format!(" Above: {}.", above.join("; ")) };
            verdicts.push(format!(
                "Cost `{cost}`: at or below the paper's own invalidity (to two digits) in {} of {} cells.{above}",
                beside.iter().filter(at_most).count(),
                beside.len(),
            ));
        }
        verdicts
    }

    fn against_complete(&self, cost: &str, rows: &[&Row]) -> Vec<String> {
        let mut labels: Vec<&str> = Vec::new();
        for row in rows {
            if !labels.contains(&row.setting.as_str()) {
                labels.push(&row.setting);
            }
        }
        labels
            .into_iter()
            .filter_map(|label| {
                let changes = rows.iter().filter(|row| row.setting == label).filter_map(|row| {
                    self.change(row).map(|change| (change, format!("{} {}", row.dataset, row.model)))
                });
                let (worst, place) = changes.max_by(|one, other| one.0.total_cmp(&other.0))?;
                let worst = 100.0 * worst;
                Some(format!(
                    "Cost `{cost}`: with {label} for the search, invalidity is at most {worst:+.1} % off the complete front's ({place})."
                ))
            })
            .collect()
    }
}
