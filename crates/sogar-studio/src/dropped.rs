//! Files that were dropped on the page, in a temporary folder that goes with this process.
//!
//! A process that is killed cannot remove its folder. Each folder has a lock that its process holds, so the next studio removes the
//! folders whose lock is free.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use sogar::{Error, ErrorKind, Result};
use tempfile::TempDir;

const PREFIX: &str = "sogar-studio-";
const LOCK: &str = "lock";

/// The folder.
pub struct Dropped {
    folder: TempDir,
    _lock: File,
}

impl Dropped {
    /// A new folder among the temporary files of this computer, where those of killed studios are removed.
    pub fn new() -> Result<Dropped> {
        Dropped::within(&std::env::temp_dir())
    }

    fn within(parent: &Path) -> Result<Dropped> {
        sweep(parent);
        let made = || {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            // Nobody sees the lock before it is held.
            let (unseen, seen) = (folder.path().join("new"), folder.path().join(LOCK));
            let lock = File::create(&unseen)?;
            lock.lock()?;
            fs::rename(unseen, seen)?;
            Ok(Dropped { folder, _lock: lock })
        };
        made().map_err(|cause: std::io::Error| {
            Error::new(ErrorKind::Output, format!("a temporary folder could not be made: {cause}"))
        })
    }

    /// Keeps a file; an earlier one of this name stays, because a table that is open may be read again.
    pub fn keep(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let name = plain(name);
        if bytes.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "the file is empty").file(name));
        }
        let kept = || {
            let path = tempfile::tempdir_in(self.folder.path())?.keep().join(&name);
            fs::write(&path, bytes)?;
            Ok(path)
        };
        kept().map_err(|cause: std::io::Error| {
            Error::new(ErrorKind::Output, format!("the file could not be kept: {cause}")).file(&name)
        })
    }
}

/// Removes the folders that nobody holds. What can't be removed stays.
fn sweep(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    for folder in ours.map(|entry| entry.path()) {
        if File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// A file name without folders, hidden names and odd characters.
fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept =
        |letter: char| if letter.is_alphanumeric() || "._- ()+,=@#".contains(letter) { letter } else { '_' };
    let name: String = last.chars().map(kept).take(100).collect();
    match name.trim_start_matches(['.', ' ', '-']).trim_end() {
        "" => "file".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dropped_files_stay_in_their_folder() {
        for (name, kept) in [
            ("people.csv", "people.csv"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\x.csv", "x.csv"),
            ("..", "file"),
            ("", "file"),
            ("/", "file"),
            (".bashrc", "bashrc"),
            ("-rf people (1).csv ", "rf people (1).csv"),
            ("a\u{0}b\nc.csv", "a_b_c.csv"),
        ] {
            assert_eq!(plain(name), kept);
        }
        let parent = tempfile::tempdir().unwrap();
        let dropped = Dropped::within(parent.path()).unwrap();
        let path = dropped.keep("../x.csv", b"a").unwrap();
        assert!(path.starts_with(dropped.folder.path()) && path.ends_with("x.csv"));
        assert!(dropped.keep("x", b"").is_err());
        let again = dropped.keep("x.csv", b"b").unwrap();
        assert_eq!((fs::read(path).unwrap(), fs::read(again).unwrap()), (b"a".to_vec(), b"b".to_vec()));
    }

    #[test]
    fn the_folder_of_a_killed_studio_is_removed_and_that_of_another_stays() {
        let parent = tempfile::tempdir().unwrap();
        let folders = || fs::read_dir(parent.path()).unwrap().count();
        let running = Dropped::within(parent.path()).unwrap();
        // Killed: the folder stays, the lock is free.
        let Dropped { folder, _lock } = Dropped::within(parent.path()).unwrap();
        let left = folder.keep();
        drop(_lock);
        fs::create_dir(parent.path().join("sogar-studio-of-somebody")).unwrap();
        assert_eq!(folders(), 3);
        let next = Dropped::within(parent.path()).unwrap();
        assert!(!left.exists() && running.folder.path().exists() && next.folder.path().exists());
        assert_eq!(folders(), 3, "a folder without a lock is not ours");
        drop((running, next));
        assert_eq!(folders(), 1);
    }
}
