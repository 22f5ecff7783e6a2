//! Caches and checkpoints that somebody rewrote and sealed with a checksum that is right: what is not true in them is found.

use std::path::{Path, PathBuf};

use crate::folder::{Folder, Run};

const CACHE: [&str; 4] = ["--outcomes-cache", "kept", "-o", "new.json"];
const CHECKPOINT: [&str; 4] = ["--checkpoint", "kept", "-o", "new.json"];

/// The only file in `kept` whose name has this in it.
fn file(folder: &Folder, part: &str) -> PathBuf {
    let mut files = std::fs::read_dir(folder.path("kept")).unwrap().map(|entry| entry.unwrap().path());
    files.find(|path| path.file_name().unwrap().to_string_lossy().contains(part)).unwrap()
}

/// Changes what is behind the first line of a file, and its checksum with it.
fn rewrite(path: &Path, change: impl FnOnce(&mut [u8])) {
    let mut bytes = std::fs::read(path).unwrap();
    let end = bytes.len() - 32;
    let start = 1 + bytes.iter().position(|&byte| byte == b'\n').unwrap();
    change(&mut bytes[start..end]);
    let sum = sogar::files::sha256_hex(&bytes[..end]);
    for (at, byte) in bytes[end..].iter_mut().enumerate() {
        *byte = u8::from_str_radix(&sum[2 * at..2 * at + 2], 16).unwrap();
    }
    std::fs::write(path, bytes).unwrap();
}

/// Changes the outcomes in a file, which are behind three numbers.
fn rewrite_flips(path: &Path, change: impl FnOnce(&mut [u8])) {
    rewrite(path, |payload| change(&mut payload[24..]));
}

/// Bytes of the outcomes of one action.
fn bytes_of_action(folder: &Folder) -> usize {
    folder.json("new.json")["population"]["affected"].as_u64().unwrap().div_ceil(64) as usize * 8
}

fn assert_refused(folder: &Folder, run: &Run, said: &[&str]) {
    assert_eq!(run.code, 2, "{run}");
    assert!(said.iter().all(|said| run.stderr.contains(said)), "{run}");
    assert!(!folder.path("new.json").exists(), "{run}");
}

#[test]
fn one_rewritten_outcome_of_a_cache_is_found() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&CACHE).code, 0);
    let size = bytes_of_action(&folder);
    let path = file(&folder, ".outcomes");
    let good = std::fs::read(&path).unwrap();
    let actions = folder.json("new.json")["counts"]["actions"].as_u64().unwrap() as usize;
    for action in [1, 2, actions / 2, actions - 2] {
        std::fs::write(&path, &good).unwrap();
        rewrite_flips(&path, |flips| flips[action * size] ^= 4);
        let _ = std::fs::remove_file(folder.path("new.json"));
        let run = folder.solve(&CACHE);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert_refused(&folder, &run, &[&name, "is not what the model says (row ", "delete this file"]);
    }
    std::fs::write(&path, &good).unwrap();
    rewrite_flips(&path, |flips| flips[0] ^= 1);
    assert_refused(&folder, &folder.solve(&CACHE), &["doing nothing changes an outcome"]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(folder.solve(&CACHE).code, 0, "what the message tells to do works");
}

#[test]
fn an_action_that_is_said_to_help_everybody_is_found() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&CACHE).code, 0);
    let (size, path) = (bytes_of_action(&folder), file(&folder, ".outcomes"));
    rewrite_flips(&path, |flips| flips[size..size + 8].fill(255));
    std::fs::remove_file(folder.path("new.json")).unwrap();
    assert_refused(&folder, &folder.solve(&CACHE), &["is not what the model says"]);
}

#[test]
fn a_rewritten_outcome_of_a_checkpoint_is_found() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&CHECKPOINT).code, 0);
    std::fs::remove_file(folder.path("new.json")).unwrap();
    // 64 rows of each action.
    rewrite_flips(&file(&folder, "outcomes-000000"), |flips| flips[8 * 5] ^= 16);
    let said = ["kept: an outcome in it is not what the model says", "delete the checkpoint's folder"];
    assert_refused(&folder, &folder.solve(&CHECKPOINT), &said);
}

#[test]
fn rewritten_parts_of_a_search_give_no_point_that_is_not_attained() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&CHECKPOINT).code, 0);
    let points = |folder: &Folder| -> Vec<(u64, u64)> {
        let points = folder.json("new.json")["points"].as_array().unwrap().clone();
        points
            .iter()
            .map(|point| (point["cost_sum"].as_u64().unwrap(), point["loss_count"].as_u64().unwrap()))
            .collect()
    };
    let whole = points(&folder);
    let path = file(&folder, "search-000000");
    let good = std::fs::read(&path).unwrap();
    let (mut refused, mut unlike) = (0, 0);
    // A number that is less by one: a cost, a loss, an action, a place, or a length. Most are refused by their place among others.
    for at in (80..good.len() - 200).step_by(good.len() / 150) {
        if refused == 3 {
            break;
        }
        std::fs::write(&path, &good).unwrap();
        rewrite(&path, |cuts| cuts[at] = cuts[at].saturating_sub(1));
        let run = folder.solve(&CHECKPOINT);
        if run.code == 2 {
            refused += usize::from(run.stderr.contains("is not what its trees add up to"));
            continue;
        }
        assert_eq!(run.code, 0, "{run}");
        let found = points(&folder);
        assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1), "{at}");
        let attained =
            |point: &(u64, u64)| whole.iter().any(|true_one| true_one.0 <= point.0 && true_one.1 <= point.1);
        assert!(found.iter().all(attained), "{at}");
        unlike += usize::from(found != whole);
    }
    println!("{refused} were refused, {unlike} gave another front");
    assert_eq!(refused, 3);
}

#[cfg(unix)]
#[test]
fn a_command_scores_the_stated_number_of_rows_again() {
    let folder = Folder::new();
    folder.write("score.awk", "NR > 1 { print ($2 + $3 > 70) ? 0.9 : 0.1 }\n");
    let args = ["solve", "people.csv", "-c", "sogar.toml", "--model-command", "awk -F, -f score.awk"];
    let solve = |flags: &[&str]| folder.sogar(&[&args[..], &CACHE, flags].concat());
    assert_eq!(solve(&[]).code, 0);
    assert_eq!(solve(&[]).code, 0, "what is true is believed");
    let (size, path) = (bytes_of_action(&folder), file(&folder, ".outcomes"));
    rewrite_flips(&path, |flips| flips[size..].chunks_mut(size).for_each(|action| action[0] ^= 255));
    std::fs::remove_file(folder.path("new.json")).unwrap();
    assert_refused(&folder, &solve(&[]), &["is not what the model says", "does not always say the same"]);
    let run = solve(&["--verify-cache", "0"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("are believed, since --verify-cache is 0"), "{run}");
    // A model file is verified whatever is said.
    let folder = Folder::new();
    assert_eq!(folder.solve(&CACHE).code, 0);
    let (size, path) = (bytes_of_action(&folder), file(&folder, ".outcomes"));
    rewrite_flips(&path, |flips| flips[size] ^= 1);
    assert_eq!(folder.solve(&[&CACHE[..], &["--verify-cache", "0"]].concat()).code, 2);
}
