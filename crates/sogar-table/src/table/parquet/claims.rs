//! Checks what a Parquet file claims about sizes before the readers allocate it: a failed allocation ends the process.
//!
//! Claims are written in Thrift's compact protocol. This module understands only enough of it to walk over everything and extract
//! a few numbers. A list that can be walked to its end has as many entries as it says.

use parquet::file::reader::ChunkReader;

/// Limit of nested structures.
const DEEPEST: u32 = 64;
/// Upper bound of the expansion of one byte by any supported codec: a block of 128 KiB of Zstandard takes at least 4 bytes.
const MOST_FROM_A_BYTE: u64 = 1 << 15;
/// Bytes to read first for a page's header.
const HEADER: u64 = 1 << 10;

/// Walks over the footer: all lists have the claimed entries, and the nesting of the schema is limited.
pub(super) fn check_footer<R: ChunkReader>(reader: &R) -> Result<(), String> {
    let told = |cause: parquet::errors::ParquetError| cause.to_string();
    let length = reader.len();
    let Some(end) = length.checked_sub(8) else { return Err("it is too short".into()) };
    let tail = reader.get_bytes(end, 8).map_err(told)?;
    let Some((size, _)) = tail.split_first_chunk::<4>() else { return Err("it is too short".into()) };
    let size = u64::from(u32::from_le_bytes(*size));
    let Some(start) = end.checked_sub(size) else { return Err("its footer is cut short".into()) };
    let footer = reader.get_bytes(start, size as usize).map_err(told)?;
    let mut compact = Compact { rest: &footer };
    let mut nesting = Nesting::default();
    let walked = compact.fields(DEEPEST, &mut |id, kind, compact| match (id, kind) {
        (2, LIST) => nesting.schema(compact),
        _ => compact.skip(kind, DEEPEST),
    });
    match walked {
        Some(()) => Ok(()),
        None => Err("its footer is damaged".into()),
    }
}

/// Tracks how deep the elements of a schema are nested.
#[derive(Default)]
struct Nesting {
    /// Children still to come, level by level.
    open: Vec<i64>,
}

impl Nesting {
    fn schema(&mut self, compact: &mut Compact<'_>) -> Option<()> {
        let (count, kind) = compact.list()?;
        for _ in 0..count {
            if kind != STRUCT {
                compact.entry(kind, DEEPEST)?;
                continue;
            }
            let mut children = 0;
            compact.fields(DEEPEST, &mut |id, kind, compact| match (id, kind) {
                (5, I32) => compact.zigzag().map(|number| children = number),
                _ => compact.skip(kind, DEEPEST),
            })?;
            while self.open.last() == Some(&0) {
                self.open.pop();
            }
            if let Some(last) = self.open.last_mut() {
                *last -= 1;
            }
            if children > 0 {
                self.open.push(children);
            }
            if self.open.len() > DEEPEST as usize {
                return None;
            }
        }
        Some(())
    }
}

/// Walks over the headers of a column chunk's pages: none claims more than its bytes can hold, or than `memory`.
pub(super) fn check_pages<R: ChunkReader>(
    reader: &R,
    start: u64,
    length: u64,
    memory: u64,
) -> Result<(), String> {
    let end = start.checked_add(length).filter(|&end| end <= reader.len());
    let Some(end) = end else { return Err("a column lies behind its end".into()) };
    let mut at = start;
    while at < end {
        let (header, page) = header_at(reader, at, end)?;
        let (size, content) = (u64::try_from(page.compressed), u64::try_from(page.content));
        let (Ok(size), Ok(content)) = (size, content) else {
            return Err("a page has a negative size".into());
        };
        at += header;
        if size > end - at {
            return Err("a page is cut short".into());
        }
        if content > (size + 1) * MOST_FROM_A_BYTE || content > memory {
            return Err(format!("a page of {size} bytes claims to hold {content}"));
        }
        at += size;
    }
    Ok(())
}

/// The header of a page, and its length.
fn header_at<R: ChunkReader>(reader: &R, at: u64, end: u64) -> Result<(u64, Page), String> {
    let mut length = HEADER.min(end - at);
    loop {
        let bytes = reader.get_bytes(at, length as usize).map_err(|cause| cause.to_string())?;
        let mut compact = Compact { rest: &bytes };
        if let Some(page) = compact.page() {
            return Ok((length - compact.rest.len() as u64, page));
        }
        // Its statistics may be long.
        if length == end - at {
            return Err("the header of a page is damaged".into());
        }
        length = (16 * length).min(end - at);
    }
}

/// The relevant part of a page's header.
struct Page {
    content: i64,
    compressed: i64,
}

const I32: u8 = 5;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// The rest of a message in the compact protocol. `None` means unreadable.
struct Compact<'a> {
    rest: &'a [u8],
}

impl Compact<'_> {
    fn page(&mut self) -> Option<Page> {
        let mut page = Page { content: -1, compressed: -1 };
        self.fields(DEEPEST, &mut |id, kind, compact| match (id, kind) {
            (2, I32) => compact.zigzag().map(|number| page.content = number),
            (3, I32) => compact.zigzag().map(|number| page.compressed = number),
            _ => compact.skip(kind, DEEPEST),
        })?;
        Some(page)
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn bytes(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        varint(&mut self.rest)
    }

    fn zigzag(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// The fields of a structure: `visit` gets number and type, and reads the value.
    fn fields(&mut self, depth: u32, visit: &mut dyn FnMut(i64, u8, &mut Self) -> Option<()>) -> Option<()> {
        depth.checked_sub(1)?;
        let mut id = 0i64;
        loop {
            let header = self.byte()?;
            let kind = header & 15;
            if kind == 0 {
                return Some(());
            }
            id = match i64::from(header >> 4) {
                0 => self.zigzag()?,
                more => id.wrapping_add(more),
            };
            visit(id, kind, self)?;
        }
    }

    /// Number and type of a list's entries.
    fn list(&mut self) -> Option<(u64, u8)> {
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.varint()?,
            few => u64::from(few),
        };
        // Every entry takes at least one byte.
        (count <= self.rest.len() as u64).then_some((count, header & 15))
    }

    /// Skips the value of a field.
    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            1 | 2 => Some(()), // the type is the value
            _ => self.entry(kind, depth),
        }
    }

    /// Skips an entry of a list.
    fn entry(&mut self, kind: u8, depth: u32) -> Option<()> {
        let below = depth.checked_sub(1)?;
        match kind {
            1..=3 => self.bytes(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.bytes(8),
            8 => {
                let length = self.varint()?;
                self.bytes(length)
            }
            9 | 10 => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.entry(kind, below))
            }
            11 => {
                let count = self.varint()?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.entry(kinds >> 4, below)?;
                    self.entry(kinds & 15, below)
                })
            }
            12 => self.fields(below, &mut |_, kind, compact| compact.skip(kind, below)),
            13 => self.bytes(16),
            _ => None,
        }
    }
}

/// A number with seven bits per byte, the lowest first.
pub(super) fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..70).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 127).wrapping_shl(shift);
        if byte & 128 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    /// A file that is only a footer.
    fn footer(fields: &[u8]) -> Result<(), String> {
        let length = (fields.len() as u32).to_le_bytes();
        check_footer(&Bytes::from([b"PAR1", fields, &length, b"PAR1"].concat()))
    }

    #[test]
    fn a_list_must_have_the_entries_that_it_claims() {
        assert_eq!(footer(&[0x15, 2, 0x49, 0x2c, 0, 0, 0]), Ok(()));
        // Row groups: 2³¹ − 1 of them, each of which would take hundreds of bytes in memory.
        let claim = [0x15, 2, 0x49, 0xfc, 255, 255, 255, 255, 7, 0, 0];
        assert_eq!(footer(&claim), Err("its footer is damaged".to_owned()));
        assert!(footer(&[0x15, 2, 0x49, 0x3c, 0, 0]).is_err(), "one entry is not there");
        assert!(check_footer(&Bytes::from_static(b"PAR1\xff\xff\xff\xffPAR1")).is_err());
        assert!(check_footer(&Bytes::from_static(b"PAR1")).is_err());
    }

    #[test]
    fn a_schema_is_not_nested_without_end() {
        // Field 2: a list of elements, each of which (field 5) has one child.
        let nested =
            |depth: u8| [&[0x29, 0xfc, depth][..], &[0x55, 2, 0].repeat(depth.into()), &[0]].concat();
        assert_eq!(footer(&nested(60)), Ok(()));
        assert!(footer(&nested(100)).is_err());
        // A hundred children side by side are not nested.
        let flat = [&[0x29, 0xfc, 101][..], &[0x55, 200, 1, 0], &[0].repeat(100), &[0]].concat();
        assert_eq!(footer(&flat), Ok(()));
    }

    #[test]
    fn a_page_must_not_claim_more_than_its_bytes_can_hold() {
        let page = |content: &[u8], size: u8| {
            let header = [&[0x15, 0, 0x15][..], content, &[0x15, 2 * size, 0]].concat();
            let bytes = Bytes::from([&header[..], &[7; 10]].concat());
            check_pages(&bytes, 0, bytes.len() as u64, 1 << 30)
        };
        assert_eq!(page(&[20], 10), Ok(()));
        let most = page(&[254, 255, 255, 255, 15], 10);
        assert_eq!(most, Err("a page of 10 bytes claims to hold 2147483647".to_owned()));
        assert_eq!(page(&[1], 10), Err("a page has a negative size".to_owned()));
        assert_eq!(page(&[20], 11), Err("a page is cut short".to_owned()));
        let bytes = Bytes::from_static(&[0; 10]);
        assert!(check_pages(&bytes, 5, 6, 100).is_err() && check_pages(&bytes, u64::MAX, 6, 100).is_err());
    }
}
