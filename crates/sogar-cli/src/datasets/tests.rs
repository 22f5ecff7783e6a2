//! Tests cannot download the originals, so they rebuild them from the readable tables: a converter that undoes that returns
//! exactly these bytes. German Credit comes with the project; the others are in the directory that `SOGAR_DATA` names.

use std::io::{Cursor, Write as _};
use std::path::Path;

use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

/// The readable table of `name`, if available.
fn readable(name: &str) -> Option<Vec<u8>> {
    if name == "german" {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/german/german.csv");
        return Some(std::fs::read(path).unwrap());
    }
    let file = find(name).unwrap().file;
    let path = std::env::var_os("SOGAR_DATA").map(|directory| Path::new(&directory).join(file));
    let table = path.and_then(|path| std::fs::read(path).ok());
    if table.is_none() {
        sogar_testing::skipped("data", &format!("{name}: set SOGAR_DATA to a directory that holds {file}"));
    }
    table
}

fn lines(table: &[u8]) -> Vec<Vec<&str>> {
    std::str::from_utf8(table).unwrap().lines().map(|line| line.split(',').collect()).collect()
}

/// Undoes the conversion, as the publisher would have written the rows.
fn publish(dataset: &Dataset, table: &[u8]) -> Vec<u8> {
    let rows = lines(table);
    let mut original = String::new();
    match dataset.name {
        "german" => {
            for row in &rows[1..] {
                let codes: Vec<&str> = row
                    .iter()
                    .zip(&german::COLUMNS)
                    .map(|(cell, (_, codes))| {
                        codes.iter().find(|(_, text)| text == cell).map_or(*cell, |c| c.0)
                    })
                    .collect();
                original.push_str(&(codes.join(" ") + "\n"));
            }
        }
        "adult" | "adult-test" => {
            let (first, dot) =
                if dataset.name == "adult" { ("", "") } else { ("|1x3 Cross validator\n", ".") };
            original.push_str(first);
            for row in &rows[1..] {
                original.push_str(&format!("{}{dot}\n", row.join(", ")));
            }
            original.push('\n');
        }
        "bank" | "bank-additional" => {
            for row in &rows {
                let quoted: Vec<String> = row
                    .iter()
                    .map(
                        |cell| {
                            if cell.parse::<f64>().is_ok() { (*cell).into() } else { format!("\"{cell}\"") }
                        },
                    )
                    .collect();
                original.push_str(&(quoted.join(";") + "\r\n"));
            }
        }
        "attrition" => {
            original.push('\u{feff}');
            for row in &rows {
                original.push_str(&(row.join(",") + "\r\n"));
            }
        }
        other => panic!("no original format known for {other}"),
    }
    original.into_bytes()
}

fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in members {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(contents).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn originals_convert_to_the_readable_tables_byte_for_byte() {
    for dataset in CATALOGUE {
        let Some(table) = readable(dataset.name) else {
            continue;
        };
        let original = publish(dataset, &table);
        assert_ne!(original, table);
        assert!(dataset.import(&original).unwrap() == table, "{}", dataset.name);
    }
}

#[test]
fn the_catalogue_describes_the_readable_tables() {
    for dataset in CATALOGUE {
        let Some(table) = readable(dataset.name) else {
            continue;
        };
        let rows = lines(&table);
        assert_eq!((rows.len() - 1, rows[0].len()), (dataset.rows, dataset.columns), "{}", dataset.name);
        let label = rows[0].iter().position(|name| *name == dataset.label).unwrap();
        assert!(rows.iter().any(|row| row[label] == dataset.desired), "{}", dataset.name);
        assert!(dataset.import(&table).unwrap() == table, "a readable table imports as itself");
    }
}

#[test]
fn archives_are_searched_one_level_deep() {
    let german = find("german").unwrap();
    let table = readable("german").unwrap();
    let original = publish(german, &table);
    let plain = zipped(&[("Index", b"x"), ("__MACOSX/german.data", b"x"), ("german.data", &original)]);
    assert!(german.import(&plain).unwrap() == table);

    let inner = zipped(&[("bank-additional/bank.csv", b"\"y\";\"age\"\n\"no\";30\n")]);
    let outer = zipped(&[("bank.zip", &inner)]);
    assert_eq!(archive::extract(&outer, &["bank.csv", "bank.zip"]).unwrap(), b"\"y\";\"age\"\n\"no\";30\n");
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let german = find("german").unwrap();
    let table = readable("german").unwrap();
    let original = publish(german, &table);

    let mut archive = zipped(&[("german.data", &original)]);
    archive.truncate(archive.len() / 2);
    assert!(german.import(&archive).unwrap_err().to_string().contains("zip archive cannot be read"));

    let foreign = zipped(&[("iris.data", b"5.1,3.5")]);
    assert!(german.import(&foreign).unwrap_err().to_string().contains("does not contain german.data"));

    let shorter =
        &original[..original.len() - original.iter().rev().skip(1).position(|b| *b == b'\n').unwrap() - 1];
    assert!(german.import(shorter).unwrap_err().to_string().contains("not the `german` data set"));

    assert!(find("bank").unwrap().import(b"\"a\";\"b\"\n1\n").unwrap_err().to_string().contains("line 2"));
    assert!(find("attrition").unwrap().import(b"").is_err());
}

#[test]
fn an_unknown_name_gets_a_suggestion() {
    let error = find("germany").unwrap_err();
    assert_eq!(error.to_string(), "there is no data set `germany`");
    assert_eq!(error.remedy(), Some("did you mean `german`?"));
}

#[test]
fn tables_are_stored_whole_and_recognised_again() {
    let directory = tempfile::tempdir().unwrap();
    let german = find("german").unwrap();
    let table = readable("german").unwrap();
    let folder = directory.path().join("new/folder");
    assert_eq!(stored(german, &folder), None);
    let path = write(german, &table, &folder).unwrap();
    assert_eq!(stored(german, &folder), Some(path.clone()));
    std::fs::write(&path, b"half a fi").unwrap();
    assert_eq!(stored(german, &folder), None);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn the_examples_configuration_is_the_german_preset() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let preset = std::fs::read_to_string(root.join("../sogar-table/presets/german.toml")).unwrap();
    let example = std::fs::read_to_string(root.join("../../examples/german/sogar.toml")).unwrap();
    assert_eq!(example, preset, "copy crates/sogar-table/presets/german.toml to examples/german/sogar.toml");
}
