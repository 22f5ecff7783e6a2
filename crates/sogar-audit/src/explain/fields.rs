//! The fields of a letter: what the sender knows and the model does not, from a small TOML file.
//!
//! All are plain text and optional. What a notice of an adverse decision usually has, and these fields lack, is a warning to the
//! sender, not a gap that the letter fills with a claim of its own.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::codes::markup_in;
use sogar_base::error::{Error, ErrorKind, Result, suggest};
use sogar_base::files::read_text;

/// What a letter says besides the explanation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LetterFields {
    /// Who writes; lines are kept.
    pub from: Option<String>,
    /// To whom; lines are kept.
    pub to: Option<String>,
    /// The date of the letter, as printed.
    pub date: Option<String>,
    /// What was decided, such as `your application for a loan`.
    pub subject: Option<String>,
    /// The number of the application.
    pub application_id: Option<String>,
    /// When it was decided, as printed.
    pub decision_date: Option<String>,
    /// What part the model had in the decision.
    pub model_role: Option<String>,
    /// How a person corrects their data.
    pub correct_data: Option<String>,
    /// How to have a human look at the decision.
    pub human_review: Option<String>,
    /// By when to ask for it, as printed.
    pub review_by: Option<String>,
    /// Whom to ask; lines are kept.
    pub contact: Option<String>,
    /// What the law asks the sender to say; lines are kept.
    pub legal_text: Option<String>,
}

/// Names of the fields, as in the file.
const NAMES: [&str; 12] = [
    "from",
    "to",
    "date",
    "subject",
    "application_id",
    "decision_date",
    "model_role",
    "correct_data",
    "human_review",
    "review_by",
    "contact",
    "legal_text",
];

impl LetterFields {
    /// Reads a file of fields.
    pub fn read(path: &Path) -> Result<LetterFields> {
        LetterFields::parse(&read_text(path)?).map_err(|error| error.file(path))
    }

    /// Parses a file of fields.
    pub fn parse(text: &str) -> Result<LetterFields> {
        let fault = |message: String| Error::new(ErrorKind::Config, message);
        let table: toml::Table = toml::from_str(text).map_err(|cause| {
            fault(format!("not a file of letter fields: {}", cause.message()))
                .help("write lines such as contact = \"…\"")
        })?;
        let mut fields = LetterFields::default();
        for (name, value) in &table {
            let toml::Value::String(value) = value else {
                return Err(fault(format!("`{name}` is not a text")).help("write it between quotes"));
            };
            fields.set(name, value)?;
        }
        Ok(fields)
    }

    /// Sets a field by its name. An empty text removes it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let fault = |message: String| Error::new(ErrorKind::Config, message);
        if let Some(tag) = markup_in(value) {
            return Err(fault(format!("the field `{name}` has markup, `{tag}`"))
                .help("write plain text: the letter shows it literally"));
        }
        let field = match name {
            "from" => &mut self.from,
            "to" => &mut self.to,
            "date" => &mut self.date,
            "subject" => &mut self.subject,
            "application_id" => &mut self.application_id,
            "decision_date" => &mut self.decision_date,
            "model_role" => &mut self.model_role,
            "correct_data" => &mut self.correct_data,
            "human_review" => &mut self.human_review,
            "review_by" => &mut self.review_by,
            "contact" => &mut self.contact,
            "legal_text" => &mut self.legal_text,
            other => {
                return Err(
                    fault(format!("`{other}` is not a field of a letter")).help(suggest(other, NAMES))
                );
            }
        };
        *field = Some(value.to_owned()).filter(|value| !value.trim().is_empty());
        Ok(())
    }

    /// What notices of adverse decisions usually have and these fields lack, for the sender.
    pub fn warnings(&self) -> Vec<String> {
        let usual = [
            ("model_role", &self.model_role, "what part the model had in the decision"),
            ("human_review", &self.human_review, "how to ask for a human review"),
            ("review_by", &self.review_by, "by when to ask for it"),
            ("contact", &self.contact, "whom to contact"),
        ];
        usual
            .iter()
            .filter(|(_, field, _)| field.is_none())
            .map(|(name, _, what)| format!("the letter does not say {what}: the field `{name}` is not set"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_by_name_and_defects_are_named() {
        let fields = LetterFields::parse("contact = \"Desk 4\"\nhuman_review = \"Write to us.\"\n").unwrap();
        assert_eq!(fields.contact.as_deref(), Some("Desk 4"));
        assert_eq!(fields.warnings().len(), 2);
        for (text, wanted) in [
            ("contct = \"x\"", "`contct` is not a field of a letter"),
            ("contact = 4", "`contact` is not a text"),
            ("contact = \"<a href=x>us</a>\"", "the field `contact` has markup"),
            ("contact", "not a file of letter fields"),
        ] {
            let error = LetterFields::parse(text).unwrap_err();
            assert!(error.to_string().contains(wanted), "{text}: {error}");
        }
        for name in NAMES {
            LetterFields::default().set(name, "x").unwrap();
        }
    }
}
