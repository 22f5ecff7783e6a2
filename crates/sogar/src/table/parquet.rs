//! Parquet, through arrow's readers, and arrow columns as such (which is what data frames hand over).
//!
//! Numbers of every width become `f64`, text of every layout becomes levels, true and false become text, nulls are
//! missing. Everything else (dates, lists, …) is refused by name rather than guessed at.

use std::path::Path;

use arrow::array::{ArrayRef, AsArray, cast::as_boolean_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::cell::{Cell, Texts, classify};
use super::{Cells, Column, ReadOptions, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::feature::format_number;
use crate::files::sha256_hex;

/// Reads a Parquet file's bytes. `path` is named in messages and kept in the table.
pub fn parse(bytes: Vec<u8>, path: &Path, options: &ReadOptions) -> Result<Table> {
    let hash = sha256_hex(&bytes);
    let damaged = |cause: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Table, format!("this Parquet file is damaged or not supported: {cause}"))
            .file(path)
            .help("write it again, or save the table as CSV")
    };
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes))
        .map_err(|cause| damaged(&cause))?;
    let schema = builder.schema().clone();
    let reader = builder.build().map_err(|cause| damaged(&cause))?;
    let mut chunks: Vec<Vec<ArrayRef>> = vec![Vec::new(); schema.fields().len()];
    for batch in reader {
        let batch = batch.map_err(|cause| damaged(&cause))?;
        for (chunk, array) in chunks.iter_mut().zip(batch.columns()) {
            chunk.push(array.clone());
        }
    }
    let columns = schema
        .fields()
        .iter()
        .zip(&chunks)
        .map(|(field, chunks)| {
            column(field.name(), field.data_type(), chunks, options).map_err(|error| error.file(path))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut table = Table::from_columns(path, columns)?;
    table.hash = hash;
    Ok(table)
}

/// An arrow column, given in chunks of type `kind`, as a column of a table.
pub fn column(name: &str, kind: &DataType, chunks: &[ArrayRef], options: &ReadOptions) -> Result<Column> {
    let wants_text = options.text.iter().any(|text| text == name);
    let cells = match content(kind) {
        Content::Numbers => {
            let values = numbers(name, chunks)?;
            if wants_text { as_text(&values) } else { Cells::Numbers(values) }
        }
        Content::Booleans => {
            let mut texts = Texts::default();
            for chunk in chunks {
                for value in as_boolean_array(chunk) {
                    texts.push(value.map(|value| if value { "true" } else { "false" }));
                }
            }
            texts.finish()
        }
        Content::Text if options.numbers.iter().any(|numbers| numbers == name) => {
            Cells::Numbers(parsed(name, chunks, &options.missing)?)
        }
        Content::Text => {
            let mut texts = Texts::default();
            each_text(name, chunks, |cell| {
                texts.push(cell.map(str::trim).filter(|cell| !cell.is_empty()));
                Ok(())
            })?;
            texts.finish()
        }
        Content::Other => {
            return Err(Error::new(ErrorKind::Table, format!("values of type {kind} are not supported"))
                .column(name)
                .help("convert the column to numbers or text, or leave it out of the file"));
        }
    };
    Ok(Column { name: name.trim().to_owned(), cells })
}

enum Content {
    Numbers,
    Booleans,
    Text,
    Other,
}

fn content(kind: &DataType) -> Content {
    match kind {
        kind if kind.is_integer() || kind.is_floating() => Content::Numbers,
        DataType::Decimal128(..) | DataType::Decimal256(..) | DataType::Null => Content::Numbers,
        DataType::Boolean => Content::Booleans,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Content::Text,
        DataType::Dictionary(_, values) => match content(values) {
            Content::Booleans => Content::Other,
            content => content,
        },
        _ => Content::Other,
    }
}

fn converted(name: &str, chunk: &ArrayRef, kind: &DataType) -> Result<ArrayRef> {
    cast(chunk, kind).map_err(|cause| {
        Error::new(ErrorKind::Table, format!("could not be read as {kind}: {cause}")).column(name)
    })
}

fn numbers(name: &str, chunks: &[ArrayRef]) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    for chunk in chunks {
        let chunk = converted(name, chunk, &DataType::Float64)?;
        let chunk = chunk.as_primitive::<Float64Type>();
        values.extend(chunk.iter().map(|value| value.map_or(f64::NAN, |value| value + 0.0)));
    }
    Ok(values)
}

fn each_text(
    name: &str,
    chunks: &[ArrayRef],
    mut visit: impl FnMut(Option<&str>) -> Result<()>,
) -> Result<()> {
    for chunk in chunks {
        let chunk = converted(name, chunk, &DataType::LargeUtf8)?;
        for cell in chunk.as_string::<i64>() {
            visit(cell)?;
        }
    }
    Ok(())
}

/// A text column that is declared to be one of numbers.
fn parsed(name: &str, chunks: &[ArrayRef], missing: &[String]) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    each_text(name, chunks, |cell| {
        let cell = cell.unwrap_or_default().trim();
        values.push(match classify(cell, missing) {
            Cell::Number(number) => number,
            Cell::Empty | Cell::Token | Cell::Gap => f64::NAN,
            Cell::Infinite | Cell::Text => {
                let message = format!("`{cell}` is not a number, but the column is declared as numbers");
                return Err(Error::new(ErrorKind::Table, message).row(values.len() + 1).column(name));
            }
        });
        Ok(())
    })?;
    Ok(values)
}

fn as_text(values: &[f64]) -> Cells {
    let mut texts = Texts::with_capacity(values.len());
    for value in values {
        let text = format_number(*value);
        texts.push((!value.is_nan()).then_some(text.as_str()));
    }
    texts.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, Int8Array, Int64Array,
        LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray,
    };
    use arrow::datatypes::Int32Type;
    use parquet::arrow::ArrowWriter;

    use super::super::MISSING;
    use super::*;

    fn written(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        )
        .unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn read(columns: Vec<(&str, ArrayRef)>, options: &ReadOptions) -> Result<Table> {
        parse(written(columns), Path::new("t.parquet"), options)
    }

    fn text(codes: &[u32], levels: &[&str]) -> Cells {
        Cells::Text { codes: codes.to_vec(), levels: levels.iter().map(|level| (*level).into()).collect() }
    }

    #[test]
    fn numbers_text_and_truth_values_of_all_layouts_are_read() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("i8", Arc::new(Int8Array::from(vec![Some(1), Some(-2)]))),
            ("i64", Arc::new(Int64Array::from(vec![Some(40), Some(50)]))),
            ("f32", Arc::new(Float32Array::from(vec![0.5, -0.0]))),
            ("bool", Arc::new(BooleanArray::from(vec![Some(true), None]))),
            ("utf8", Arc::new(StringArray::from(vec!["b", " a "]))),
            ("large", Arc::new(LargeStringArray::from(vec![Some("x"), None]))),
            ("view", Arc::new(StringViewArray::from(vec!["x", ""]))),
            ("dictionary", Arc::new(vec!["q", "p"].into_iter().collect::<DictionaryArray<Int32Type>>())),
        ];
        let table = read(columns, &ReadOptions::default()).unwrap();
        let cells: Vec<&Cells> = table.columns.iter().map(|column| &column.cells).collect();
        assert_eq!(cells[0], &Cells::Numbers(vec![1.0, -2.0]));
        assert_eq!(cells[1], &Cells::Numbers(vec![40.0, 50.0]));
        assert_eq!(cells[2], &Cells::Numbers(vec![0.5, 0.0]));
        assert_eq!(cells[3], &text(&[0, MISSING], &["true"]));
        assert_eq!(cells[4], &text(&[1, 0], &["a", "b"]));
        assert_eq!(cells[5], &text(&[0, MISSING], &["x"]));
        assert_eq!(cells[6], &text(&[0, MISSING], &["x"]));
        assert_eq!(cells[7], &text(&[1, 0], &["p", "q"]));
    }

    #[test]
    fn nulls_are_missing_and_the_hash_is_that_of_the_file() {
        let columns = || -> Vec<(&str, ArrayRef)> {
            vec![
                ("a", Arc::new(Float64Array::from(vec![Some(1.0), None]))),
                ("b", Arc::new(NullArray::new(2))),
            ]
        };
        let table = read(columns(), &ReadOptions::default()).unwrap();
        let Cells::Numbers(values) = &table.columns[0].cells else { panic!("numbers") };
        assert!(values[1].is_nan());
        assert_eq!(table.hash, sha256_hex(&written(columns())));
    }

    #[test]
    fn columns_are_read_as_declared() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("code", Arc::new(Int64Array::from(vec![10, 2]))),
            ("amount", Arc::new(StringArray::from(vec!["1.5", "?"]))),
        ];
        let options = ReadOptions {
            text: vec!["code".into()],
            numbers: vec!["amount".into()],
            missing: vec!["?".into()],
            ..ReadOptions::default()
        };
        let table = read(columns.clone(), &options).unwrap();
        assert_eq!(table.columns[0].cells, text(&[0, 1], &["10", "2"]));
        assert!(matches!(&table.columns[1].cells, Cells::Numbers(values) if values[1].is_nan()));
        let strict = ReadOptions { numbers: vec!["amount".into()], ..ReadOptions::default() };
        let error = read(columns, &strict).unwrap_err();
        assert!(error.to_string().starts_with("t.parquet, line 2, column `amount`: `?` is not a number"));
    }

    #[test]
    fn other_types_infinite_numbers_and_damage_are_refused() {
        let fails =
            |array: ArrayRef| read(vec![("c", array)], &ReadOptions::default()).unwrap_err().to_string();
        let date = fails(Arc::new(Date32Array::from(vec![1, 2])));
        assert_eq!(date, "t.parquet, column `c`: values of type Date32 are not supported");
        let infinite = fails(Arc::new(Float64Array::from(vec![1.0, f64::INFINITY])));
        assert!(infinite.contains("line 2, column `c`: `inf` is not a finite number"), "{infinite}");
        let whole = written(vec![("c", Arc::new(Int64Array::from(vec![1, 2])))]);
        for length in [4, 8, whole.len() / 2, whole.len() - 1] {
            let error = parse(whole[..length].to_vec(), Path::new("t.parquet"), &ReadOptions::default());
            assert!(error.unwrap_err().to_string().contains("damaged"), "{length}");
        }
    }
}
