//! Limits what a graph may build from its constants.
//!
//! Reading needs as much memory as the file has bytes. Following the graph can need more: one matrix may be used a thousand
//! times, and nodes of a tree may be shared. So everything built is counted, and a file that needs far more than its own size is
//! refused.

use sogar_base::error::{Error, ErrorKind, Result};

/// Elements that any graph may build, regardless of its size.
const FREE: usize = 1 << 22;

/// Elements per byte of the file.
const PER_BYTE: usize = 4;

/// What may still be built.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// The budget of a model of this many bytes.
    pub fn of(bytes: usize) -> Self {
        Budget { left: bytes.saturating_mul(PER_BYTE).saturating_add(FREE) }
    }

    /// Adds the allowance of another file of this many bytes.
    pub fn grow(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes.saturating_mul(PER_BYTE));
    }

    /// Charges for `rows · columns` elements before they are built.
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
