//! How many people each row stands for.
//!
//! A row of weight 3 is three equal rows: in distribution functions, in means, in the size of a leaf, in every number of people.
//! To keep such sums exact, weights are whole numbers of a *unit*: a person if all weights are whole, otherwise the largest of a
//! tenth, a hundredth, … a millionth of which all weights are multiples (finer weights are rounded to a millionth, SPEC §5).

use std::ops::ControlFlow;

use super::format_number;
use crate::table::{Cells, Table, TableSource};
use sogar_base::error::{Error, ErrorKind, Result, suggest};

/// The finest unit is one divided by this.
const MILLION: u64 = 1_000_000;
/// Units are counted in 32 bits; the search reserves the two largest numbers.
const MOST: u64 = u32::MAX as u64 - 2;

/// The weights of a table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// The column that they come from.
    pub column: String,
    /// Units in the weight of one person.
    pub unit: u32,
    of_row: Vec<u32>,
    total: u64,
}

impl Weights {
    /// The weights in a column of a table. Anything except a positive number is an error with its location.
    ///
    /// ```
    /// use sogar_table::feature::Weights;
    /// use sogar_table::table::{Column, Table};
    /// let table = Table::from_columns("", vec![Column::numbers("people", vec![2.0, 0.5, 1.25])])?;
    /// let weights = Weights::read(&table, "people")?;
    /// assert_eq!((weights.unit, weights.of_row(2), weights.total()), (100, 125, 375));
    /// # Ok::<(), sogar_base::Error>(())
    /// ```
    pub fn read(table: &Table, column: &str) -> Result<Weights> {
        let fine = fine(table, column)?;
        let scale = Scale::of(table, column, &fine)?;
        Ok(scale.weights(&fine))
    }

    /// The same in a finer unit, which other parts of the table need. A weight that is not a multiple of it, or an overflow, is
    /// an error.
    pub fn in_units(mut self, unit: u32) -> Result<Weights> {
        let fault = |message: &str| {
            Err(Error::new(ErrorKind::Table, message).column(&self.column).help(
                "give a table whose partitions are the same whenever they are computed, with weights that add up to less",
            ))
        };
        if unit == 0 || !unit.is_multiple_of(self.unit) {
            return fault("a weight has more decimals than the column had before");
        }
        let times = u64::from(unit / self.unit);
        self.total = self.total.saturating_mul(times);
        if self.total > MOST {
            return fault("the weights of a part of the table add up to more than can be counted");
        }
        // Each is at most the total, which fits.
        self.of_row.iter_mut().for_each(|weight| *weight *= times as u32);
        self.unit = unit;
        Ok(self)
    }

    /// A row's weight, in units.
    pub fn of_row(&self, row: usize) -> u32 {
        self.of_row[row]
    }

    /// The weight of all rows, in units.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Adds the weights of further rows, in units.
    pub fn append(&mut self, rows: impl IntoIterator<Item = u32>) {
        for weight in rows {
            self.of_row.push(weight);
            self.total += u64::from(weight);
        }
    }
}

/// What must be known about all weights of a table before counting any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// The column that they come from.
    pub column: String,
    /// Units in the weight of one person.
    pub unit: u32,
    /// The weight of all rows, in units.
    pub total: u64,
}

impl From<&Weights> for Scale {
    fn from(weights: &Weights) -> Scale {
        Scale { column: weights.column.clone(), unit: weights.unit, total: weights.total }
    }
}

impl Scale {
    /// Reads all weights in a column of a table that is read in parts.
    pub(super) fn read(source: &dyn TableSource, column: &str) -> Result<Scale> {
        const ROWS: usize = 1 << 16;
        let header = source.header();
        let found = header.column(column).ok_or_else(|| no_column(header, column))?;
        if matches!(found.cells, Cells::Text { .. }) {
            return Err(text_column(source, column)?);
        }
        let mut sum = Sum::default();
        source.each_part(&[column], ROWS, &mut |part| {
            sum.add(&fine(part, column)?);
            Ok(ControlFlow::Continue(()))
        })?;
        sum.scale(header, column)
    }

    fn of(table: &Table, column: &str, fine: &[u64]) -> Result<Scale> {
        let mut sum = Sum::default();
        sum.add(fine);
        sum.scale(table, column)
    }

    /// The weights of a part of the table's rows.
    pub fn part(&self, part: &Table) -> Result<Weights> {
        Ok(self.weights(&fine(part, &self.column)?))
    }

    /// No weights yet.
    pub fn none(&self) -> Weights {
        self.weights(&[])
    }

    fn weights(&self, fine: &[u64]) -> Weights {
        let step = MILLION / u64::from(self.unit);
        // Each is at most the total, which fits.
        let of_row: Vec<u32> = fine.iter().map(|weight| (weight / step) as u32).collect();
        let total = of_row.iter().map(|&weight| u64::from(weight)).sum();
        Weights { column: self.column.clone(), unit: self.unit, of_row, total }
    }
}

/// A sum of weights, in millionths.
#[derive(Default)]
struct Sum {
    /// Whether some weight ends in no zero, in one, … in six or more (a whole number of people).
    zeros: [bool; 7],
    total: u128,
}

impl Sum {
    fn add(&mut self, fine: &[u64]) {
        for &weight in fine {
            let zeros = (0..6).take_while(|&zeros| weight % 10u64.pow(zeros + 1) == 0).count();
            self.zeros[zeros] = true;
            self.total += u128::from(weight);
        }
    }

    fn scale(&self, table: &Table, column: &str) -> Result<Scale> {
        let zeros = self.zeros.iter().position(|&there| there).unwrap_or(6);
        let step = 10u64.pow(zeros as u32);
        let unit = MILLION / step;
        let total = u64::try_from(self.total / u128::from(step)).unwrap_or(u64::MAX);
        if total > MOST {
            return Err(too_many(table, column, total, unit));
        }
        Ok(Scale { column: column.to_owned(), unit: unit as u32, total })
    }
}

/// The weights of a table's rows in millionths.
fn fine(table: &Table, column: &str) -> Result<Vec<u64>> {
    let found = table.column(column).ok_or_else(|| no_column(table, column))?;
    let Cells::Numbers(numbers) = &found.cells else {
        return Err(text_cell(table, column, &found.cells).0);
    };
    let mut fine = Vec::with_capacity(numbers.len());
    for (row, &weight) in numbers.iter().enumerate() {
        fine.push(
            millionths(weight).map_err(|(message, help)| table.error_at(row, column, message).help(help))?,
        );
    }
    Ok(fine)
}

fn no_column(table: &Table, column: &str) -> Error {
    table
        .error(format!("there is no column `{column}`, which data.weight names"))
        .help(format!("{}; or add it, with 1 where a row is one person", suggest(column, table.names())))
}

/// The error for the first cell that is not a number in a column that is read in parts.
fn text_column(source: &dyn TableSource, column: &str) -> Result<Error> {
    let mut first = None;
    source.each_part(&[column], 1 << 16, &mut |part| {
        let Some(found) = part.column(column) else { return Ok(ControlFlow::Break(())) };
        let (error, is_bad) = text_cell(part, column, &found.cells);
        if is_bad || first.is_none() {
            first = Some(error);
        }
        Ok(if is_bad { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(first.unwrap_or_else(|| source.header().error("a weight is no number").column(column)))
}

/// A weight in millionths, or its error and a remedy.
fn millionths(weight: f64) -> std::result::Result<u64, (String, &'static str)> {
    const POSITIVE: &str = "write how many people the row stands for, or leave the row out of the table";
    if weight.is_nan() {
        return Err((
            "the row has no weight".into(),
            "write 1 if it stands for one person, or leave the row out",
        ));
    }
    let shown = format_number(weight);
    if weight <= 0.0 {
        let what = if weight == 0.0 { "counts for nobody" } else { "is not a number of people" };
        return Err((format!("a weight of {shown} {what}"), POSITIVE));
    }
    if weight > MOST as f64 {
        let help = "divide all weights by the same number: a thousand people may be counted as one";
        return Err((format!("a weight of {shown} is too large; {MOST} is the most"), help));
    }
    match (weight * MILLION as f64).round() as u64 {
        0 => Err((
            format!("a weight of {shown} is less than a millionth of a person"),
            "multiply all weights by the same number, or leave the row out of the table",
        )),
        fine => Ok(fine),
    }
}

/// The error for the first cell that is not a number (the first cell of all, if each is a number by itself), and whether it is
/// one.
fn text_cell(table: &Table, column: &str, cells: &Cells) -> (Error, bool) {
    let help = "a weight is how many people a row stands for: correct the cell, or name another column";
    let Cells::Text { codes, levels } = cells else {
        return (table.error("a weight is no number").column(column), false);
    };
    let level = |code: u32| levels.get(code as usize).map(String::as_str);
    let bad = codes.iter().position(|&code| level(code).is_none_or(|text| text.parse::<f64>().is_err()));
    let row = bad.unwrap_or(0);
    let message = match codes.get(row).and_then(|&code| level(code)) {
        Some(text) => format!("`{text}` is not a number, but the column holds weights"),
        None => "the row has no weight".to_owned(),
    };
    (table.error_at(row, column, message).help(help), bad.is_some())
}

fn too_many(table: &Table, column: &str, total: u64, unit: u64) -> Error {
    let mut message = format!("the weights add up to {}", format_number(total as f64 / unit as f64));
    if unit > 1 {
        message += &format!(", which is {total} with their {} decimals", unit.ilog10());
    }
    message += &format!("; no more than {MOST} can be counted");
    let factor = 10u64.pow((total / MOST).ilog10() + 1);
    let mut help = format!("divide all weights by {factor} and round them");
    if unit > 1 {
        help = format!("round the weights to fewer decimals, or {help}");
    }
    table
        .error(message)
        .column(column)
        .help(help + "; summaries depend only on their ratios, except for min_leaf")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    fn read(numbers: Vec<f64>) -> Result<Weights> {
        Weights::read(&Table::from_columns("t.csv", vec![Column::numbers("w", numbers)])?, "w")
    }

    #[test]
    fn whole_numbers_are_people_and_decimals_have_the_unit_they_need() {
        let units = |numbers: &[f64]| {
            let weights = read(numbers.to_vec()).unwrap();
            (weights.unit, (0..numbers.len()).map(|row| weights.of_row(row)).collect::<Vec<_>>())
        };
        assert_eq!(units(&[1.0, 20.0, 100.0]), (1, vec![1, 20, 100]));
        assert_eq!(units(&[0.5, 20.0]), (10, vec![5, 200]));
        assert_eq!(units(&[0.1 + 0.2, 1.0]), (10, vec![3, 10]), "not one bit of noise");
        assert_eq!(units(&[0.123_456_7, 1.0]), (1_000_000, vec![123_457, 1_000_000]));
    }

    #[test]
    fn what_is_no_number_of_people_is_refused_with_its_place() {
        let fault = |weight: f64| {
            let error = read(vec![1.0, weight]).unwrap_err();
            assert!(error.remedy().is_some_and(|help| help.len() > 20), "{error}");
            let message = error.to_string();
            message.strip_prefix("t.csv, line 2, column `w`: ").unwrap_or(&message).to_owned()
        };
        assert_eq!(fault(0.0), "a weight of 0 counts for nobody");
        assert_eq!(fault(-1.5), "a weight of -1.5 is not a number of people");
        assert_eq!(fault(f64::NAN), "the row has no weight");
        assert_eq!(fault(1e-9), "a weight of 1e-9 is less than a millionth of a person");
        assert_eq!(fault(5e9), "a weight of 5000000000 is too large; 4294967293 is the most");
        assert_eq!(fault(1e300), "a weight of 1e300 is too large; 4294967293 is the most");
        assert!(fault(f64::INFINITY).contains("is not a finite number"));
    }

    #[test]
    fn a_part_of_a_table_counts_in_the_units_of_the_whole() {
        let part = read(vec![2.0, 0.5]).unwrap().in_units(1000).unwrap();
        assert_eq!((part.unit, part.of_row(0), part.of_row(1), part.total()), (1000, 2000, 500, 2500));
        assert!(read(vec![0.25]).unwrap().in_units(10).is_err(), "it was not so fine before");
        assert!(
            read(vec![1e6]).unwrap().in_units(1_000_000).unwrap_err().to_string().contains("add up to more")
        );
        assert!(read(vec![1.0]).unwrap().in_units(0).is_err());
    }

    #[test]
    fn text_is_refused_where_it_stands() {
        let column = Column::text("w", [Some("2"), Some("many"), None]);
        let table = Table::from_columns("t.csv", vec![column]).unwrap();
        let message = Weights::read(&table, "w").unwrap_err().to_string();
        assert_eq!(
            message,
            "t.csv, line 2, column `w`: `many` is not a number, but the column holds weights"
        );
        let error = Weights::read(&table, "weigth").unwrap_err();
        assert_eq!(error.to_string(), "t.csv: there is no column `weigth`, which data.weight names");
        assert!(error.remedy().unwrap().ends_with("or add it, with 1 where a row is one person"));
    }

    #[test]
    fn more_than_can_be_counted_is_refused_with_a_divisor() {
        let error = read(vec![4e9, 4e9]).unwrap_err();
        assert!(
            error.to_string().starts_with("t.csv, column `w`: the weights add up to 8000000000; no more")
        );
        assert!(error.remedy().unwrap().starts_with("divide all weights by 10 and round"));
        let error = read(vec![1e6, 0.000_001]).unwrap_err();
        assert!(error.to_string().contains("which is 1000000000001 with their 6 decimals"), "{error}");
        assert!(error.remedy().unwrap().contains("fewer decimals, or divide all weights by 1000 and"));
        assert_eq!(read(vec![4_294_967_292.0, 1.0]).unwrap().total(), MOST);
    }
}
