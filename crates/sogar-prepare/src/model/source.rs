//! Where a model comes from, as the user says it: a file, or a command that answers.

use std::path::{Path, PathBuf};

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
    /// A command that gets rows and answers with labels or scores.
    Command(CommandLine),
}

impl Source {
    /// The model for a table. A command is not started yet.
    pub fn open(&self, table: &dyn TableSource, config: &Config) -> Result<LoadedModel> {
        match self {
            Source::File(path) => load(path, config.model.threshold),
            Source::Command(command) => command.open(table, config),
        }
    }

    /// What names the model in a result: SHA-256 of the file's bytes, or of the command line.
    pub fn hash(&self) -> Result<String> {
        match self {
            Source::File(path) => {
                let bytes = read_bytes(path)?;
                match Format::of(&bytes) {
                    // Which files beside it belong to the model is known when it has been read.
                    Format::Onnx => load(path, None).map(|model| model.hash),
                    _ => Ok(sha256_hex(&bytes)),
                }
            }
            Source::Command(command) => Ok(sha256_hex(&command.identity())),
        }
    }

    /// The model's file, if it is one.
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Source::File(path) => Some(path),
            Source::Command(_) => None,
        }
    }

    /// What messages call it.
    pub fn name(&self) -> PathBuf {
        match self {
            Source::File(path) => path.clone(),
            Source::Command(command) => PathBuf::from(command.text()),
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
