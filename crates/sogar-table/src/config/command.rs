//! A command line as words.

use sogar_base::error::{Error, ErrorKind, Result};

/// The words of a command line.
pub fn words(text: &str) -> Result<Vec<String>> {
    let words = shlex::split(text).ok_or_else(|| {
        fault(format!("model.command: a quotation mark or backslash is left open in `{text}`"))
    })?;
    if words.first().is_none_or(String::is_empty) {
        return Err(fault("model.command is empty").help("name a program, such as \"python score.py\""));
    }
    Ok(words)
}

fn fault(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message)
}
