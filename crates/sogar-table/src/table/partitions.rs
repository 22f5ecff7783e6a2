//! A table whose parts come from elsewhere, one at a time: partitions of a data frame that no process holds whole.
//!
//! Each pass over the table fetches its partitions again, with only the columns that the pass needs, one partition at a time. The
//! first pass finds out how many rows there are, what the columns hold, and the hash: that of the same table in memory.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::source::{TableSource, Visit, numbered};
use super::{Cells, Column, ContentHash, MISSING, Names, Table};
use sogar_base::error::{Error, ErrorKind, Result};

/// Gives the columns of these names (`None`: all) of the partition with this number; `None` if it has no rows.
pub type Fetch<'a> = dyn Fn(usize, Option<&[&str]>) -> Result<Option<Table>> + Sync + 'a;

/// Partitions that are one table, in their order.
pub struct Partitions<'a> {
    fetch: &'a Fetch<'a>,
    header: Table,
    /// Rows of each partition.
    rows: Vec<usize>,
}

impl<'a> Partitions<'a> {
    /// Looks at so many partitions. `origin` is what messages call the table (empty: nothing).
    pub fn open(origin: impl Into<PathBuf>, count: usize, fetch: &'a Fetch<'a>) -> Result<Partitions<'a>> {
        let mut header = Table {
            path: origin.into(),
            hash: String::new(),
            rows: 0,
            columns: Vec::new(),
            lines: Vec::new(),
            names: Names::default(),
        };
        let (mut rows, mut hash) = (vec![0; count], ContentHash::default());
        // Whether a column has had a cell that is not missing: until then its kind is open.
        let mut settled = Vec::new();
        for (number, rows) in rows.iter_mut().enumerate() {
            let Some(part) = fetch(number, None)? else { continue };
            if header.columns.is_empty() {
                header.columns = part.columns.iter().map(without_cells).collect();
                settled = vec![false; header.columns.len()];
            }
            if !header.names().eq(part.names()) {
                return Err(other_columns(&header, number));
            }
            for ((known, settled), column) in header.columns.iter_mut().zip(&mut settled).zip(&part.columns) {
                if is_empty(&column.cells) {
                    continue;
                }
                if is_text(known) != is_text(column) {
                    if *settled {
                        return Err(mixed(number, column));
                    }
                    *known = without_cells(column);
                }
                *settled = true;
            }
            hash.add(&part.columns);
            header.rows += part.rows;
            *rows = part.rows;
        }
        header.check_names()?;
        header.hash = hash.finish(&header.columns);
        Ok(Partitions { fetch, header, rows })
    }

    /// Some columns of a partition, each of the kind that it has in the whole table.
    fn part(&self, number: usize, names: &[&str], before: usize) -> Result<Table> {
        let rows = self.rows[number];
        let part = (self.fetch)(number, Some(names))?;
        let Some(mut part) = part.filter(|part| part.rows == rows && part.names().eq(names.iter().copied()))
        else {
            return Err(self
                .header
                .error(format!("partition {number} is not what it was when it was first looked at"))
                .help("keep the table as it is while it is read, for example with `persist()`"));
        };
        for column in &mut part.columns {
            let known = self.header.require(&column.name)?;
            if is_text(known) != is_text(column) {
                if !is_empty(&column.cells) {
                    return Err(mixed(number, column));
                }
                column.cells = match &known.cells {
                    Cells::Numbers(_) => Cells::Numbers(vec![f64::NAN; rows]),
                    Cells::Text { .. } => Cells::Text { codes: vec![MISSING; rows], levels: Vec::new() },
                };
            }
        }
        part.path.clone_from(&self.header.path);
        part.hash.clone_from(&self.header.hash);
        part.lines = numbered(before, rows);
        Ok(part)
    }
}

impl TableSource for Partitions<'_> {
    fn header(&self) -> &Table {
        &self.header
    }

    fn each_part(&self, columns: &[&str], at_once: usize, visit: &mut Visit<'_>) -> Result<()> {
        let positions = self.header.positions(columns);
        let names: Vec<&str> = positions.iter().map(|&at| self.header.columns[at].name.as_str()).collect();
        if names.is_empty() {
            return Ok(());
        }
        let mut before = 0;
        let mut flow = ControlFlow::Continue(());
        for (number, &rows) in self.rows.iter().enumerate().filter(|(_, rows)| **rows > 0) {
            let part = self.part(number, &names, before)?;
            part.each_part(&names, at_once, &mut |part| {
                flow = visit(part)?;
                Ok(flow)
            })?;
            if flow.is_break() {
                break;
            }
            before += rows;
        }
        Ok(())
    }
}

fn without_cells(column: &Column) -> Column {
    let cells = match &column.cells {
        Cells::Numbers(_) => Cells::Numbers(Vec::new()),
        Cells::Text { .. } => Cells::Text { codes: Vec::new(), levels: Vec::new() },
    };
    Column { name: column.name.clone(), cells }
}

fn is_text(column: &Column) -> bool {
    matches!(column.cells, Cells::Text { .. })
}

/// Whether all cells are missing.
fn is_empty(cells: &Cells) -> bool {
    match cells {
        Cells::Numbers(values) => values.iter().all(|value| value.is_nan()),
        Cells::Text { codes, .. } => codes.iter().all(|&code| code == MISSING),
    }
}

fn other_columns(header: &Table, number: usize) -> Error {
    let error = header.error(format!("partition {number} has other columns than those before it"));
    error.help("give all partitions the same columns, in the same order")
}

fn mixed(number: usize, column: &Column) -> Error {
    let (here, before) = if is_text(column) { ("texts", "numbers") } else { ("numbers", "texts") };
    let message = format!("partition {number} has {here}, but partitions before it have {before}");
    Error::new(ErrorKind::Table, message)
        .column(&column.name)
        .help("give the column one type in all partitions, for example with `astype`")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn whole() -> Table {
        let columns = vec![
            Column::numbers("a", vec![f64::NAN, f64::NAN, 3.0, 4.0, -0.0]),
            Column::text("b", [None, None, Some("x"), Some("y"), Some("x")]),
        ];
        Table::from_columns("", columns).unwrap()
    }

    /// Rows of a table; columns without values are of the other kind.
    fn cut(table: &Table, rows: std::ops::Range<usize>, names: Option<&[&str]>) -> Option<Table> {
        let wanted = |column: &&Column| names.is_none_or(|names| names.contains(&column.name.as_str()));
        let columns = table.columns.iter().filter(wanted).map(|column| match &column.cells {
            Cells::Numbers(values) if values[rows.clone()].iter().all(|value| value.is_nan()) => {
                Column::text(&column.name, rows.clone().map(|_| None))
            }
            Cells::Text { codes, .. } if codes[rows.clone()].iter().all(|&code| code == MISSING) => {
                Column::numbers(&column.name, rows.clone().map(|_| f64::NAN).collect())
            }
            Cells::Numbers(values) => Column::numbers(&column.name, values[rows.clone()].to_vec()),
            Cells::Text { codes, levels } => {
                let texts =
                    codes[rows.clone()].iter().map(|&code| levels.get(code as usize).map(String::as_str));
                Column::text(&column.name, texts)
            }
        });
        (!rows.is_empty()).then(|| Table::from_columns("", columns.collect()).unwrap())
    }

    #[test]
    fn partitions_are_the_table_whatever_their_empty_columns_are_taken_for() {
        let whole = whole();
        let cuts = [0..2, 2..2, 2..3, 3..5];
        let fetch = |number: usize, names: Option<&[&str]>| Ok(cut(&whole, cuts[number].clone(), names));
        let parts = Partitions::open("", cuts.len(), &fetch).unwrap();
        assert_eq!((&parts.header().hash, parts.header().rows), (&whole.hash, 5));
        let seen = |source: &dyn TableSource| {
            let mut seen = Vec::new();
            let mut visit = |part: &Table| {
                for row in 0..part.rows {
                    let cells: Vec<String> = part
                        .columns
                        .iter()
                        .map(|column| match &column.cells {
                            Cells::Numbers(values) => format!("{:?}", values[row]),
                            Cells::Text { codes, levels } => format!("{:?}", levels.get(codes[row] as usize)),
                        })
                        .collect();
                    seen.push((part.lines[row], cells));
                }
                Ok(ControlFlow::Continue(()))
            };
            source.each_part(&["b", "a"], 2, &mut visit).unwrap();
            seen
        };
        assert_eq!(seen(&parts), seen(&whole));
        assert_eq!(seen(&parts).len(), 5);
    }

    #[test]
    fn who_breaks_off_fetches_no_more() {
        let (whole, fetched) = (whole(), AtomicUsize::new(0));
        let fetch = |number: usize, names: Option<&[&str]>| {
            fetched.fetch_add(1, Ordering::SeqCst);
            Ok(cut(&whole, number..number + 1, names))
        };
        let parts = Partitions::open("", 5, &fetch).unwrap();
        parts.each_part(&["a"], 9, &mut |_| Ok(ControlFlow::Break(()))).unwrap();
        assert_eq!(fetched.load(Ordering::SeqCst), 6);
    }

    #[test]
    fn partitions_that_do_not_fit_together_are_refused() {
        let numbers = |name: &str| Table::from_columns("", vec![Column::numbers(name, vec![1.0])]).unwrap();
        let texts = Table::from_columns("", vec![Column::text("a", [Some("x")])]).unwrap();
        let refused = |parts: &[Table]| {
            let fetch = |number: usize, _: Option<&[&str]>| Ok(Some(parts[number].clone()));
            Partitions::open("", parts.len(), &fetch).err().unwrap().to_string()
        };
        assert!(refused(&[numbers("a"), texts]).contains("column `a`: partition 1 has texts"));
        assert!(refused(&[numbers("a"), numbers("b")]).contains("partition 1 has other columns"));
        let fetch = |_: usize, _: Option<&[&str]>| Ok(None);
        assert!(Partitions::open("", 3, &fetch).err().unwrap().to_string().contains("no columns"));
        let calls = AtomicUsize::new(0);
        let fetch = |_: usize, _: Option<&[&str]>| {
            let rows = 1 + calls.fetch_add(1, Ordering::SeqCst);
            Ok(Some(Table::from_columns("", vec![Column::numbers("a", vec![1.0; rows])]).unwrap()))
        };
        let parts = Partitions::open("", 1, &fetch).unwrap();
        let error = parts.each_part(&["a"], 9, &mut |_| Ok(ControlFlow::Continue(()))).unwrap_err();
        assert!(error.to_string().contains("is not what it was"), "{error}");
    }
}
