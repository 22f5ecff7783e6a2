//! Reads files with a hash, and writes them atomically.
//!
//! Results are written beside their final path and renamed, so a full disk or an interrupted run never leaves half a file, and
//! never damages an existing file. Everything that is read is hashed, which ties a result to its table and model.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorKind, Result, suggest};
use crate::memory::{amount, machine_memory};

/// SHA-256 of `bytes`, in lower-case hexadecimal.
///
/// ```
/// assert!(sogar_base::files::sha256_hex(b"abc").starts_with("ba7816bf"));
/// ```
pub fn sha256_hex(bytes: &[u8]) -> String {
    hexadecimal(&sha256(bytes))
}

/// SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Bytes in lower-case hexadecimal.
pub fn hexadecimal(digest: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(64);
    for byte in digest {
        text.push(char::from(DIGITS[usize::from(*byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// SHA-256 of a file, read in small blocks.
pub fn sha256_of_file(path: &Path) -> Result<String> {
    let mut file = open(path)?;
    let mut digest = Sha256::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match io::Read::read(&mut file, &mut block) {
            Ok(0) => return Ok(hexadecimal(&digest.finalize())),
            Ok(read) => digest.update(&block[..read]),
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(unreadable(path, cause)),
        }
    }
}

/// Opens a regular file for reading: a pipe may never end, and a device has no end. For an unknown name, the error suggests the
/// nearest name in that folder.
pub fn open(path: &Path) -> Result<File> {
    let metadata = fs::metadata(path).map_err(|cause| unreadable(path, cause))?;
    require_regular(path, &metadata)?;
    let mut options = File::options();
    // If it has become a pipe meanwhile, opening it must not wait for a writer.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.read(true).open(path).map_err(|cause| unreadable(path, cause))?;
    require_regular(path, &file.metadata().map_err(|cause| unreadable(path, cause))?)?;
    Ok(file)
}

/// Reads a whole regular file. For an unknown name, the error suggests the nearest name in that folder.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let mut file = open(path)?;
    let (length, memory) = (file.metadata().map_or(0, |metadata| metadata.len()), machine_memory());
    if length > memory {
        let (length, memory) = (amount(u128::from(length)), amount(u128::from(memory)));
        let message = format!("the file has {length}, which do not fit into the {memory} of memory");
        return Err(Error::new(ErrorKind::Usage, message).file(path).help("is it the right file?"));
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes).map_err(|cause| unreadable(path, cause))?;
    Ok(bytes)
}

fn require_regular(path: &Path, metadata: &fs::Metadata) -> Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::Usage, "this is a folder, a file is wanted").file(path));
    }
    let message = "this is a pipe or a device, a regular file is wanted";
    Err(Error::new(ErrorKind::Usage, message).file(path).help(
        "save it as a file first; `sogar solve`, `predict` and `config` read a table called `-` from standard input",
    ))
}

fn unreadable(path: &Path, cause: io::Error) -> Error {
    let error = match cause.kind() {
        io::ErrorKind::NotFound => missing_file(path),
        io::ErrorKind::PermissionDenied => Error::new(ErrorKind::Usage, "no permission to read this file")
            .file(path)
            .help("check the file's permissions"),
        _ => Error::new(ErrorKind::Usage, format!("could not be read: {cause}")).file(path),
    };
    error.caused_by(cause)
}

/// Reads a whole text file, which must be UTF-8.
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|cause| {
        let good = cause.utf8_error().valid_up_to();
        let line = 1 + cause.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count();
        Error::new(ErrorKind::Usage, "not UTF-8 text").file(path).row(line).help("save the file as UTF-8")
    })
}

fn missing_file(path: &Path) -> Error {
    let error = Error::new(ErrorKind::Usage, "there is no such file").file(path);
    let wanted = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Ok(entries) = fs::read_dir(folder_of(path)) else {
        return error.help(format!("the folder `{}` does not exist either", folder_of(path).display()));
    };
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    if names.is_empty() {
        return error.help("the folder is empty");
    }
    error.help(suggest(&wanted, names.iter().map(String::as_str)))
}

/// The folder that holds `path` (`.` for a bare name).
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Writes a file atomically: `write` fills a temporary file in the same folder, which is flushed to disk and then renamed to
/// `path`. On any error an existing file is untouched.
///
/// If `path` exists but is not a regular file (a terminal, a pipe, `/dev/null`), writes to it directly.
pub fn write_atomically<F>(path: &Path, write: F) -> Result<()>
where
    F: FnOnce(&mut dyn Write) -> io::Result<()>,
{
    if path.is_dir() {
        return Err(Error::new(
            ErrorKind::Output,
            "this is a folder, so no file of that name can be written",
        )
        .file(path)
        .help("give the name of a file in it"));
    }
    // A link stays a link: its target is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(&target).ok();
    if old.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        return write_directly(&target, write).map_err(|cause| unwritable(path, &cause));
    }
    if old.as_ref().is_some_and(|metadata| metadata.permissions().readonly()) {
        return Err(Error::new(ErrorKind::Output, "this file is write-protected")
            .file(path)
            .help("choose another name, or make the file writable"));
    }
    replace(&target, old.map(|metadata| metadata.permissions()), write)
        .map_err(|cause| unwritable(path, &cause))
}

fn write_directly<F>(path: &Path, write: F) -> io::Result<()>
where
    F: FnOnce(&mut dyn Write) -> io::Result<()>,
{
    let mut writer = BufWriter::new(File::options().write(true).open(path)?);
    write(&mut writer)?;
    writer.flush()
}

fn replace<F>(path: &Path, permissions: Option<fs::Permissions>, write: F) -> io::Result<()>
where
    F: FnOnce(&mut dyn Write) -> io::Result<()>,
{
    let folder = folder_of(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sogar-").suffix(".part");
    // A temporary file is private by default; a result should be as readable as any other new file.
    #[cfg(unix)]
    let open_to_umask = {
        use std::os::unix::fs::PermissionsExt;
        fs::Permissions::from_mode(0o666)
    };
    #[cfg(unix)]
    builder.permissions(open_to_umask);
    let mut writer = BufWriter::new(builder.tempfile_in(&folder)?);
    write(&mut writer)?;
    let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    // Flushing the folder makes the rename durable; if folders cannot be opened, the rename is still done.
    if let Ok(folder) = File::open(&folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn unwritable(path: &Path, cause: &io::Error) -> Error {
    let folder = folder_of(path);
    // Other causes mention the temporary file, whose name means nothing to users.
    let told = cause.raw_os_error().map_or_else(|| cause.kind().to_string(), |_| cause.to_string());
    let error = Error::new(ErrorKind::Output, format!("could not be written: {told}")).file(path);
    match cause.kind() {
        _ if folder.exists() && !folder.is_dir() => {
            error.help(format!("`{}` is not a folder", folder.display()))
        }
        io::ErrorKind::NotFound => error.help(format!("the folder `{}` does not exist", folder.display())),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            error.help(format!("the folder `{}` does not allow new files; choose another", folder.display()))
        }
        io::ErrorKind::StorageFull => error.help("the disk is full; nothing was changed"),
        _ => error.help("nothing was changed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_file_is_written_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("front.json");
        for text in ["one", "two"] {
            write_atomically(&path, |writer| writer.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(names_in(folder.path()), ["front.json"]);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("front.json");
        fs::write(&path, "old").unwrap();
        let error = write_atomically(&path, |writer| {
            writer.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        })
        .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output);
        assert!(error.remedy().unwrap().contains("disk is full"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names_in(folder.path()), ["front.json"]);
    }

    #[test]
    fn a_folder_is_no_target() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomically(folder.path(), |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("this is a folder"), "{error}");
    }

    #[test]
    fn an_absent_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/front.json");
        let error = write_atomically(&path, |_| Ok(())).unwrap_err();
        assert!(error.remedy().unwrap().ends_with("does not exist"), "{error:?}");
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("out"), "").unwrap();
        let error = write_atomically(&folder.path().join("out/front.json"), |_| Ok(())).unwrap_err();
        assert!(error.remedy().unwrap().ends_with("is not a folder"), "{error:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_write_protected_file_and_a_device_are_recognised() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("front.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let error = write_atomically(&path, |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("write-protected"), "{error}");
        write_atomically(Path::new("/dev/null"), |writer| writer.write_all(b"x")).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("table.csv");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let link = folder.path().join("link.csv");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [pipe.as_path(), &link, Path::new("/dev/zero"), Path::new("/dev/tty")] {
            for error in [read_bytes(path).unwrap_err(), sha256_of_file(path).unwrap_err()] {
                assert!(error.to_string().contains("a regular file is wanted"), "{error}");
            }
        }
    }

    #[test]
    fn a_file_beyond_the_memory_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("costs.csv");
        File::create(&path).unwrap().set_len(1 << 42).unwrap(); // a sparse file
        let error = read_bytes(&path).unwrap_err();
        assert!(error.to_string().contains("do not fit"), "{error}");
    }

    #[test]
    fn reading_names_the_nearest_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("german.csv"), "").unwrap();
        let error = read_bytes(&folder.path().join("germna.csv")).unwrap_err();
        assert!(error.to_string().contains("no such file"), "{error}");
        assert_eq!(error.remedy(), Some("did you mean `german.csv`?"));
        assert!(read_bytes(folder.path()).unwrap_err().to_string().contains("this is a folder"));
    }

    #[test]
    fn text_must_be_utf8() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sogar.toml");
        fs::write(&path, b"a = 1\nb = \"\xff\"\n").unwrap();
        let error = read_text(&path).unwrap_err();
        assert!(error.to_string().ends_with("line 2: not UTF-8 text"), "{error}");
    }
}
