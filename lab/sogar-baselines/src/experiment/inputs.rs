//! Where tables and models of the experiments are: in the folder that `scripts/paper_models.py` writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sogar::config::Config;
use sogar::error::{Error, ErrorKind, Result, suggest};
use sogar::files::{read_bytes, sha256_hex};

/// Folds of the protocol.
pub const FOLDS: u32 = 10;

/// A data set of the experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataSet {
    /// Its name.
    pub name: &'static str,
    /// The preset with its action set.
    preset: &'static str,
    /// The column by which people are grouped in audits, if there is one.
    pub group: Option<&'static str>,
}

/// All data sets, in the order of the published tables.
pub static DATA_SETS: [DataSet; 4] = [
    DataSet { name: "attrition", preset: "paper-attrition", group: Some("Gender") },
    DataSet { name: "german", preset: "paper-german", group: Some("Gender") },
    DataSet { name: "bank", preset: "paper-bank", group: None },
    DataSet { name: "adult", preset: "paper-adult", group: Some("sex") },
];

impl DataSet {
    /// The configuration of its action set.
    pub fn config(&self) -> Result<Config> {
        Config::preset(self.preset)
    }
}

/// A classifier of the experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Classifier {
    /// Its name.
    pub name: &'static str,
    /// Its name in print.
    pub title: &'static str,
    file: &'static str,
    /// Whether outcomes take so long that they are worth keeping between cells.
    pub slow: bool,
}

/// All classifiers, in the order of the published tables.
pub static CLASSIFIERS: [Classifier; 3] = [
    Classifier { name: "dnn", title: "DNN", file: "model.onnx", slow: true },
    Classifier { name: "xgboost", title: "XGBoost", file: "model.xgb.json", slow: false },
    Classifier { name: "lightgbm", title: "LightGBM", file: "model.txt", slow: false },
];

/// Those of a list that are named; `all` stands for every one. The order is the list's.
fn named<T: Copy + 'static>(
    what: &str,
    list: &'static [T],
    name: fn(&T) -> &'static str,
    chosen: &[String],
) -> Result<Vec<T>> {
    for text in chosen {
        if text != "all" && !list.iter().any(|item| name(item) == text) {
            return Err(Error::new(ErrorKind::Usage, format!("there is no {what} `{text}`"))
                .help(suggest(text, list.iter().map(name).chain(["all"]))));
        }
    }
    let wanted = |item: &&T| chosen.iter().any(|text| text == "all" || text == name(item));
    let found: Vec<T> = list.iter().filter(wanted).copied().collect();
    if found.is_empty() {
        return Err(Error::new(ErrorKind::Usage, format!("no {what} is named")).help("say `all`"));
    }
    Ok(found)
}

/// Data sets by name.
pub fn data_sets(names: &[String]) -> Result<Vec<DataSet>> {
    named("data set", &DATA_SETS, |item| item.name, names)
}

/// Classifiers by name.
pub fn classifiers(names: &[String]) -> Result<Vec<Classifier>> {
    named("model", &CLASSIFIERS, |item| item.name, names)
}

/// Folds such as `1`, `1,3` or `1-10`.
pub fn folds(text: &str) -> Result<Vec<u32>> {
    let bad = || {
        Error::new(ErrorKind::Usage, format!("`{text}` does not name folds"))
            .help(format!("folds are numbered 1 to {FOLDS}: write 1, 1,3 or 1-10"))
    };
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|fold| (1..=FOLDS).contains(fold));
    let mut folds = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        folds.extend(number(first).ok_or_else(bad)?..=number(last).ok_or_else(bad)?);
    }
    folds.sort_unstable();
    folds.dedup();
    if folds.is_empty() { Err(bad()) } else { Ok(folds) }
}

/// The files of one fold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Files {
    /// The rows that the model was trained on.
    pub train: PathBuf,
    /// The rows held out.
    pub test: PathBuf,
    /// The model.
    pub model: PathBuf,
}

/// The folder of tables and models.
#[derive(Debug)]
pub struct Paper {
    folder: PathBuf,
    /// Hashes of files that were asked for: they are large, and many cells share them.
    hashes: Mutex<BTreeMap<PathBuf, String>>,
}

impl Paper {
    /// The folder that `scripts/paper_models.py --out` was given.
    pub fn new(folder: &Path) -> Paper {
        Paper { folder: folder.to_path_buf(), hashes: Mutex::default() }
    }

    /// The files of a fold; an error that says how they are made, where they are missing.
    pub fn files(&self, data: &DataSet, model: &Classifier, fold: u32) -> Result<Files> {
        let folder = self.folder.join(data.name).join(format!("fold{fold}"));
        let files = Files {
            train: folder.join("train.csv"),
            test: folder.join("test.csv"),
            model: folder.join(model.file),
        };
        let missing = [&files.train, &files.test, &files.model].into_iter().find(|path| !path.is_file());
        if let Some(missing) = missing {
            let (folder, model, data) = (self.folder.display(), model.name, data.name);
            let command = format!("--data TABLES --out {folder} --folds {fold} --models {model} {data}");
            return Err(Error::new(ErrorKind::Usage, "a file of the experiment is not there")
                .file(missing)
                .help(format!("make it with: python scripts/paper_models.py {command}")));
        }
        Ok(files)
    }

    /// The hash of a file's content.
    pub fn hash(&self, path: &Path) -> Result<String> {
        let known = || self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hash) = known().get(path) {
            return Ok(hash.clone());
        }
        let hash = sha256_hex(&read_bytes(path)?);
        known().insert(path.to_path_buf(), hash.clone());
        Ok(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_read() {
        assert_eq!(folds("1-3,7,2").unwrap(), [1, 2, 3, 7]);
        assert_eq!(folds("10").unwrap(), [10]);
        for bad in ["", "0", "11", "3-1", "x", "1-", "1--2"] {
            assert!(folds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_checked_and_kept_in_order() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let found = data_sets(&names(&["adult", "german"])).unwrap();
        assert_eq!(found.iter().map(|data| data.name).collect::<Vec<_>>(), ["german", "adult"]);
        assert_eq!(classifiers(&names(&["all"])).unwrap().len(), 3);
        assert_eq!(data_sets(&names(&["germn"])).unwrap_err().remedy(), Some("did you mean `german`?"));
        for data in &DATA_SETS {
            data.config().unwrap();
        }
    }

    #[test]
    fn a_missing_file_comes_with_the_command_that_makes_it() {
        let paper = Paper::new(Path::new("no/such/folder"));
        let error = paper.files(&DATA_SETS[1], &CLASSIFIERS[0], 3).unwrap_err();
        let help = error.remedy().unwrap();
        assert!(help.contains("--out no/such/folder --folds 3 --models dnn german"), "{help}");
    }
}
