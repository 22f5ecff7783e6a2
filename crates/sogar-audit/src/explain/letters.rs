//! Letters to all people whom a model turns down: a folder with a letter for each of them and an index, written as a whole or
//! not at all.
//!
//! The folder is filled under another name beside its place and renamed at the end. Only its owner may read it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::list::{List, fault, fault_of};
use super::{Explanation, LetterFields, Messages, letter_html};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::read_bytes;

/// The name of the index.
pub const INDEX: &str = "index.csv";

/// Fields of single people, by their row, counted from 1: a CSV with the column `row` and columns named as fields.
pub fn read_recipients(path: &Path, fields: &LetterFields) -> Result<BTreeMap<usize, LetterFields>> {
    parse_recipients(&read_bytes(path)?, fields).map_err(|error| error.file(path))
}

fn parse_recipients(bytes: &[u8], fields: &LetterFields) -> Result<BTreeMap<usize, LetterFields>> {
    let list = List::read(bytes, "recipients")?;
    let key = list.place("row", "`row` is the row of the table, the first below the header being 1")?;
    let mut recipients = BTreeMap::new();
    for (line, cells) in list.rows {
        let text = cells.get(key).unwrap_or_default();
        let row = text.parse().ok().filter(|row: &usize| *row > 0);
        let row = row.ok_or_else(|| fault(format!("`{text}` is not a row"), line).column("row"))?;
        let mut own = fields.clone();
        for (name, cell) in list.names.iter().zip(&cells).filter(|(name, _)| *name != "row") {
            own.set(name, cell).map_err(|error| fault_of(&error, line, name))?;
        }
        if recipients.insert(row, own).is_some() {
            return Err(fault(format!("row {row} is there twice"), line).help("keep one of the two lines"));
        }
    }
    Ok(recipients)
}

/// Writes a letter to each of these people, and an index. Returns the number of letters.
pub fn write_letters(
    folder: &Path,
    people: &[Explanation],
    fields_of: &dyn Fn(&Explanation) -> Result<LetterFields>,
    messages: &Messages,
) -> Result<usize> {
    let mut index = csv::Writer::from_writer(Vec::new());
    let odd = |cause: csv::Error| Error::new(ErrorKind::Output, cause.to_string());
    index
        .write_record([
            "row",
            "file",
            "application_id",
            "answer",
            "reasons",
            "codes",
            "a_way_is_named",
            "protected_reasons",
        ])
        .map_err(odd)?;
    let mut letters = Vec::with_capacity(people.len());
    for explanation in people {
        let fields = fields_of(explanation)?;
        let row =
            explanation.person.row.map_or_else(|| (letters.len() + 1).to_string(), |row| row.to_string());
        let file = format!("letter-{row:0>6}.html");
        let shown = || explanation.reasons.iter().filter(|reason| !reason.protected);
        let reasons: Vec<&str> = shown().map(|reason| reason.feature.as_str()).collect();
        let codes: Vec<&str> = shown().filter_map(|reason| reason.code.as_deref()).collect();
        let way = if explanation.cheapest.is_some() { "yes" } else { "no" };
        let protected = if reasons.len() < explanation.reasons.len() { "yes" } else { "no" };
        let id = fields.application_id.as_deref().unwrap_or_default();
        index
            .write_record([
                row.as_str(),
                &file,
                id,
                &explanation.decision.label,
                &reasons.join("; "),
                &codes.join("; "),
                way,
                protected,
            ])
            .map_err(odd)?;
        letters.push((file, letter_html(explanation, &fields, messages)?));
    }
    let index = index.into_inner().map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
    write_folder(
        folder,
        letters.iter().map(|(file, page)| (file.as_str(), page.as_bytes())).chain([(INDEX, &*index)]),
    )?;
    Ok(letters.len())
}

fn write_folder<'a>(folder: &Path, files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Result<()> {
    require_free(folder)?;
    let failed = |cause: io::Error| {
        Error::new(ErrorKind::Output, format!("the letters could not be written: {cause}"))
            .file(folder)
            .caused_by(cause)
    };
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let filled = tempfile::Builder::new().prefix(".sogar-letters-").tempdir_in(parent).map_err(failed)?;
    for (name, bytes) in files {
        fs::write(filled.path().join(name), bytes).map_err(failed)?;
    }
    // An empty folder of that name is replaced.
    if folder.is_dir() {
        fs::remove_dir(folder).map_err(failed)?;
    }
    fs::rename(filled.path(), folder).map_err(failed)?;
    // It has moved: there is nothing to remove.
    drop(filled.keep());
    Ok(())
}

/// Fails if the folder has anything in it: letters of another run would be mixed with these. Or if there is no folder to put it in.
pub fn require_free(folder: &Path) -> Result<()> {
    if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir())
    {
        return Err(Error::new(
            ErrorKind::Output,
            "there is no such folder, so letters cannot be put into one below it",
        )
        .file(parent)
        .help("create it first"));
    }
    let taken = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(cause) => cause.kind() != io::ErrorKind::NotFound,
    };
    if taken {
        return Err(Error::new(
            ErrorKind::Output,
            "letters need a folder of their own, which is new or empty",
        )
        .file(folder)
        .help("give the name of a new folder"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipients_override_fields_by_row_and_defects_are_named() {
        let common = LetterFields { contact: Some("Desk 4".into()), ..LetterFields::default() };
        let list = parse_recipients(b"row,to,application_id\n3,Ada,A-3\n7,Bo,\n", &common).unwrap();
        assert_eq!(list[&3].application_id.as_deref(), Some("A-3"));
        assert_eq!((list[&7].application_id.as_deref(), list[&7].contact.as_deref()), (None, Some("Desk 4")));
        for (text, wanted) in [
            ("to\nAda\n", "no column `row`"),
            ("row,too\n1,Ada\n", "`too` is not a field"),
            ("row,to\n0,Ada\n", "`0` is not a row"),
            ("row,to\n1,Ada\n1,Bo\n", "row 1 is there twice"),
            ("row,to\n1,<b>Ada\n", "has markup"),
        ] {
            let error = parse_recipients(text.as_bytes(), &common).unwrap_err();
            assert!(error.to_string().contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn a_folder_is_written_as_a_whole_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("letters");
        fs::create_dir(&folder).unwrap();
        write_folder(&folder, [("a", &b"1"[..]), ("b", &b"2"[..])].into_iter()).unwrap();
        assert_eq!(fs::read(folder.join("b")).unwrap(), b"2");
        let error = write_folder(&folder, [("c", &b"3"[..])].into_iter()).unwrap_err();
        assert!(error.to_string().contains("new or empty"), "{error}");
        // A name that no file can have fails after others were written.
        let other = place.path().join("other");
        assert!(write_folder(&other, [("a", &b"1"[..]), ("no/such/folder", &b"2"[..])].into_iter()).is_err());
        assert!(!other.exists());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left behind");
    }
}
