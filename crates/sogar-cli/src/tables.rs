//! Tables that users name on the command line: files, folders of Parquet files, or `-` for standard input.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sogar::config::Limits;
use sogar::limits::memory_limit;
use sogar::table::{ReadOptions, Table, TableSource, open_source};
use sogar::{Error, ErrorKind, Result};

use crate::args::is_stdin;

/// Opens a table for reading in parts; one from standard input is in memory as a whole.
pub fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn TableSource>> {
    if is_stdin(path) { Ok(Box::new(read(path, options)?)) } else { open_source(path, options) }
}

/// Reads a table as a whole.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    if is_stdin(path) { Table::from_bytes(everything()?, path, options) } else { Table::read(path, options) }
}

/// All bytes of standard input, which can be read once.
fn everything() -> Result<Vec<u8>> {
    static READ: AtomicBool = AtomicBool::new(false);
    let fault = |message: String| Error::new(ErrorKind::Usage, message).file("-");
    if READ.swap(true, Ordering::Relaxed) {
        return Err(fault("standard input is given for two tables".into()).help("give one of them as a file"));
    }
    if std::io::stdin().is_terminal() {
        let help = "let another program write it: PROGRAM | sogar …; a file called - is ./-";
        return Err(fault("the table is to come from standard input, which is a terminal".into()).help(help));
    }
    let most = memory_limit(&Limits::default())?;
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(most).read_to_end(&mut bytes);
    read.map_err(|cause| fault(format!("standard input could not be read: {cause}")))?;
    if bytes.len() as u64 == most {
        return Err(fault("the table on standard input does not fit into memory".into())
            .help("save it as a Parquet file, which is read part by part"));
    }
    Ok(bytes)
}
