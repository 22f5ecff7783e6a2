//! Output files of a command: checked before the work, so that nothing is lost after it.
//!
//! An output must be writable, and must not be an input or another output: a result must not overwrite its own table or model.
//! Paths are compared by file, not by spelling: through links, `./` and other paths to the same file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sogar::files::write_atomically;
use sogar::{Error, ErrorKind, Result};

/// The output files of a command.
#[derive(Debug, Default)]
pub struct Outputs<'a> {
    files: Vec<&'a Path>,
    folders: Vec<&'a Path>,
    inputs: Vec<&'a Path>,
    written: Vec<PathBuf>,
}

impl<'a> Outputs<'a> {
    /// Files that will be written.
    pub fn new<P: AsRef<Path> + 'a + ?Sized>(files: impl IntoIterator<Item = &'a P>) -> Outputs<'a> {
        Outputs { files: files.into_iter().map(AsRef::as_ref).collect(), ..Outputs::default() }
    }

    /// Folders in which the command stores its own files.
    pub fn folders(mut self, folders: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.folders.extend(folders.into_iter().map(PathBuf::as_path));
        self
    }

    /// Files that are read.
    pub fn inputs(mut self, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        self.inputs.extend(inputs.into_iter().map(PathBuf::as_path));
        self
    }

    /// Fails if an output can't be written, is an input, or occurs twice.
    pub fn checked(self) -> Result<Self> {
        for (number, file) in self.files.iter().enumerate() {
            require_writable(file)?;
            let Some(place) = Place::of_file(file) else { continue };
            if let Some(input) = self.inputs.iter().find(|input| place.overwrites(input)) {
                let message = format!("this output would overwrite an input, {}", input.display());
                return Err(refused(file, message).help("give the output another name"));
            }
            if let Some(other) = self.files[..number].iter().find(|other| place.is(other)) {
                let message = format!("two outputs would be one file: this one and {}", other.display());
                return Err(refused(file, message).help("give each output its own name"));
            }
            if let Some(folder) = self.folders.iter().find(|folder| place.path.starts_with(place_of(folder)))
            {
                let message =
                    format!("this output would be in {}, which the run uses for itself", folder.display());
                return Err(refused(file, message).help("write the output to another folder"));
            }
        }
        for (number, folder) in self.folders.iter().enumerate() {
            let others =
                self.folders[..number].iter().chain(self.inputs.iter().filter(|input| input.is_dir()));
            if others.into_iter().any(|other| place_of(folder) == place_of(other)) {
                let message = "this folder is given twice, for different things";
                return Err(refused(folder, message.to_owned()).help("give each its own folder"));
            }
        }
        Ok(self)
    }

    /// Writes a file atomically.
    pub fn write(&mut self, path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.wrote(path, write_atomically(path, write))
    }

    /// Records that a file was written; an error lists what was written before it.
    pub fn wrote<T>(&mut self, path: &Path, result: Result<T>) -> Result<T> {
        if result.is_ok() {
            self.written.push(path.to_path_buf());
        }
        result.map_err(|error| match self.written.as_slice() {
            [] => error,
            written => {
                let names: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
                error.more_help(&format!("written before: {}", names.join(", ")))
            }
        })
    }
}

fn refused(path: &Path, message: String) -> Error {
    Error::new(ErrorKind::Output, message).file(path)
}

/// The location of a file that exists or will be written.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    /// Device and inode of an existing file.
    file: Option<(u64, u64)>,
}

impl Place {
    /// `None` for an existing path that is not a regular file: writing to a device overwrites nothing.
    fn of_file(path: &Path) -> Option<Place> {
        let metadata = std::fs::metadata(path).ok();
        if metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            return None;
        }
        #[cfg(unix)]
        let file = metadata.map(|metadata| {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        });
        #[cfg(not(unix))]
        let file = None;
        Some(Place { path: place_of(path), file })
    }

    fn is(&self, other: &Path) -> bool {
        Place::of_file(other)
            .is_some_and(|other| self.path == other.path || (self.file.is_some() && self.file == other.file))
    }

    /// Whether it is an input, or one of the Parquet files in a folder that is one.
    fn overwrites(&self, input: &Path) -> bool {
        let part = || {
            input.is_dir()
                && self.path.extension().is_some_and(|ending| ending == "parquet")
                && self.path.parent() == Some(&place_of(input))
        };
        self.is(input) || part()
    }
}

/// The canonical path, as far as it exists.
fn place_of(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if parent.as_os_str().is_empty() => place_of(Path::new(".")).join(name),
        (Some(parent), Some(name)) => place_of(parent).join(name),
        _ => path.to_path_buf(),
    })
}

/// Checks before the work that a result can be written.
fn require_writable(path: &Path) -> Result<()> {
    if path.exists() && !path.is_file() && !path.is_dir() {
        return Ok(()); // a pipe or a device: its reader would see a trial write
    }
    let mut reached = false;
    let trial = write_atomically(path, |_| {
        reached = true;
        Err(io::Error::other("a trial"))
    });
    match trial {
        Err(error) if !reached => Err(error),
        _ => Ok(()),
    }
}

/// Creates a folder unless it exists.
pub fn require_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|cause| {
        Error::new(ErrorKind::Output, format!("the folder can't be made: {}", cause.kind()))
            .file(path)
            .help("choose another folder")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_of_writing_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("front.json");
        require_writable(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        std::fs::write(&path, "old").unwrap();
        require_writable(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert!(require_writable(&folder.path().join("no/front.json")).is_err());
        assert!(require_writable(folder.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn an_output_is_compared_by_the_file_that_it_is() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("parts")).unwrap();
        for name in ["table.csv", "parts/a.parquet"] {
            std::fs::write(at(name), "old").unwrap();
        }
        symlink(at("table.csv"), at("link")).unwrap();
        symlink(folder.path(), at("way")).unwrap();
        std::fs::hard_link(at("table.csv"), at("hard")).unwrap();
        let said = |outputs: Outputs<'_>| {
            outputs.checked().map_or_else(|error| error.to_string(), |_| String::new())
        };
        let (table, parts) = (at("table.csv"), at("parts"));
        for name in ["table.csv", "parts/../table.csv", "link", "way/table.csv", "hard"] {
            let told = said(Outputs::new([&at(name)]).inputs([&table]));
            assert!(told.contains("would overwrite an input"), "{name}: {told}");
        }
        assert!(
            said(Outputs::new([&at("way/parts/a.parquet")]).inputs([&parts])).contains("overwrite an input")
        );
        assert_eq!(said(Outputs::new([&at("parts/front.json"), &at("new")]).inputs([&parts, &table])), "");
        assert!(said(Outputs::new([&at("new"), &at("way/new")])).contains("would be one file"));
        assert_eq!(said(Outputs::new(["/dev/null", "/dev/null"])), "");
        let (cache, other) = (at("cache"), at("way/cache"));
        assert!(said(Outputs::new(["new"; 0]).folders([&cache, &other])).contains("given twice"));
        std::fs::create_dir(&cache).unwrap();
        assert!(said(Outputs::new([&other.join("new")]).folders([&cache])).contains("uses for itself"));
        assert!(said(Outputs::new(["new"; 0]).folders([&parts]).inputs([&parts])).contains("given twice"));
    }

    #[test]
    fn a_failed_output_is_reported_with_those_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let (good, bad) = (folder.path().join("front.json"), folder.path().join("no/points.csv"));
        let mut outputs = Outputs::new(["x"; 0]);
        assert!(!outputs.write(&bad, |_| Ok(())).unwrap_err().remedy().unwrap().contains("written before"));
        outputs.write(&good, |_| Ok(())).unwrap();
        let help = outputs.write(&bad, |_| Ok(())).unwrap_err().remedy().unwrap().to_owned();
        assert!(help.contains("does not exist; written before: ") && help.ends_with("front.json"), "{help}");
    }
}
