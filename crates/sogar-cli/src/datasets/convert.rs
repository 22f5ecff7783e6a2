//! From the publishers' delimited files to plain CSV: commas, `\n`, quotes only where needed.

use csv::{ByteRecord, Reader, ReaderBuilder, Trim, Writer};

use sogar::error::{Error, ErrorKind, Result};

const ADULT_HEADER: [&str; 15] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
];

/// `adult.data` and `adult.test`: adds a header, and removes the blanks after the commas, the dots after the labels of the test
/// half, and that half's first line (`|1x3 Cross validator`).
pub(super) fn adult(original: &[u8]) -> Result<Vec<u8>> {
    let reader = ReaderBuilder::new()
        .has_headers(false)
        .trim(Trim::All)
        .comment(Some(b'|'))
        .quoting(false)
        .from_reader(original);
    rewrite(reader, Some(&ADULT_HEADER), |record| {
        let last = record.len().saturating_sub(1);
        record
            .iter()
            .enumerate()
            .map(|(index, field)| match field.strip_suffix(b".") {
                Some(label) if index == last => label,
                _ => field,
            })
            .collect()
    })
}

/// A file with a header, its fields between `delimiter`s.
pub(super) fn delimited(original: &[u8], delimiter: u8) -> Result<Vec<u8>> {
    let original = original.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(original);
    let reader = ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(original);
    rewrite(reader, None, ByteRecord::clone)
}

fn rewrite(
    mut reader: Reader<&[u8]>,
    header: Option<&[&str]>,
    change: impl Fn(&ByteRecord) -> ByteRecord,
) -> Result<Vec<u8>> {
    let mut table = Writer::from_writer(Vec::new());
    if let Some(header) = header {
        table.write_record(header).map_err(|error| unreadable(&error))?;
    }
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| unreadable(&error))? {
        table.write_byte_record(&change(&record)).map_err(|error| unreadable(&error))?;
    }
    table.into_inner().map_err(|error| Error::new(ErrorKind::Table, error.to_string()))
}

fn unreadable(error: &csv::Error) -> Error {
    let trouble = Error::new(ErrorKind::Table, format!("the original file cannot be read: {error}"))
        .help("give the publisher's file as it was downloaded");
    match error.position() {
        Some(position) => trouble.row(usize::try_from(position.line()).unwrap_or(usize::MAX)),
        None => trouble,
    }
}
