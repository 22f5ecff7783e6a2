//! Where a model comes from, as the user names it: a file, or a command.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{CommandLine, Format, LoadedModel, load};
use sogar_base::error::Result;
use sogar_base::files::{read_bytes, sha256_hex};
use sogar_table::config::Config;
use sogar_table::table::TableSource;

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A model file, recognised by its content.
    File(PathBuf),
    /// A command that gets rows and prints labels or scores.
    Command(CommandLine),
    /// One of these, and files of models that must agree with it.
    Several(Box<Source>, Vec<PathBuf>),
    /// One of these, and a command that says how usual rows are.
    Measured(Box<Source>, CommandLine),
}

impl Source {
    /// The model for a table. Does not start a command yet.
    pub fn open(&self, table: &dyn TableSource, config: &Config) -> Result<LoadedModel> {
        match self {
            Source::File(path) => load(path, config.model.threshold),
            Source::Command(command) => command.open(table, config),
            Source::Several(first, also) => {
                let mut model = first.open(table, config)?;
                model.also =
                    also.iter().map(|path| load(path, config.model.threshold)).collect::<Result<_>>()?;
                Ok(model)
            }
            Source::Measured(first, command) => {
                let mut model = first.open(table, config)?;
                model.usual = Some(Arc::new(command.open(table, config)?));
                Ok(model)
            }
        }
    }

    /// The same with a command that says how usual rows are, if there is one.
    #[must_use]
    pub fn measured_by(self, command: Option<CommandLine>) -> Source {
        match command {
            Some(command) => Source::Measured(Box::new(self), command),
            None => self,
        }
    }

    /// The same model with files of others that must agree with it; unchanged without any.
    #[must_use]
    pub fn with(self, also: Vec<PathBuf>) -> Source {
        if also.is_empty() { self } else { Source::Several(Box::new(self), also) }
    }

    /// The identity of the first model in a result: SHA-256 of the file's bytes, or of the command line.
    pub fn hash(&self) -> Result<String> {
        match self {
            Source::File(path) => {
                let bytes = read_bytes(path)?;
                match Format::of(&bytes) {
                    // Only after reading the model is it known which other files belong to it.
                    Format::Onnx => load(path, None).map(|model| model.hash),
                    _ => Ok(sha256_hex(&bytes)),
                }
            }
            Source::Command(command) => Ok(sha256_hex(&command.identity())),
            Source::Several(first, _) | Source::Measured(first, _) => first.hash(),
        }
    }

    /// The model's file, if it is one.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Source::File(path) => Some(path),
            Source::Command(_) => None,
            Source::Several(first, _) | Source::Measured(first, _) => first.file(),
        }
    }

    /// Its name in messages.
    pub fn name(&self) -> PathBuf {
        match self {
            Source::File(path) => path.clone(),
            Source::Command(command) => PathBuf::from(command.text()),
            Source::Several(first, _) | Source::Measured(first, _) => first.name(),
        }
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Source {
        Source::File(path.to_path_buf())
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Source {
        Source::File(path)
    }
}
