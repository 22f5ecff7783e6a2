//! Whole numbers as bytes: seven bits at a time, so that small ones are short. Input is never trusted.

use thiserror::Error;

/// Why bytes are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct DecodeError(pub &'static str);

/// Appends a number.
pub fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends words, eight bytes each.
pub fn put_words(out: &mut Vec<u8>, words: &[u64]) {
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// Reads what [`put`] wrote.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes }
    }

    /// The next number.
    pub fn number(&mut self) -> Result<u64, DecodeError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first().ok_or(DecodeError("it is cut short"))?;
            self.bytes = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DecodeError("a number in it is too long"))
    }

    /// The next number, if it is below `end`.
    pub fn below(&mut self, end: u64) -> Result<u32, DecodeError> {
        let number = self.number()?;
        let small = u32::try_from(number).ok().filter(|_| number < end);
        small.ok_or(DecodeError("a number in it is out of range"))
    }

    /// The number of items that follow, each of which takes at least a byte.
    pub fn count(&mut self) -> Result<usize, DecodeError> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if count > self.bytes.len() { Err(DecodeError("it is cut short")) } else { Ok(count) }
    }

    /// This many bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(DecodeError("it is cut short"))?;
        self.bytes = rest;
        Ok(taken)
    }

    /// This many words.
    pub fn words(&mut self, count: usize) -> Result<Vec<u64>, DecodeError> {
        let bytes = self.take(count.checked_mul(8).ok_or(DecodeError("it is cut short"))?)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// Fails if anything is left.
    pub fn end(&self) -> Result<(), DecodeError> {
        if self.bytes.is_empty() { Ok(()) } else { Err(DecodeError("it is too long")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&number| put(&mut bytes, number));
        let mut reader = Reader::new(&bytes);
        assert!(numbers.iter().all(|&number| reader.number() == Ok(number)));
        assert_eq!(reader.end(), Ok(()));
        assert!(reader.number().is_err());
    }

    #[test]
    fn numbers_that_are_too_long_or_too_large_are_refused() {
        assert!(Reader::new(&[0xff; 20]).number().is_err());
        assert!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).number().is_err());
        assert_eq!(Reader::new(&[7]).below(7), Err(DecodeError("a number in it is out of range")));
        assert_eq!(Reader::new(&[6]).below(7), Ok(6));
        assert!(Reader::new(&[9, 0]).count().is_err());
        assert!(Reader::new(&[0; 8]).words(usize::MAX).is_err());
    }
}
