//! A letter to the person: the decision, its reasons, and then, apart from them, what would change the model's answer.
//!
//! It is written for its recipient. Features have their display names, protected ones do not occur, advice that does not work
//! for this person is left out, and notes for the operator stay with the operator. All words come from the [`Messages`], so that
//! a translation is one file.
//!
//! The page is self-contained: no scripts, no network, and a policy that forbids both. Text from a table or a user is escaped and
//! isolated ([`said`]), so that a category called `</p>` or one written from right to left is shown literally.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::messages::capitalised;
use super::{Advice, Changed, Explanation, Group, LetterFields, Messages};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::markup::escaped;
use sogar_front::summary::Value;

const STYLE: &str = include_str!("letter.css");

/// A letter says nothing about groups of fewer people.
const FEWEST: f64 = 10.0;

/// The letter as one HTML file. There is none to a person whom the model accepts.
pub fn letter_html(explanation: &Explanation, fields: &LetterFields, messages: &Messages) -> Result<String> {
    if explanation.decision.desired {
        let name = &explanation.person.name;
        return Err(Error::new(
            ErrorKind::Usage,
            format!(
                "the model gives {name} what they hope for, so there is no adverse decision to write about"
            ),
        )
        .help("letters are for people whom the model turns down; `--all` writes to all of them"));
    }
    if !explanation.reasons_known {
        return Err(Error::new(
            ErrorKind::Usage,
            "reasons need the whole reference table, of which only the affected people are in memory",
        )
        .help("write letters with `sogar explain`, which reads the whole table"));
    }
    if !explanation.reasons.is_empty() && explanation.reasons.iter().all(|reason| reason.protected) {
        return Err(Error::new(
            ErrorKind::Usage,
            format!(
                "all principal reasons of {} are protected features, so that a letter could name none",
                explanation.person.name
            ),
        )
        .help("have this decision reviewed by a person; --reasons N gives more reasons"));
    }
    messages.require_known(&explanation.features, &explanation.classes)?;
    let letter = Letter { explanation, fields, messages };
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let subject = letter.subject();
    let title = messages.say("title", &[("subject", &subject)]);
    Ok(format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
        escaped(&messages.language),
        escaped(&title),
        letter.body(&subject)
    ))
}

/// Foreign text within ours: escaped, and with its own direction of writing.
fn said(text: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(text))
}

fn paragraph(html: &str) -> String {
    format!("<p>{html}</p>\n")
}

struct Letter<'a> {
    explanation: &'a Explanation,
    fields: &'a LetterFields,
    messages: &'a Messages,
}

impl Letter<'_> {
    fn subject(&self) -> String {
        self.fields.subject.clone().unwrap_or_else(|| self.messages.say("subject", &[]))
    }

    fn body(&self, subject: &str) -> String {
        let mut body = self.head();
        body += &format!("<h1>{}</h1>\n", self.messages.html("title", &[("subject", &said(subject))]));
        body += &self.reference();
        body += &self.decision();
        body += &self.reasons();
        body += &self.ways();
        body += &self.unchanged();
        body += &self.rights();
        body + &self.small_print()
    }

    fn heading(&self, key: &str) -> String {
        format!("<h2>{}</h2>\n", self.messages.html(key, &[]))
    }

    fn head(&self) -> String {
        let block = |text: &Option<String>| {
            text.as_deref().map_or(String::new(), |text| format!("<div>{}</div>\n", said(text)))
        };
        let LetterFields { from, to, date, .. } = self.fields;
        let (from, to, date) = (block(from), block(to), block(date));
        match from.is_empty() && to.is_empty() && date.is_empty() {
            true => String::new(),
            false => format!(
                "<div class=\"head\">\n<div>\n{to}</div>\n<div class=\"sender\">\n{from}{date}</div>\n</div>\n"
            ),
        }
    }

    /// The number of the application and the date of the decision.
    fn reference(&self) -> String {
        let LetterFields { application_id, decision_date, .. } = self.fields;
        let application =
            application_id.as_deref().map(|id| self.messages.html("application", &[("id", &said(id))]));
        let decided =
            decision_date.as_deref().map(|date| self.messages.html("decided_on", &[("date", &said(date))]));
        let parts: Vec<String> = application.into_iter().chain(decided).collect();
        if parts.is_empty() {
            String::new()
        } else {
            format!("<p class=\"small\">{}</p>\n", parts.join(" · "))
        }
    }

    /// A class as people call it.
    fn outcome(&self, class: &str) -> String {
        said(self.messages.outcome(class).unwrap_or_else(|| self.explanation.outcome(class)))
    }

    fn decision(&self) -> String {
        let decision = &self.explanation.decision;
        let answer = format!("<strong>{}</strong>", self.outcome(&decision.label));
        let mut text = self.heading("decision");
        text += &paragraph(&self.messages.html("answer", &[("answer", &answer)]));
        if let (true, Some(limit), Some(class)) =
            (decision.score_is_probability, decision.threshold, &decision.above_threshold)
        {
            let [own, limit] = self.messages.percents(decision.score, limit);
            let values = [("class", self.outcome(class)), ("own", own), ("limit", limit)];
            let values: Vec<(&str, &str)> =
                values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            text += &paragraph(&self.messages.html("probability", &values));
        } else if decision.score_is_probability {
            let own = self.messages.percent(decision.score);
            text += &paragraph(&self.messages.html("probability_answer", &[("own", &own)]));
        }
        text + &self.field(&self.fields.model_role)
    }

    fn field(&self, field: &Option<String>) -> String {
        field.as_deref().map_or(String::new(), |text| format!("<p class=\"lines\">{}</p>\n", said(text)))
    }

    fn reasons(&self) -> String {
        let mut text = self.heading("reasons");
        let shown: Vec<_> = self.explanation.reasons.iter().filter(|reason| !reason.protected).collect();
        if shown.is_empty() {
            return text + &paragraph(&self.messages.html("reasons_none", &[]));
        }
        // A letter that leaves out protected reasons does not claim that these are the strongest of all.
        let all = shown.len() == self.explanation.reasons.len();
        let lead = if all { "reasons_lead" } else { "reasons_lead_some" };
        text += &paragraph(&self.messages.html(lead, &[]));
        text += "<ol>\n";
        for reason in shown {
            let code = reason.code.as_deref().map_or(String::new(), |code| {
                format!(
                    " <span class=\"small\">({})</span>",
                    self.messages.html("code", &[("code", &said(code))])
                )
            });
            let words = match (reason.own_text, self.explanation.feature(&reason.feature)) {
                (false, Some(feature)) => {
                    self.messages.reason(feature, reason.towards.as_ref(), reason.value.as_ref())
                }
                _ => reason.text.clone(),
            };
            text += &format!("<li>{}{code}</li>\n", said(&words));
        }
        text + "</ol>\n"
    }

    /// The changes that would do for this person: the cheapest, and that of their group if it does and is another.
    fn ways(&self) -> String {
        let mut text = self.heading("ways");
        let explanation = self.explanation;
        let Some(best) = &explanation.cheapest else {
            let most = explanation.max_edits.to_string();
            let key = if explanation.conditional { "ways_none_strict" } else { "ways_none" };
            let none = self.messages.html(key, &[("most", &most)]);
            // Only if it is there to be seen.
            let review = match self.fields.human_review.is_some() {
                true => format!(" {}", self.messages.html("ways_none_review", &[])),
                false => String::new(),
            };
            return text + &format!("<p class=\"verdict no\">{none}{review}</p>\n");
        };
        text += &paragraph(&self.messages.html("ways_lead", &[]));
        let of_group = explanation.suggestion.as_ref().filter(|advice| advice.works);
        let same = |advice: &&Advice| advice.includes(best) && best.includes(advice);
        // What asks for all of the first way and more is no other way.
        let other = of_group.filter(|advice| !advice.includes(best));
        let told = other.or(of_group.filter(same));
        let group = explanation.group.as_ref().filter(|group| told.is_some() && group.rows >= FEWEST);
        // A number tells ways apart, and which of them is the group's.
        if other.is_some() || group.is_some() {
            text += &self.number("1");
        }
        text += &self.way(best);
        if let Some(other) = other {
            text += &self.number("2");
            text += &self.way(other);
        }
        if let Some(group) = group {
            text += &paragraph(&self.group(group, if other.is_some() { "2" } else { "1" }));
        }
        text
    }

    fn number(&self, number: &str) -> String {
        format!("<h3>{}</h3>\n", self.messages.html("way", &[("number", number)]))
    }

    fn way(&self, advice: &Advice) -> String {
        let column = |key: &str| format!("<th scope=\"col\">{}</th>", self.messages.html(key, &[]));
        let mut text = format!(
            "<table>\n<thead><tr>{}{}{}</tr></thead>\n<tbody>\n",
            column("what"),
            column("today"),
            column("then")
        );
        // What the person has already is no change.
        for Changed { feature, from, to, follows, .. } in advice.moved() {
            let then = match follows {
                None => self.value(feature, to.as_ref()),
                Some(with) => {
                    let (value, with) = (self.value(feature, to.as_ref()), self.name(with));
                    self.messages.html("along", &[("value", &value), ("feature", &with)])
                }
            };
            let (name, from) = (self.row_name(feature), self.value(feature, from.as_ref()));
            text += &format!("<tr><th scope=\"row\">{name}</th><td>{from}</td><td>{then}</td></tr>\n");
        }
        let answer = format!("<strong>{}</strong>", self.outcome(&advice.label));
        let verdict = self.messages.html("way_only", &[("answer", &answer)]);
        text + &format!("</tbody>\n</table>\n<p class=\"verdict\">{verdict}</p>\n")
    }

    fn group(&self, group: &Group, number: &str) -> String {
        let share = self.messages.percent(group.flipped / group.rows.max(1.0));
        let conditions: Vec<String> = group
            .predicates
            .iter()
            .filter_map(|(name, predicate)| {
                let feature = self.explanation.feature(name)?;
                Some(said(&self.messages.condition(feature, predicate)))
            })
            .collect();
        match conditions.is_empty() {
            true => self.messages.html("group_all", &[("number", number), ("share", &share)]),
            false => {
                let conditions = conditions.join("; ");
                self.messages
                    .html("group", &[("number", number), ("share", &share), ("conditions", &conditions)])
            }
        }
    }

    fn unchanged(&self) -> String {
        let explanation = self.explanation;
        let names: Vec<String> = explanation
            .immutable
            .iter()
            .filter(|name| !explanation.protected.contains(name))
            .map(|name| self.name(name))
            .collect();
        if names.is_empty() {
            return String::new();
        }
        let key = if explanation.cheapest.is_some() { "unchanged_list" } else { "unchanged_none" };
        let list = self.messages.html(key, &[("features", &names.join(", "))]);
        self.heading("unchanged") + &paragraph(&list)
    }

    /// How to correct data, how to ask a human and by when, whom to contact, what else the law asks for.
    fn rights(&self) -> String {
        let LetterFields { correct_data, human_review, review_by, contact, legal_text, .. } = self.fields;
        let mut text = self.heading("correct");
        text += &match correct_data {
            Some(_) => self.field(correct_data),
            None => paragraph(&self.messages.html("correct_text", &[])),
        };
        if human_review.is_some() || review_by.is_some() {
            text += &self.heading("review");
            text += &self.field(human_review);
            if let Some(date) = review_by {
                text += &paragraph(&self.messages.html("review_by", &[("date", &said(date))]));
            }
        }
        for (key, field) in [("contact", contact), ("legal", legal_text)] {
            if field.is_some() {
                text += &(self.heading(key) + &self.field(field));
            }
        }
        text
    }

    fn small_print(&self) -> String {
        let Explanation { model, reasons, .. } = self.explanation;
        let Some(first) = reasons.first() else { return String::new() };
        let method = self.messages.html(first.method.name(), &[]);
        let fingerprint = escaped(model.hash.get(..16).unwrap_or(&model.hash));
        let values =
            [("method", method.as_str()), ("model", &said(&model.format)), ("fingerprint", &fingerprint)];
        format!(
            "<footer class=\"small\">\n{}</footer>\n",
            paragraph(&self.messages.html("small_print", &values))
        )
    }

    fn words(&self, feature: &str) -> String {
        let known = self.explanation.feature(feature);
        known.map_or_else(|| feature.to_owned(), |feature| self.messages.name(feature))
    }

    fn name(&self, feature: &str) -> String {
        said(&self.words(feature))
    }

    /// A name at the beginning of a row.
    fn row_name(&self, feature: &str) -> String {
        said(&capitalised(&self.words(feature)))
    }

    fn value(&self, feature: &str, value: Option<&Value>) -> String {
        match self.explanation.feature(feature) {
            Some(feature) => said(&self.messages.value(feature, value)),
            None => String::new(),
        }
    }
}
