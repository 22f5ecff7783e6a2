//! The tables and models of the experiments: in the folder that `scripts/paper_models.py` writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sogar::error::{Error, ErrorKind, Result, suggest};
use sogar::files::{read_bytes, sha256_hex};

use super::protocol::DataSet;

/// Folds of the protocol.
pub const FOLDS: u32 = 10;

/// The data sets, in the order of the published tables.
pub const DATA_SETS: [&str; 4] = ["attrition", "german", "bank", "adult"];

/// The kinds of classifiers with their names in print, in the order of the published tables.
pub const KINDS: [(&str, &str); 3] = [("dnn", "DNN"), ("xgboost", "XGBoost"), ("lightgbm", "LightGBM")];

/// A trained classifier.
#[derive(Debug, PartialEq, Eq)]
pub struct Classifier {
    /// Its name in `scripts/paper_models.py`.
    pub name: &'static str,
    /// Which of [`KINDS`] it is.
    pub kind: &'static str,
    file: &'static str,
    /// Whether outcomes take so long that storing them between cells pays.
    pub slow: bool,
}

/// All classifiers that the script trains.
static CLASSIFIERS: [Classifier; 6] = [
    Classifier { name: "dnn", kind: "dnn", file: "model.onnx", slow: true },
    Classifier { name: "dnn-unweighted", kind: "dnn", file: "model.unweighted.onnx", slow: true },
    Classifier { name: "dnn-unscaled", kind: "dnn", file: "model.unscaled.onnx", slow: true },
    Classifier { name: "xgboost", kind: "xgboost", file: "model.xgb.json", slow: false },
    Classifier { name: "xgboost-default", kind: "xgboost", file: "model.default.xgb.json", slow: false },
    Classifier { name: "lightgbm", kind: "lightgbm", file: "model.txt", slow: false },
];

impl Classifier {
    /// The classifier of that name.
    pub fn named(name: &str) -> Result<&'static Classifier> {
        CLASSIFIERS.iter().find(|known| known.name == name).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("there is no model `{name}`"))
                .help(suggest(name, CLASSIFIERS.iter().map(|known| known.name)))
        })
    }
}

/// The named items of a list; `all` stands for every one. In the order of the list.
fn named(what: &str, list: &[&'static str], chosen: &[String]) -> Result<Vec<&'static str>> {
    for text in chosen {
        if text != "all" && !list.contains(&text.as_str()) {
            return Err(Error::new(ErrorKind::Usage, format!("there is no {what} `{text}`"))
                .help(suggest(text, list.iter().copied().chain(["all"]))));
        }
    }
    let wanted = |item: &&'static str| chosen.iter().any(|text| text == "all" || text == item);
    let found: Vec<&'static str> = list.iter().copied().filter(wanted).collect();
    if found.is_empty() {
        return Err(Error::new(ErrorKind::Usage, format!("no {what} is named")).help("say `all`"));
    }
    Ok(found)
}

/// Data sets by name.
pub fn data_sets(names: &[String]) -> Result<Vec<&'static str>> {
    named("data set", &DATA_SETS, names)
}

/// Kinds of classifiers by name.
pub fn kinds(names: &[String]) -> Result<Vec<&'static str>> {
    named("model", &KINDS.map(|(name, _)| name), names)
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
    /// Hashes of files computed so far: they are large, and many cells share them.
    hashes: Mutex<BTreeMap<PathBuf, String>>,
}

impl Paper {
    /// The folder of `scripts/paper_models.py --out`.
    pub fn new(folder: &Path) -> Paper {
        Paper { folder: folder.to_path_buf(), hashes: Mutex::default() }
    }

    fn places(&self, data: &DataSet, model: &Classifier, fold: u32) -> Files {
        let folder = self.folder.join(&data.folder).join(format!("fold{fold}"));
        Files {
            train: folder.join("train.csv"),
            test: folder.join("test.csv"),
            model: folder.join(model.file),
        }
    }

    /// The files of a fold; if they are missing, an error that says how to make them.
    pub fn files(&self, data: &DataSet, model: &Classifier, fold: u32) -> Result<Files> {
        let files = self.places(data, model, fold);
        let missing = [&files.train, &files.test, &files.model].into_iter().find(|path| !path.is_file());
        if let Some(missing) = missing {
            let (folder, model, data) = (self.folder.display(), model.name, &data.folder);
            let command = format!("--data TABLES --out {folder} --folds {fold} --models {model} {data}");
            return Err(Error::new(ErrorKind::Usage, "a file of the experiment is not there")
                .file(missing)
                .help(format!("make it with: python scripts/paper_models.py {command}")));
        }
        Ok(files)
    }

    /// One hash of the files of a fold; `None` if they are not there.
    pub fn inputs(&self, data: &DataSet, model: &Classifier, fold: u32) -> Result<Option<String>> {
        let Files { train, test, model } = self.places(data, model, fold);
        if [&train, &test, &model].iter().any(|path| !path.is_file()) {
            return Ok(None);
        }
        let hashes = [self.hash(&train)?, self.hash(&test)?, self.hash(&model)?];
        Ok(Some(sha256_hex(hashes.join(" ").as_bytes())[..16].to_owned()))
    }

    fn hash(&self, path: &Path) -> Result<String> {
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
    use super::super::testing::data_set;
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
        assert_eq!(data_sets(&names(&["adult", "german"])).unwrap(), ["german", "adult"]);
        assert_eq!(kinds(&names(&["all"])).unwrap().len(), 3);
        assert_eq!(data_sets(&names(&["germn"])).unwrap_err().remedy(), Some("did you mean `german`?"));
    }

    #[test]
    fn a_missing_file_comes_with_the_command_that_makes_it() {
        let paper = Paper::new(Path::new("no/such/folder"));
        let (data, model) = (data_set(), Classifier::named("dnn-unscaled").unwrap());
        assert_eq!(paper.inputs(&data, model, 3).unwrap(), None);
        let error = paper.files(&data, model, 3).unwrap_err();
        let help = error.remedy().unwrap();
        assert!(help.contains("--out no/such/folder --folds 3 --models dnn-unscaled german"), "{help}");
    }
}
