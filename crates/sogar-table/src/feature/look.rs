//! Infers features without all rows in memory: the distinct values of a column determine its kind as well as the whole column
//! does.
//!
//! A table in memory is read directly. A table that is read in parts is read column by column: each value is stored with the line
//! of its first occurrence, so that errors name the place, and with its number of rows.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::Scale;
use super::one_hot::{self, NoneSet, Pairs, Sums};
use crate::table::{Cells, Column, Names, Table, TableSource};
use sogar_base::error::Result;

/// Rows to read at a time.
const ROWS_AT_ONCE: usize = 1 << 16;
/// A column of numbers with more distinct values than this is stored whole while it is read, which takes less memory.
const MOST_KEPT_ONCE: usize = 1 << 20;

/// The weights of the cells of a column.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Rows that each cell stands for; empty: one.
    pub rows: Vec<u64>,
    /// Their weight in units; empty: the number of rows.
    pub weights: Vec<u64>,
}

impl Counts {
    /// The number of rows whose cell passes.
    pub(super) fn rows_where(&self, cells: usize, passes: impl Fn(usize) -> bool) -> u64 {
        (0..cells).filter(|&cell| passes(cell)).map(|cell| self.rows.get(cell).copied().unwrap_or(1)).sum()
    }

    /// The weight of each cell; empty: 1.
    pub(super) fn times(&self) -> &[u64] {
        if self.weights.is_empty() { &self.rows } else { &self.weights }
    }
}

/// Receives a column with the weights of its cells.
pub(super) type Viewer<'a> = dyn FnMut(&Table, &Column, &Counts) -> Result<()> + 'a;

/// Receives a part of a table with the weights of its rows, if any; returns whether to continue.
type WeighedVisit<'a> = dyn FnMut(&Table, Option<&[u64]>) -> Result<ControlFlow<()>> + 'a;

/// What inference needs from a table.
pub(super) trait Look {
    /// Path, rows and names; cells may be missing.
    fn header(&self) -> &Table;
    /// Passes the column at a position to `viewer`.
    fn column(&self, position: usize, viewer: &mut Viewer<'_>) -> Result<()>;
    /// Whether all cells of a column are 0 or 1 (or true or false).
    fn is_zero_or_one(&self, position: usize) -> Result<bool>;
    /// How often some columns of 0 and 1 are 1, and how often together.
    fn sums(&self, names: &[&str]) -> Result<Sums>;
    /// How often each of some columns of 0 and 1 is 1, and how often two of them are.
    fn pairs(&self, names: &[&str]) -> Result<Pairs>;
    /// The categories of a one-hot group, per cell.
    fn one_hot(&self, columns: &[Option<String>]) -> Result<(Vec<f64>, Counts)>;
}

impl Look for Table {
    fn header(&self) -> &Table {
        self
    }

    fn column(&self, position: usize, viewer: &mut Viewer<'_>) -> Result<()> {
        viewer(self, &self.columns[position], &Counts::default())
    }

    fn is_zero_or_one(&self, position: usize) -> Result<bool> {
        Ok(one_hot::are_flags(&self.columns[position].cells))
    }

    fn sums(&self, names: &[&str]) -> Result<Sums> {
        let mut sums = Sums::default();
        sums.add(self, names);
        Ok(sums)
    }

    fn pairs(&self, names: &[&str]) -> Result<Pairs> {
        let mut pairs = Pairs::default();
        pairs.add(self, names);
        Ok(pairs)
    }

    fn one_hot(&self, columns: &[Option<String>]) -> Result<(Vec<f64>, Counts)> {
        Ok((one_hot::values(self, columns, NoneSet::Refuse)?, Counts::default()))
    }
}

/// A table that is read in parts.
pub(super) struct Streamed<'a> {
    pub source: &'a dyn TableSource,
    /// The scale of the weights, if there are any.
    pub scale: Option<&'a Scale>,
}

impl Look for Streamed<'_> {
    fn header(&self) -> &Table {
        self.source.header()
    }

    fn column(&self, position: usize, viewer: &mut Viewer<'_>) -> Result<()> {
        let (table, counts) = self.each_once(&self.header().columns[position].name)?;
        table.columns.iter().try_for_each(|column| viewer(&table, column, &counts))
    }

    fn is_zero_or_one(&self, position: usize) -> Result<bool> {
        self.holds_in_all(&[&self.header().columns[position].name], |part| {
            part.columns.iter().all(|column| one_hot::are_flags(&column.cells))
        })
    }

    fn sums(&self, names: &[&str]) -> Result<Sums> {
        let mut sums = Sums::default();
        self.source.each_part(names, ROWS_AT_ONCE, &mut |part| {
            sums.add(part, names);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(sums)
    }

    fn pairs(&self, names: &[&str]) -> Result<Pairs> {
        let mut pairs = Pairs::default();
        self.source.each_part(names, ROWS_AT_ONCE, &mut |part| {
            pairs.add(part, names);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(pairs)
    }

    fn one_hot(&self, columns: &[Option<String>]) -> Result<(Vec<f64>, Counts)> {
        let names: Vec<&str> = columns.iter().flatten().map(String::as_str).collect();
        let mut counts = self.no_counts(columns.len());
        self.each_part(&names, &mut |part, weights| {
            for (row, value) in one_hot::values(part, columns, NoneSet::Refuse)?.into_iter().enumerate() {
                counts.rows[value as usize] += 1;
                if let Some(weights) = weights {
                    counts.weights[value as usize] += weights[row];
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(((0..columns.len()).map(|level| level as f64).collect(), counts))
    }
}

impl Streamed<'_> {
    fn no_counts(&self, cells: usize) -> Counts {
        Counts { rows: vec![0; cells], weights: vec![0; if self.scale.is_some() { cells } else { 0 }] }
    }

    /// Passes some columns to `visit`, part by part, with the weights of the rows if there are any.
    fn each_part(&self, names: &[&str], visit: &mut WeighedVisit<'_>) -> Result<()> {
        let mut columns = names.to_vec();
        columns.extend(self.scale.map(|scale| scale.column.as_str()));
        self.source.each_part(&columns, ROWS_AT_ONCE, &mut |part| {
            let Some(scale) = self.scale else { return visit(part, None) };
            let weights = scale.part(part)?;
            let weights: Vec<u64> = (0..part.rows).map(|row| u64::from(weights.of_row(row))).collect();
            visit(part, Some(&weights))
        })
    }

    fn holds_in_all(&self, names: &[&str], holds: impl Fn(&Table) -> bool) -> Result<bool> {
        let mut all = true;
        self.source.each_part(names, ROWS_AT_ONCE, &mut |part| {
            all &= holds(part);
            Ok(if all { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(all)
    }

    /// A table of one column with its distinct values in order of appearance, and the lines of their first occurrence. A column
    /// of very many numbers has all of them.
    pub(super) fn each_once(&self, name: &str) -> Result<(Table, Counts)> {
        let header = self.header();
        let column = header.require(name)?;
        let (cells, lines, counts) = match &column.cells {
            Cells::Text { .. } => self.texts(name)?,
            Cells::Numbers(_) => match self.numbers(name)? {
                Some(few) => few,
                None => self.all_numbers(name)?,
            },
        };
        let rows = cells.len();
        let columns = vec![Column { name: name.to_owned(), cells }];
        let (path, hash, names) = (header.path.clone(), header.hash.clone(), Names::default());
        Ok((Table { path, hash, rows, columns, lines, names }, counts))
    }

    fn texts(&self, name: &str) -> Result<(Cells, Vec<u32>, Counts)> {
        let mut known: HashMap<Option<String>, usize> = HashMap::new();
        let mut texts: Vec<Option<String>> = Vec::new();
        let mut kept = Kept { lines: Vec::new(), counts: self.no_counts(0) };
        self.each_part(&[name], &mut |part, weights| {
            let Some(Cells::Text { codes, levels }) = part.column(name).map(|column| &column.cells) else {
                return Ok(ControlFlow::Break(()));
            };
            // A level is looked up once per part; the slot after the last is for missing cells.
            let mut places: Vec<Option<usize>> = vec![None; levels.len() + 1];
            for (row, &code) in codes.iter().enumerate() {
                let level = (code as usize).min(levels.len());
                let place = match places[level] {
                    Some(place) => place,
                    None => {
                        let text = levels.get(level).cloned();
                        *known.entry(text.clone()).or_insert_with(|| {
                            texts.push(text);
                            texts.len() - 1
                        })
                    }
                };
                places[level] = Some(place);
                kept.add(place, part.lines[row], weights.map(|weights| weights[row]));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let column = Column::text(name, texts.iter().map(Option::as_deref));
        Ok((column.cells, kept.lines, kept.counts))
    }

    /// `None` if there are too many distinct numbers.
    fn numbers(&self, name: &str) -> Result<Option<(Cells, Vec<u32>, Counts)>> {
        let mut known: HashMap<u64, usize> = HashMap::new();
        let mut values: Vec<f64> = Vec::new();
        let mut kept = Kept { lines: Vec::new(), counts: self.no_counts(0) };
        self.each_part(&[name], &mut |part, weights| {
            let Some(Cells::Numbers(numbers)) = part.column(name).map(|column| &column.cells) else {
                return Ok(ControlFlow::Break(()));
            };
            for (row, &number) in numbers.iter().enumerate() {
                let number = if number.is_nan() { f64::NAN } else { number };
                let place = *known.entry(number.to_bits()).or_insert_with(|| {
                    values.push(number);
                    values.len() - 1
                });
                kept.add(place, part.lines[row], weights.map(|weights| weights[row]));
            }
            let few = values.len() <= MOST_KEPT_ONCE;
            Ok(if few { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        if values.len() > MOST_KEPT_ONCE {
            return Ok(None);
        }
        Ok(Some((Cells::Numbers(values), kept.lines, kept.counts)))
    }

    fn all_numbers(&self, name: &str) -> Result<(Cells, Vec<u32>, Counts)> {
        let header = self.header();
        let mut values = Vec::with_capacity(header.rows);
        let (mut lines, mut counts) = (Vec::new(), Counts::default());
        self.each_part(&[name], &mut |part, weights| {
            if let Some(Cells::Numbers(numbers)) = part.column(name).map(|column| &column.cells) {
                values.extend_from_slice(numbers);
            }
            if !header.lines.is_empty() {
                lines.extend_from_slice(&part.lines);
            }
            counts.weights.extend(weights.unwrap_or_default());
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((Cells::Numbers(values), lines, counts))
    }
}

/// The first occurrence of values, and their counts.
struct Kept {
    lines: Vec<u32>,
    counts: Counts,
}

impl Kept {
    /// Counts a value at a position, which may be the next free one.
    fn add(&mut self, place: usize, line: u32, weight: Option<u64>) {
        if place == self.lines.len() {
            self.lines.push(line);
            self.counts.rows.push(0);
            self.counts.weights.extend(weight.map(|_| 0));
        }
        self.counts.rows[place] += 1;
        if let Some(weight) = weight {
            self.counts.weights[place] += weight;
        }
    }
}
