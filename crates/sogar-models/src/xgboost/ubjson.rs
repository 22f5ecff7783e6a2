//! UBJSON, a binary form of JSON, as a serde deserializer over bytes.
//!
//! A value is a letter and its payload, numbers in big-endian order; a container may announce the number of its elements and
//! their common letter. The announced number is never trusted: elements are read one by one, and only letters whose elements take
//! space may be common. Depth is limited.

use std::fmt;

use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Limit of nested containers; a model needs about ten.
const DEEPEST: usize = 64;

/// Reads the single value in the bytes.
pub(super) fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let mut reader = Reader { bytes, at: 0, depth: 0 };
    let value = T::deserialize(&mut reader)?;
    while reader.at < bytes.len() {
        if reader.byte()? != b'N' {
            return reader.error("there is more after the end of the document");
        }
    }
    Ok(value)
}

/// An error in the bytes, and where.
#[derive(Debug)]
pub(super) struct Error {
    message: String,
    at: Option<usize>,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(out, "{} at byte {at}", self.message),
            None => out.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error { message: message.to_string(), at: None }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

/// The head of a container: the common letter and the number of elements, if given.
struct Head {
    letter: Option<u8>,
    left: Option<u64>,
}

impl<'a> Reader<'a> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, Error> {
        Err(Error { message: message.into(), at: Some(self.at) })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        match self.at.checked_add(count).and_then(|end| self.bytes.get(self.at..end)) {
            Some(bytes) => {
                self.at += count;
                Ok(bytes)
            }
            None => self.error("the file ends too early"),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8, Error> {
        Ok(self.array::<1>()?[0])
    }

    /// The next significant letter.
    fn letter(&mut self) -> Result<u8, Error> {
        loop {
            match self.byte()? {
                b'N' => continue,
                letter => return Ok(letter),
            }
        }
    }

    fn whole(&mut self, letter: u8) -> Result<i64, Error> {
        Ok(match letter {
            b'i' => i64::from(i8::from_be_bytes(self.array()?)),
            b'U' => i64::from(self.byte()?),
            b'I' => i64::from(i16::from_be_bytes(self.array()?)),
            b'l' => i64::from(i32::from_be_bytes(self.array()?)),
            b'L' => i64::from_be_bytes(self.array()?),
            _ => return self.error("a whole number is due"),
        })
    }

    fn length(&mut self) -> Result<u64, Error> {
        let letter = self.byte()?;
        let length = self.whole(letter)?;
        u64::try_from(length).or_else(|_| self.error("a length is negative"))
    }

    fn text(&mut self) -> Result<&'a str, Error> {
        let length = self.length()?;
        let bytes = self.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        std::str::from_utf8(bytes).or_else(|_| self.error("a text is not UTF-8"))
    }

    fn head(&mut self) -> Result<Head, Error> {
        let mut head = Head { letter: None, left: None };
        if self.bytes.get(self.at) == Some(&b'$') {
            self.at += 1;
            let letter = self.byte()?;
            if !matches!(letter, b'i' | b'U' | b'I' | b'l' | b'L' | b'd' | b'D' | b'C' | b'S' | b'[' | b'{') {
                return self.error("elements of this kind cannot be counted");
            }
            head.letter = Some(letter);
        }
        if self.bytes.get(self.at) == Some(&b'#') {
            self.at += 1;
            head.left = Some(self.length()?);
        } else if head.letter.is_some() {
            return self.error("elements of one kind need a number");
        }
        Ok(head)
    }

    /// Whether the container continues; consumes its end if there is one.
    fn more(&mut self, head: &mut Head, end: u8) -> Result<bool, Error> {
        match &mut head.left {
            Some(0) => Ok(false),
            Some(left) => {
                *left -= 1;
                Ok(true)
            }
            None => {
                while self.bytes.get(self.at) == Some(&b'N') {
                    self.at += 1;
                }
                let ends = self.bytes.get(self.at) == Some(&end);
                if ends {
                    self.at += 1;
                    head.left = Some(0);
                }
                Ok(!ends)
            }
        }
    }

    fn value<'de, V: Visitor<'de>>(&mut self, letter: u8, visitor: V) -> Result<V::Value, Error> {
        match letter {
            b'Z' => visitor.visit_unit(),
            b'T' => visitor.visit_bool(true),
            b'F' => visitor.visit_bool(false),
            b'i' | b'U' | b'I' | b'l' | b'L' => visitor.visit_i64(self.whole(letter)?),
            b'd' => visitor.visit_f32(f32::from_be_bytes(self.array()?)),
            b'D' => visitor.visit_f64(f64::from_be_bytes(self.array()?)),
            b'C' => visitor.visit_char(char::from(self.byte()?)),
            b'S' => visitor.visit_str(self.text()?),
            b'[' | b'{' => {
                if self.depth == DEEPEST {
                    return self.error("containers lie too deep in each other");
                }
                self.depth += 1;
                let head = self.head()?;
                let mut elements = Elements {
                    head,
                    letter: None,
                    end: if letter == b'[' { b']' } else { b'}' },
                    reader: self,
                };
                let value = match letter {
                    b'[' => visitor.visit_seq(&mut elements)?,
                    _ => visitor.visit_map(&mut elements)?,
                };
                if elements.head.left != Some(0) {
                    return self.error("a list is longer than it should be");
                }
                self.depth -= 1;
                Ok(value)
            }
            other => self.error(format!("no value begins with the byte {other}")),
        }
    }
}

impl<'de> de::Deserializer<'de> for &mut Reader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let letter = self.letter()?;
        self.value(letter, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.bytes.get(self.at) == Some(&b'Z') {
            self.at += 1;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The elements of a container that is being read.
struct Elements<'r, 'a> {
    reader: &'r mut Reader<'a>,
    head: Head,
    /// The letter of the next element, if the head gives it.
    letter: Option<u8>,
    end: u8,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if !self.reader.more(&mut self.head, self.end)? {
            return Ok(None);
        }
        self.letter = self.head.letter;
        seed.deserialize(self).map(Some)
    }
}

impl<'de> MapAccess<'de> for Elements<'_, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if !self.reader.more(&mut self.head, self.end)? {
            return Ok(None);
        }
        // A key is a text without its letter.
        self.letter = Some(b'S');
        seed.deserialize(self).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        self.letter = self.head.letter;
        seed.deserialize(self)
    }
}

impl<'de> de::Deserializer<'de> for &mut Elements<'_, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.letter {
            Some(letter) => self.reader.value(letter, visitor),
            None => self.reader.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.letter {
            Some(_) => visitor.visit_some(self),
            None => self.reader.deserialize_option(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::de::IgnoredAny;
    use serde_json::Value;

    use super::*;

    fn read(bytes: &[u8]) -> Value {
        from_slice(bytes).unwrap()
    }

    fn fails(bytes: &[u8]) -> String {
        from_slice::<Value>(bytes).unwrap_err().to_string()
    }

    #[test]
    fn values_of_every_letter_are_read() {
        assert_eq!(read(b"Z"), Value::Null);
        assert_eq!(read(b"T"), Value::Bool(true));
        assert_eq!(read(b"i\xff"), Value::from(-1));
        assert_eq!(read(b"U\xff"), Value::from(255));
        assert_eq!(read(b"I\x01\x00"), Value::from(256));
        assert_eq!(read(b"l\xff\xff\xff\xfe"), Value::from(-2));
        assert_eq!(read(b"L\x00\x00\x00\x01\x00\x00\x00\x00"), Value::from(1i64 << 32));
        assert_eq!(read(b"d\x3f\x00\x00\x00"), Value::from(0.5));
        assert_eq!(read(b"D\x3f\xe0\x00\x00\x00\x00\x00\x00"), Value::from(0.5));
        assert_eq!(read(b"Ca"), Value::from("a"));
        assert_eq!(read(b"Si\x02ab"), Value::from("ab"));
    }

    #[test]
    fn containers_may_give_their_number_and_kind() {
        let list = serde_json::json!([1, 2]);
        for bytes in [&b"[i\x01Ni\x02]"[..], b"[#i\x02i\x01i\x02", b"[$i#i\x02\x01\x02"] {
            assert_eq!(read(bytes), list);
        }
        let map = serde_json::json!({"a": 1, "b": 2});
        for bytes in [
            &b"{i\x01ai\x01i\x01bi\x02}"[..],
            b"{#i\x02i\x01ai\x01i\x01bi\x02",
            b"{$i#i\x02i\x01a\x01i\x01b\x02",
        ] {
            assert_eq!(read(bytes), map);
        }
        assert_eq!(read(b"[[]{}[#i\x00]"), serde_json::json!([[], {}, []]));
    }

    #[test]
    fn typed_values_keep_their_bits() {
        let floats: Vec<f32> = from_slice(b"[$d#i\x02\x3d\xcc\xcc\xcd\x00\x00\x00\x01").unwrap();
        assert_eq!(floats, [0.1, f32::from_bits(1)]);
        let texts: BTreeMap<String, Option<String>> = from_slice(b"{i\x01aSi\x01xi\x01bZ}").unwrap();
        assert_eq!(texts.len(), 2);
    }

    #[test]
    fn hostile_bytes_are_errors() {
        for bytes in
            [&b""[..], b"[", b"{", b"S", b"Si", b"Si\x05ab", b"[i", b"{i\x01a", b"d\x00", b"?", b"[$i\x01"]
        {
            assert!(from_slice::<Value>(bytes).is_err(), "{bytes:?}");
            assert!(from_slice::<IgnoredAny>(bytes).is_err(), "{bytes:?}");
        }
        let huge = [&b"[$d#L"[..], &i64::MAX.to_be_bytes()].concat();
        assert!(fails(&huge).contains("ends too early"));
        let endless = [&b"[$T#L"[..], &i64::MAX.to_be_bytes()].concat();
        assert!(fails(&endless).contains("cannot be counted"));
        assert!(fails(b"Si\xffab").contains("negative"));
        assert!(fails(b"Si\x01\xff").contains("UTF-8"));
        assert!(fails(b"i").contains("early") && fails(b"i\x01i\x01").contains("more after"));
        let deep = b"[".repeat(100_000);
        assert!(fails(&deep).contains("too deep"));
        let deep_and_counted = b"[#i\x01".repeat(100_000);
        assert!(from_slice::<IgnoredAny>(&deep_and_counted).is_err());
    }
}
