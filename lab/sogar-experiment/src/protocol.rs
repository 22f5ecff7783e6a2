//! Protocols: what is run, as data. A protocol is a file in `lab/protocols`: data sets with their action sets and limits, the
//! cost, the classifiers, and for every choice the source. A variant names its `base` and changes one thing about it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use sogar::config::{Config, CostKind, NumberRule, presets};
use sogar::error::{Error, ErrorKind, Result, suggest};
use sogar::files::read_bytes;

use super::inputs::{Classifier, DATA_SETS, KINDS};

/// A protocol.
#[derive(Debug, Clone)]
pub struct Protocol {
    /// Its name: that of its file.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// The protocol that it changes; `None`: it stands alone.
    pub base: Option<String>,
    /// Whether it is a candidate for the base's place, tried on the first two folds alone.
    pub candidate: bool,
    /// The recourse cost.
    pub cost: CostKind,
    /// The data sets, in the order of the published tables.
    pub data: Vec<Arc<DataSet>>,
    /// The trained model that stands for each kind of classifier.
    pub models: Vec<&'static Classifier>,
    /// What was chosen, and why.
    pub choices: Vec<Choice>,
}

/// A data set under a protocol.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// Its name in the published tables.
    pub name: &'static str,
    /// The folder of its table, in the output of `scripts/paper_models.py`.
    pub folder: String,
    /// The column for groups in audits, if there is one.
    pub group: Option<String>,
    /// Action set and limits.
    pub config: Config,
    /// The same as written: what results depend on.
    pub source: Value,
}

/// A choice with its source.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What was chosen.
    pub what: String,
    /// Where it comes from.
    pub source: Source,
    /// The passage, the file, or the reasoning.
    pub why: String,
}

/// Where a choice comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The paper's text.
    Paper,
    /// Files of the authors, or of the authors of CET, on whose encodings the paper builds.
    Authors,
    /// Our reasoning; nothing says so.
    Inference,
    /// Our own preference.
    Ours,
}

impl Source {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Source::Paper => "paper",
            Source::Authors => "authors' files",
            Source::Inference => "inference",
            Source::Ours => "ours",
        }
    }
}

/// A protocol as written, after its base was merged in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    title: String,
    #[serde(default)]
    base: Option<String>,
    #[serde(default)]
    candidate: bool,
    cost: CostKind,
    models: BTreeMap<String, String>,
    data: BTreeMap<String, WrittenData>,
    #[serde(default)]
    choices: Vec<Choice>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenData {
    table: String,
    group: Option<String>,
    /// The configuration to start from; without one, `config` is all of it.
    preset: Option<String>,
    #[serde(default)]
    config: toml::Table,
}

impl Protocol {
    /// Reads a protocol of a folder by its name.
    pub fn read(folder: &Path, name: &str) -> Result<Protocol> {
        let known = names(folder)?;
        if !known.iter().any(|known| known == name) {
            return Err(Error::new(ErrorKind::Usage, format!("there is no protocol `{name}`"))
                .file(folder)
                .help(suggest(name, known.iter().map(String::as_str))));
        }
        let path = folder.join(format!("{name}.toml"));
        let wrong = |message: String| Error::new(ErrorKind::Config, message).file(&path);
        let mut table = parse(&path)?;
        let base = table.get("base").and_then(toml::Value::as_str).map(str::to_owned);
        if let Some(base) = &base {
            let mut whole = parse(&folder.join(format!("{base}.toml")))?;
            if whole.contains_key("base") {
                return Err(
                    wrong(format!("`{base}` is a variant itself")).help("name a protocol that stands alone")
                );
            }
            whole.remove("choices");
            forget_replaced(&mut whole, &table);
            merge(&mut whole, table);
            table = whole;
        }
        let written: Written =
            table.try_into().map_err(|cause: toml::de::Error| wrong(cause.message().to_owned()))?;
        let data = DATA_SETS
            .into_iter()
            .filter_map(|name| written.data.get(name).map(|data| (name, data)))
            .map(|(name, data)| data_set(name, data, written.cost).map(Arc::new))
            .collect::<Result<Vec<_>>>()
            .map_err(|error| error.file(&path))?;
        if let Some(unknown) = written.data.keys().find(|name| !DATA_SETS.contains(&name.as_str())) {
            return Err(wrong(format!("there is no data set `{unknown}`")).help(suggest(unknown, DATA_SETS)));
        }
        let mut models = Vec::new();
        for (kind, _) in KINDS {
            if let Some(model) = written.models.get(kind) {
                models.push(Classifier::named(model).map_err(|error| error.file(&path))?);
            }
        }
        let Written { title, base, candidate, cost, choices, .. } = written;
        Ok(Protocol { name: name.to_owned(), title, base, candidate, cost, data, models, choices })
    }

    /// Every protocol of a folder: those that stand alone first, then by name.
    pub fn all(folder: &Path) -> Result<Vec<Protocol>> {
        let mut all =
            names(folder)?.iter().map(|name| Protocol::read(folder, name)).collect::<Result<Vec<_>>>()?;
        all.sort_by_key(|protocol| (protocol.base.is_some(), protocol.candidate));
        Ok(all)
    }
}

/// The names of the protocols in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).map_err(|cause| {
        Error::new(ErrorKind::Usage, format!("there are no protocols: {cause}"))
            .file(folder)
            .help("run the command in the root of a clone, or name its folder with --lab lab")
    })?;
    let name = |entry: std::fs::DirEntry| {
        let path = entry.path();
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        path.file_stem().filter(|_| is_toml).map(|stem| stem.to_string_lossy().into_owned())
    };
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok().and_then(name)).collect();
    names.sort();
    Ok(names)
}

fn parse(path: &Path) -> Result<toml::Table> {
    let text = String::from_utf8_lossy(&read_bytes(path)?).into_owned();
    text.parse().map_err(|cause: toml::de::Error| {
        Error::new(ErrorKind::Config, cause.message().to_owned()).file(path)
    })
}

/// A data set of a variant that names a preset starts from it, and not from the base's configuration.
fn forget_replaced(base: &mut toml::Table, variant: &toml::Table) {
    let data = |table: &toml::Table| table.get("data").and_then(toml::Value::as_table).cloned();
    for (name, set) in data(variant).unwrap_or_default() {
        let replaced = set.as_table().is_some_and(|set| set.contains_key("preset"));
        let of_base =
            base.get_mut("data").and_then(|data| data.get_mut(&name)).and_then(toml::Value::as_table_mut);
        if let Some(of_base) = of_base.filter(|_| replaced) {
            of_base.remove("config");
        }
    }
}

/// Puts the values of one table over those of another, table by table.
fn merge(under: &mut toml::Table, over: toml::Table) {
    for (name, value) in over {
        match (under.get_mut(&name), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => merge(under, over),
            (_, value) => {
                under.insert(name, value);
            }
        }
    }
}

fn data_set(name: &'static str, written: &WrittenData, cost: CostKind) -> Result<DataSet> {
    let wrong = |message: String| Error::new(ErrorKind::Config, format!("data set `{name}`: {message}"));
    let mut table = match &written.preset {
        Some(preset) => {
            let found = presets().iter().find(|known| known.name == preset).ok_or_else(|| {
                wrong(format!("there is no preset `{preset}`"))
                    .help(suggest(preset, presets().iter().map(|known| known.name)))
            })?;
            found.text.parse::<toml::Table>().map_err(|cause| wrong(cause.message().to_owned()))?
        }
        None => toml::Table::new(),
    };
    merge(&mut table, written.config.clone());
    let text = toml::to_string(&table).map_err(|cause| wrong(cause.to_string()))?;
    let mut config = Config::parse(&text, Path::new(name))?;
    config.cost.kind = cost;
    // Results were stored before there was another rule, so the published one is no part of a result's key.
    if config.numbers == Some(NumberRule::Bins) {
        table.remove("numbers");
    }
    let source = serde_json::to_value(&table).map_err(|cause| wrong(cause.to_string()))?;
    Ok(DataSet { name, folder: written.table.clone(), group: written.group.clone(), config, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocols")
    }

    #[test]
    fn every_protocol_reads_names_its_sources_and_passes_the_check() {
        let all = Protocol::all(&folder()).unwrap();
        let standing: Vec<&str> = all
            .iter()
            .filter(|protocol| protocol.base.is_none())
            .map(|protocol| protocol.name.as_str())
            .collect();
        assert_eq!(standing, ["ours", "paper"]);
        for protocol in &all {
            assert!(!protocol.choices.is_empty(), "{}", protocol.name);
            assert_eq!(protocol.data.len(), 4, "{}", protocol.name);
            for data in &protocol.data {
                data.config
                    .check(None)
                    .unwrap_or_else(|error| panic!("{} {}: {error}", protocol.name, data.name));
                assert_eq!(data.config.cost.kind, protocol.cost);
            }
        }
    }

    #[test]
    fn a_variant_is_its_base_with_one_change() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "whole.toml",
            "title = \"all\"\ncost = \"cet\"\nmodels.lightgbm = \"lightgbm\"\n\
             [data.german]\ntable = \"german\"\npreset = \"paper-german\"\nconfig.limits.min_leaf = 10\n",
        );
        write("seven.toml", "base = \"whole\"\ntitle = \"7\"\ndata.german.config.limits.max_leaves = 7\n");
        let (whole, seven) = (
            Protocol::read(folder.path(), "whole").unwrap(),
            Protocol::read(folder.path(), "seven").unwrap(),
        );
        let mut expected = whole.data[0].config.clone();
        assert_eq!((expected.limits.min_leaf, expected.limits.max_leaves), (Some(10), Some(8)));
        expected.limits.max_leaves = Some(7);
        assert_eq!(seven.data[0].config, expected);
        assert_eq!((seven.base.as_deref(), seven.cost), (Some("whole"), CostKind::Cet));
        write("anew.toml", "base = \"whole\"\ntitle = \"anew\"\ndata.german.preset = \"paper-german\"\n");
        let anew = Protocol::read(folder.path(), "anew").unwrap();
        assert_eq!(anew.data[0].config.limits.min_leaf, Some(50), "a preset of its own starts anew");
        write("third.toml", "base = \"seven\"\ntitle = \"of a variant\"\n");
        assert!(Protocol::read(folder.path(), "third").unwrap_err().to_string().contains("variant itself"));
        assert_eq!(
            Protocol::read(folder.path(), "sevn").unwrap_err().remedy(),
            Some("did you mean `seven`?")
        );
        write("typo.toml", "base = \"whole\"\ntitle = \"x\"\nmodels.lightgbm = \"lightgmb\"\n");
        assert!(Protocol::read(folder.path(), "typo").is_err());
    }
}
