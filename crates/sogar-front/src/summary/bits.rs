//! Sets of rows in JSON: base64 of a bitset, row `i` being bit `i % 8` of byte `i / 8`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A set of rows as a base64 text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Bits(String);

impl Bits {
    /// The rows among `0..rows` for which `test` holds.
    pub fn new(rows: usize, test: impl Fn(usize) -> bool) -> Self {
        let mut bytes = vec![0u8; rows.div_ceil(8)];
        for row in (0..rows).filter(|&row| test(row)) {
            bytes[row / 8] |= 1 << (row % 8);
        }
        Bits(STANDARD.encode(bytes))
    }

    /// The set as one flag per row; `None` if the text is not a set over exactly `rows` rows.
    pub fn flags(&self, rows: usize) -> Option<Vec<bool>> {
        let bytes = STANDARD.decode(&self.0).ok()?;
        let stray = !rows.is_multiple_of(8) && bytes.last().is_some_and(|last| last >> (rows % 8) != 0);
        if bytes.len() != rows.div_ceil(8) || stray {
            return None;
        }
        Some((0..rows).map(|row| bytes[row / 8] >> (row % 8) & 1 == 1).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_survive_the_way_through_text() {
        for rows in [0, 1, 7, 8, 9, 100] {
            let bits = Bits::new(rows, |row| row % 3 == 0);
            assert_eq!(bits.flags(rows).unwrap(), (0..rows).map(|row| row % 3 == 0).collect::<Vec<_>>());
            assert_eq!(bits.flags(rows + 8), None);
        }
        assert_eq!(Bits("/w==".into()).flags(7), None, "a bit beyond the last row");
        assert_eq!(Bits("not base64!".into()).flags(8), None);
    }
}
