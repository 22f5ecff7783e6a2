//! Models that can't be used, and models that don't fit the table.

use crate::folder::{Folder, Run, assert_transcript};

/// Solves with a model of these bytes.
fn solve(model: impl AsRef<[u8]>) -> Run {
    let folder = Folder::new();
    folder.write("model.txt", model);
    refused(&folder, &[])
}

fn refused(folder: &Folder, flags: &[&str]) -> Run {
    let run = folder.solve(&[flags, &["-o", "new.json"]].concat());
    assert_eq!(run.code, 2, "{run}");
    assert!(!folder.path("new.json").exists());
    run
}

fn fixture() -> String {
    include_str!("../fixtures/model.txt").to_owned()
}

#[test]
fn pickle() {
    assert_transcript!(solve(b"\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix"));
}

#[test]
fn zip_archive() {
    assert_transcript!(solve(b"PK\x03\x04\x14\x00\x00\x00\x08\x00data.pkl"));
}

#[test]
fn unknown_file() {
    assert_transcript!(solve("What a fine model this is.\n"));
}

#[test]
fn empty_file() {
    assert_transcript!(solve(""));
}

#[test]
fn absent_file() {
    let folder = Folder::new();
    std::fs::rename(folder.path("model.txt"), folder.path("modell.txt")).unwrap();
    assert_transcript!(refused(&folder, &[]));
}

#[test]
fn truncated_file() {
    let text = fixture();
    assert_transcript!(solve(&text[..text.len() / 2]));
}

#[test]
fn corrupted_numbers() {
    let text = fixture();
    let at = text.find("leaf_value=").unwrap() + "leaf_value=".len();
    assert_transcript!(solve(format!("{}x{}", &text[..at], &text[at..])));
}

#[test]
fn trees_that_lead_nowhere() {
    let text = fixture();
    let at = text.find("left_child=").unwrap() + "left_child=".len();
    assert_transcript!(solve(format!("{}99{}", &text[..at], &text[at + 1..])));
}

#[test]
fn unknown_version() {
    assert_transcript!(solve(fixture().replacen("version=v4", "version=v9", 1)));
}

#[test]
fn linear_trees() {
    assert_transcript!(solve(fixture().replace("is_linear=0", "is_linear=1")));
}

#[test]
fn columns_of_other_names() {
    assert_transcript!(solve(fixture().replace("feature_names=age income", "feature_names=age wages")));
}

#[test]
fn another_number_of_columns() {
    let folder = Folder::new();
    folder.replace("sogar.toml", "ignore = [\"predicted\"]", "ignore = [\"predicted\", \"job\"]");
    assert_transcript!(refused(&folder, &[]));
}

#[test]
fn nobody_turned_down() {
    assert_transcript!(refused(&Folder::new(), &["--threshold", "0.000001"]));
}

#[test]
fn everybody_turned_down() {
    assert_transcript!(refused(&Folder::new(), &["--threshold", "0.999999"]));
}
