//! Where results of cells are kept: `lab/cells`, one file for each table and classifier, one line for each cell.
//!
//! Lines are sorted, so that new results are new lines in a diff and nothing else. A run adds what is missing. A result counts as
//! missing if it was made from other tables or another model than those at hand. All results of a fold in a file have the same
//! tables and model: a new one from others replaces them, since methods on different models can't be compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sogar::error::{Error, ErrorKind, Result};
use sogar::files::{read_bytes, write_atomically};

use super::cell::Cell;
use super::inputs::Paper;
use super::result::CellResult;

/// A folder of results.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Results by key.
    results: BTreeMap<String, CellResult>,
    /// The file of each key.
    files: BTreeMap<String, String>,
}

impl Store {
    /// Reads all results of a folder; without the folder there are none.
    pub fn open(folder: &Path) -> Result<Store> {
        let mut store =
            Store { folder: folder.to_path_buf(), results: BTreeMap::new(), files: BTreeMap::new() };
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(store) };
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")) {
            let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
                continue;
            };
            for result in read(path)? {
                store.files.insert(result.key.clone(), name.clone());
                store.results.insert(result.key.clone(), result);
            }
        }
        Ok(store)
    }

    /// Number of results.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// The stored result of a cell: that of a method that finished within the limit, otherwise that of one that was cut.
    pub fn get(&self, cell: &Cell) -> Option<&CellResult> {
        let finished = self.results.get(&cell.key(false));
        let in_time =
            |result: &&CellResult| cell.limit().is_none_or(|limit| result.limited_seconds() <= limit);
        finished
            .filter(in_time)
            .or_else(|| self.results.get(&cell.key(true)).filter(|_| cell.limit().is_some()))
    }

    /// The best that there is of a cell, whatever its limit: the result of a method that finished, otherwise that with the longest
    /// limit.
    pub fn best(&self, cell: &Cell) -> Option<&CellResult> {
        let key = cell.key(false);
        let cut = || {
            let of_cell = self.results.values().filter_map(|result| {
                result.cut.as_ref().filter(|(of, _)| *of == key).map(|(_, limit)| (*limit, result))
            });
            of_cell.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, result)| result)
        };
        self.results.get(&key).or_else(cut)
    }

    /// The stored result of a cell, if it was made from the files at hand or these are not there.
    pub fn current(&self, cell: &Cell, paper: &Paper) -> Result<Option<&CellResult>> {
        let Some(result) = self.get(cell) else { return Ok(None) };
        let inputs = paper.inputs(&cell.data, cell.model, cell.fold)?;
        Ok(Some(result).filter(|result| inputs.is_none_or(|inputs| inputs == result.inputs)))
    }

    /// Adds a result to the cell's file, in place of results of the fold that were made from other tables or another model.
    pub fn keep(&mut self, cell: &Cell, result: CellResult) -> Result<()> {
        let name = cell.file();
        let path = self.folder.join(&name);
        // What another run added in the meantime stays.
        let mut lines: Vec<CellResult> = if path.is_file() { read(&path)? } else { Vec::new() };
        lines.retain(|line| {
            let stays = line.fold != result.fold || line.inputs == result.inputs;
            if !stays {
                self.results.remove(&line.key);
                self.files.remove(&line.key);
            }
            stays && line.key != result.key
        });
        self.files.insert(result.key.clone(), name.clone());
        self.results.insert(result.key.clone(), result.clone());
        lines.push(result);
        lines.sort_by(|one, other| place(one).cmp(&place(other)));
        let texts = lines
            .iter()
            .map(|line| {
                serde_json::to_string(line).map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))
            })
            .collect::<Result<Vec<String>>>()?;
        write_atomically(&path, |out| texts.iter().try_for_each(|text| writeln!(out, "{text}")))
    }

    /// Results that none of these cells has, by file: left over from protocols or methods that have changed.
    pub fn left_over(&self, cells: &[Cell]) -> Vec<(&str, &CellResult)> {
        let known: std::collections::BTreeSet<String> = cells.iter().map(|cell| cell.key(false)).collect();
        self.results
            .values()
            .filter(|result| !known.contains(result.cut.as_ref().map_or(&result.key, |(of, _)| of)))
            .filter_map(|result| Some((self.files.get(&result.key)?.as_str(), result)))
            .collect()
    }
}

fn place(result: &CellResult) -> (u32, &str, &str, &str, &str) {
    (result.fold, &result.method, &result.setting, &result.protocol, &result.key)
}

fn read(path: &Path) -> Result<Vec<CellResult>> {
    let bytes = read_bytes(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|cause| {
            Error::new(ErrorKind::ResultFile, format!("line {}: {cause}", number + 1))
                .file(path)
                .help("restore the file from the repository, or remove the line: its cell is then run again")
        })
    };
    text.lines().enumerate().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cell, data_set, result};
    use super::*;
    use sogar_baselines::contract::FitStatus;

    fn limited(limit: Option<f64>) -> Cell {
        Cell { time_limit: limit, ..cell("t-crex-0.9", 1, "") }
    }

    fn of(cell: &Cell, status: FitStatus, seconds: f64) -> CellResult {
        CellResult { train: None, held_out: None, ..CellResult::new(cell, "here".into(), status, seconds) }
    }

    #[test]
    fn what_was_finished_in_time_serves_every_limit_and_what_was_cut_only_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let cut = limited(Some(2.0));
        store.keep(&cut, of(&cut, FitStatus::TimeLimit, 2.1)).unwrap();
        let seconds = |store: &Store, limit| store.get(&limited(limit)).map(|result| result.seconds);
        assert_eq!([Some(2.0), Some(9.0), None].map(|limit| seconds(&store, limit)), [Some(2.1), None, None]);
        assert_eq!(store.best(&limited(None)).map(|result| result.seconds), Some(2.1), "better than nothing");
        let whole = limited(Some(9.0));
        store.keep(&whole, of(&whole, FitStatus::Complete, 5.0)).unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(
            [Some(2.0), Some(7.0), None].map(|limit| seconds(&store, limit)),
            [Some(2.1), Some(5.0), Some(5.0)]
        );
        assert_eq!(store.best(&limited(Some(2.0))).map(|result| result.seconds), Some(5.0));
        assert_eq!(store.get(&limited(Some(2.0)).unlimited()).map(|result| result.seconds), Some(5.0));
    }

    #[test]
    fn lines_are_sorted_read_back_and_replaced_by_key() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        for (method, fold) in [("t-crex-0.9", 2), ("sogar", 2), ("sogar", 1), ("sogar", 2)] {
            store.keep(&cell(method, fold, ""), result(method, fold, 0.1, 0.2)).unwrap();
        }
        let text = std::fs::read_to_string(folder.path().join("german-lightgbm.jsonl")).unwrap();
        let places: Vec<(u32, String)> = read(&folder.path().join("german-lightgbm.jsonl"))
            .unwrap()
            .into_iter()
            .map(|line| (line.fold, line.method))
            .collect();
        assert_eq!(places, [(1, "sogar".into()), (2, "sogar".into()), (2, "t-crex-0.9".into())], "{text}");
        let again = Store::open(folder.path()).unwrap();
        assert_eq!(
            (again.len(), again.get(&cell("sogar", 1, "")).unwrap()),
            (3, &result("sogar", 1, 0.1, 0.2))
        );
        assert_eq!(again.left_over(&[cell("sogar", 1, ""), cell("sogar", 2, "")]).len(), 1);
        std::fs::write(folder.path().join("german-lightgbm.jsonl"), "{\"key\": \"ab").unwrap();
        let error = Store::open(folder.path()).unwrap_err();
        assert!(error.to_string().contains("line 1"), "{error}");
    }

    #[test]
    fn results_of_a_fold_are_about_the_same_tables_and_model() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        for (method, fold) in [("sogar", 1), ("glance", 1), ("sogar", 2)] {
            store.keep(&cell(method, fold, ""), result(method, fold, 0.1, 0.2)).unwrap();
        }
        let anew = CellResult { inputs: "elsewhere".into(), ..result("ares", 1, 0.3, 0.2) };
        store.keep(&cell("ares", 1, ""), anew).unwrap();
        for store in [store, Store::open(folder.path()).unwrap()] {
            let there = |method: &str, fold: u32| store.get(&cell(method, fold, "")).is_some();
            assert_eq!(
                [("sogar", 1), ("glance", 1), ("ares", 1), ("sogar", 2)]
                    .map(|(method, fold)| there(method, fold)),
                [false, false, true, true]
            );
        }
    }

    #[test]
    fn a_result_of_other_files_is_missing_and_without_files_it_counts() {
        let folder = tempfile::tempdir().unwrap();
        let fold = folder.path().join("german/fold1");
        std::fs::create_dir_all(&fold).unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let cell = cell("sogar", 1, "");
        let fresh = || Paper::new(folder.path());
        store.keep(&cell, result("sogar", 1, 0.1, 0.2)).unwrap();
        assert!(store.current(&cell, &fresh()).unwrap().is_some(), "no files to compare with");
        for file in ["train.csv", "test.csv", "model.txt"] {
            std::fs::write(fold.join(file), file).unwrap();
        }
        assert!(store.current(&cell, &fresh()).unwrap().is_none());
        let inputs = fresh().inputs(&data_set(), cell.model, 1).unwrap().unwrap();
        store.keep(&cell, CellResult { inputs, ..result("sogar", 1, 0.1, 0.2) }).unwrap();
        assert!(store.current(&cell, &fresh()).unwrap().is_some());
        std::fs::write(fold.join("model.txt"), "another").unwrap();
        assert!(store.current(&cell, &fresh()).unwrap().is_none());
    }
}
