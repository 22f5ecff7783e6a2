//! A comparison as text: one line per method, the lowest invalidity marked, and why something is missing.

use sogar::describe::grouped;
use sogar::evaluate::HeldOut;
use sogar::markup::visible;
use sogar::pipeline::Prepared;
use sogar_baselines::contest::Entry;
use sogar_baselines::{FitStatus, Score};

use sogar_cli::output::{Text, heading, seconds};

/// The table with its notes.
pub fn text(prepared: &Prepared, held_out: Option<&HeldOut>, entries: &[Entry], describe: bool) -> Text {
    let mut text = Text::from(format!(
        "{} of {} people are turned down. What each method proposes to them, scored alike:\n\n",
        grouped(prepared.problem_rows().len()),
        grouped(prepared.table().rows),
    ));
    text += table(entries, |entry| entry.score.as_ref(), true);
    if let Some(held_out) = held_out {
        let (people, rows) = (grouped(held_out.affected().len()), grouped(held_out.table().rows));
        text += &format!("\nThe same proposals for {people} of {rows} held-out people:\n\n");
        text += table(entries, |entry| entry.held_out.as_ref(), false);
    }
    let notes = notes(entries);
    if !notes.is_empty() {
        text += &format!("\n{notes}");
    }
    if describe {
        for entry in entries.iter().filter(|entry| !entry.description.is_empty()) {
            text += "\n";
            text += heading(&format!("{}: {}", entry.method.title, entry.method.about));
            text += entry.description.trim_end_matches('\n');
            text += "\n";
        }
    }
    text
}

fn table(entries: &[Entry], score: impl Fn(&Entry) -> Option<&Score>, timed: bool) -> Text {
    let title = "  method            cost    loss   invalidity   reaches   groups   changes   not allowed";
    let mut text = heading(&format!("{title}{}", if timed { "        time" } else { "" }));
    let invalidity = |entry: &&Entry| score(entry).map(|score| score.invalidity);
    let best = entries.iter().filter_map(|entry| invalidity(&entry)).min_by(f64::total_cmp);
    for entry in entries {
        let name = entry.method.name;
        let time = seconds(entry.seconds);
        let time = if timed { format!("   {time:>9}") } else { String::new() };
        let Some(score) = score(entry) else {
            text += &format!(
                "  {name:<14} {:>7} {:>7} {:>12} {:>9} {:>8} {:>9} {:>13}",
                "–", "–", "–", "–", "–", "–", "–"
            );
            text += &format!("{time}\n");
            continue;
        };
        let Score { cost, loss, invalidity, coverage, parts, sparsity, violations, .. } = score;
        let mark = match entry.status {
            FitStatus::TimeLimit => "   time limit: best so far",
            FitStatus::MemoryLimit => "   memory limit: best of what fitted",
            FitStatus::Cancelled => "   stopped: best so far",
            _ if best == Some(*invalidity) && timed => "   ← lowest invalidity",
            _ => "",
        };
        let reaches = format!("{:.1} %", 100.0 * coverage);
        text += &format!(
            "  {name:<14} {cost:>7.3} {loss:>7.3} {invalidity:>12.3} {reaches:>9} {:>8} {sparsity:>9.2} {:>13}{time}{mark}\n",
            grouped(parts),
            grouped(violations),
        );
    }
    text
}

/// Why there are dashes, and what the less common columns mean.
fn notes(entries: &[Entry]) -> String {
    let mut text = String::new();
    for entry in entries {
        if let Some(reason) = entry.reason() {
            text += &format!("{} has no result: {}.\n", entry.method.title, visible(reason));
        }
    }
    if entries.iter().any(|entry| entry.score.is_some_and(|score| score.violations > 0)) {
        text += "`not allowed` counts people whose change the configuration forbids; they are not held against a method's loss.\n";
    }
    text
}
