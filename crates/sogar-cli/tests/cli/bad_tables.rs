//! Tables that can't be used: message, place, remedy and exit code 2.

use crate::folder::{Folder, assert_transcript};

/// Solves with a table of these bytes.
fn solve(table: impl AsRef<[u8]>) -> crate::folder::Run {
    let folder = Folder::new();
    folder.write("people.csv", table);
    let run = folder.solve(&["-o", "new.json"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(!folder.path("new.json").exists());
    run
}

/// The fixture with one line replaced.
fn with_line(number: usize, line: &[u8]) -> Vec<u8> {
    let text = include_str!("../fixtures/people.csv");
    let mut lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
    lines[number - 1] = line;
    lines.join(&b'\n')
}

#[test]
fn empty_table() {
    assert_transcript!(solve(""));
}

#[test]
fn header_only() {
    assert_transcript!(solve("age,income,hours,school,job,owner,loan,predicted\n"));
}

#[test]
fn duplicate_column_names() {
    assert_transcript!(solve(with_line(1, b"age,income,hours,school,job,age,loan,predicted")));
}

#[test]
fn row_with_too_few_cells() {
    assert_transcript!(solve(with_line(7, b"41,40.8,21,none")));
}

#[test]
fn row_with_too_many_cells() {
    assert_transcript!(solve(with_line(7, b"41,40.8,21,none,worker,no,no,no,what,else")));
}

#[test]
fn bytes_that_are_not_utf8() {
    assert_transcript!(solve(with_line(5, b"41,40.8,21,n\xf6ne,worker,no,no,no")));
}

#[test]
fn number_with_stray_text() {
    assert_transcript!(solve(with_line(9, b"41,40.8 EUR,21,none,worker,no,no,no")));
}

#[test]
fn features_that_are_all_constant() {
    let people = "41,40.8,21,none,worker,no,no,no\n41,40.8,21,none,worker,no,yes,no\n";
    let table = "age,income,hours,school,job,owner,loan,predicted\n".to_owned() + &people.repeat(30);
    assert_transcript!(solve(table));
}

#[test]
fn level_that_the_configuration_does_not_list() {
    assert_transcript!(solve(with_line(4, b"41,40.8,21,university,worker,no,no,no")));
}

#[test]
fn absent_table() {
    let folder = Folder::new();
    assert_transcript!(folder.sogar(&["solve", "peple.csv", "--model", "model.txt"]));
}

#[test]
fn model_as_table() {
    let folder = Folder::new();
    assert_transcript!(folder.sogar(&["solve", "model.txt", "--model", "model.txt"]));
}

#[test]
fn held_out_table_that_lacks_a_column() {
    let folder = Folder::new();
    folder.write("others.csv", "age,income,hours,school,job\n41,40.8,21,none,worker\n");
    assert_transcript!(folder.solve(&["--holdout", "others.csv", "-o", "new.json"]));
    assert_transcript!(folder.sogar(&["evaluate", "front.json", "--table", "others.csv"]));
}

#[test]
fn held_out_table_in_which_nobody_is_turned_down() {
    let folder = Folder::new();
    let header_and_approved: Vec<String> =
        folder.read("others.csv").lines().filter(|line| !line.ends_with(",no")).map(str::to_owned).collect();
    folder.write("others.csv", header_and_approved.join("\n"));
    let run = folder.solve(&["--holdout", "others.csv", "-o", "new.json"]);
    assert_transcript!(run);
    assert!(!folder.path("new.json").exists());
}
