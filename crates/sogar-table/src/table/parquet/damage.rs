//! Thousands of damaged files: each is read, or refused with its name.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

use super::*;
use sogar_base::draw::Draw;

const ROWS: usize = 60;
/// Damaged copies of each file.
const COPIES: u64 = 600;

fn columns() -> Vec<(&'static str, ArrayRef)> {
    let text = |row: usize| (row % 7 != 3).then(|| format!("level {}", row * row % 11));
    let number = |row: usize| (row % 5 != 2).then_some(row as i64 * 37 % 101);
    let rows = 0..ROWS;
    vec![
        ("i64", Arc::new(rows.clone().map(number).collect::<Int64Array>())),
        ("i32", Arc::new(rows.clone().map(|row| row as i32).collect::<Int32Array>())),
        (
            "f64",
            Arc::new(rows.clone().map(|row| number(row).map(|n| n as f64 / 7.0)).collect::<Float64Array>()),
        ),
        ("f32", Arc::new(rows.clone().map(|row| row as f32).collect::<Float32Array>())),
        ("bool", Arc::new(rows.clone().map(|row| Some(row % 3 == 0)).collect::<BooleanArray>())),
        ("utf8", Arc::new(rows.clone().map(text).collect::<StringArray>())),
        ("large", Arc::new(rows.clone().map(text).collect::<LargeStringArray>())),
        ("view", Arc::new(rows.clone().map(text).collect::<StringViewArray>())),
        ("dictionary", {
            let texts: Vec<Option<String>> = rows.clone().map(text).collect();
            Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())
        }),
        ("decimal", Arc::new(rows.map(|row| number(row).map(i128::from)).collect::<Decimal128Array>())),
    ]
}

fn written(properties: WriterPropertiesBuilder) -> Vec<u8> {
    let columns = columns().into_iter().map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut bytes = Vec::new();
    let properties = properties.set_data_page_row_count_limit(25).set_write_batch_size(10);
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.flush().unwrap();
    writer.write(&batch.slice(0, 9)).unwrap();
    writer.close().unwrap();
    bytes
}

/// Files of all supported encodings and compressions.
fn files() -> Vec<Vec<u8>> {
    let plain = || WriterProperties::builder().set_dictionary_enabled(false);
    let encoded = |version, numbers, texts| {
        let mut properties = plain().set_writer_version(version);
        for column in ["i64", "i32"] {
            properties = properties.set_column_encoding(column.into(), numbers);
        }
        for column in ["utf8", "large", "view", "dictionary"] {
            properties = properties.set_column_encoding(column.into(), texts);
        }
        properties
    };
    let [v1, v2] = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let [numbers, split] = [Encoding::DELTA_BINARY_PACKED, Encoding::BYTE_STREAM_SPLIT];
    let [lengths, prefixes] = [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY];
    vec![
        written(WriterProperties::builder()),
        written(WriterProperties::builder().set_writer_version(v2).set_compression(Compression::SNAPPY)),
        written(WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()))),
        written(plain().set_compression(Compression::SNAPPY)),
        written(encoded(v1, numbers, lengths)),
        written(encoded(v1, numbers, prefixes)),
        written(encoded(v2, split, lengths).set_compression(Compression::ZSTD(Default::default()))),
        written(encoded(v2, split, prefixes)),
    ]
}

/// A copy with a few defects: bytes that are changed, lost, doubled or moved.
fn damaged_copy(file: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..1 + draw.below(3) {
        let at = draw.below(bytes.len().max(1));
        let end = (at + 1 + draw.below(12)).min(bytes.len());
        match draw.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = draw.below(bytes.len().max(1));
                bytes.splice(to..to, piece);
            }
            3 => bytes[at..end].fill(255),
            4 => bytes[at..end].fill(0),
            5 => bytes[at..end].iter_mut().for_each(|byte| *byte = draw.below(256) as u8),
            _ if at < bytes.len() => bytes[at] ^= 1 << draw.below(8),
            _ => {}
        }
        // A wrong footer length makes everything else unreadable.
        if bytes.len() > 12 && draw.below(2) == 0 {
            let tail = file[file.len() - 8..].to_vec();
            let at = bytes.len() - 8;
            bytes[at..].copy_from_slice(&tail);
        }
    }
    bytes
}

#[test]
fn whole_files_of_all_encodings_say_the_same() {
    let read = |bytes| parse(bytes, Path::new("t.parquet"), &ReadOptions::default()).unwrap().columns;
    let files = files();
    let first = format!("{:?}", read(files[0].clone()));
    for file in files {
        assert_eq!(format!("{:?}", read(file)), first);
    }
}

#[test]
fn thousands_of_damaged_files_are_read_or_refused_by_name() {
    let options = ReadOptions { memory: Some(256 << 20), ..ReadOptions::default() };
    let (mut read, mut failed) = (0, 0);
    for (number, file) in (0..).zip(files()) {
        for copy in 0..COPIES {
            let bytes = damaged_copy(&file, &mut Draw::new(number, copy));
            match parse(bytes, Path::new("t.parquet"), &options) {
                Ok(_) => read += 1,
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.starts_with("t.parquet"), "{number}, {copy}: {text}");
                    failed += usize::from(text.contains("its reader failed"));
                }
            }
        }
    }
    println!("{read} were read; at {failed} the reader panicked");
    assert!(read > 100 && failed > 5, "{read} {failed}");
}

#[test]
fn more_rows_than_memory_has_room_for_are_refused_before_they_are_read() {
    let options = ReadOptions { memory: Some(1000), ..ReadOptions::default() };
    let error = parse(files()[0].clone(), Path::new("t.parquet"), &options).unwrap_err();
    assert_eq!(error.to_string(), "t.parquet: its 69 rows take 0.0 MB in memory, and the limit is 0.0 MB");
    assert_eq!(error.kind(), ErrorKind::Memory);
}
