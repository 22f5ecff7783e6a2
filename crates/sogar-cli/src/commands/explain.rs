//! `sogar explain`: what a front means for one person, and letters to all whom the model turns down.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;
use sogar::evaluate::reopen;
use sogar::explain::{
    Codes, Explainer, Explanation, INDEX, LetterFields, Messages, Person, REASONS, ReasonSettings,
    letter_html, read_recipients, require_free, sections, write_letters,
};
use sogar::files::write_atomically;
use sogar::pipeline::{Prepared, Reporter};
use sogar::summary::FrontFile;
use sogar::{Error, ErrorKind, Result};

use super::show::position;
use crate::args::{ModelFlags, PointArgs, file_of, text};
use crate::files::Outputs;
use crate::output::{Exit, Output, Text, heading};
use crate::progress::Bars;

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The result file
    pub front: PathBuf,
    #[command(flatten)]
    who: WhoArgs,
    #[command(flatten)]
    point: PointArgs,
    /// The table that the front was made from [default: its recorded path]
    #[arg(long, short, value_name = "TABLE")]
    table: Option<PathBuf>,
    #[command(flatten)]
    reasons: ReasonArgs,
    #[command(flatten)]
    letter: LetterArgs,
    /// The model, if it has moved since the front was made
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
    /// A new person: a JSON file with an object of columns and values (null if unknown)
    #[arg(long, value_name = "FILE")]
    person: Option<PathBuf>,
    /// Everybody whom the model turns down
    #[arg(long, requires = "letters")]
    all: bool,
}

/// The principal reasons of the model's answer.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reasons")]
struct ReasonArgs {
    /// How many reasons to give at most
    #[arg(long, value_name = "N", default_value_t = REASONS)]
    reasons: usize,
    /// Codes and texts of reasons: a CSV with the columns feature, direction, code, text
    #[arg(long, value_name = "FILE")]
    codes: Option<PathBuf>,
}

/// A letter to the person.
#[derive(Debug, Args)]
#[command(next_help_heading = "Letter")]
struct LetterArgs {
    /// Also write a letter to the person: one page of HTML, to be printed
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    letter: Option<PathBuf>,
    /// Write a letter to everybody whom the model turns down into a new folder, with an index
    #[arg(long, value_name = "DIR", requires = "all")]
    letters: Option<PathBuf>,
    /// What letters say besides: a TOML file with fields such as contact and human_review
    #[arg(long, value_name = "FILE")]
    fields: Option<PathBuf>,
    /// Fields of single people: a CSV with the column row and columns named as fields
    #[arg(long, value_name = "FILE", requires = "letters")]
    recipients: Option<PathBuf>,
    /// The language of letters: en or de [default: en]
    #[arg(long, value_name = "CODE", conflicts_with = "messages")]
    language: Option<String>,
    /// The texts of letters in another language: a TOML file
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// Who writes the letter
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    from: Option<String>,
    /// To whom the letter goes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text, requires = "letter")]
    to: Option<String>,
    /// The letter's date, as it is to be printed
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    date: Option<String>,
    /// What was decided [default: your application]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = text)]
    subject: Option<String>,
}

impl LetterArgs {
    fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.fields.iter().chain(&self.recipients).chain(&self.messages)
    }

    fn fields(&self, output: &Output) -> Result<LetterFields> {
        let mut fields = self.fields.as_deref().map_or(Ok(LetterFields::default()), LetterFields::read)?;
        let given =
            [("from", &self.from), ("to", &self.to), ("date", &self.date), ("subject", &self.subject)];
        for (name, text) in given {
            if let Some(text) = text {
                fields.set(name, text)?;
            }
        }
        if self.letter.is_some() || self.letters.is_some() {
            fields.warnings().into_iter().for_each(|warning| output.notice(warning));
        }
        Ok(fields)
    }

    fn messages(&self, output: &Output) -> Result<Messages> {
        let Some(path) = &self.messages else {
            return Messages::built_in(self.language.as_deref().unwrap_or("en"));
        };
        let (messages, warnings) = Messages::read(path)?;
        warnings.into_iter().for_each(|warning| output.notice(warning));
        Ok(messages)
    }
}

pub fn run(args: &ExplainArgs, output: &Output) -> Result<Exit> {
    let front = FrontFile::read(&args.front)?;
    let point = position(&front, &args.point)?;
    let table = file_of(args.table.as_deref(), &front.run.table_path, "--table")?;
    let model = args.model.source_of(&front)?;
    let files = [&args.front, &table].into_iter().chain(model.file()).chain(&args.who.person);
    let files = files.chain(&args.reasons.codes).chain(args.letter.inputs());
    Outputs::new(&args.letter.letter).inputs(files).checked()?;
    let (fields, messages) = (args.letter.fields(output)?, args.letter.messages(output)?);
    if let Some(folder) = &args.letter.letters {
        require_free(folder)?;
    }
    let recipients =
        args.letter.recipients.as_deref().map(|path| read_recipients(path, &fields)).transpose()?;
    let prepared = reopen(&front, &table, &model)?;
    if let (Some(recipients), Some(path)) = (&recipients, &args.letter.recipients) {
        everybody(recipients, &prepared).map_err(|error| error.file(path))?;
    }
    let codes = args.reasons.codes.as_deref().map(|path| Codes::read(path, &prepared.table().features));
    let codes = codes.transpose()?.unwrap_or_default();
    let with_codes = !codes.is_empty();
    let settings = ReasonSettings { most: args.reasons.reasons, codes, messages: messages.clone() };
    let explainer = Explainer::new(&front, &prepared, settings)?;
    let people = people(args, &prepared)?;
    let bars = Bars::new(output);
    let explained =
        explainer.explain_all(&people, point, &mut |done, all| bars.checking("people", done, all));
    bars.clear();
    let explained = explained?;
    if with_codes {
        uncoded(&explained, output);
    }
    if (args.letter.letter.is_some() || args.letter.letters.is_some())
        && let Some(unnamed) = explained.first().and_then(|told| messages.unnamed(told))
    {
        output.notice(unnamed);
    }
    if let Some(folder) = &args.letter.letters {
        return to_all(folder, &explained, recipients, &fields, &messages, output);
    }
    for explanation in &explained {
        if let Some(path) = &args.letter.letter {
            let html = letter_html(explanation, &fields, &messages)?;
            write_atomically(path, |out| out.write_all(html.as_bytes()))?;
            output.notice(format!("the letter is in {}", path.display()));
        }
        print(explanation, output)?;
    }
    Ok(Exit::Complete)
}

/// Fails unless the recipients are those whom the model turns down.
fn everybody(recipients: &BTreeMap<usize, LetterFields>, prepared: &Prepared) -> Result<()> {
    let fault = |message: String| Error::new(ErrorKind::Usage, message);
    let turned_down: BTreeSet<usize> = prepared.affected().iter().map(|row| row + 1).collect();
    if let Some(row) = recipients.keys().find(|row| !turned_down.contains(row)) {
        let message = format!("row {row} gets no letter: the table has no such row, or the model accepts it");
        return Err(fault(message).help("remove the line"));
    }
    match turned_down.iter().find(|row| !recipients.contains_key(row)) {
        Some(row) => Err(fault(format!("the list of recipients lacks row {row}"))
            .help("add a line for everybody whom the model turns down")),
        None => Ok(()),
    }
}

/// Says which reasons the list of codes does not cover.
fn uncoded(explained: &[Explanation], output: &Output) {
    let reasons = explained.iter().flat_map(|told| &told.reasons).filter(|reason| reason.code.is_none());
    let missing: BTreeSet<String> = reasons
        .map(|reason| format!("`{}`,{}", reason.feature, reason.direction.as_deref().unwrap_or("any")))
        .collect();
    if !missing.is_empty() {
        let list: Vec<String> = missing.into_iter().collect();
        output.notice(format!("the list of codes has no code for {}", list.join("; ")));
    }
}

fn people(args: &ExplainArgs, prepared: &Prepared) -> Result<Vec<Person>> {
    match (args.who.row, &args.who.person) {
        _ if args.who.all => prepared.affected().iter().map(|&row| Person::of_row(prepared, row)).collect(),
        (_, Some(path)) => Ok(vec![Person::read(prepared, path)?]),
        (Some(row @ 1..), None) => Ok(vec![Person::of_row(prepared, row - 1)?]),
        (_, None) => Err(Error::new(ErrorKind::Usage, "rows are counted from 1, the first below the header")),
    }
}

/// Writes all letters, and says what is in them.
fn to_all(
    folder: &PathBuf,
    explained: &[Explanation],
    recipients: Option<BTreeMap<usize, LetterFields>>,
    fields: &LetterFields,
    messages: &Messages,
    output: &Output,
) -> Result<Exit> {
    let own = |told: &Explanation| recipients.as_ref()?.get(&told.person.row?).cloned();
    let fields_of = |told: &Explanation| Ok(own(told).unwrap_or_else(|| fields.clone()));
    let letters = write_letters(folder, explained, &fields_of, messages)?;
    let with_way = explained.iter().filter(|told| told.cheapest.is_some()).count();
    let protected =
        explained.iter().filter(|told| told.reasons.iter().any(|reason| reason.protected)).count();
    if protected > 0 {
        output.notice(format!(
            "a protected feature is among the principal reasons of {protected} people; their letters do not name it, so they do not \
             name all reasons: have these decisions reviewed before you send them"
        ));
    }
    if output.json {
        output.print_json(&serde_json::json!({
            "letters": letters, "folder": folder, "index": folder.join(INDEX),
            "with_a_way": with_way, "without_a_way": letters - with_way, "protected_reasons": protected,
        }))?;
    } else {
        let none = letters - with_way;
        let told = format!(
            "{letters} letters are in {}, listed in {INDEX}: {with_way} name a way to another answer, {none} have none to name.\n",
            folder.display()
        );
        output.print(Text::from(told))?;
    }
    Ok(Exit::Complete)
}

fn print(explanation: &Explanation, output: &Output) -> Result<()> {
    if output.json {
        let value = serde_json::to_value(explanation)
            .map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()))?;
        return output.print_json(&value);
    }
    let mut text = Text::default();
    for (number, (title, body)) in sections(explanation).into_iter().enumerate() {
        text += if number > 0 { "\n" } else { "" };
        text += heading(&title) + body;
    }
    output.print(text)
}
