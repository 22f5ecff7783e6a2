//! Stores outcomes between runs, for slow models.
//!
//! A file is named after a key: the hash of everything that outcomes depend on ([`KeyOf`]). The name is never trusted: the file's
//! [envelope](sogar_base::envelope) contains the whole key. A file that differs in any byte is reported and recomputed. Its contents
//! are not trusted either: a run compares them with the model (`verify` in sogar-search). A key also covers the model's predictions for the
//! whole table, so a change of a command's script is noticed.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::{Outcomes, StoredOutcomes, stored};
use sogar_base::envelope::Label;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::hexadecimal;

/// The format of a file. It changes whenever the meaning of outcomes changes, and with it every key.
pub const VERSION: u32 = 3;

/// Collects what outcomes depend on.
pub struct KeyOf(Sha256);

impl KeyOf {
    /// Starts with the versions of the program and the format: another one may compute differently.
    pub fn new() -> KeyOf {
        KeyOf(Sha256::new()).and("sogar", env!("CARGO_PKG_VERSION")).and("format", VERSION.to_le_bytes())
    }

    /// Adds a named part.
    #[must_use]
    pub fn and(mut self, name: &str, part: impl AsRef<[u8]>) -> KeyOf {
        // With lengths, so that different lists of parts never hash alike.
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
        hexadecimal(&self.0.finalize())
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

impl Cache {
    /// The cache in a folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: folder.into() }
    }

    /// The file of a key.
    pub fn file(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.outcomes"))
    }

    /// The outcomes of `actions` actions on `rows` rows, if an earlier run stored them under this key. Fails if the file can't be used.
    pub fn load(&self, key: &str, actions: usize, rows: usize) -> Result<Option<Outcomes>> {
        let path = self.file(key);
        let found = label(key).read(&path, |payload| stored::read(payload, actions, rows))?;
        Ok(found.map(|(flips, settled)| {
            let kept = Some(StoredOutcomes { path, in_checkpoint: false, rows });
            Outcomes { flips, method: "kept from an earlier run", settled, kept }
        }))
    }

    /// Stores outcomes for later runs. The file is written atomically.
    pub fn store(&self, key: &str, rows: usize, outcomes: &Outcomes) -> Result<()> {
        // If the folder cannot be created, writing the file fails, and that error is reported.
        let _ = std::fs::create_dir_all(&self.folder);
        let length = stored::length(outcomes.flips.sets(), rows)
            .ok_or_else(|| Error::new(ErrorKind::Output, "there are too many outcomes for a file"))?;
        label(key).write(&self.file(key), length, |out| stored::write(outcomes, rows, out))
    }
}

fn label(key: &str) -> Label {
    Label { kind: "outcomes", version: VERSION, owner: key.to_owned() }
}

#[cfg(test)]
mod tests {
    use sogar_solver::BitTable;

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

    fn why(found: Result<Option<Outcomes>>) -> String {
        match found {
            Err(error) => error.to_string(),
            Ok(None) => "nothing".into(),
            Ok(Some(_)) => "outcomes".into(),
        }
    }

    #[test]
    fn outcomes_come_back_as_they_were() {
        let (_folder, cache, key) = stored();
        let found = cache.load(&key, ACTIONS, ROWS).unwrap().unwrap();
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
            let error = cache.load(&key, ACTIONS, ROWS).err().expect("the file is damaged");
            assert!(error.remedy().is_some_and(|remedy| remedy.contains("delete this file")), "{error}");
        }
    }

    #[test]
    fn files_of_another_problem_kind_or_version_are_not_believed() {
        let (_folder, cache, key) = stored();
        let other = self::key("two");
        assert_eq!(why(cache.load(&other, ACTIONS, ROWS)), "nothing");
        std::fs::copy(cache.file(&key), cache.file(&other)).unwrap();
        assert!(why(cache.load(&other, ACTIONS, ROWS)).contains("stored for another run or problem"));
        for (actions, rows) in [(ACTIONS + 1, ROWS), (ACTIONS, ROWS + 1), (ACTIONS, 1_000_000_000_000)] {
            assert!(why(cache.load(&key, actions, rows)).contains("outcomes of other actions or rows"));
        }
        for (label, said) in [
            (
                Label { kind: "checkpoint-search", ..label(&key) },
                "this holds checkpoint-search, not outcomes",
            ),
            (Label { version: VERSION - 1, ..label(&key) }, "this has format 2"),
        ] {
            let length = stored::length(ACTIONS, ROWS).unwrap();
            label.write(&cache.file(&key), length, |out| stored::write(&example(), ROWS, out)).unwrap();
            assert!(why(cache.load(&key, ACTIONS, ROWS)).contains(said));
        }
        std::fs::write(cache.file(&other), vec![b'a'; 10_000]).unwrap();
        assert!(why(cache.load(&other, ACTIONS, ROWS)).contains("not a file that sogar stored"));
        std::fs::remove_file(cache.file(&other)).unwrap();
        std::fs::create_dir(cache.file(&other)).unwrap();
        assert!(why(cache.load(&other, ACTIONS, ROWS)).contains("not a file"));
    }

    #[test]
    fn outcomes_of_rows_that_do_not_exist_are_refused() {
        let (_folder, cache, key) = stored();
        let mut outcomes = example();
        outcomes.flips.set_mut(7)[1] |= 1 << 63;
        cache.store(&key, ROWS, &outcomes).unwrap();
        assert!(why(cache.load(&key, ACTIONS, ROWS)).contains("rows that do not exist"));
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
