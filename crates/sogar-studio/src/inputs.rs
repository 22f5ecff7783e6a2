//! A table and a model, named on the command line or dropped on the page.
//!
//! Dropped files are written to a temporary folder ([`crate::dropped`]): table and model files are opened in the same way, with the same
//! checks, wherever they come from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sogar::Result;
use sogar::config::Config;
use sogar::init::Facts;
use sogar::model::{LoadedModel, Source};
use sogar::table::Table;

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
    /// A file that was dropped on the page; results know it by its name alone, because the copy goes with this process.
    Dropped(PathBuf),
    /// One that is in memory already; settings do not change how it is read.
    Opened(Arc<Table>),
}

impl TableOf {
    /// Its name on the page.
    pub fn name(&self) -> String {
        match self {
            TableOf::File(path) | TableOf::Dropped(path) => last(path),
            TableOf::Opened(table) => last(&table.path),
        }
    }

    fn read(&self, config: &Config) -> Result<Arc<Table>> {
        match self {
            TableOf::File(path) => Table::read(path, &config.read_options()?).map(Arc::new),
            TableOf::Dropped(path) => {
                let table = Table::read(path, &config.read_options()?);
                let mut table = table.map_err(|error| error.file(last(path)))?;
                table.path = last(path).into();
                Ok(Arc::new(table))
            }
            TableOf::Opened(table) => Ok(Arc::clone(table)),
        }
    }
}

/// A model as it was given.
#[derive(Clone)]
pub enum ModelOf {
    /// A file or a command.
    Source(Source),
    /// A file that was dropped on the page.
    Dropped(PathBuf),
    /// One that is open already; there is no file to name.
    Opened(LoadedModel),
}

impl ModelOf {
    /// Its name on the page.
    pub fn name(&self) -> String {
        match self {
            ModelOf::Source(source) => last(&source.name()),
            ModelOf::Dropped(path) => last(path),
            ModelOf::Opened(model) => model.path.display().to_string(),
        }
    }

    fn open(&self, table: &Table, config: &Config) -> Result<LoadedModel> {
        match self {
            ModelOf::Source(source) => source.open(table, config),
            ModelOf::Dropped(path) => {
                let model = Source::File(path.clone()).open(table, config);
                let mut model = model.map_err(|error| error.file(last(path)))?;
                model.path = last(path).into();
                Ok(model)
            }
            ModelOf::Opened(model) => Ok(model.clone()),
        }
    }
}

/// The last part of a path.
pub fn last(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
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
        let model = source.open(&table, given)?;
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
        let model = self.source.open(&table, config)?;
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
