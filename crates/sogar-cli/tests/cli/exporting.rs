//! `problem export`: arrays that NumPy can read, with the sizes of the problem.

use std::collections::BTreeMap;
use std::io::Read;

use crate::folder::Folder;

/// Header and data of every array in an archive.
fn arrays(folder: &Folder, name: &str) -> BTreeMap<String, (String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(folder.path(name)).unwrap()).unwrap();
    (0..archive.len())
        .map(|i| {
            let mut member = archive.by_index(i).unwrap();
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes).unwrap();
            assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
            let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
            assert!((10 + length).is_multiple_of(64) && bytes[9 + length] == b'\n');
            let header = String::from_utf8(bytes[10..10 + length].to_vec()).unwrap();
            let name = member.name().unwrap().trim_end_matches(".npy").to_owned();
            (name, (header.trim_end().to_owned(), bytes[10 + length..].to_vec()))
        })
        .collect()
}

#[test]
fn arrays_have_the_sizes_of_the_problem() {
    let folder = Folder::new();
    let flags = ["--model", "model.txt", "--config", "sogar.toml", "--json", "-o", "problem.npz"];
    let run = folder.sogar(&[&["problem", "export", "people.csv"][..], &flags].concat());
    assert_eq!(run.code, 0, "{run}");
    let (told, front) = (run.json(), folder.json("front.json"));
    let rows = front["population"]["affected"].as_u64().unwrap();
    let [splits, edits, actions] = ["splits", "edits", "actions"].map(|key| {
        assert_eq!(told[key], front["counts"][key]);
        front["counts"][key].as_u64().unwrap()
    });
    let header = |kind: &str, shape: &str| {
        format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}")
    };
    let found = arrays(&folder, "problem.npz");
    for (name, kind, shape, bytes) in [
        ("splits", "|b1", format!("{rows}, {splits},"), rows * splits),
        ("cost", "<u4", format!("{edits}, {rows},"), 4 * edits * rows),
        ("actions", "<i4", format!("{actions}, 2,"), 4 * actions * 2),
        ("flips", "|b1", format!("{actions}, {rows},"), actions * rows),
        ("affected", "<i8", format!("{rows},"), 8 * rows),
        ("min_leaf", "<i8", String::new(), 8),
        ("combine", "<U3", String::new(), 12),
    ] {
        let (found_header, data) = &found[name];
        assert_eq!(*found_header, header(kind, &shape), "{name}");
        assert_eq!(data.len() as u64, bytes, "{name}");
    }
    let number = |name: &str| i64::from_le_bytes(found[name].1[..].try_into().unwrap());
    let limits = ["max_depth", "max_leaves", "min_leaf", "unit"].map(number);
    assert_eq!(limits, [2, 4, 20, 240]);
    let (texts, _) = &found["split_texts"];
    assert!(texts.contains("'<U") && texts.contains(&format!("'shape': ({splits},)")), "{texts}");
    assert!(found["flips"].1[..rows as usize].iter().all(|&flip| flip == 0), "the identity flips nobody");
}

#[test]
fn a_problem_too_large_for_memory_is_not_exported() {
    let folder = Folder::german();
    let flags = [
        "-m",
        "model.txt",
        "-c",
        "sogar.toml",
        "--memory-limit",
        "1MB",
        "--max-edits",
        "6",
        "-o",
        "problem.npz",
    ];
    let run = folder.sogar(&[&["problem", "export", "people.csv"][..], &flags].concat());
    assert_eq!(run.code, 4, "{run}");
    assert!(!folder.path("problem.npz").exists());
}
