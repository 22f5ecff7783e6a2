//! What arrow columns become, and what is refused.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int8Array,
    Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray, Time32SecondArray,
    TimestampMillisecondArray, UInt64Array,
};
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
        ("utf8", Arc::new(StringArray::from(vec!["b", "a"]))),
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
        vec![("a", Arc::new(Float64Array::from(vec![Some(1.0), None]))), ("b", Arc::new(NullArray::new(2)))]
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
fn large_whole_numbers_and_decimals_that_are_wanted_as_text_keep_their_digits() {
    let large = 9_007_199_254_740_993_i64;
    let decimals = Decimal128Array::from(vec![large as i128 * 10, large as i128 * 100 + 25]);
    let keys = Int8Array::from(vec![Some(1), Some(0)]);
    let coded = DictionaryArray::try_new(keys, Arc::new(Int64Array::from(vec![large, large - 1]))).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        (" i ", Arc::new(Int64Array::from(vec![Some(large), None]))),
        ("u", Arc::new(UInt64Array::from(vec![u64::MAX, u64::MAX - 1]))),
        ("d", Arc::new(decimals.with_precision_and_scale(38, 2).unwrap())),
        ("f", Arc::new(Float64Array::from(vec![2.0, 0.5]))),
    ];
    let wanted = ["i", "u", "d", "c", "f"].map(String::from).to_vec();
    let options = ReadOptions { text: wanted, ..ReadOptions::default() };
    let table = read(columns, &options).unwrap();
    let cells: Vec<&Cells> = table.columns.iter().map(|column| &column.cells).collect();
    assert_eq!(*cells[0], text(&[0, MISSING], &["9007199254740993"]));
    assert_eq!(*cells[1], text(&[1, 0], &["18446744073709551614", "18446744073709551615"]));
    assert_eq!(*cells[2], text(&[0, 1], &["900719925474099.3", "9007199254740993.25"]));
    assert_eq!(*cells[3], text(&[1, 0], &["0.5", "2"]));
    let coded: ArrayRef = Arc::new(coded);
    let column = column("c", coded.data_type(), std::slice::from_ref(&coded), &options).unwrap();
    assert_eq!(column.cells, text(&[0, 1], &["9007199254740992", "9007199254740993"]));
}

#[test]
fn texts_keep_their_spaces_unless_they_are_trimmed() {
    let columns = || -> Vec<(&str, ArrayRef)> {
        vec![("b", Arc::new(StringArray::from(vec![Some(" x"), Some("x\u{a0}"), Some(" "), Some(""), None])))]
    };
    let missing = MISSING;
    let kept = read(columns(), &ReadOptions::default()).unwrap();
    assert_eq!(kept.columns[0].cells, text(&[1, 2, 0, missing, missing], &[" ", " x", "x\u{a0}"]));
    let trimmed = read(columns(), &ReadOptions { trim: true, ..ReadOptions::default() }).unwrap();
    assert_eq!(trimmed.columns[0].cells, text(&[0, 0, missing, missing, missing], &["x"]));
}

#[test]
fn files_of_a_folder_are_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, columns: Vec<(&str, ArrayRef)>| {
        std::fs::write(folder.path().join(name), written(columns)).unwrap();
    };
    let part = |numbers: Vec<i64>, texts: Vec<&str>| -> Vec<(&str, ArrayRef)> {
        vec![("a", Arc::new(Int64Array::from(numbers))), ("b", Arc::new(StringArray::from(texts)))]
    };
    let read = || Table::read(folder.path(), &ReadOptions::default());
    assert!(read().unwrap_err().to_string().contains("has no Parquet files"));
    write("part-1.parquet", part(vec![3], vec!["x"]));
    write("part-0.parquet", part(vec![1, 2], vec!["y", "x"]));
    std::fs::write(folder.path().join("_SUCCESS"), "").unwrap();
    let table = read().unwrap();
    assert_eq!(table.columns[0].cells, Cells::Numbers(vec![1.0, 2.0, 3.0]));
    assert_eq!(table.columns[1].cells, text(&[1, 0, 0], &["x", "y"]));
    assert_eq!(table.hash, super::super::hash_of(folder.path()).unwrap());
    write("part-2.parquet", vec![("a", Arc::new(Int64Array::from(vec![3])))]);
    let error = read().unwrap_err().to_string();
    assert!(error.contains("part-2.parquet: its columns are not those of"), "{error}");
    std::fs::remove_file(folder.path().join("part-2.parquet")).unwrap();
    write("part-1.parquet", part(vec![4], vec!["x"]));
    assert_ne!(read().unwrap().hash, table.hash);
}

#[test]
fn many_rows_come_in_many_pieces() {
    let rows = 3 * ROWS_AT_ONCE + 5;
    let numbers: ArrayRef = Arc::new(Float64Array::from_iter_values((0..rows).map(|row| row as f64)));
    let texts = (0..rows).map(|row| format!("{}", row % 7));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let table = read(vec![("a", numbers), ("b", texts)], &ReadOptions::default()).unwrap();
    let (Cells::Numbers(numbers), Cells::Text { codes, levels }) =
        (&table.columns[0].cells, &table.columns[1].cells)
    else {
        panic!("numbers and text");
    };
    assert!((0..rows).all(|row| numbers[row] == row as f64 && codes[row] as usize == row % 7));
    assert_eq!((table.rows, levels.len()), (rows, 7));
}

#[test]
fn dates_and_times_are_texts() {
    let zoned = TimestampMillisecondArray::from(vec![Some(86_400_000), None]).with_timezone("Europe/Paris");
    let arrays: Vec<(&str, ArrayRef)> =
        vec![("day", Arc::new(Date32Array::from(vec![1, 2]))), ("time", Arc::new(zoned))];
    let table = read(arrays, &ReadOptions::default()).unwrap();
    let levels = |column: usize| match &table.columns[column].cells {
        Cells::Text { levels, .. } => levels.clone(),
        Cells::Numbers(_) => Vec::new(),
    };
    assert_eq!(levels(0), ["1970-01-02", "1970-01-03"]);
    assert_eq!(levels(1), ["1970-01-02T00:00:00"]);
}

#[test]
fn other_types_infinite_numbers_and_damage_are_refused() {
    let fails = |array: ArrayRef| read(vec![("c", array)], &ReadOptions::default()).unwrap_err().to_string();
    let time = fails(Arc::new(Time32SecondArray::from(vec![1, 2])));
    assert_eq!(time, "t.parquet, column `c`: values of type Time32(s) are not supported");
    let infinite = fails(Arc::new(Float64Array::from(vec![1.0, f64::INFINITY])));
    assert!(infinite.contains("line 2, column `c`: `inf` is not a finite number"), "{infinite}");
    let whole = written(vec![("c", Arc::new(Int64Array::from(vec![1, 2])))]);
    for length in [4, 8, whole.len() / 2, whole.len() - 1] {
        let error = parse(whole[..length].to_vec(), Path::new("t.parquet"), &ReadOptions::default());
        assert!(error.unwrap_err().to_string().contains("damaged"), "{length}");
    }
}
