//! Reads a result file and checks every reference, so that no later code has to.

use std::path::Path;

use serde_json::{Value, json};

use super::round_trip::difference;
use super::{EARLIER_VERSION, FORMAT, FrontFile, Node, PointRef, Status, VERSION};
use crate::fairness::{chosen, least_limit};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::read_bytes;
use sogar_table::config::NumberRule;

impl FrontFile {
    /// Reads and checks a result file.
    pub fn read(path: &Path) -> Result<FrontFile> {
        FrontFile::parse(&read_bytes(path)?).map_err(|error| error.file(path))
    }

    /// Parses and checks the bytes of a result file.
    pub fn parse(bytes: &[u8]) -> Result<FrontFile> {
        let fault = |message: String| {
            Error::new(ErrorKind::ResultFile, message).help("write it anew with `sogar solve`")
        };
        let mut head: Value = serde_json::from_slice(bytes)
            .map_err(|cause| fault(format!("not a result file of sogar, or a damaged one: {cause}")))?;
        if head.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(fault("not a result file of sogar".into()));
        }
        let damaged = |what: String| fault(format!("a damaged result file: {what}"));
        let mut front: FrontFile = match head.get("version").and_then(Value::as_u64) {
            Some(version) if version == u64::from(VERSION) => {
                let front: FrontFile =
                    serde_json::from_slice(bytes).map_err(|cause| damaged(cause.to_string()))?;
                let written = serde_json::to_value(&front).map_err(|cause| damaged(cause.to_string()))?;
                if let Some(difference) = difference(&head, &written) {
                    return Err(damaged(difference));
                }
                front
            }
            Some(version) if version == u64::from(EARLIER_VERSION) => {
                say_what_the_sample_gave(&mut head);
                serde_json::from_value(head).map_err(|cause| damaged(cause.to_string()))?
            }
            Some(version) => {
                return Err(fault(format!(
                    "version {version} of the format; this program reads {EARLIER_VERSION} and {VERSION}"
                )));
            }
            None => return Err(fault("the result file has no version".into())),
        };
        // Results that do not say how numbers move are from a time when there was one rule.
        front.config.numbers.get_or_insert(NumberRule::Bins);
        front.check_references().map_err(damaged)?;
        if front.version == VERSION {
            front.check_claims().map_err(damaged)?;
            if let Some(setting) = front.config.clone().leave_out_settings_of_runs().first() {
                return Err(damaged(format!("`config.{setting}` is a setting of a run, not of its result")));
            }
        }
        Ok(front)
    }

    fn check_references(&self) -> std::result::Result<(), String> {
        let population = &self.population;
        let flags = population
            .affected_rows
            .flags(population.rows)
            .ok_or("affected_rows is not a set of the table's rows")?;
        if flags.iter().filter(|&&flag| flag).count() != population.affected || population.affected == 0 {
            return Err("affected_rows does not have as many rows as `affected` says".into());
        }
        if self.table.rows != population.rows {
            return Err("table and population differ in rows".into());
        }
        if self.cost.unit == 0 {
            return Err("the cost's unit is 0".into());
        }
        let holdout = self.holdout.as_ref().map(|holdout| holdout.weight.as_ref());
        if let Some(there) = holdout
            && there.is_some() != self.weight.is_some()
        {
            return Err("only one of the two tables has weights".into());
        }
        for weight in self.weight.iter().chain(holdout.flatten()) {
            weight.check()?;
        }
        let people = self.people().affected;
        for split in &self.splits {
            split.split(&self.features).map_err(|error| error.to_string())?;
        }
        for action in &self.actions {
            if action.flips.flags(population.affected).is_none() {
                return Err(format!("the flips of action {} are not a set of the affected rows", action.id));
            }
            for edit in &action.edits {
                edit.edit(&self.features).map_err(|error| error.to_string())?;
            }
        }
        if self.points.is_empty() {
            return Err("the front has no points".into());
        }
        self.check_points(&self.points, people)?;
        self.check_fairness(people)?;
        if let Some(block) = &self.plausibility {
            let leaves = self.points.iter().map(|point| point.leaves as usize);
            if block.actions.len() != self.actions.len() || !block.points.iter().map(Vec::len).eq(leaves) {
                return Err("the block `plausibility` has not every action and leaf".into());
            }
        }
        if self.holdout.as_ref().is_some_and(|holdout| holdout.points.len() != self.points.len()) {
            return Err("the held-out block does not have as many points as the front".into());
        }
        if let Some(holdout) = self.holdout.as_ref().filter(|holdout| !holdout.details.is_empty()) {
            let leaves = self.points.iter().map(|point| point.leaves as usize);
            if !holdout.details.iter().map(|detail| detail.leaves.len()).eq(leaves) {
                return Err("the held-out block does not have the leaves of the front's trees".into());
            }
        }
        if let Some(sample) = &self.sample
            && (sample.points.len() != self.points.len() || sample.rows > population.affected)
        {
            return Err("the sample is larger than the population, or lacks points of the front".into());
        }
        // The weight of a sample's rows is known only after they are drawn.
        if let Some(sample) = self.sample.as_ref().filter(|_| self.version == VERSION) {
            let people = match &self.weight {
                None => sample.rows as u64,
                Some(_) => sample.front.first().map_or(0, |point| point.tree.rows()),
            };
            if sample.front.is_empty() || people == 0 {
                return Err("the sample has no front, or nobody in it".into());
            }
            self.check_points(&sample.front, people).map_err(|what| format!("the sample's front: {what}"))?;
        }
        Ok(())
    }

    /// Whether points agree with their trees and form a front.
    fn check_points(&self, points: &[PointRef], people: u64) -> std::result::Result<(), String> {
        for (number, point) in points.iter().enumerate() {
            let mut totals = (0u64, 0u64, 0u64);
            self.add_up(&point.tree, &mut totals).map_err(|what| format!("point {number}: {what}"))?;
            let loss = totals.0.saturating_sub(totals.1);
            if totals.0 != people || loss != point.loss_count || totals.2 != point.cost_sum {
                return Err(format!("point {number} does not agree with the leaves of its tree"));
            }
            let means = super::means(point.cost_sum, point.loss_count, self.cost.unit, people);
            let written = (point.cost, point.loss, point.invalidity);
            let shape = (point.tree.leaves(), point.tree.depth());
            if written != (means.cost, means.loss, means.invalidity) || shape != (point.leaves, point.depth) {
                return Err(format!("point {number}: its means, leaves or depth are not those of its tree"));
            }
        }
        // With `minimax`, the loss of all may rise where that of the group that is worst off falls.
        let any_loss = self.config.fairness.minimax.is_some();
        let ordered =
            |w: &[PointRef]| w[0].cost_sum < w[1].cost_sum && (any_loss || w[0].loss_count > w[1].loss_count);
        if !points.windows(2).all(ordered) {
            return Err("the points are not a front: one of them is dominated or out of order".into());
        }
        Ok(())
    }

    /// Whether the block about groups is the one that the configuration asks for, and the points are those that follow from it.
    fn check_fairness(&self, people: u64) -> std::result::Result<(), String> {
        let goal = self.config.fairness.goal().map_err(|error| error.to_string())?;
        let (goal, fairness) = match (goal, &self.fairness) {
            (None, None) => return Ok(()),
            (Some(_), None) => return Err("the configuration asks for groups, but there are none".into()),
            (None, Some(_)) => return Err("there are groups, but the configuration asks for none".into()),
            (Some(goal), Some(fairness)) => (goal, fairness),
        };
        let points: Vec<(u64, u64)> =
            self.points.iter().map(|point| (point.cost_sum, point.loss_count)).collect();
        fairness.check(&points, people)?;
        let thinned = fairness.epsilon > 0.0;
        let said = match self.status {
            Status::Complete => !thinned,
            Status::CompleteWithinEpsilon => thinned,
            Status::CompleteOnSample => false,
            Status::TimeLimit | Status::Cancelled => true,
        };
        if !said || fairness.epsilon != f64::from(self.config.fairness.millionths()) / 1e6 {
            return Err("status, epsilon and configuration disagree".into());
        }
        if chosen(&goal, &fairness.front, &fairness.sizes()) != fairness.points {
            return Err("the points are not those that the goal chooses of the groups' front".into());
        }
        if goal.max_gap.and_then(|_| least_limit(&fairness.front, &fairness.sizes(), &fairness.points))
            != fairness.least_limit
        {
            return Err("least_limit is not the smallest gap of the groups' front".into());
        }
        Ok(())
    }

    /// Adds up (rows, flipped, cost) over the leaves, checking positions.
    fn add_up(&self, node: &Node, totals: &mut (u64, u64, u64)) -> std::result::Result<(), String> {
        match node {
            Node::Leaf { action, rows, flipped, cost_sum } => {
                if *action >= self.actions.len() || flipped > rows {
                    return Err("a leaf with an unknown action or more flips than rows".into());
                }
                let add = |a: u64, b: u64| a.checked_add(b).ok_or("totals overflow");
                *totals = (add(totals.0, *rows)?, add(totals.1, *flipped)?, add(totals.2, *cost_sum)?);
                Ok(())
            }
            Node::Split { split, left, right } => {
                if *split >= self.splits.len() {
                    return Err("an unknown split".into());
                }
                self.add_up(left, totals)?;
                self.add_up(right, totals)
            }
        }
    }
}

/// Results of the earlier version do not store the search on a sample, except that it ended as the run did.
fn say_what_the_sample_gave(front: &mut Value) {
    let ended = match front.get("status").and_then(Value::as_str) {
        Some("complete_on_sample") => json!("complete"),
        other => json!(other),
    };
    if let Some(sample) = front.get_mut("sample").and_then(Value::as_object_mut) {
        sample.insert("status".into(), ended);
        sample.insert("front".into(), json!([]));
    }
}
