//! Outcomes kept between runs, for models that take long to ask.
//!
//! A file is named after a key: the hash of everything that outcomes depend on ([`KeyOf`]). The name is never trusted: the file
//! carries its whole key, the sizes and a checksum, and what does not agree in every byte is reported and computed anew. Nor is what it says
//! believed: a run holds it against the model (`pipeline/verify`).
//! A key holds what the model said of the whole table too, so that a command whose script has changed is noticed.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use sogar_solver::BitTable;

use super::{Outcomes, StoredOutcomes};
use sogar_base::error::Result;
use sogar_base::files::write_atomically;

/// The first word of every file. It changes whenever outcomes come to mean something else, and with it every key.
const MAGIC: &str = "sogar-outcomes-2";
/// Bytes of the checksum at the end.
const CHECKSUM: u64 = 32;
/// Words that are read or written at a time.
const BLOCK: usize = 8192;

/// Collects what outcomes depend on.
pub struct KeyOf(Sha256);

impl KeyOf {
    /// Begins with the program's version and the format's: another one may compute differently.
    pub fn new() -> KeyOf {
        KeyOf(Sha256::new()).and("sogar", env!("CARGO_PKG_VERSION")).and("format", MAGIC)
    }

    /// Adds a named part.
    #[must_use]
    pub fn and(mut self, name: &str, part: impl AsRef<[u8]>) -> KeyOf {
        // With lengths, so that no two lists of parts read alike.
        for bytes in [name.as_bytes(), part.as_ref()] {
            self.0.update((bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
        }
        self
    }

    /// Adds a named list of numbers.
    #[must_use]
    pub fn and_numbers(mut self, name: &str, numbers: &[f64]) -> KeyOf {
        self = self.and(name, (numbers.len() as u64).to_le_bytes());
        for number in numbers {
            self.0.update(number.to_bits().to_le_bytes());
        }
        self
    }

    /// Adds a named list of words.
    #[must_use]
    pub fn and_words(mut self, name: &str, words: &[u64]) -> KeyOf {
        self = self.and(name, (words.len() as u64).to_le_bytes());
        for word in words {
            self.0.update(word.to_le_bytes());
        }
        self
    }

    /// The key, in hexadecimal.
    pub fn key(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Default for KeyOf {
    fn default() -> Self {
        KeyOf::new()
    }
}

/// A folder with outcomes of earlier runs.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// What a cache has for a key.
pub enum Found {
    /// The outcomes.
    Outcomes(Outcomes),
    /// Nothing.
    Nothing,
    /// A file that can't be used, and why.
    Unusable(String),
}

impl Cache {
    /// The cache in a folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: folder.into() }
    }

    /// The file of a key.
    pub fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.outcomes"))
    }

    /// The outcomes of `actions` actions on `rows` rows, if an earlier run kept them under this key.
    pub fn load(&self, key: &str, actions: usize, rows: usize) -> Found {
        let path = self.file(key);
        match read(&path, key, actions, rows) {
            Ok(outcomes) => Found::Outcomes(outcomes),
            Err(Unusable::Absent) => Found::Nothing,
            Err(Unusable::Because(why)) => {
                Found::Unusable(format!("{}: {why}; the outcomes are computed anew", path.display()))
            }
        }
    }

    /// Keeps outcomes for later runs. The file is written whole or not at all.
    pub fn store(&self, key: &str, rows: usize, outcomes: &Outcomes) -> Result<()> {
        // If the folder can't be made, the file can't be written, and that is what is reported.
        let _ = std::fs::create_dir_all(&self.folder);
        write_atomically(&self.file(key), |out| {
            let mut out = Summing { to: out, sum: Sha256::new() };
            let (actions, settled) = (outcomes.flips.sets(), outcomes.settled);
            writeln!(out, "{}", header(key, actions, rows, settled))?;
            let mut block = Vec::with_capacity(8 * BLOCK);
            for words in (0..actions).map(|action| outcomes.flips.set(action)) {
                for chunk in words.chunks(BLOCK) {
                    if block.len() + 8 * chunk.len() > 8 * BLOCK {
                        out.write_all(&block)?;
                        block.clear();
                    }
                    block.extend(chunk.iter().flat_map(|word| word.to_le_bytes()));
                }
            }
            out.write_all(&block)?;
            let sum = out.sum.finalize();
            out.to.write_all(&sum)
        })
    }
}

fn header(key: &str, actions: usize, rows: usize, settled: u64) -> String {
    format!("{MAGIC} key={key} actions={actions} rows={rows} settled={settled:020}")
}

/// Adds up the checksum of what goes through it.
struct Summing<T> {
    to: T,
    sum: Sha256,
}

impl<T: Write> Write for Summing<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.to.write(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<T: Read> Read for Summing<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.to.read(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }
}

enum Unusable {
    Absent,
    Because(String),
}

impl From<io::Error> for Unusable {
    fn from(cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::NotFound => Unusable::Absent,
            _ => Unusable::Because(format!("can't be read ({cause})")),
        }
    }
}

fn because<T>(why: &str) -> std::result::Result<T, Unusable> {
    Err(Unusable::Because(why.to_owned()))
}

fn read(path: &Path, key: &str, actions: usize, rows: usize) -> std::result::Result<Outcomes, Unusable> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let wanted = header(key, actions, rows, 0);
    let per_set = rows.div_ceil(64);
    let size = wanted.len() as u64 + 1 + 8 * actions as u64 * per_set as u64 + CHECKSUM;
    if !metadata.is_file() {
        return because("this is not a file");
    }
    let mut from = Summing { to: BufReader::with_capacity(1 << 16, file), sum: Sha256::new() };
    let mut line = vec![0; wanted.len() + 1];
    if from.read_exact(&mut line).is_err() || !line.starts_with(MAGIC.as_bytes()) {
        return because("this is not a file of outcomes");
    }
    // All but the number of settled outcomes, which only a reader of the file knows.
    let known = wanted.len() - 20;
    if line[..known] != wanted.as_bytes()[..known] {
        return because("these are outcomes of something else");
    }
    if metadata.len() != size {
        return because("the file is cut short or too long");
    }
    let settled = std::str::from_utf8(&line[known..known + 20]).ok().and_then(|digits| digits.parse().ok());
    let Some(settled) = settled else { return because("the file is damaged") };
    let mut flips = BitTable::new(actions, rows);
    let mut block = vec![0; 8 * BLOCK];
    for words in flips.words_mut().chunks_mut(BLOCK) {
        let block = &mut block[..8 * words.len()];
        from.read_exact(block)?;
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
    let sum = from.sum.finalize();
    let mut recorded = [0; CHECKSUM as usize];
    from.to.read_exact(&mut recorded)?;
    if sum[..] != recorded {
        return because("the checksum is wrong: the file is damaged");
    }
    let beyond = if rows.is_multiple_of(64) { 0 } else { u64::MAX << (rows % 64) };
    if (0..actions).any(|action| flips.set(action).last().is_some_and(|word| word & beyond != 0)) {
        return because("the file has outcomes of rows that do not exist");
    }
    let kept = Some(StoredOutcomes { path: path.to_path_buf(), in_checkpoint: false, rows });
    Ok(Outcomes { flips, method: "kept from an earlier run", settled, kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = 70;
    const ACTIONS: usize = 300;

    fn example() -> Outcomes {
        let mut flips = BitTable::new(ACTIONS, ROWS);
        for action in 0..ACTIONS {
            for row in (0..ROWS).filter(|row| (row * action) % 3 == 1) {
                flips.set_mut(action)[row / 64] |= 1 << (row % 64);
            }
        }
        Outcomes { flips, method: "test", settled: 17, kept: None }
    }

    fn key(part: &str) -> String {
        KeyOf::new().and("part", part).key()
    }

    fn stored() -> (tempfile::TempDir, Cache, String) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("made/on/demand"));
        let key = key("one");
        cache.store(&key, ROWS, &example()).unwrap();
        (folder, cache, key)
    }

    fn why(found: Found) -> String {
        match found {
            Found::Unusable(why) => why,
            Found::Nothing => "nothing".into(),
            Found::Outcomes(_) => "outcomes".into(),
        }
    }

    #[test]
    fn outcomes_come_back_as_they_were() {
        let (_folder, cache, key) = stored();
        let Found::Outcomes(found) = cache.load(&key, ACTIONS, ROWS) else { panic!("they were kept") };
        assert_eq!(found.settled, 17);
        let expected = example();
        assert!((0..ACTIONS).all(|action| found.flips.set(action) == expected.flips.set(action)));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let (_folder, cache, key) = stored();
        let good = std::fs::read(cache.file(&key)).unwrap();
        let lengths = [0, 1, 20, good.len() / 2, good.len() - 1];
        let mut bad: Vec<Vec<u8>> = lengths.iter().map(|&length| good[..length].to_vec()).collect();
        bad.push([&good[..], b"x"].concat());
        bad.extend((0..good.len()).step_by(3).map(|at| {
            let mut bytes = good.clone();
            bytes[at] ^= 4;
            bytes
        }));
        for bytes in bad {
            std::fs::write(cache.file(&key), &bytes).unwrap();
            let why = why(cache.load(&key, ACTIONS, ROWS));
            assert!(why.ends_with("the outcomes are computed anew"), "{why}");
        }
    }

    #[test]
    fn files_of_another_problem_are_not_believed() {
        let (_folder, cache, key) = stored();
        let other = self::key("two");
        assert_eq!(why(cache.load(&other, ACTIONS, ROWS)), "nothing");
        std::fs::copy(cache.file(&key), cache.file(&other)).unwrap();
        assert!(why(cache.load(&other, ACTIONS, ROWS)).contains("outcomes of something else"));
        assert!(why(cache.load(&key, ACTIONS + 1, ROWS)).contains("outcomes of something else"));
        assert!(why(cache.load(&key, ACTIONS, 1_000_000_000_000)).contains("outcomes of something else"));
        std::fs::write(cache.file(&other), vec![b'a'; 10_000]).unwrap();
        assert!(why(cache.load(&other, ACTIONS, ROWS)).contains("not a file of outcomes"));
        std::fs::remove_file(cache.file(&other)).unwrap();
        std::fs::create_dir(cache.file(&other)).unwrap();
        assert!(why(cache.load(&other, ACTIONS, ROWS)).contains("not a file"));
    }

    #[test]
    fn keys_tell_parts_apart() {
        let key = |parts: &[(&str, &str)]| {
            parts.iter().fold(KeyOf::new(), |key, (name, part)| key.and(name, part)).key()
        };
        assert_eq!(key(&[("a", "b")]).len(), 64);
        assert_ne!(key(&[("a", "bc")]), key(&[("ab", "c")]));
        assert_ne!(key(&[("a", "b"), ("c", "d")]), key(&[("c", "d"), ("a", "b")]));
        assert_ne!(KeyOf::new().and_numbers("x", &[0.0]).key(), KeyOf::new().and_numbers("x", &[-0.0]).key());
    }
}
