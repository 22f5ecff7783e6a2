//! The audit of a table that no process holds whole. The leader has the columns of groups and true labels, and adds up the
//! results of the parts. The result equals that of the whole table, to the byte.

use std::ops::Range;

use super::assemble::{Assembly, Further, members};
use super::grouping::{LearnedGrouping, View};
use super::holdout_columns::HoldoutColumns;
use super::measures::{Along, Sums};
use super::part::{PartAudit, Places, damaged, identity};
use super::reach::Reach;
use super::result::PopulationAudit;
use super::weighted_population::WeightedPopulation;
use super::{AuditRequest, rules_of, unreachable};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::summary::FrontFile;
use sogar_prepare::prepared::Prepared;
use sogar_table::feature::{Columns, FeatureTable, Weights};
use sogar_table::table::Table;

/// Held-out people whose parts arrive one after the other, in the order of the table.
pub struct PartitionedAudit {
    front: [u8; 32],
    unit_of_cost: u64,
    rows: usize,
    weights: Option<Weights>,
    seen: HoldoutColumns,
    /// Results of the parts so far.
    affected: Vec<usize>,
    along: Along,
    /// Affected people of each part.
    parts: Vec<usize>,
    /// Rows of these parts.
    done: usize,
    reach: Reach,
}

/// The columns of a held-out table that the leader needs: those of groups, true labels and weights, or any column, to count rows.
pub fn columns_for_leader(
    prepared: &Prepared,
    reference: &Table,
    request: &AuditRequest,
) -> Result<Vec<String>> {
    let features = &prepared.table().features;
    let rules = rules_of(prepared, reference, request)?;
    let data = &prepared.config().data;
    let named = [&request.label, &data.label, &data.weight];
    let mut columns: Vec<String> = rules.iter().flat_map(|rule| rule.columns(features)).collect();
    columns.extend(named.into_iter().flatten().cloned());
    columns
        .extend(features.first().into_iter().flat_map(|feature| feature.columns.names()).map(String::from));
    columns.sort_unstable();
    columns.dedup();
    Ok(columns)
}

impl PartitionedAudit {
    /// Starts with those columns of [`columns_for_leader`] that the whole table has. `columns` adds the values that the table
    /// does not have.
    pub fn new(
        front: &FrontFile,
        prepared: &Prepared,
        reference: &Table,
        table: &Table,
        columns: &Table,
        request: &AuditRequest,
    ) -> Result<PartitionedAudit> {
        let rules = rules_of(prepared, reference, request)?;
        let features = features_of(prepared, table, &rules)?.weighed(table, prepared.config())?;
        let view = View { columns, features: &features };
        let seen = HoldoutColumns::new(prepared, view, &rules, request.label.as_deref())?;
        let groups =
            |_| seen.groupings.iter().map(|groups| vec![Sums::default(); groups.names.len()]).collect();
        let along = Along {
            points: front.points.iter().map(groups).collect(),
            costs: Vec::new(),
            losses: Vec::new(),
            weights: Vec::new(),
            person: features.weight_unit(),
        };
        Ok(PartitionedAudit {
            front: identity(front, prepared),
            unit_of_cost: front.cost.unit,
            rows: table.rows,
            weights: features.weights,
            seen,
            affected: Vec::new(),
            along,
            parts: Vec::new(),
            done: 0,
            reach: Reach::default(),
        })
    }

    fn places_of(&self, rows: Range<usize>) -> Result<Places> {
        let groupings = self.seen.groupings.iter().map(|groups| {
            let of_row = groups.of_row.get(rows.clone()).ok_or_else(|| self.not_these(&rows))?;
            Ok((groups.names.len(), of_row.to_vec()))
        });
        let unit = self.weights.as_ref().map_or(0, |weights| weights.unit);
        Ok(Places { front: self.front, unit, rows: rows.len(), groupings: groupings.collect::<Result<_>>()? })
    }

    fn not_these(&self, rows: &Range<usize>) -> Error {
        let message = format!("the table has {} rows, not {}", self.rows, rows.end);
        Error::new(ErrorKind::Table, message)
            .help("give a table whose partitions are the same whenever they are computed")
    }

    /// The message for the part with these rows of the table, for [`part`](super::part()).
    pub fn places(&self, rows: Range<usize>) -> Result<Vec<u8>> {
        if rows.start > rows.end || rows.end > self.rows {
            return Err(self.not_these(&rows));
        }
        self.places_of(rows).map(|places| places.to_bytes())
    }

    /// Adds the next part, which has this many rows. A part without rows adds nothing.
    pub fn add(&mut self, rows: usize, bytes: &[u8]) -> Result<()> {
        if rows == 0 {
            self.parts.push(0);
            return Ok(());
        }
        let end = self.done.saturating_add(rows);
        if end > self.rows {
            return Err(self.not_these(&(self.done..end)));
        }
        let part = PartAudit::from_bytes(bytes, &self.places_of(self.done..end)?, self.along.points.len())?;
        let mine = self.along.points.iter_mut().flatten().flatten();
        for (sums, more) in mine.zip(part.points.iter().flatten().flatten()) {
            *sums = sums
                .plus(*more)
                .ok_or_else(|| damaged("this is no part of the audit", "its sums are out of range".into()))?;
        }
        self.along.costs.extend(part.costs);
        self.along.losses.extend(part.losses);
        self.affected.extend(part.affected.iter().map(|row| self.done + row));
        self.parts.push(part.affected.len());
        self.done = end;
        Ok(())
    }

    /// Whether to search the parts for people out of reach, if requested. Call after all parts were added.
    pub fn is_searched(&self, prepared: &Prepared) -> bool {
        unreachable::is_searched(prepared, self.affected.len())
    }

    /// Adds the result of [`reach_of_part`](super::reach_of_part) for the next part. A part without rows adds nothing.
    pub fn add_reach(&mut self, bytes: &[u8]) -> Result<()> {
        match self.parts.get(self.reach.parts) {
            Some(0) if bytes.is_empty() => {
                self.reach.parts += 1;
                Ok(())
            }
            Some(&affected) => self.reach.add(bytes, affected),
            None => Err(Error::new(ErrorKind::Usage, "the table has no more parts")),
        }
    }

    /// The audit of the whole table.
    pub(super) fn finish(
        mut self,
        assembly: &Assembly<'_>,
        prepared: &Prepared,
        notes: &mut Vec<String>,
    ) -> Result<PopulationAudit> {
        if self.done != self.rows {
            let message = format!("parts with {} of {} rows are missing", self.rows - self.done, self.rows);
            return Err(Error::new(ErrorKind::Usage, message));
        }
        if self.affected.is_empty() {
            return Err(sogar_front::evaluate::nobody());
        }
        notes.append(&mut self.seen.notes);
        let people = WeightedPopulation {
            rows: self.rows,
            person: self.along.person,
            weights: self.weights,
            affected: self.affected,
            unit: self.unit_of_cost,
        };
        self.along.weights = (0..people.count()).map(|person| people.weight(person)).collect();
        let unreachable = match assembly.request.unreachable {
            true if self.reach.parts == self.parts.len() => self.reach.finish(prepared)?,
            _ => None,
        };
        if assembly.request.unreachable && unreachable.is_none() {
            notes.push(super::NOT_SEARCHED.to_owned());
        }
        if !assembly.request.measures.is_empty() || assembly.request.scan.is_some() {
            notes.push(
                "Further measures and subgroups were not computed for held-out people: their table is in parts.".to_owned(),
            );
        }
        let HoldoutColumns { groupings, truth, .. } = &self.seen;
        let members = members(&people, groupings);
        Ok(assembly.population(
            &people,
            &members,
            (&self.along, Further::default()),
            groupings,
            truth.as_ref(),
            unreachable.as_ref(),
        ))
    }
}

/// The features that define groups: those of several columns. Others have no values here.
fn features_of(prepared: &Prepared, table: &Table, rules: &[LearnedGrouping]) -> Result<FeatureTable> {
    let features = &prepared.table().features;
    let wanted: Vec<String> = rules.iter().flat_map(|rule| rule.columns(features)).collect();
    let mut values = Vec::with_capacity(features.len());
    for feature in features {
        values.push(match &feature.columns {
            Columns::OneHot(columns) if columns.iter().flatten().all(|column| wanted.contains(column)) => {
                let (mut alone, _) =
                    FeatureTable::apply(std::slice::from_ref(feature), table, prepared.config())?;
                alone.values.pop().unwrap_or_default()
            }
            _ => Vec::new(),
        });
    }
    Ok(FeatureTable { features: features.clone(), values, rows: table.rows, weights: None })
}
