//! A limit on what a graph may make of its constants.
//!
//! Reading costs as much memory as the file has bytes. Following the graph can cost more: one matrix may be used a
//! thousand times, a tree's nodes may be shared. What is made is therefore counted, and a file that asks for far more
//! than its own size is refused.

use sogar_base::error::{Error, ErrorKind, Result};

/// Elements that any graph may make, however small.
const FREE: usize = 1 << 22;

/// Elements that may be made for each byte that was read.
const PER_BYTE: usize = 4;

/// What may still be made.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// The budget of a model of this many bytes.
    pub fn of(bytes: usize) -> Self {
        Budget { left: bytes.saturating_mul(PER_BYTE).saturating_add(FREE) }
    }

    /// Adds what another file of this many bytes allows.
    pub fn grow(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes.saturating_mul(PER_BYTE));
    }

    /// Takes the cost of `rows · columns` elements before they are made.
    pub fn take(&mut self, rows: usize, columns: usize) -> Result<()> {
        match rows.checked_mul(columns).and_then(|cost| self.left.checked_sub(cost)) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::new(
                ErrorKind::Model,
                "the graph makes far more numbers than the file holds; it is refused before it fills the memory",
            )
            .help("models with one path from the inputs to the answer are read; export the model itself, without extras")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_grows_with_the_file_and_ends() {
        let mut budget = Budget::of(1000);
        budget.take(1000, 1000).unwrap();
        assert!(budget.take(usize::MAX, 2).is_err());
        assert!(budget.take(1 << 22, 1).is_err());
        Budget::of(1 << 22).take(1 << 22, 2).unwrap();
    }
}
