//! The envelope of every binary file that one run stores for another: a line that says what it is, the payload, a checksum of both.
//!
//! ```text
//! sogar-stored-1 kind=outcomes version=3 length=00000000000000004824 owner=5f0c…\n
//! payload
//! SHA-256, 32 bytes
//! ```
//!
//! Files are written whole or not at all. A reader believes nothing: kind, version, owner, length and checksum must all agree. The payload
//! is decoded while it is read, so that it is never in memory twice; what was decoded counts only when the checksum is right.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorKind, Result};
use crate::files::write_atomically;

/// The first word of every file. Its number changes with the envelope; payloads have versions of their own.
const MAGIC: &str = "sogar-stored-1";
/// Bytes of the checksum at the end.
const CHECKSUM: u64 = 32;
/// The longest first line that is read.
const LONGEST_LINE: usize = 1024;

/// What a file holds, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// What the payload is, a word.
    pub kind: &'static str,
    /// The format of the payload.
    pub version: u32,
    /// Stands for everything that the payload depends on; no line break in it.
    pub owner: String,
}

/// Why a file can't be used.
#[derive(Debug)]
pub enum Fault {
    /// It could not be read.
    Io(io::Error),
    /// It is not what it should be.
    Wrong(String),
}

impl From<io::Error> for Fault {
    fn from(cause: io::Error) -> Self {
        Fault::Io(cause)
    }
}

impl From<&str> for Fault {
    fn from(why: &str) -> Self {
        Fault::Wrong(why.to_owned())
    }
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Fault::Wrong(why)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Io(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                f.write_str("the file is cut short")
            }
            Fault::Io(cause) => write!(f, "can't be read ({cause})"),
            Fault::Wrong(why) => f.write_str(why),
        }
    }
}

impl Label {
    fn line(&self, length: u64) -> String {
        let Label { kind, version, owner } = self;
        format!("{MAGIC} kind={kind} version={version} length={length:020} owner={owner}\n")
    }

    /// Bytes of a file with a payload of this length.
    pub fn size(&self, length: u64) -> u64 {
        self.line(length).len() as u64 + length + CHECKSUM
    }

    /// Writes a file whole or not at all; `payload` writes `length` bytes.
    pub fn write(
        &self,
        path: &Path,
        length: u64,
        payload: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        write_atomically(path, |out| self.seal(out, length, payload))
    }

    /// Writes the envelope of a payload of `length` bytes.
    pub fn seal(
        &self,
        out: &mut dyn Write,
        length: u64,
        payload: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut out = Summing { inner: out, sum: Sha256::new(), bytes: 0 };
        out.write_all(self.line(length).as_bytes())?;
        payload(&mut out)?;
        if out.bytes + CHECKSUM != self.size(length) {
            return Err(io::Error::other("the payload has another length than it was given"));
        }
        out.inner.write_all(&out.sum.finalize())
    }

    /// A payload in its envelope, as bytes for another process.
    pub fn sealed(&self, payload: &[u8]) -> Vec<u8> {
        let line = self.line(payload.len() as u64);
        let mut bytes = [line.as_bytes(), payload].concat();
        bytes.extend_from_slice(&Sha256::digest(&bytes));
        bytes
    }

    /// The payload of [`Label::sealed`].
    pub fn opened(&self, bytes: &[u8]) -> std::result::Result<Vec<u8>, Fault> {
        self.open(bytes, bytes.len() as u64, |payload| payload.rest())
    }

    /// Reads a file, whose payload `decode` decodes; `None` if there is none.
    pub fn read<T>(
        &self,
        path: &Path,
        decode: impl FnOnce(&mut Payload<'_>) -> std::result::Result<T, Fault>,
    ) -> Result<Option<T>> {
        let read = || {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if !metadata.is_file() {
                return Err(Fault::from("this is not a file"));
            }
            self.open(BufReader::with_capacity(1 << 16, file), metadata.len(), decode)
        };
        match read() {
            Ok(found) => Ok(Some(found)),
            Err(Fault::Io(cause)) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => {
                let error = Error::new(ErrorKind::Checkpoint, fault.to_string()).file(path);
                Err(error.help("delete this file: what it holds is then computed anew"))
            }
        }
    }

    /// Decodes the payload of an envelope that is `size` bytes long.
    pub fn open<T>(
        &self,
        from: impl Read,
        size: u64,
        decode: impl FnOnce(&mut Payload<'_>) -> std::result::Result<T, Fault>,
    ) -> std::result::Result<T, Fault> {
        let mut from = Summing { inner: from, sum: Sha256::new(), bytes: 0 };
        let line = first_line(&mut from)?;
        let (found, length) = parsed(&line).ok_or("the first line is damaged")?;
        if from.bytes.checked_add(length).and_then(|bytes| bytes.checked_add(CHECKSUM)) != Some(size) {
            return Err("the file is cut short or too long".into());
        }
        let mut payload = Payload { from: &mut from, left: length };
        let decoded = self.require(&found).and_then(|()| decode(&mut payload));
        let decoded = match (decoded, payload.left) {
            (Ok(_), 1..) => Err("it holds more than it should".into()),
            (decoded, _) => decoded,
        };
        // A damaged file is called damaged, whatever the damage looks like.
        io::copy(&mut payload, &mut io::sink())?;
        let mut recorded = [0; CHECKSUM as usize];
        from.inner.read_exact(&mut recorded)?;
        if from.sum.finalize()[..] != recorded {
            return Err("the checksum is wrong: the file is damaged".into());
        }
        decoded
    }

    fn require(&self, found: &Found<'_>) -> std::result::Result<(), Fault> {
        if found.kind != self.kind {
            return Err(format!("this holds {}, not {}", found.kind, self.kind).into());
        }
        if found.version != self.version {
            let (found, own) = (found.version, self.version);
            return Err(
                format!("this has format {found}, and this version of sogar reads format {own}").into()
            );
        }
        if found.owner != self.owner {
            return Err("this was stored for another run or problem, or elsewhere in this one".into());
        }
        Ok(())
    }
}

/// What a first line says.
struct Found<'a> {
    kind: &'a str,
    version: u32,
    owner: &'a str,
}

fn first_line(from: &mut impl Read) -> std::result::Result<String, Fault> {
    let mut line = vec![0; MAGIC.len()];
    match from.read_exact(&mut line) {
        Err(cause) if cause.kind() != io::ErrorKind::UnexpectedEof => return Err(cause.into()),
        read if read.is_err() || line != MAGIC.as_bytes() => {
            return Err("this is not a file that sogar stored".into());
        }
        _ => {}
    }
    let mut byte = [0];
    while line.len() < LONGEST_LINE {
        from.read_exact(&mut byte)?;
        match byte {
            [b'\n'] => return String::from_utf8(line).map_err(|_| "the first line is damaged".into()),
            [byte] => line.push(byte),
        }
    }
    Err("the first line is damaged".into())
}

fn parsed(line: &str) -> Option<(Found<'_>, u64)> {
    let rest = line.strip_prefix(MAGIC)?.strip_prefix(" kind=")?;
    let (kind, rest) = rest.split_once(" version=")?;
    let (version, rest) = rest.split_once(" length=")?;
    let (length, owner) = rest.split_once(" owner=")?;
    let is_word = kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let found = Found { kind, version: version.parse().ok()?, owner };
    is_word.then_some((found, length.parse().ok()?))
}

/// The payload of an envelope that is being read. It ends where the envelope says.
pub struct Payload<'a> {
    from: &'a mut dyn Read,
    left: u64,
}

impl Payload<'_> {
    /// Bytes that are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// All that is left.
    pub fn rest(&mut self) -> std::result::Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        // A file that becomes shorter while it is read.
        if self.left > 0 { Err("the file is cut short".into()) } else { Ok(bytes) }
    }

    /// The next eight bytes as a number.
    pub fn number(&mut self) -> std::result::Result<u64, Fault> {
        let mut bytes = [0; 8];
        self.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

impl Read for Payload<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        let count = self.from.read(&mut bytes[..most])?;
        self.left -= count as u64;
        Ok(count)
    }
}

/// Counts and sums up what goes through it.
struct Summing<T> {
    inner: T,
    sum: Sha256,
    bytes: u64,
}

impl<T> Summing<T> {
    fn add(&mut self, bytes: &[u8]) -> usize {
        self.sum.update(bytes);
        self.bytes += bytes.len() as u64;
        bytes.len()
    }
}

impl<T: Write> Write for Summing<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        Ok(self.add(&bytes[..count]))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Summing<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        Ok(self.add(&bytes[..count]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"what is kept";

    fn label() -> Label {
        Label { kind: "outcomes", version: 3, owner: "somebody".into() }
    }

    fn sealed(label: &Label) -> Vec<u8> {
        let mut bytes = Vec::new();
        label.seal(&mut bytes, TEXT.len() as u64, |out| out.write_all(TEXT)).unwrap();
        bytes
    }

    fn opened(bytes: &[u8]) -> std::result::Result<Vec<u8>, String> {
        let found = label().open(bytes, bytes.len() as u64, |payload| payload.rest());
        found.map_err(|fault| fault.to_string())
    }

    #[test]
    fn what_was_sealed_comes_back() {
        let bytes = sealed(&label());
        assert_eq!(bytes.len() as u64, label().size(TEXT.len() as u64));
        assert_eq!(opened(&bytes).unwrap(), TEXT);
    }

    #[test]
    fn every_length_and_every_flipped_bit_is_noticed() {
        let good = sealed(&label());
        for length in 0..good.len() {
            assert!(opened(&good[..length]).is_err(), "{length}");
        }
        assert!(opened(&[&good[..], b"x"].concat()).unwrap_err().contains("too long"));
        for bit in 0..8 * good.len() {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(opened(&bytes).is_err(), "{bit}");
        }
    }

    #[test]
    fn another_kind_version_or_owner_is_refused_and_said() {
        let refused = |label: Label| opened(&sealed(&label)).unwrap_err();
        assert_eq!(refused(Label { kind: "cuts", ..label() }), "this holds cuts, not outcomes");
        assert!(refused(Label { version: 4, ..label() }).contains("has format 4"));
        assert!(refused(Label { owner: "else".into(), ..label() }).contains("for another run"));
        let mut changed = sealed(&Label { owner: "else".into(), ..label() });
        *changed.last_mut().unwrap() ^= 1;
        assert!(opened(&changed).unwrap_err().contains("the checksum is wrong"), "damage is said first");
    }

    #[test]
    fn a_payload_that_is_not_read_to_its_end_is_refused() {
        let bytes = sealed(&label());
        let fault = label().open(&bytes[..], bytes.len() as u64, |payload| payload.number()).unwrap_err();
        assert!(fault.to_string().contains("more than it should"));
    }

    #[test]
    fn files_are_named_with_a_remedy_and_lengths_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert!(label().read(&path, |payload| payload.rest()).unwrap().is_none());
        assert!(label().write(&path, 5, |out| out.write_all(TEXT)).is_err());
        assert!(!path.exists());
        std::fs::write(&path, "a shopping list").unwrap();
        let error = label().read(&path, |payload| payload.rest()).unwrap_err();
        assert!(error.to_string().ends_with("file: this is not a file that sogar stored"), "{error}");
        assert!(error.remedy().unwrap().starts_with("delete this file"));
        assert!(
            label()
                .read(folder.path(), |payload| payload.rest())
                .unwrap_err()
                .to_string()
                .contains("not a file")
        );
    }
}
