//! Lines, and blocks of `key=value` lines, of a LightGBM text file.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::damaged;
use sogar_base::error::{Error, Result};

/// The line after the last tree; a file without it was cut off.
const END_OF_TREES: &str = "end of trees";

/// The lines of a file, numbered from 1, without trailing blanks.
pub(super) struct Lines<'a> {
    rest: std::iter::Peekable<std::iter::Enumerate<std::str::Lines<'a>>>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Lines { rest: text.lines().enumerate().peekable() }
    }

    fn peek(&mut self) -> Option<&'a str> {
        self.rest.peek().map(|(_, line)| line.trim_end())
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        self.rest.next().map(|(index, line)| (index + 1, line.trim_end()))
    }
}

/// One `key=value` line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    line: usize,
}

impl<'a> Field<'a> {
    /// An error about this line.
    pub(super) fn error(&self, message: impl std::fmt::Display) -> Error {
        damaged(format!("`{}`: {message}", self.key)).row(self.line)
    }

    /// The value as one number.
    pub(super) fn number<T: FromStr>(&self) -> Result<T> {
        let value = self.value.trim();
        value.parse().map_err(|_| self.error(format!("{} is not a number that can stand here", shown(value))))
    }

    /// The value as `count` numbers separated by blanks.
    pub(super) fn numbers<T: FromStr>(&self, count: usize) -> Result<Vec<T>> {
        // Parsed before the count is compared: memory follows the text, not the claim.
        let parse = |word: &str| {
            word.parse()
                .map_err(|_| self.error(format!("{} is not a number that can stand here", shown(word))))
        };
        let numbers = self.value.split_ascii_whitespace().map(parse).collect::<Result<Vec<T>>>()?;
        if numbers.len() == count {
            Ok(numbers)
        } else {
            Err(self.error(format!("{count} values are due, {} are there", numbers.len())))
        }
    }
}

/// A text from the file, safe for a message.
fn shown(text: &str) -> String {
    if text.chars().count() <= 40 {
        format!("`{text}`")
    } else {
        format!("`{}…`", text.chars().take(40).collect::<String>())
    }
}

/// A block of `key=value` lines: the header, or one tree.
pub(super) struct Block<'a> {
    fields: BTreeMap<&'a str, Field<'a>>,
    line: usize,
    name: &'a str,
}

impl<'a> Block<'a> {
    /// The lines before the first tree.
    pub(super) fn header(lines: &mut Lines<'a>) -> Result<Self> {
        match lines.next() {
            Some((line, "tree")) => Block::read(lines, line, "the header"),
            _ => Err(damaged("a LightGBM text file begins with the line `tree`").row(1)),
        }
    }

    /// The next tree, or `None` at the end of trees.
    pub(super) fn tree(lines: &mut Lines<'a>) -> Result<Option<Self>> {
        loop {
            match lines.next() {
                None => {
                    let message = format!("the file is cut off: the line `{END_OF_TREES}` is missing");
                    return Err(damaged(message));
                }
                Some((_, END_OF_TREES)) => return Ok(None),
                Some((_, "")) => {}
                Some((line, name)) => return Block::read(lines, line, name).map(Some),
            }
        }
    }

    fn read(lines: &mut Lines<'a>, line: usize, name: &'a str) -> Result<Self> {
        let mut fields = BTreeMap::new();
        while lines.peek().is_some_and(|next| !next.starts_with("Tree=") && next != END_OF_TREES) {
            let Some((line, text)) = lines.next() else { break };
            if text.is_empty() {
                continue;
            }
            // A line without `=` is a switch such as `average_output`.
            let (key, value) = text.split_once('=').unwrap_or((text, ""));
            let field = Field { key, value, line };
            if fields.insert(key, field).is_some() {
                return Err(field.error("the line stands twice"));
            }
        }
        Ok(Block { fields, line, name })
    }

    /// An error about the block as a whole.
    pub(super) fn error(&self, message: impl std::fmt::Display) -> Error {
        damaged(format!("{}: {message}", self.name)).row(self.line)
    }

    /// The line with this key, if there is one.
    pub(super) fn find(&self, key: &str) -> Option<Field<'a>> {
        self.fields.get(key).copied()
    }

    /// The line with this key.
    pub(super) fn field(&self, key: &str) -> Result<Field<'a>> {
        self.find(key).ok_or_else(|| self.error(format!("the line `{key}=` is missing")))
    }
}
