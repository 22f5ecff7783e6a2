//! An explanation on a terminal: short sections, values in columns.

use super::{Advice, Explanation, Group};
use sogar_base::markup::visible;
use sogar_front::describe::spoken_number;
use sogar_front::summary::Value;

/// A heading and what stands below it.
pub type Section = (String, String);

/// The explanation in words.
pub fn text(explanation: &Explanation) -> String {
    let sections = sections(explanation);
    let parts: Vec<String> =
        sections.into_iter().map(|(heading, body)| format!("{heading}\n{body}")).collect();
    parts.join("\n")
}

/// The explanation section by section, for those who set headings apart.
pub fn sections(explanation: &Explanation) -> Vec<Section> {
    let mut sections = vec![decision(explanation)];
    if let (Some(group), Some(suggestion)) = (&explanation.group, &explanation.suggestion) {
        sections.push(belonging(explanation, group));
        sections.push(suggested(group, suggestion));
        sections.push(individual(explanation, suggestion));
        if !explanation.immutable.is_empty() {
            let names: Vec<String> = explanation.immutable.iter().map(|name| visible(name)).collect();
            sections.push(("What no suggestion changes".into(), format!("  {}\n", names.join(", "))));
        }
    }
    if !explanation.notes.is_empty() {
        let notes = explanation.notes.iter().map(|note| format!("  {}\n", visible(note))).collect();
        sections.push(("Notes".into(), notes));
    }
    sections
}

fn decision(explanation: &Explanation) -> Section {
    let decision = &explanation.decision;
    let name = visible(&explanation.person.name);
    let mut letters = name.chars();
    let name: String =
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect());
    let heading = format!("{name}: the model says {}", visible(&decision.label));
    let score = match (decision.threshold, &decision.above_threshold) {
        (Some(threshold), Some(class)) => format!(
            "  Its score is {}; above {} it says {}.\n",
            spoken_number(rounded(decision.score)),
            spoken_number(threshold),
            visible(class)
        ),
        _ => format!("  Hoped for: {}.\n", visible(&explanation.hoped_for())),
    };
    (heading, score)
}

fn belonging(explanation: &Explanation, group: &Group) -> Section {
    let point = explanation.point;
    let heading = format!("Their group in summary {} of {}", point.point, point.of);
    if group.because.is_empty() {
        return (heading, format!("  This summary has one group, all {} people.\n", group.rows));
    }
    let rows: Vec<[String; 2]> = group
        .because
        .iter()
        .map(|reason| [visible(&reason.condition), format!("theirs: {}", words(reason.value.as_ref()))])
        .collect();
    let mut body = columns(&rows);
    body += &format!("  {} people of the reference table are in it.\n", group.rows);
    (heading, body)
}

fn suggested(group: &Group, advice: &Advice) -> Section {
    let heading = "Suggested to this group".to_owned();
    if advice.edits.is_empty() {
        let body = "  No change: this summary leaves the group without recourse. Dearer points of the front may not.\n";
        return (heading, body.to_owned());
    }
    let mut body = changes(advice);
    body += &match (advice.works, advice.breaks.as_slice()) {
        (true, _) => format!(
            "  This changes their decision to {}, at a cost of {:.3}.\n",
            visible(&advice.label),
            advice.cost
        ),
        (false, [rule, ..]) => {
            format!("  This does not count for them: it would break the rule `{}`.\n", visible(rule))
        }
        (false, []) => {
            format!(
                "  This does not change their decision: the model would still say {}.\n",
                visible(&advice.label)
            )
        }
    };
    body += &format!(
        "  In the group it works for {} of {} people, at a mean cost of {:.3}.\n",
        group.flipped, group.rows, group.mean_cost
    );
    (heading, body)
}

fn individual(explanation: &Explanation, suggestion: &Advice) -> Section {
    let heading = "The cheapest change that works for them alone".to_owned();
    let tried = format!(
        "of {} possible sets of at most {} changes",
        explanation.actions_tried, explanation.max_edits
    );
    let Some(best) = &explanation.cheapest else {
        let body = format!("  There is none: {tried}, not one changes their decision.\n");
        return (heading, body);
    };
    let mut body = changes(best);
    body += &format!("  It costs {:.3}", best.cost);
    body += &match suggestion.works && suggestion.edits == best.edits {
        true => ": it is the suggestion itself.\n".to_owned(),
        false if suggestion.works => format!(", the suggestion {:.3}.\n", suggestion.cost),
        false => ".\n".to_owned(),
    };
    (heading, body)
}

/// The changes of an action, one a line: feature, from → to.
fn changes(advice: &Advice) -> String {
    let rows: Vec<[String; 2]> = advice
        .changes
        .iter()
        .map(|change| {
            let from = words(change.from.as_ref());
            let told = match (change.changes, &change.follows) {
                (false, None) if change.from.is_none() => format!("{from} (so it can't be changed)"),
                (false, None) => format!("{from} (as it is already)"),
                (false, Some(_)) => format!("{from} (stays)"),
                (true, None) => format!("{from} → {}", words(change.to.as_ref())),
                (true, Some(with)) => {
                    format!("{from} → {} (moves along with {})", words(change.to.as_ref()), visible(with))
                }
            };
            [visible(&change.feature), told]
        })
        .collect();
    columns(&rows)
}

/// A value in words.
pub(super) fn words(value: Option<&Value>) -> String {
    match value {
        None => "missing".to_owned(),
        Some(Value::Number(number)) => spoken_number(*number),
        Some(Value::Level(level)) if level.is_empty() => "missing".to_owned(),
        Some(Value::Level(level)) => visible(level),
    }
}

/// A score to four digits behind the point, which is what people compare.
pub(super) fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

fn columns(rows: &[[String; 2]]) -> String {
    const WIDEST: usize = 60;
    let width = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0).min(WIDEST);
    rows.iter().map(|[left, right]| format!("  {left:width$}   {right}\n")).collect()
}
