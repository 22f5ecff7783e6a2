//! Commands that moved to the laboratory: the other methods and the published evaluation are not part of this program.

use sogar::{Error, ErrorKind, Result};

use crate::output::Exit;

/// Says where the command is.
pub fn run(name: &str) -> Result<Exit> {
    let message = format!("`{name}` is a command of sogar-lab, which is built apart from sogar");
    Err(Error::new(ErrorKind::Usage, message).help(format!(
        "in a clone of the repository: cargo run --release -p sogar-lab -- {name} … (docs/COMPARE.md, docs/EXPERIMENTS.md)"
    )))
}
