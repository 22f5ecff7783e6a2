use std::path::PathBuf;

use sogar_base::envelope::Label;
use sogar_solver::BitTable;

use super::*;

const ROWS: usize = 70;
const ACTIONS: usize = 5;

fn settings(folder: &Path) -> CheckpointSettings {
    CheckpointSettings { folder: folder.to_path_buf(), limit: DEFAULT_LIMIT }
}

fn outcomes(block: usize) -> Outcomes {
    let mut flips = BitTable::new(ACTIONS, ROWS);
    for action in 1..ACTIONS {
        for row in (0..ROWS).filter(|row| (row * action + block).is_multiple_of(3)) {
            flips.set_mut(action)[row / 64] |= 1 << (row % 64);
        }
    }
    Outcomes { flips, method: "test", settled: block as u64, kept: None }
}

/// A checkpoint with three blocks of outcomes and two parts of a search.
fn filled() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made/on/demand");
    let checkpoint = Checkpoint::open(&settings(&path), "one").unwrap();
    for block in 0..3 {
        checkpoint.keep_outcomes(block, ROWS, &outcomes(block), &());
    }
    keep(&checkpoint, b"first", &());
    keep(&checkpoint, b"second", &());
    (folder, path)
}

fn keep(checkpoint: &Checkpoint, text: &[u8], reporter: &dyn Reporter) {
    checkpoint.keep(FileKind::Search, text.len() as u64, |out| out.write_all(text), reporter);
}

/// The error when everything is read, if any.
fn refusal(path: &Path) -> Option<Error> {
    let read = || -> Result<()> {
        let checkpoint = Checkpoint::open(&settings(path), "one")?;
        for block in 0..3 {
            assert!(checkpoint.outcomes(block, ACTIONS, ROWS)?.is_some());
        }
        Ok(())
    };
    read().err()
}

#[test]
fn what_was_kept_comes_back() {
    let (_folder, path) = filled();
    let checkpoint = Checkpoint::open(&settings(&path), "one").unwrap();
    for block in 0..3 {
        let found = checkpoint.outcomes(block, ACTIONS, ROWS).unwrap().unwrap();
        assert_eq!(found.settled, block as u64);
        let expected = outcomes(block);
        assert!((0..ACTIONS).all(|action| found.flips.set(action) == expected.flips.set(action)));
    }
    assert!(checkpoint.outcomes(3, ACTIONS, ROWS).unwrap().is_none());
    assert_eq!(checkpoint.part(FileKind::Search, 1).read(|payload| payload.rest()).unwrap(), b"second");
}

#[test]
fn every_kind_of_damage_is_refused_with_the_file_and_a_remedy() {
    type Damage = (&'static str, fn(&Path), &'static str);
    let damages: [Damage; 16] = [
        (
            "cut short",
            |path| cut(&path.join("search-000001.kept"), 10),
            "search-000001.kept: the file is cut short",
        ),
        (
            "nearly empty",
            |path| cut(&path.join("search-000000.kept"), 120),
            "search-000000.kept: the file is cut short",
        ),
        (
            "a changed byte",
            |path| flip(&path.join("outcomes-000001.kept"), 190),
            "outcomes-000001.kept: the checksum is wrong",
        ),
        (
            "a changed header",
            |path| flip(&path.join("outcomes-000001.kept"), 23),
            "outcomes-000001.kept: the checksum is wrong",
        ),
        (
            "no magic",
            |path| flip(&path.join("search-000000.kept"), 0),
            "this is not a file that sogar stored",
        ),
        (
            "an empty file",
            |path| fs::write(path.join("search-000000.kept"), "").unwrap(),
            "this is not a file that sogar stored",
        ),
        (
            "swapped files",
            |path| swap(path, "outcomes-000000.kept", "outcomes-000001.kept"),
            "elsewhere in this one",
        ),
        (
            "a file of another kind",
            |path| swap(path, "outcomes-000000.kept", "search-000001.kept"),
            "this holds checkpoint-outcomes, not checkpoint-search",
        ),
        (
            "a missing part",
            |path| fs::remove_file(path.join("outcomes-000001.kept")).unwrap(),
            "outcomes-000001.kept: this part of the checkpoint is missing",
        ),
        (
            "a missing first part",
            |path| fs::remove_file(path.join("search-000000.kept")).unwrap(),
            "search-000000.kept: this part",
        ),
        (
            "a folder instead of a file",
            |path| replace_by_folder(&path.join("search-000001.kept")),
            "search-000001.kept: ",
        ),
        ("no manifest", |path| fs::remove_file(path.join(MANIFEST)).unwrap(), "it is no checkpoint"),
        (
            "a manifest that is not JSON",
            |path| fs::write(path.join(MANIFEST), "{").unwrap(),
            "this is not the manifest",
        ),
        (
            "a folder instead of the manifest",
            |path| replace_by_folder(&path.join(MANIFEST)),
            "checkpoint.json: can't be read",
        ),
        (
            "another version",
            |path| edit(path, env!("CARGO_PKG_VERSION"), "99.0.0"),
            "another version of sogar (99.0.0)",
        ),
        ("another run", |path| edit(path, "\"one\"", "\"two\""), "belongs to another run"),
    ];
    for (what, damage, expected) in damages {
        let (_folder, path) = filled();
        assert!(refusal(&path).is_none(), "{what}");
        damage(&path);
        let error = refusal(&path).unwrap_or_else(|| panic!("{what} was not noticed"));
        assert!(error.to_string().contains(expected), "{what}: {error}");
        assert!(
            error.remedy().is_some_and(|remedy| remedy.contains("delete the checkpoint's folder")),
            "{what}"
        );
    }
}

#[test]
fn parts_of_another_run_are_refused() {
    let (_folder, path) = filled();
    let (_other, elsewhere) = filled();
    edit(&elsewhere, "\"one\"", "\"two\"");
    let other = Checkpoint::open(&settings(&elsewhere), "two");
    assert!(
        other.is_err_and(|error| error
            .to_string()
            .contains("stored for another run or problem, or elsewhere"))
    );
    let (_third, foreign) = (tempfile::tempdir().unwrap(), path.join("foreign"));
    let third = Checkpoint::open(&settings(&foreign), "three").unwrap();
    third.keep_outcomes(0, ROWS, &outcomes(0), &());
    fs::copy(foreign.join("outcomes-000000.kept"), path.join("outcomes-000002.kept")).unwrap();
    assert!(refusal(&path).unwrap().to_string().contains("stored for another run"));
}

#[test]
fn files_of_another_kind_or_version_are_refused_though_their_checksum_is_right() {
    for (kind, version, said) in [
        ("outcomes", VERSION, "this holds outcomes, not checkpoint-"),
        ("checkpoint-outcomes", VERSION + 1, "this has format 4"),
        ("checkpoint-search", VERSION - 1, "this has format 2"),
    ] {
        let (_folder, path) = filled();
        let name = if kind == "checkpoint-search" { "search" } else { "outcomes" };
        let label = Label { kind, version, owner: "one/000001".into() };
        label.write(&path.join(format!("{name}-000001.kept")), 4, |out| out.write_all(b"text")).unwrap();
        let error = refusal(&path).unwrap();
        assert!(error.to_string().contains(said), "{error}");
        assert!(error.remedy().unwrap().contains("delete the checkpoint's folder"));
    }
}

#[test]
fn outcomes_of_another_size_are_refused() {
    let (_folder, path) = filled();
    let checkpoint = Checkpoint::open(&settings(&path), "one").unwrap();
    assert!(checkpoint.outcomes(0, ACTIONS + 1, ROWS).is_err());
    assert!(checkpoint.outcomes(0, ACTIONS, ROWS - 10).is_err());
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.docx"), "all of it").unwrap();
    let error = Checkpoint::open(&settings(folder.path()), "one").unwrap_err();
    assert!(error.to_string().contains("thesis.docx: this is in a folder without"), "{error}");
    assert!(error.remedy().is_some_and(|remedy| remedy.starts_with("choose an empty folder")), "{error:?}");
    assert!(!folder.path().join(MANIFEST).exists());
}

#[test]
fn two_runs_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let _first = Checkpoint::open(&settings(folder.path()), "one").unwrap();
    let error = Checkpoint::open(&settings(folder.path()), "one").unwrap_err();
    assert!(error.to_string().contains("another run is using this checkpoint"), "{error}");
}

#[test]
fn leftovers_of_a_killed_run_go_away() {
    let (_folder, path) = filled();
    let leftover = path.join(".sogar-abc.part");
    fs::write(&leftover, "half a fi").unwrap();
    assert!(refusal(&path).is_none());
    assert!(!leftover.exists());
}

/// Collects warnings.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Reporter for Heard {
    fn outcomes(&self, _: usize, _: usize) {}
    fn search(&self, _: sogar_solver::Progress, _: Option<f64>) {}
    fn warning(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

#[test]
fn beyond_its_limit_nothing_is_written_and_that_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let limited = CheckpointSettings { folder: folder.path().to_path_buf(), limit: 600 };
    let (checkpoint, heard) = (Checkpoint::open(&limited, "one").unwrap(), Heard::default());
    for block in 0..5 {
        checkpoint.keep_outcomes(block, ROWS, &outcomes(block), &heard);
    }
    keep(&checkpoint, b"first", &heard);
    let kept = names_in(folder.path()).unwrap();
    assert_eq!(kept, ["checkpoint.json", "lock", "outcomes-000000.kept", "outcomes-000001.kept"]);
    let heard = heard.0.lock().unwrap();
    assert_eq!(heard.len(), 1);
    assert!(heard[0].contains("has reached its limit"), "{heard:?}");
}

fn cut(path: &Path, bytes: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len().saturating_sub(bytes).max(30)).unwrap();
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

fn swap(path: &Path, one: &str, other: &str) {
    fs::rename(path.join(one), path.join("aside")).unwrap();
    fs::rename(path.join(other), path.join(one)).unwrap();
    fs::rename(path.join("aside"), path.join(other)).unwrap();
}

fn replace_by_folder(path: &Path) {
    fs::remove_file(path).unwrap();
    fs::create_dir(path).unwrap();
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path.join(MANIFEST)).unwrap();
    assert!(text.contains(from));
    fs::write(path.join(MANIFEST), text.replace(from, to)).unwrap();
}
