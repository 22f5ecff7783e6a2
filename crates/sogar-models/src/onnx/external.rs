//! Weights in separate files beside the model.
//!
//! The model names those files, so the names are as untrusted as the rest of it: only plain names inside the model's own folder
//! are followed, and a range outside of a file's bytes is an error before anything is copied.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::damaged;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::{read_bytes, sha256_hex};

/// The files beside a model, read on demand.
#[derive(Debug, Default)]
pub struct ExternalFiles {
    folder: Option<PathBuf>,
    read: BTreeMap<PathBuf, Vec<u8>>,
}

impl ExternalFiles {
    /// The files beside the model at `path`.
    pub fn beside(path: &Path) -> Self {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        ExternalFiles { folder: Some(folder), read: BTreeMap::new() }
    }

    /// No files: a model that names one is refused.
    pub fn none() -> Self {
        ExternalFiles::default()
    }

    /// SHA-256 over the model's bytes and all files that were read for it; only of the bytes if there were none.
    pub(crate) fn hash_with(&self, bytes: &[u8]) -> String {
        let own = sha256_hex(bytes);
        if self.read.is_empty() {
            return own;
        }
        let parts = self.read.values().map(|bytes| sha256_hex(bytes));
        sha256_hex([own].into_iter().chain(parts).collect::<Vec<_>>().join("\n").as_bytes())
    }

    /// How many bytes of other files were read.
    pub(super) fn size(&self) -> usize {
        self.read.values().map(Vec::len).sum()
    }

    /// The bytes that a tensor's `external_data` entries describe.
    pub(super) fn bytes(&mut self, tensor: &str, entries: &[(&str, &str)]) -> Result<&[u8]> {
        let find = |wanted: &str| entries.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value);
        let number = |key: &str| match find(key) {
            None => Ok(None),
            Some(text) => text.trim().parse::<usize>().map(Some).map_err(|_| {
                damaged(format!("the {key} `{text}` of the weights `{tensor}` is not a whole number"))
            }),
        };
        let location = find("location").ok_or_else(|| {
            damaged(format!("the weights `{tensor}` are in another file that is not named"))
        })?;
        let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?);
        let file = self.open(tensor, location)?;
        let end = match length {
            Some(length) => offset.checked_add(length),
            None => Some(file.len()),
        };
        end.and_then(|end| file.get(offset..end)).ok_or_else(|| {
            damaged(format!(
                "the weights `{tensor}` go beyond the {} bytes of the file `{location}`",
                file.len()
            ))
        })
    }

    fn open(&mut self, tensor: &str, location: &str) -> Result<&[u8]> {
        let Some(folder) = &self.folder else {
            let message =
                format!("the weights `{tensor}` are in the file `{location}`, which cannot be reached here");
            return Err(Error::new(ErrorKind::Model, message)
                .help("give the model as a file with its weights beside it, or save it as one file"));
        };
        let name = Path::new(location);
        let plain = !location.contains(['\\', ':', '\0'])
            && name.components().count() > 0
            && name.components().all(|part| matches!(part, Component::Normal(_)));
        let path = folder.join(name);
        // A link that leads out of the folder is not a plain name either.
        let inside = || match (folder.canonicalize(), path.canonicalize()) {
            (Ok(folder), Ok(path)) => path.starts_with(folder),
            _ => true,
        };
        if !plain || !inside() {
            let message = format!(
                "the file looks for the weights `{tensor}` in `{location}`, outside of the model's folder"
            );
            return Err(Error::new(ErrorKind::Model, message).help(
                "only files beside the model are read; save the model as one file, or with plain file names",
            ));
        }
        if path.exists() && !path.is_file() {
            return Err(damaged(format!(
                "`{location}`, which should hold the weights `{tensor}`, is not a file"
            )));
        }
        if !self.read.contains_key(&path) {
            let bytes = read_bytes(&path).map_err(|error| {
                Error::new(ErrorKind::Model, format!("the weights `{tensor}` cannot be read: {error}"))
                    .help("an ONNX model with external weights needs its `.data` file in the same folder")
            })?;
            self.read.insert(path.clone(), bytes);
        }
        Ok(self.read.get(&path).map_or(&[], Vec::as_slice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_inside_the_folder_are_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("models")).unwrap();
        std::fs::write(folder.path().join("secret"), "x").unwrap();
        std::fs::write(folder.path().join("models/w.data"), "0123456789").unwrap();
        let model = folder.path().join("models/m.onnx");
        let mut files = ExternalFiles::beside(&model);
        assert_eq!(
            files.bytes("w", &[("location", "w.data"), ("offset", "2"), ("length", "3")]).unwrap(),
            b"234"
        );
        assert_eq!(files.bytes("w", &[("location", "w.data")]).unwrap().len(), 10);
        assert_eq!(files.size(), 10);
        assert_ne!(files.hash_with(b"m"), sha256_hex(b"m"));
        let secret = folder.path().join("secret");
        let absolute = secret.to_str().unwrap();
        for outside in ["../secret", absolute, "", ".", "a/../../secret", "..\\secret", "C:\\secret"] {
            let error = files.bytes("w", &[("location", outside)]).unwrap_err();
            assert!(error.to_string().contains("outside"), "{outside}: {error}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&secret, folder.path().join("models/link")).unwrap();
            assert!(files.bytes("w", &[("location", "link")]).is_err());
        }
        for beyond in [("20", "1"), ("0", "11"), ("18446744073709551615", "1"), ("-1", "1"), ("x", "1")] {
            let entries = [("location", "w.data"), ("offset", beyond.0), ("length", beyond.1)];
            assert!(files.bytes("w", &entries).is_err(), "{beyond:?}");
        }
        assert!(files.bytes("w", &[("location", "missing.data")]).is_err());
        assert!(ExternalFiles::none().bytes("w", &[("location", "w.data")]).is_err());
    }
}
