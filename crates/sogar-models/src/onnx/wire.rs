//! Protocol Buffers' wire format: numbered fields, one after the other.
//!
//! Everything is a view of the file's bytes: a length beyond them is an error, so no allocation can exceed the file. Nested
//! messages are plain byte strings here; callers open them, so there is no recursion.

use super::damaged;
use sogar_base::error::Result;

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field<'a> {
    /// A variable-length number.
    Varint(u64),
    /// Eight bytes.
    Fixed64([u8; 8]),
    /// A string, a nested message, or packed numbers.
    Bytes(&'a [u8]),
    /// Four bytes.
    Fixed32([u8; 4]),
}

/// The fields of a message that are still to be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    rest: &'a [u8],
}

impl<'a> Message<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Message { rest: bytes }
    }

    /// The next field with its number.
    pub fn next(&mut self) -> Result<Option<(u32, Field<'a>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).map_err(|_| damaged("a field has an impossible number"))?;
        let field = match key & 7 {
            0 => Field::Varint(self.varint()?),
            1 => Field::Fixed64(self.array()?),
            2 => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                Field::Bytes(self.take(length)?)
            }
            5 => Field::Fixed32(self.array()?),
            other => return Err(damaged(format!("a field is of the unknown wire type {other}"))),
        };
        Ok(Some((number, field)))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for (index, &byte) in self.rest.iter().take(10).enumerate() {
            let bits = u64::from(byte & 0x7f);
            if index == 9 && bits > 1 {
                break;
            }
            value |= bits << (7 * index);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[index + 1..];
                return Ok(value);
            }
        }
        Err(damaged("the file ends in the middle of a number, or a number is too long"))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(length) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(damaged(format!(
                "a field of {length} bytes is announced where {} are left: the file is cut short",
                self.rest.len()
            ))),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| damaged("the file ends in the middle of a number"))
    }
}

impl<'a> Field<'a> {
    /// The bytes of a string, message or packed list.
    pub fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Field::Bytes(bytes) => Ok(bytes),
            _ => Err(damaged("a number stands where a text or a list is expected")),
        }
    }

    /// The text of a string field.
    pub fn text(self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| damaged("a name is not UTF-8 text"))
    }

    /// A whole number.
    pub fn integer(self) -> Result<i64> {
        match self {
            // Negative numbers are written as their two's complement.
            Field::Varint(value) => Ok(value as i64),
            _ => Err(damaged("something else stands where a whole number is expected")),
        }
    }

    /// A number in single precision.
    pub fn single(self) -> Result<f32> {
        match self {
            Field::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(damaged("something else stands where a number is expected")),
        }
    }

    /// Adds the whole numbers of a repeated field, packed or one by one.
    pub fn integers(self, list: &mut Vec<i64>) -> Result<()> {
        match self {
            Field::Bytes(bytes) => {
                let mut packed = Message::of(bytes);
                while !packed.rest.is_empty() {
                    list.push(packed.varint()? as i64);
                }
            }
            single => list.push(single.integer()?),
        }
        Ok(())
    }

    /// Adds the single-precision numbers of a repeated field, packed or one by one.
    pub fn singles(self, list: &mut Vec<f32>) -> Result<()> {
        match self {
            Field::Bytes(bytes) => {
                let (chunks, rest) = bytes.as_chunks::<4>();
                whole(rest)?;
                list.extend(chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)));
            }
            single => list.push(single.single()?),
        }
        Ok(())
    }

    /// Adds the double-precision numbers of a repeated field, packed or one by one.
    pub fn doubles(self, list: &mut Vec<f64>) -> Result<()> {
        match self {
            Field::Bytes(bytes) => {
                let (chunks, rest) = bytes.as_chunks::<8>();
                whole(rest)?;
                list.extend(chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)));
            }
            Field::Fixed64(bytes) => list.push(f64::from_le_bytes(bytes)),
            _ => return Err(damaged("something else stands where a number is expected")),
        }
        Ok(())
    }
}

/// Fails if bytes are left over after the last whole number of a packed list.
fn whole(rest: &[u8]) -> Result<()> {
    if rest.is_empty() { Ok(()) } else { Err(damaged("a list ends in the middle of a number")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u32, Field<'_>)>> {
        let mut message = Message::of(bytes);
        let mut list = Vec::new();
        while let Some(field) = message.next()? {
            list.push(field);
        }
        Ok(list)
    }

    #[test]
    fn fields_of_every_type_are_read() {
        let bytes =
            [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 0, 0, 0x80, 0x3f, 0x21, 0, 0, 0, 0, 0, 0, 0, 0];
        let list = fields(&bytes).unwrap();
        assert_eq!(list[0], (1, Field::Varint(150)));
        assert_eq!(list[1].1.text().unwrap(), "hi");
        assert_eq!(list[2].1.single().unwrap(), 1.0);
        assert_eq!(list[3], (4, Field::Fixed64([0; 8])));
    }

    #[test]
    fn lists_may_be_packed_or_not() {
        let mut list = Vec::new();
        Field::Bytes(&[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1])
            .integers(&mut list)
            .unwrap();
        Field::Varint(7).integers(&mut list).unwrap();
        assert_eq!(list, [1, -1, 7]);
        assert!(Field::Bytes(&[0x80]).integers(&mut list).is_err());
        let mut list = Vec::new();
        assert!(Field::Bytes(&[0, 0, 0x80, 0x3f, 0]).singles(&mut list).is_err());
        Field::Fixed64(1.5f64.to_le_bytes())
            .doubles(&mut list.iter().map(|&x| f64::from(x)).collect())
            .unwrap();
    }

    #[test]
    fn what_goes_beyond_the_bytes_is_an_error() {
        let endless = [0xff; 11];
        for bytes in [
            &[0x08][..],
            &[0x12, 5, 1],
            &[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
            &[0x1d, 1],
            &[0x0b],
            &endless,
        ] {
            assert!(fields(bytes).is_err(), "{bytes:?}");
        }
    }
}
