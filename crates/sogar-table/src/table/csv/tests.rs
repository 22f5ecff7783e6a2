//! What is read, and what is refused with which message.

use super::*;
use crate::table::MISSING;

fn read(text: &[u8]) -> Result<Table> {
    parse(text, Path::new("t.csv"), &ReadOptions::default())
}

fn message(text: &[u8]) -> String {
    let error = read(text).unwrap_err();
    format!("{error} | {}", error.remedy().unwrap_or_default())
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    match &table.column(name).unwrap().cells {
        Cells::Numbers(values) => values.clone(),
        Cells::Text { .. } => panic!("{name} is text"),
    }
}

fn texts(table: &Table, name: &str) -> Vec<Option<String>> {
    match &table.column(name).unwrap().cells {
        Cells::Numbers(_) => panic!("{name} is numbers"),
        Cells::Text { codes, levels } => {
            codes.iter().map(|code| levels.get(*code as usize).cloned()).collect()
        }
    }
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn numbers_text_and_gaps_are_distinguished() {
    let table = read(b" a,b ,c\n1,x,2.5\n ,y,NA\n -3 ,x,\n").unwrap();
    assert_eq!(table.rows, 3);
    assert!(numbers(&table, "a")[1].is_nan());
    assert_eq!(numbers(&table, "a")[2], -3.0);
    assert_eq!(texts(&table, "b"), [some("x"), some("y"), some("x")]);
    assert!(numbers(&table, "c")[1].is_nan() && numbers(&table, "c")[2].is_nan());
    assert_eq!(table.lines, [2, 3, 4]);
}

#[test]
fn cells_keep_their_spaces_unless_they_are_trimmed() {
    let text = "a,b\n1, x \n2,\tx\n3,x\u{a0}\n4, \n5,\n".as_bytes();
    let kept = ["\tx", " ", " x ", "x\u{a0}"].map(some);
    let [tab, blank, spaces, fixed] = kept;
    assert_eq!(texts(&read(text).unwrap(), "b"), [spaces, tab, fixed, blank, None]);
    let options = ReadOptions { trim: true, ..ReadOptions::default() };
    let trimmed = parse(text, Path::new("t.csv"), &options).unwrap();
    assert_eq!(texts(&trimmed, "b"), [some("x"), some("x"), some("x"), None, None]);
}

#[test]
fn large_whole_numbers_that_are_wanted_as_text_keep_their_digits() {
    let options = ReadOptions { text: vec!["a".into()], ..ReadOptions::default() };
    let table = parse(b"a\n9007199254740993\n9007199254740992\n", Path::new("t.csv"), &options).unwrap();
    assert_eq!(texts(&table, "a"), [some("9007199254740993"), some("9007199254740992")]);
}

#[test]
fn a_missing_text_is_missing_and_na_is_a_text() {
    let table = read(b"a,b\n1,x\n2,\n3,NA\n").unwrap();
    let Cells::Text { codes, levels } = &table.column("b").unwrap().cells else { panic!("text") };
    assert_eq!((codes.as_slice(), levels.len()), ([1, MISSING, 0].as_slice(), 2));
}

#[test]
fn delimiters_are_found_and_can_be_given() {
    for delimiter in [",", ";", "\t", "|"] {
        let text = format!("a{delimiter}\"b,;|\"\n1{delimiter}2\n");
        let table = read(text.as_bytes()).unwrap();
        assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b,;|"], "{delimiter:?}");
    }
    let options = ReadOptions { delimiter: Some(b' '), ..ReadOptions::default() };
    let table = parse(b"a b\n1 2\n", Path::new("t.csv"), &options).unwrap();
    assert_eq!(numbers(&table, "b"), [2.0]);
    assert_eq!(numbers(&read(b"only\n1\n2\n").unwrap(), "only"), [1.0, 2.0]);
}

#[test]
fn quotes_byte_order_mark_and_windows_line_ends_are_understood() {
    let table =
        read(b"\xef\xbb\xbfname,note\r\n\"a, b\",\"say \"\"hi\"\"\"\r\n\r\nc,\"two\r\nlines\"\r\nd,e\r\n")
            .unwrap();
    assert_eq!(table.names().next(), Some("name"));
    assert_eq!(texts(&table, "name"), [some("a, b"), some("c"), some("d")]);
    assert_eq!(texts(&table, "note")[0], some("say \"hi\""));
    assert_eq!(table.lines, [2, 4, 6]);
}

#[test]
fn the_hash_is_that_of_the_file() {
    assert_eq!(read(b"a\n1\n").unwrap().hash, sha256_hex(b"a\n1\n"));
}

#[test]
fn an_empty_table_and_a_lone_header_are_refused() {
    assert!(message(b"").starts_with("t.csv: the table is empty"));
    assert!(message(b"\xef\xbb\xbf \r\n").starts_with("t.csv: the table is empty"));
    assert!(message(b"a,b\n").starts_with("t.csv: the table has a header but no rows"));
}

#[test]
fn columns_without_a_name_are_called_as_in_pandas() {
    let table = read(b",a,\n0,1,x\n1,3,y\n").unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["Unnamed: 0", "a", "Unnamed: 2"]);
    assert!(read(b"Unnamed: 0,a\n0,1\n").is_ok());
}

#[test]
fn two_columns_of_one_name_are_refused_unless_somebody_knows_them_apart() {
    let table = read(b"a,b,a\n1,2,3\n").unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["a", "b", "a.1"]);
    let mut config = crate::config::Config::default();
    let error = table.check_renamed(&config, &["a".into(), "b".into()]).unwrap_err();
    assert_eq!(error.to_string(), "t.csv, line 1: two columns are called `a` (the 1st and the 3rd)");
    assert!(error.remedy().unwrap().contains("--ignore a.1"), "{error:?}");
    let known = table.check_renamed(&config, &["a".into(), "a.1".into()]).unwrap();
    assert_eq!(known, ["the 3rd column `a` is called `a.1`, as in pandas"]);
    config.data.ignore = vec!["a.1".into()];
    assert!(table.check_renamed(&config, &[]).is_ok());
}

#[test]
fn decimal_commas_are_read_where_they_are_declared() {
    let text = b"price;size;name\n1,5;2;a\n-2,25;3,5;b\n;1;c\n";
    assert_eq!(texts(&read(text).unwrap(), "price")[0], some("1,5"), "never unasked");
    let options = ReadOptions { decimal_comma: true, ..ReadOptions::default() };
    let table = parse(text, Path::new("t.csv"), &options).unwrap();
    assert_eq!(numbers(&table, "price")[..2], [1.5, -2.25]);
    assert_eq!(numbers(&table, "size"), [2.0, 3.5, 1.0]);
    let declared = ReadOptions { numbers: vec!["price".into()], ..ReadOptions::default() };
    let error = parse(text, Path::new("t.csv"), &declared).unwrap_err();
    assert!(error.remedy().unwrap().contains("decimal = \",\""), "{error:?}");
    let mut many = String::from("price;x\n");
    (0..20).for_each(|number| many += &format!("{number};1\n"));
    let stray = message(format!("{many}2,5;1\n").as_bytes());
    assert!(stray.contains("`2,5` is not a number") && stray.contains("decimal = \",\""), "{stray}");
}

#[test]
fn ragged_rows_are_refused_with_their_line() {
    let short = message(b"a,b\r\n1,2\r\n\r\n3\r\n");
    assert!(short.starts_with("t.csv, line 4: this row has 1 cell, the header names 2 columns"), "{short}");
    let long = message(b"a,b\n1,2\n1,2,3\n");
    assert!(long.starts_with("t.csv, line 3: this row has 3 cells"), "{long}");
}

#[test]
fn a_quote_that_is_never_closed_is_refused() {
    let open = message(b"a,b\n1,2\n1,\"2\n3,4\n");
    assert!(open.starts_with("t.csv, line 3: a quote that opens in this row is never closed"), "{open}");
    assert!(read(b"a,b\n1,\"2\"\"\"\n").is_ok());
    assert!(read(b"a,b\n1,5\" pipe\n").is_ok());
    assert!(read(b"a,b\n1,\"\"\n").is_ok());
}

#[test]
fn bytes_that_are_not_utf8_are_placed() {
    let place = message(b"id,city\n1,Bonn\n2,K\xf6ln\n");
    assert!(place.starts_with("t.csv, line 3, column `city`: the text is not UTF-8"), "{place}");
    assert!(place.contains("as UTF-8"));
    assert!(message(b"id,st\xe4dt\n1,Bonn\n").contains("line 1"));
}

#[test]
fn stray_text_among_numbers_is_refused() {
    let mut text = String::from("age\n");
    for age in 20..40 {
        text.push_str(&format!("{age}\n"));
    }
    text.push_str("4O\n");
    let place = message(text.as_bytes());
    assert!(
        place.starts_with("t.csv, line 22, column `age`: `4O` is not a number, but 20 of the column's 21"),
        "{place}"
    );
    assert!(place.contains("add \"4O\" to `missing`") && place.contains("kind = \"categorical\""));
    let options = ReadOptions { missing: vec!["4O".into()], ..ReadOptions::default() };
    let table = parse(text.as_bytes(), Path::new("t.csv"), &options).unwrap();
    assert!(numbers(&table, "age")[20].is_nan());
    let options = ReadOptions { text: vec!["age".into()], ..ReadOptions::default() };
    let table = parse(text.as_bytes(), Path::new("t.csv"), &options).unwrap();
    assert_eq!(texts(&table, "age")[20], some("4O"));
}

#[test]
fn a_column_declared_as_numbers_must_be_one() {
    let options = ReadOptions { numbers: vec!["b".into()], ..ReadOptions::default() };
    let error = parse(b"a,b\nx,1\ny,z\nw,v\n", Path::new("t.csv"), &options).unwrap_err();
    assert!(error.to_string().starts_with("t.csv, line 3, column `b`: `z` is not a number"), "{error}");
}

#[test]
fn infinite_numbers_are_refused_and_inf_among_texts_is_a_text() {
    let place = message(b"a\n1\n-inf\n");
    assert!(place.starts_with("t.csv, line 3, column `a`: `-inf` is not a finite number"), "{place}");
    assert_eq!(texts(&read(b"a\nx\ninf\n").unwrap(), "a")[1], some("inf"));
}

#[test]
fn declared_tokens_stay_texts_in_a_column_of_text() {
    let options = ReadOptions { missing: vec!["?".into()], ..ReadOptions::default() };
    let table = parse(b"a,b\n1,x\n?,?\n", Path::new("t.csv"), &options).unwrap();
    assert!(numbers(&table, "a")[1].is_nan());
    assert_eq!(texts(&table, "b")[1], some("?"));
}
