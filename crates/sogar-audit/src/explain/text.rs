//! An explanation on a terminal: short sections, values in columns.

use super::{Advice, Explanation, Group, Messages, Unmet};
use sogar_base::markup::visible;
use sogar_front::describe::{spoken, spoken_amount, spoken_number};
use sogar_front::summary::Value;

/// A heading and the text below it.
pub type Section = (String, String);

/// The explanation in words.
pub fn text(explanation: &Explanation) -> String {
    let sections = sections(explanation);
    let parts: Vec<String> =
        sections.into_iter().map(|(heading, body)| format!("{heading}\n{body}")).collect();
    parts.join("\n")
}

/// The explanation section by section, for callers that format headings.
pub fn sections(explanation: &Explanation) -> Vec<Section> {
    let mut sections = vec![decision(explanation)];
    if !explanation.decision.desired {
        sections.push(reasons(explanation));
    }
    if let (Some(group), Some(suggestion)) = (&explanation.group, &explanation.suggestion) {
        sections.push(belonging(explanation, group));
        sections.push(suggested(explanation, group, suggestion));
        sections.push(individual(explanation, suggestion));
        if !explanation.immutable.is_empty() {
            let names: Vec<String> =
                explanation.immutable.iter().map(|name| explanation.title(name)).collect();
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
    let class = |class: &str| spoken(&visible(explanation.outcome(class)));
    let heading = format!("{name}: the model says {}", class(&decision.label));
    let score = match (decision.threshold, &decision.above_threshold) {
        (Some(threshold), Some(above)) if decision.score_is_probability => format!(
            "  It puts the probability of {} at {} %; above {} % it says {}.\n",
            class(above),
            percent(decision.score),
            percent(threshold),
            class(above)
        ),
        (Some(threshold), Some(above)) => format!(
            "  Its score is {}; above {} it says {}.\n",
            spoken_number(rounded(decision.score)),
            spoken_number(rounded(threshold)),
            class(above)
        ),
        _ if decision.score_is_probability => format!(
            "  It puts the probability of that at {} %. Hoped for: {}.\n",
            percent(decision.score),
            visible(&explanation.hoped_for())
        ),
        _ => format!("  Hoped for: {}.\n", visible(&explanation.hoped_for())),
    };
    (heading, score)
}

fn reasons(explanation: &Explanation) -> Section {
    let heading = "The principal reasons".to_owned();
    let Some(first) = explanation.reasons.first() else {
        return (heading, "  No value moved the answer against them.\n".to_owned());
    };
    let rows: Vec<[String; 2]> = explanation
        .reasons
        .iter()
        .map(|reason| {
            let code = reason.code.as_deref().map_or(String::new(), |code| format!(" [{}]", visible(code)));
            let alone = match (reason.responsiveness, reason.immutable) {
                (_, true) => "cannot change".to_owned(),
                (None, false) => "no change of it alone is allowed here".to_owned(),
                (Some(share), false) => {
                    let flipping = (share * reason.changes_allowed as f64).round();
                    match reason.changes_allowed {
                        1 if flipping == 1.0 => "its one change alone would do".to_owned(),
                        1 => "its one change alone would not do".to_owned(),
                        more => format!("{flipping} of {more} changes of it alone would do"),
                    }
                }
            };
            [visible(&reason.text) + &code, format!("{:+.3}   {alone}", reason.contribution)]
        })
        .collect();
    let body = columns(&rows)
        + &format!(
            "  They say why the model answered so, not what to do. Computed as {}.\n",
            Messages::english().say(first.method.name(), &[])
        );
    (heading, body)
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
        .map(|reason| {
            [
                visible(&reason.condition),
                format!("theirs: {}", explanation.amount(&reason.feature, reason.value.as_ref())),
            ]
        })
        .collect();
    let mut body = columns(&rows);
    body += &format!("  {} people of the reference table are in it.\n", group.rows);
    (heading, body)
}

fn suggested(explanation: &Explanation, group: &Group, advice: &Advice) -> Section {
    let heading = "Suggested to this group".to_owned();
    if advice.edits.is_empty() {
        let body = "  No change: this summary leaves the group without recourse. Costlier points of the front may not.\n";
        return (heading, body.to_owned());
    }
    let mut body = changes(explanation, advice);
    let label = spoken(&visible(explanation.outcome(&advice.label)));
    body += &match (advice.works, advice.breaks.as_slice()) {
        (true, _) => {
            format!("  This changes their decision to {label}, at a cost of {:.3}.\n", advice.cost)
        }
        (false, [rule, ..]) => {
            format!("  This does not count for them: it would break the rule `{}`.\n", visible(rule))
        }
        (false, []) => match advice.unmet {
            None => format!("  This does not change their decision: the model would still say {label}.\n"),
            Some(unmet) => {
                let lack = match unmet {
                    Unmet::Agreement => "too few of the models agree",
                    Unmet::Plausibility => "it describes somebody less usual than this run allows",
                };
                format!("  This does not count for them: the model would say {label}, but {lack}.\n")
            }
        },
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
        let counts = if explanation.conditional { " and meets what this run requires" } else { "" };
        let body = format!("  There is none: {tried}, not one changes their decision{counts}.\n");
        return (heading, body);
    };
    let mut body = changes(explanation, best);
    body += &format!("  It costs {:.3}", best.cost);
    body += &match suggestion.works && suggestion.edits == best.edits {
        true => ": it is the suggestion itself.\n".to_owned(),
        false if suggestion.works => format!(", the suggestion {:.3}.\n", suggestion.cost),
        false => ".\n".to_owned(),
    };
    (heading, body)
}

/// The changes of an action, one per line: feature, from → to.
fn changes(explanation: &Explanation, advice: &Advice) -> String {
    let rows: Vec<[String; 2]> = advice
        .changes
        .iter()
        .map(|change| {
            let amount = |value: Option<&Value>| explanation.amount(&change.feature, value);
            let from = amount(change.from.as_ref());
            let told = match (change.changes, &change.follows) {
                (false, None) if change.from.is_none() => format!("{from} (so it can't be changed)"),
                (false, None) => format!("{from} (as it is already)"),
                (false, Some(_)) => format!("{from} (stays)"),
                (true, None) => format!("{from} → {}", amount(change.to.as_ref())),
                (true, Some(with)) => {
                    let with = explanation.title(with);
                    format!("{from} → {} (moves along with {with})", amount(change.to.as_ref()))
                }
            };
            [explanation.title(&change.feature), told]
        })
        .collect();
    columns(&rows)
}

/// A value in words.
pub(super) fn words(value: Option<&Value>) -> String {
    match value {
        None => "missing".to_owned(),
        Some(Value::Number(number)) => spoken_amount(*number),
        Some(Value::Level(level)) if level.is_empty() => "missing".to_owned(),
        Some(Value::Level(level)) => visible(level),
    }
}

/// A share in percent, to one decimal.
fn percent(share: f64) -> String {
    spoken_number((share * 1e3).round() / 10.0)
}

/// A score to four decimals, which people compare.
pub(super) fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

fn columns(rows: &[[String; 2]]) -> String {
    const WIDEST: usize = 70;
    let width = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0).min(WIDEST);
    rows.iter().map(|[left, right]| format!("  {left:width$}   {right}\n")).collect()
}
