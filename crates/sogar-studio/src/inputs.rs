//! A table and a model, named on the command line or dropped on the page.
//!
//! Dropped files are written to a temporary folder of this process, which goes when it ends: table and model files are then opened in the
//! same way, with the same checks, wherever they come from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sogar::config::Config;
use sogar::init::Facts;
use sogar::model::{LoadedModel, Source};
use sogar::table::Table;
use sogar::{Error, ErrorKind, Result};

/// Limit of a dropped file.
pub const MOST_BYTES: u64 = 256 << 20;

/// What the user named before the page opened.
#[derive(Default)]
pub struct Given {
    /// The table.
    pub table: Option<TableOf>,
    /// The model.
    pub model: Option<ModelOf>,
    /// What is said about table, model and features.
    pub config: Config,
    /// Whether that is the user's whole configuration; otherwise it starts from what `sogar config init` would write.
    pub complete: bool,
    /// Where files named in the configuration are looked for.
    pub folder: PathBuf,
}

/// A table as it was given.
#[derive(Clone)]
pub enum TableOf {
    /// A file.
    File(PathBuf),
    /// One that is in memory already; settings do not change how it is read.
    Opened(Arc<Table>),
}

impl TableOf {
    /// Its name on the page.
    pub fn name(&self) -> String {
        let path = match self {
            TableOf::File(path) => path,
            TableOf::Opened(table) => &table.path,
        };
        path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn read(&self, config: &Config) -> Result<Arc<Table>> {
        match self {
            TableOf::File(path) => Table::read(path, &config.read_options()?).map(Arc::new),
            TableOf::Opened(table) => Ok(Arc::clone(table)),
        }
    }
}

/// A model as it was given.
#[derive(Clone)]
pub enum ModelOf {
    /// A file or a command.
    Source(Source),
    /// One that is open already; there is no file to name.
    Opened(LoadedModel),
}

/// A table and a model, read.
pub struct Inputs {
    /// The table.
    pub table: Arc<Table>,
    /// As it was given.
    pub origin: TableOf,
    /// The model.
    pub model: LoadedModel,
    /// As it was given.
    pub source: ModelOf,
    /// Where files named in the configuration are looked for.
    pub folder: PathBuf,
    /// What is known about both without any configuration.
    pub facts: Facts,
}

impl Inputs {
    /// Reads table and model, and gives the configuration to start with: the user's, or the one that `sogar config init` would write.
    pub fn open(
        origin: &TableOf,
        source: &ModelOf,
        folder: &Path,
        given: &Config,
        complete: bool,
    ) -> Result<(Arc<Inputs>, Config)> {
        let table = origin.read(given)?;
        let model = opened(source, &table, given)?;
        let facts = Facts::new(&table, Some(&model), given)?;
        let start = match complete {
            true => given.clone(),
            false => {
                said(Config::parse(&facts.file(&table, &origin.name()), Path::new("sogar.toml"))?, given)
            }
        };
        let inputs = Arc::new(Inputs {
            origin: origin.clone(),
            table,
            model,
            source: source.clone(),
            folder: folder.to_path_buf(),
            facts,
        });
        // Settings of the start may change how cells are read, such as texts that mean "missing".
        Ok((inputs.after(given, &start)?, start))
    }

    fn again(&self, config: &Config) -> Result<Inputs> {
        let table = self.origin.read(config)?;
        let model = opened(&self.source, &table, config)?;
        let facts = Facts::new(&table, Some(&model), config)?;
        Ok(Inputs {
            table,
            origin: self.origin.clone(),
            model,
            source: self.source.clone(),
            folder: self.folder.clone(),
            facts,
        })
    }

    /// These inputs after a change of the configuration: read again if that changes how they are read.
    pub fn after(self: &Arc<Inputs>, before: &Config, config: &Config) -> Result<Arc<Inputs>> {
        let alike = reading(before)? == reading(config)? && before.model.threshold == config.model.threshold;
        if alike { Ok(Arc::clone(self)) } else { self.again(config).map(Arc::new) }
    }
}

/// A guessed configuration with what the user said about reading the table.
fn said(mut guess: Config, given: &Config) -> Config {
    let data = &given.data;
    guess.model = sogar::config::ModelConfig { classes: guess.model.classes, ..given.model.clone() };
    guess.data.label =
        data.label.clone().or(guess.data.label).filter(|label| data.weight.as_ref() != Some(label));
    guess.data.weight.clone_from(&data.weight);
    guess.data.trim = data.trim;
    guess.data.codes.clone_from(&data.codes);
    if !data.missing.is_empty() {
        guess.data.missing.clone_from(&data.missing);
    }
    let not_features = [&guess.data.label, &guess.data.weight].map(Option::as_ref);
    let more =
        data.ignore.iter().filter(|name| !guess.data.ignore.contains(name)).cloned().collect::<Vec<_>>();
    guess.data.ignore.retain(|name| !not_features.contains(&Some(name)));
    guess.data.ignore.extend(more);
    let ignored = guess.data.ignore.clone();
    let is_feature = |name: &String| {
        !ignored.contains(name)
            && guess.data.label.as_ref() != Some(name)
            && guess.data.weight.as_ref() != Some(name)
    };
    guess.features.retain(|name, _| is_feature(name));
    guess
}

/// How a configuration reads a table, to be compared.
fn reading(config: &Config) -> Result<String> {
    Ok(format!("{:?}", config.read_options()?))
}

fn opened(source: &ModelOf, table: &Table, config: &Config) -> Result<LoadedModel> {
    match source {
        ModelOf::Source(source) => source.open(table, config),
        ModelOf::Opened(model) => Ok(model.clone()),
    }
}

/// A dropped file in the temporary folder of this process.
pub fn store(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    if bytes.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "the file is empty").file(plain(name)));
    }
    let path = folder.join(plain(name));
    std::fs::write(&path, bytes).map_err(|cause| {
        Error::new(ErrorKind::Output, format!("the file could not be kept: {cause}")).file(&path)
    })?;
    Ok(path)
}

/// A file name without folders, hidden names and odd characters.
fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept = |letter: char| if letter.is_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let name: String = last.chars().map(kept).take(100).collect();
    match name.trim_start_matches('.') {
        "" => "file".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dropped_files_stay_in_their_folder() {
        for (name, kept) in [
            ("people.csv", "people.csv"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\x.csv", "x.csv"),
            ("..", "file"),
            ("", "file"),
            ("/", "file"),
            (".bashrc", "bashrc"),
            ("a\u{0}b\nc.csv", "a_b_c.csv"),
        ] {
            assert_eq!(plain(name), kept);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = store(folder.path(), "../x.csv", b"a").unwrap();
        assert_eq!(path, folder.path().join("x.csv"));
        assert!(store(folder.path(), "x", b"").is_err());
    }
}
