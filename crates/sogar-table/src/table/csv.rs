//! Strict CSV: every oddity is an error with its line and column, because a silently shifted or half-parsed table gives a wrong
//! answer that looks right.
//!
//! The text is read twice. The survey counts the classes of each column's cells and decides whether it is a column of numbers or
//! of text; the second pass fills the columns. Memory is that of the finished table, and each distinct string is stored once.

use std::collections::HashSet;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder, StringRecord};

use super::cell::{Cell, Texts, classify};
use super::written::Writing;
use super::{Cells, Column, INFINITE_HELP, Names, ReadOptions, Table};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::sha256_hex;

/// Share of numbers from which a column was meant to be numeric.
const MEANT_AS_NUMBERS: f64 = 0.9;

/// Delimiters to try, in this order if they are equally frequent.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// Parses CSV text. `path` is for messages and stored in the table.
///
/// ```
/// use sogar_table::table::{ReadOptions, csv};
/// let table = csv::parse(b"age;job\n31;clerk\n45;\n", "people.csv".as_ref(), &ReadOptions::default())?;
/// assert_eq!(table.names().collect::<Vec<_>>(), ["age", "job"]);
/// # Ok::<(), sogar_base::Error>(())
/// ```
pub fn parse(bytes: &[u8], path: &Path, options: &ReadOptions) -> Result<Table> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(error(path, "the table is empty").help("the first line must name the columns"));
    }
    let source = Source { text, path, delimiter: options.delimiter.unwrap_or_else(|| find_delimiter(text)) };
    if std::str::from_utf8(text).is_err() {
        return Err(source.not_utf8());
    }
    let (names, known) = source.header()?;
    let (surveys, rows) = source.survey(&names, options)?;
    if rows == 0 {
        return Err(error(path, "the table has a header but no rows"));
    }
    let declared = |list: &'_ [String]| list.iter().cloned().collect::<HashSet<String>>();
    let (as_text, as_numbers) = (declared(&options.text), declared(&options.numbers));
    let mut columns = Vec::with_capacity(names.len());
    for (name, survey) in names.into_iter().zip(&surveys) {
        let cells = match survey.decide(&name, path, as_text.contains(&name), as_numbers.contains(&name))? {
            Reading::Numbers => Filling::Numbers(Vec::with_capacity(rows)),
            Reading::Text => Filling::Text(Texts::with_capacity(rows)),
        };
        columns.push((name, cells));
    }
    let lines = source.fill(&mut columns, rows, options)?;
    let columns = columns.into_iter().map(|(name, cells)| Column { name, cells: cells.finish() }).collect();
    Ok(Table { path: path.to_path_buf(), hash: sha256_hex(bytes), rows, columns, lines, names: known })
}

fn error(path: &Path, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Table, message).file(path)
}

/// The delimiter that occurs most often in the first line, outside quotes.
fn find_delimiter(text: &[u8]) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut quoted = false;
    for byte in text.trim_ascii_start() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if quoted => {}
            byte => {
                if let Some(position) = DELIMITERS.iter().position(|delimiter| delimiter == byte) {
                    counts[position] += 1;
                }
            }
        }
    }
    let mut best = 0;
    for position in 1..counts.len() {
        if counts[position] > counts[best] {
            best = position;
        }
    }
    DELIMITERS[best]
}

/// The text of a table, without its byte-order mark.
struct Source<'a> {
    text: &'a [u8],
    path: &'a Path,
    delimiter: u8,
}

impl Source<'_> {
    fn reader(&self) -> csv::Reader<&[u8]> {
        ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(self.text)
    }

    /// Where the record that the reader found at `byte` really begins: after line ends and empty lines.
    fn start(&self, byte: u64) -> usize {
        let mut start = (byte as usize).min(self.text.len());
        while matches!(self.text.get(start), Some(b'\r' | b'\n')) {
            start += 1;
        }
        start
    }

    fn line(&self, byte: u64) -> usize {
        1 + self.text[..self.start(byte)].iter().filter(|byte| **byte == b'\n').count()
    }

    fn unreadable(&self, cause: &csv::Error) -> Error {
        error(self.path, format!("not readable as CSV: {cause}"))
    }

    /// The error for bytes that are not UTF-8, with the cell of the first one.
    fn not_utf8(&self) -> Error {
        let mut reader = self.reader();
        let mut record = ByteRecord::new();
        let mut names = Vec::new();
        let mut place = error(self.path, "the text is not UTF-8");
        while let Ok(true) = reader.read_byte_record(&mut record) {
            if names.is_empty() {
                names = record.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
            }
            if let Some(bad) = record.iter().position(|cell| std::str::from_utf8(cell).is_err()) {
                let byte = record.position().map_or(0, csv::Position::byte);
                place = place.row(self.line(byte));
                if let Some(name) = names.get(bad) {
                    place = place.column(name);
                }
                break;
            }
        }
        place.help("save the file again as UTF-8 (in a spreadsheet: \"CSV UTF-8\")")
    }

    /// The column names, checked and made distinct.
    fn header(&self) -> Result<(Vec<String>, Names)> {
        let mut record = StringRecord::new();
        self.reader().read_record(&mut record).map_err(|cause| self.unreadable(&cause))?;
        let mut names: Vec<String> = record.iter().map(|name| name.trim().to_owned()).collect();
        // As in pandas, which writes its row numbers under no name. Models that were trained on such a file know this one.
        for (position, name) in names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
            *name = format!("Unnamed: {position}");
        }
        let told = Names::told_apart(&mut names);
        Ok((names, told))
    }

    /// Visits the rows after the header; refuses rows of another length.
    fn each_row(
        &self,
        width: usize,
        mut visit: impl FnMut(usize, &StringRecord) -> Result<()>,
    ) -> Result<usize> {
        let mut reader = self.reader();
        let mut record = StringRecord::new();
        let mut rows = 0;
        let mut header = true;
        let (mut counted, mut line) = (0, 1);
        while reader.read_record(&mut record).map_err(|cause| self.unreadable(&cause))? {
            if std::mem::take(&mut header) {
                continue;
            }
            let start = self.start(record.position().map_or(0, csv::Position::byte));
            line += self.text[counted..start].iter().filter(|byte| **byte == b'\n').count();
            counted = start;
            if record.len() != width {
                let cells = if record.len() == 1 { "cell" } else { "cells" };
                let message =
                    format!("this row has {} {cells}, the header names {width} columns", record.len());
                return Err(error(self.path, message)
                    .row(line)
                    .help("look for a missing or extra delimiter, or for a quote that is not closed"));
            }
            visit(line, &record)?;
            rows += 1;
        }
        if ends_in_quotes(&self.text[counted..], self.delimiter) {
            let message = "a quote that opens in this row is never closed, and swallows the rest of the file";
            return Err(error(self.path, message).row(line).help("close the quote, or double it: \"\""));
        }
        Ok(rows)
    }

    fn survey(&self, names: &[String], options: &ReadOptions) -> Result<(Vec<Survey>, usize)> {
        let mut surveys = vec![Survey::default(); names.len()];
        let rows = self.each_row(names.len(), |line, record| {
            for (survey, cell) in surveys.iter_mut().zip(record) {
                survey.count(line, cell, options);
            }
            Ok(())
        })?;
        Ok((surveys, rows))
    }

    /// Fills the columns; returns each row's line.
    fn fill(
        &self,
        columns: &mut [(String, Filling)],
        rows: usize,
        options: &ReadOptions,
    ) -> Result<Vec<u32>> {
        let mut lines = Vec::with_capacity(rows);
        self.each_row(columns.len(), |line, record| {
            lines.push(u32::try_from(line).unwrap_or(u32::MAX));
            for ((_, filling), cell) in columns.iter_mut().zip(record) {
                filling.push(cell, options);
            }
            Ok(())
        })?;
        Ok(lines)
    }
}

/// Whether the last record of a text ends inside quotes.
fn ends_in_quotes(record: &[u8], delimiter: u8) -> bool {
    let mut quoted = false;
    let mut field_starts = true;
    for byte in record {
        if *byte == b'"' && (quoted || field_starts) {
            // A doubled quote closes and opens again, with the same effect.
            quoted = !quoted;
            field_starts = !quoted;
        } else if !quoted {
            field_starts = *byte == delimiter;
        }
    }
    quoted
}

/// How a column is read.
enum Reading {
    Numbers,
    Text,
}

/// The classes of a column's cells.
#[derive(Debug, Clone, Default)]
struct Survey {
    numbers: usize,
    texts: usize,
    first_text: Option<(usize, String)>,
    first_infinite: Option<(usize, String)>,
}

impl Survey {
    fn count(&mut self, line: usize, cell: &str, options: &ReadOptions) {
        match classify(cell, &options.missing, options.decimal_comma) {
            Cell::Empty | Cell::Token | Cell::Gap => {}
            Cell::Number(_) => self.numbers += 1,
            Cell::Infinite => {
                self.first_infinite.get_or_insert_with(|| (line, cell.to_owned()));
            }
            Cell::Text => {
                self.texts += 1;
                self.first_text.get_or_insert_with(|| (line, cell.to_owned()));
            }
        }
    }

    fn decide(&self, name: &str, path: &Path, as_text: bool, declared: bool) -> Result<Reading> {
        if as_text {
            return Ok(Reading::Text);
        }
        if let Some((line, cell)) = &self.first_text {
            let cells = self.numbers + self.texts;
            if !declared && (self.numbers as f64) < MEANT_AS_NUMBERS * cells as f64 {
                return Ok(Reading::Text);
            }
            let message = if declared {
                format!("`{cell}` is not a number, but the column is declared as numbers")
            } else {
                format!("`{cell}` is not a number, but {} of the column's {cells} values are", self.numbers)
            };
            let help = match Writing::of(cell) {
                Some(writing @ (Writing::Ambiguous | Writing::DecimalComma | Writing::Thousands)) => {
                    writing.remedy().to_owned()
                }
                _ => format!("correct the cell; or add \"{cell}\" to `missing` under [data]"),
            };
            let error = error(path, message).row(*line).column(name);
            return Err(error.help(format!("{help}; or set kind = \"categorical\" for the feature")));
        }
        match &self.first_infinite {
            Some((line, cell)) => Err(error(path, format!("`{cell}` is not a finite number"))
                .row(*line)
                .column(name)
                .help(INFINITE_HELP)),
            None => Ok(Reading::Numbers),
        }
    }
}

/// A column being built.
enum Filling {
    Numbers(Vec<f64>),
    Text(Texts),
}

impl Filling {
    fn push(&mut self, cell: &str, options: &ReadOptions) {
        match self {
            Filling::Numbers(values) => {
                values.push(match classify(cell, &options.missing, options.decimal_comma) {
                    Cell::Number(number) => number,
                    _ => f64::NAN,
                })
            }
            Filling::Text(texts) => {
                let cell = if options.trim { cell.trim() } else { cell };
                texts.push((!cell.is_empty()).then_some(cell));
            }
        }
    }

    fn finish(self) -> Cells {
        match self {
            Filling::Numbers(values) => Cells::Numbers(values),
            Filling::Text(texts) => texts.finish(),
        }
    }
}

#[cfg(test)]
mod tests;
