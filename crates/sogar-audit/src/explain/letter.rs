//! A letter to the person: what part a model had in the decision, what it rested on, what would change it, and what could
//! not be changed, on one page that prints.
//!
//! The page is a file of its own: no scripts, no network, a policy that forbids both. What a table or a user wrote is escaped
//! and set apart ([`said`]), so that a category called `</p>` or one written from right to left is shown as just that.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::text::{rounded, words};
use super::{Advice, Changed, Explanation, Group};
use sogar_base::markup::escaped;
use sogar_front::describe::spoken_number;
use sogar_front::summary::Value;

const STYLE: &str = include_str!("letter.css");

/// What a letter says beside the explanation. Nothing of it is needed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Letter {
    /// Who writes; lines are kept.
    pub from: Option<String>,
    /// To whom; lines are kept.
    pub to: Option<String>,
    /// The date, as it is to be printed.
    pub date: Option<String>,
    /// What was decided, such as `your application for a loan`.
    pub subject: Option<String>,
}

/// The letter as one HTML file.
pub fn letter_html(explanation: &Explanation, letter: &Letter) -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let mut body = head(letter);
    let subject = letter.subject.as_deref().unwrap_or("your application");
    body += &format!("<h1>How a model assessed {}</h1>\n", said(subject));
    body += &part_of_the_model(explanation);
    match (&explanation.group, &explanation.suggestion) {
        (Some(group), Some(suggestion)) => {
            body += &elements(group);
            body += &suggested(explanation, group, suggestion);
            body += &individual(explanation, suggestion);
            body += &unchanged(explanation);
        }
        _ => {
            body += "<p class=\"verdict\">The model's answer is the one that you hope for. Nothing has to change.</p>\n"
        }
    }
    body += &limits(explanation);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>How a model assessed {}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escaped(subject)
    )
}

/// Somebody else's words within ours: escaped, and with a direction of writing of their own.
fn said(text: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(text))
}

fn value(value: Option<&Value>) -> String {
    match value {
        Some(Value::Level(level)) if !level.is_empty() => said(level),
        other => escaped(&words(other)),
    }
}

fn head(letter: &Letter) -> String {
    let block = |text: &Option<String>| {
        text.as_deref().map_or(String::new(), |text| format!("<div>{}</div>\n", said(text)))
    };
    let (from, to, date) = (block(&letter.from), block(&letter.to), block(&letter.date));
    match from.is_empty() && to.is_empty() && date.is_empty() {
        true => String::new(),
        false => format!(
            "<div class=\"head\">\n<div>\n{to}</div>\n<div class=\"sender\">\n{from}{date}</div>\n</div>\n"
        ),
    }
}

fn part_of_the_model(explanation: &Explanation) -> String {
    let decision = &explanation.decision;
    let mut text = format!(
        "<h2>The part of the model</h2>\n<p>A computer model that was trained on earlier cases took part in this decision. It \
         compares the details of a person with patterns in those cases. Its answer for you was <strong>{}</strong>",
        said(&decision.label)
    );
    text += &match decision.desired {
        true => ".</p>\n".to_owned(),
        false => format!(
            "; the answer that people hope for is <strong>{}</strong>.</p>\n",
            said(&explanation.hoped_for())
        ),
    };
    if let (Some(threshold), Some(class)) = (decision.threshold, &decision.above_threshold) {
        text += &format!(
            "<p>The model gives everybody a score. Yours is {}; a score above {} means {}.</p>\n",
            spoken_number(rounded(decision.score)),
            spoken_number(threshold),
            said(class)
        );
    }
    text
}

fn elements(group: &Group) -> String {
    let mut text = "<h2>The main elements in your case</h2>\n".to_owned();
    if group.because.is_empty() {
        text += &format!(
            "<p>The advice below is the same for all {} people whom the model turned down.</p>\n",
            group.rows
        );
        return text;
    }
    text += &format!(
        "<p>You fall into a group with {} people whom the model turned down. What they have in common:</p>\n\
         <table>\n<thead><tr><th scope=\"col\">What the group has in common</th><th scope=\"col\">In your case</th></tr></thead>\n<tbody>\n",
        group.rows
    );
    for reason in &group.because {
        let named = format!("`{}`", reason.feature);
        let condition = match reason.condition.strip_prefix(&named) {
            Some(rest) => said(&reason.feature) + &said(rest),
            None => said(&reason.condition),
        };
        text += &format!("<tr><td>{condition}</td><td>{}</td></tr>\n", value(reason.value.as_ref()));
    }
    text += "</tbody>\n</table>\n";
    text
}

fn suggested(explanation: &Explanation, group: &Group, advice: &Advice) -> String {
    let mut text = "<h2>What is suggested to this group</h2>\n".to_owned();
    if advice.edits.is_empty() {
        text += "<p class=\"verdict no\">Nothing: the summary that this letter rests on has no advice for your group.</p>\n";
        return text;
    }
    text += &table(advice);
    text += &match (advice.works, advice.breaks.is_empty()) {
        (true, _) => format!(
            "<p class=\"verdict\">With these changes, and everything else as it is, the model's answer for you would be \
             <strong>{}</strong>.</p>\n",
            said(&advice.label)
        ),
        (false, true) => format!(
            "<p class=\"verdict no\">For you these changes would <strong>not</strong> be enough: the model's answer would still be \
             {}.</p>\n",
            said(&advice.label)
        ),
        (false, false) => "<p class=\"verdict no\">For you these changes are <strong>not</strong> possible, because your details would \
             then contradict one another.</p>\n".to_owned(),
    };
    text += &format!(
        "<p>In the group the same suggestion works for {} of {} people.{}</p>\n",
        group.flipped,
        group.rows,
        effort(explanation, advice.cost)
    );
    text
}

fn individual(explanation: &Explanation, suggestion: &Advice) -> String {
    let mut text = "<h2>The smallest change that would do for you alone</h2>\n".to_owned();
    match &explanation.cheapest {
        None => {
            text += &format!(
                "<p class=\"verdict no\">None was found: no set of at most {} of the changes that were considered would change the \
                 model's answer for you.</p>\n",
                explanation.max_edits
            );
        }
        Some(best) if suggestion.works && best.edits == suggestion.edits => {
            text +=
                "<p>It is the suggestion above: nothing that was considered would be easier for you.</p>\n";
        }
        Some(best) => {
            text += &table(best);
            text += &format!(
                "<p>This would change the model's answer for you to {}.{}</p>\n",
                said(&best.label),
                effort(explanation, best.cost)
            );
        }
    }
    text
}

/// What an amount of cost means. Only the percentile shift has a meaning that can be said in a sentence.
fn effort(explanation: &Explanation, cost: f64) -> String {
    match explanation.cost_is_percentile {
        true => {
            format!(" It would move you past about {:.0} % of people in what changes most.", 100.0 * cost)
        }
        false => String::new(),
    }
}

fn table(advice: &Advice) -> String {
    let mut text = "<table>\n<thead><tr><th scope=\"col\">What would change</th><th scope=\"col\">Today</th>\
                    <th scope=\"col\">Then</th></tr></thead>\n<tbody>\n"
        .to_owned();
    for Changed { feature, from, to, changes, follows } in &advice.changes {
        let then = match (changes, follows) {
            (false, _) => "stays as it is".to_owned(),
            (true, None) => value(to.as_ref()),
            (true, Some(with)) => format!("{} (along with {})", value(to.as_ref()), said(with)),
        };
        text += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{then}</td></tr>\n",
            said(feature),
            value(from.as_ref())
        );
    }
    text + "</tbody>\n</table>\n"
}

fn unchanged(explanation: &Explanation) -> String {
    if explanation.immutable.is_empty() {
        return String::new();
    }
    let names: Vec<String> = explanation.immutable.iter().map(|name| said(name)).collect();
    format!(
        "<h2>What you are not asked to change</h2>\n<p>The suggestions leave as they are: {}.</p>\n",
        names.join(", ")
    )
}

fn limits(explanation: &Explanation) -> String {
    let mut text = "<footer class=\"small\">\n<p>The suggestions tell how the model would answer if only the details above changed. They \
        are no promise of a decision, and do not say what causes what in life. This letter supports an explanation of \
        the decision; by itself it does not constitute compliance with any law, and does not replace any right \
        of yours to have the decision explained and reviewed by a person.</p>\n"
        .to_owned();
    for note in &explanation.notes {
        text += &format!("<p>Note: {}.</p>\n", said(note));
    }
    text += &format!(
        "<p>Model: {}, {}; fingerprint {}. Summary {} of {}.</p>\n</footer>\n",
        said(&explanation.model.format),
        said(&explanation.model.description),
        escaped(explanation.model.hash.get(..16).unwrap_or(&explanation.model.hash)),
        explanation.point.point,
        explanation.point.of
    );
    text
}
