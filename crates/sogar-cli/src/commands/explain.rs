//! `sogar explain`: what a front means for one person.

use std::path::PathBuf;

use clap::Args;
use sogar::evaluate::reopen;
use sogar::explain::{Letter, Person, explain, letter_html, sections};
use sogar::files::write_atomically;
use sogar::summary::FrontFile;
use sogar::{Error, ErrorKind, Result};

use super::show::position;
use crate::args::{ModelFlags, PointArgs, file_of, text};
use crate::files::Outputs;
use crate::output::{Exit, Output, Text, heading};

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The result file
    pub front: PathBuf,
    #[command(flatten)]
    who: WhoArgs,
    #[command(flatten)]
    point: PointArgs,
    /// The table that the front was made from [default: where it was then]
    #[arg(long, short, value_name = "TABLE")]
    table: Option<PathBuf>,
    #[command(flatten)]
    letter: LetterArgs,
    /// The model, if it is not where it was when the front was made
    #[command(flatten)]
    model: ModelFlags,
}

/// Who is looked at.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct WhoArgs {
    /// A row of the table, the first below the header being 1
    #[arg(long, value_name = "N")]
    row: Option<usize>,
    /// Somebody else: a JSON file with an object of column and value (null if not known)
    #[arg(long, value_name = "FILE")]
    person: Option<PathBuf>,
}

/// A letter to the person.
#[derive(Debug, Args)]
#[command(next_help_heading = "Letter")]
struct LetterArgs {
    /// Also write a letter to the person: one page of HTML, to be printed
    #[arg(long, value_name = "FILE")]
    letter: Option<PathBuf>,
    /// Who writes the letter
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text, requires = "letter")]
    from: Option<String>,
    /// To whom the letter goes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text, requires = "letter")]
    to: Option<String>,
    /// The letter's date, as it is to be printed
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text, requires = "letter")]
    date: Option<String>,
    /// What was decided [default: your application]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text, requires = "letter")]
    subject: Option<String>,
}

pub fn run(args: &ExplainArgs, output: &Output) -> Result<Exit> {
    let front = FrontFile::read(&args.front)?;
    let point = position(&front, &args.point)?;
    let table = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let model = args.model.source_of(&front)?;
    let files = [&args.front, &table].into_iter().chain(model.file()).chain(&args.who.person);
    Outputs::new(&args.letter.letter).inputs(files).checked()?;
    let prepared = reopen(&front, &table, &model)?;
    let person = match (args.who.row, &args.who.person) {
        (_, Some(path)) => Person::read(&prepared, path)?,
        (Some(row @ 1..), None) => Person::of_row(&prepared, row - 1)?,
        (_, None) => {
            return Err(Error::new(ErrorKind::Usage, "rows are counted from 1, the first below the header"));
        }
    };
    let explanation = explain(&front, &prepared, &person, point)?;
    if let Some(path) = &args.letter.letter {
        let LetterArgs { from, to, date, subject, .. } = &args.letter;
        let letter =
            Letter { from: from.clone(), to: to.clone(), date: date.clone(), subject: subject.clone() };
        let html = letter_html(&explanation, &letter);
        write_atomically(path, |out| out.write_all(html.as_bytes()))?;
        output.notice(format!("the letter is in {}", path.display()));
    }
    if output.json {
        let value = serde_json::to_value(&explanation)
            .map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
        output.print_json(&value)?;
    } else {
        let mut text = Text::default();
        for (number, (title, body)) in sections(&explanation).into_iter().enumerate() {
            text += if number > 0 { "\n" } else { "" };
            text += heading(&title) + body;
        }
        output.print(text)?;
    }
    Ok(Exit::Complete)
}
