//! Checks the pages of a file before the decoders, which use some numbers in them as sizes of allocations.

use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::ROWS_AT_ONCE;
use super::claims::{check_pages, varint};

/// All pages of a file, checked when read.
pub(super) struct Pages<R> {
    reader: Arc<R>,
    metadata: Arc<ParquetMetaData>,
    rows: usize,
    memory: u64,
}

impl<R> Pages<R> {
    pub fn new(reader: R, metadata: Arc<ParquetMetaData>, rows: usize, memory: u64) -> Pages<R> {
        Pages { reader: Arc::new(reader), metadata, rows, memory }
    }
}

impl<R: ChunkReader + 'static> RowGroups for Pages<R> {
    fn num_rows(&self) -> usize {
        self.rows
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let (reader, metadata) = (Arc::clone(&self.reader), Arc::clone(&self.metadata));
        Ok(Box::new(Chunks { reader, metadata, memory: self.memory, column, next: 0 }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The chunks of a column, one per row group.
struct Chunks<R> {
    reader: Arc<R>,
    metadata: Arc<ParquetMetaData>,
    memory: u64,
    column: usize,
    next: usize,
}

impl<R: ChunkReader + 'static> Chunks<R> {
    fn chunk(&self, group: &RowGroupMetaData) -> Result<Box<dyn PageReader>> {
        let chunk = group.columns().get(self.column).ok_or_else(|| fault("a column is missing"))?;
        let (start, length) = chunk.byte_range();
        check_pages(&*self.reader, start, length, self.memory).map_err(ParquetError::General)?;
        let rows = usize::try_from(group.num_rows())?;
        let pages = SerializedPageReader::new(Arc::clone(&self.reader), chunk, rows, None)?;
        let levels = chunk.column_descr().max_def_level() > 0;
        let at_once = rows.min(ROWS_AT_ONCE) as u64;
        Ok(Box::new(Checked { pages, kind: chunk.column_type(), levels, at_once, memory: self.memory }))
    }
}

impl<R: ChunkReader + 'static> Iterator for Chunks<R> {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.metadata.row_groups().get(self.next)?;
        self.next += 1;
        Some(self.chunk(group))
    }
}

impl<R: ChunkReader + 'static> PageIterator for Chunks<R> {}

/// The pages of a chunk.
struct Checked<R: ChunkReader> {
    pages: SerializedPageReader<R>,
    kind: Type,
    /// Whether pages begin with the definition levels of their values.
    levels: bool,
    /// Largest number of rows to read at once.
    at_once: u64,
    memory: u64,
}

impl<R: ChunkReader> Checked<R> {
    fn check(&self, page: &Page) -> Result<()> {
        let fits = match page {
            Page::DictionaryPage { buf, num_values, .. } => self.dictionary_fits(buf, *num_values),
            Page::DataPage { buf, num_values, encoding, .. } => match self.levels && is_delta(*encoding) {
                true => buf.split_first_chunk::<4>().is_some_and(|(length, rest)| {
                    let values = rest.get(u32::from_le_bytes(*length) as usize..);
                    values.is_some_and(|values| delta_fits(values, *encoding, *num_values))
                }),
                false => delta_fits(buf, *encoding, *num_values),
            },
            Page::DataPageV2 {
                buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                buf.get(levels..).is_some_and(|values| delta_fits(values, *encoding, *num_values))
            }
        };
        if fits { Ok(()) } else { Err(fault("a page claims to hold more than it has room for")) }
    }

    /// Whether a dictionary has bytes for its values, and the rows read at once have room for the longest of them.
    fn dictionary_fits(&self, bytes: &Bytes, values: u32) -> bool {
        if u64::from(values) > bytes.len() as u64 {
            return false;
        }
        let (mut rest, mut longest) = (&bytes[..], 0);
        while self.kind == Type::BYTE_ARRAY
            && let Some((length, after)) = rest.split_first_chunk::<4>()
        {
            let length = u32::from_le_bytes(*length);
            longest = longest.max(length);
            rest = after.get(length as usize..).unwrap_or_default();
        }
        u64::from(longest) * self.at_once <= self.memory
    }
}

impl<R: ChunkReader> Iterator for Checked<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: ChunkReader> PageReader for Checked<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.as_ref().map_or(Ok(()), |page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

fn fault(text: &str) -> ParquetError {
    ParquetError::General(text.to_owned())
}

/// Whether strings are stored with lengths that are preceded by their number.
fn is_delta(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY)
}

/// Whether strings claim no more lengths than the page has values.
fn delta_fits(bytes: &[u8], encoding: Encoding, values: u32) -> bool {
    let fits = |count: u64| count <= u64::from(values);
    match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => lengths(bytes).is_none_or(|(count, _)| fits(count)),
        // The lengths of the prefixes shared with the previous string, then those of the rest.
        Encoding::DELTA_BYTE_ARRAY => lengths(bytes).is_none_or(|(count, rest)| {
            fits(count) && rest.and_then(lengths).is_none_or(|(count, _)| fits(count))
        }),
        _ => true,
    }
}

/// The claimed count of numbers of a DELTA_BINARY_PACKED block, and what follows it; `None` if the decoder will find no number
/// either.
fn lengths(bytes: &[u8]) -> Option<(u64, Option<&[u8]>)> {
    let mut rest = bytes;
    let (size, blocks) = (varint(&mut rest)?, varint(&mut rest)?);
    let count = varint(&mut rest)?;
    Some((count, behind(rest, size.checked_div(blocks).unwrap_or(0), blocks, count)))
}

fn behind(mut rest: &[u8], per_block: u64, blocks: u64, count: u64) -> Option<&[u8]> {
    varint(&mut rest)?; // the first number
    let mut left = count.saturating_sub(1);
    while left > 0 && per_block > 0 {
        varint(&mut rest)?; // the smallest difference
        let (widths, after) = rest.split_at_checked(usize::try_from(blocks).ok()?)?;
        rest = after;
        for &width in widths {
            // Widths after the last number may be anything.
            let bytes = if left == 0 { 0 } else { u64::from(width).checked_mul(per_block)? / 8 };
            rest = rest.get(usize::try_from(bytes).ok()?..)?;
            left = left.saturating_sub(per_block);
        }
        if widths.is_empty() {
            return None;
        }
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_counted_and_walked_over() {
        // 128 per block, 4 parts of it, 40 numbers, the first 0; then the least difference, four widths, and 40 bits for each of
        // two parts.
        let mut bytes = vec![128, 1, 4, 40, 0, 0, 2, 1, 99, 99];
        bytes.extend([7; 8 + 4 + 3]);
        assert_eq!(lengths(&bytes), Some((40, Some(&[7; 3][..]))));
        assert!(delta_fits(&bytes, Encoding::DELTA_LENGTH_BYTE_ARRAY, 40));
        assert!(!delta_fits(&bytes, Encoding::DELTA_LENGTH_BYTE_ARRAY, 39));
        assert!(delta_fits(&bytes, Encoding::PLAIN, 39));
        // What follows claims 2⁶² numbers.
        bytes.truncate(22);
        bytes.extend([128, 1, 4, 255, 255, 255, 255, 255, 255, 255, 255, 63, 0]);
        assert!(delta_fits(&bytes, Encoding::DELTA_LENGTH_BYTE_ARRAY, 40));
        assert!(!delta_fits(&bytes, Encoding::DELTA_BYTE_ARRAY, 40));
    }

    #[test]
    fn lengths_that_end_nowhere_have_no_end() {
        for bytes in [&[][..], &[128, 1], &[128, 1, 4, 40], &[128, 1, 0, 40, 0, 0, 0], &[0, 4, 40, 0]] {
            assert!(lengths(bytes).is_none_or(|(_, end)| end.is_none_or(|end| end.len() < 4)), "{bytes:?}");
        }
    }
}
