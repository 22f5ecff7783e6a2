//! An audit as text: tables of rates, of gaps along the front, and of people out of reach.

use sogar::audit::{
    Audit, BlockedBy, GroupAudit, GroupingAudit, MeasureAudit, MeasureName, PopulationAudit, Verdict,
};
use sogar::describe::grouped;
use sogar::markup::visible;
use sogar::statistics::Interval;

use crate::output::{Text, heading};

/// Widest name, in columns.
const WIDEST_NAME: usize = 32;

pub fn of(audit: &Audit, verdicts: &[Verdict]) -> Text {
    let mut text = population(audit, &audit.reference, "");
    if let Some(scan) = &audit.scan {
        text += "\n";
        text += super::scan::of(scan);
    }
    if let Some(holdout) = &audit.holdout {
        text += "\n";
        text += population(audit, holdout, "Held-out people: ");
    }
    if !audit.notes.is_empty() {
        text += "\n";
        text += heading("Bear in mind");
        for note in &audit.notes {
            text += &format!("• {}\n", visible(note));
        }
    }
    if !verdicts.is_empty() {
        text += "\n";
        for verdict in verdicts {
            let value =
                verdict.value.map_or("nothing can be said".to_owned(), |value| format!("it is {value:.4}"));
            let mark = if verdict.holds { "✗ fails:" } else { "✓ passes:" };
            let side = verdict.side.as_ref().map_or(String::new(), |side| format!("; {}", visible(side)));
            text += &format!("{mark} {} ({value}{side})\n", visible(&verdict.condition));
        }
    }
    text
}

fn population(audit: &Audit, population: &PopulationAudit, whose: &str) -> Text {
    let mut text = heading(&format!(
        "{whose}{} of {} people are turned down ({:.1} %); {} summaries",
        grouped(population.affected),
        grouped(population.rows),
        100.0 * population.affected / population.rows,
        grouped(audit.points),
    ));
    for grouping in &population.groupings {
        let name = name(&grouping.shown);
        text += &format!("\nThe classifier itself, by {name} (figures to screen with, no legal verdict)\n");
        text += rates(grouping);
        text += &format!(
            "\nRecourse along the whole front, by {name} (gap: the group minus everyone else; 95 % intervals)\n"
        );
        text += recourse(grouping);
        text += super::further::of(grouping);
    }
    if let (Some(count), Some(blocked_by)) = (population.unreachable, population.blocked_by) {
        text += "\n";
        text += out_of_reach(population, count, &blocked_by);
    }
    text
}

/// A table with a header; columns of words to the left, those of numbers to the right.
pub(super) fn table(rows: &[Vec<String>], words: &[usize]) -> Text {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = Text::default();
    for (number, row) in rows.iter().enumerate() {
        let mut line = String::from("  ");
        for (column, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[column] - cell.chars().count());
            let between = if column == 0 { "" } else { "   " };
            line += between;
            line += &if words.contains(&column) { format!("{cell}{gap}") } else { format!("{gap}{cell}") };
        }
        let line = line.trim_end();
        text += if number == 0 { heading(line) } else { Text::from(format!("{line}\n")) };
    }
    text
}

pub(super) fn strings<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

/// A name that cannot control the terminal, short enough for a column. Where columns are combined, each keeps its beginning and end,
/// so that no two groups look the same.
pub(super) fn name(text: &str) -> String {
    let shown = visible(text);
    let letters = |text: &str| text.chars().count();
    if letters(&shown) <= WIDEST_NAME {
        return shown;
    }
    let parts: Vec<&str> = shown.split(" × ").collect();
    let [_, _, ..] = parts[..] else {
        return shown.chars().take(WIDEST_NAME - 1).chain(['…']).collect();
    };
    let half = (WIDEST_NAME / parts.len() / 2).max(4);
    let cut = |part: &str| match letters(part) <= 2 * half + 1 {
        true => part.to_owned(),
        false => {
            part.chars().take(half).chain(['…']).chain(part.chars().skip(letters(part) - half)).collect()
        }
    };
    parts.into_iter().map(cut).collect::<Vec<_>>().join(" × ")
}

fn number(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.3}"))
}

fn interval(interval: Option<Interval>) -> String {
    interval.map_or("–".to_owned(), |interval| format!("[{:.3}, {:.3}]", interval.low, interval.high))
}

/// An interval behind its estimate.
fn ends(interval: Option<Interval>, digits: usize) -> String {
    interval.map_or(String::new(), |Interval { low, high }| format!(" [{low:.digits$}, {high:.digits$}]"))
}

fn rates(grouping: &GroupingAudit) -> Text {
    let labelled = grouping.groups.iter().any(|group| group.positives.is_some());
    let mut rows =
        vec![strings(["group", "people", "turned down", "adverse rate", "selection rate", "95 % interval"])];
    if labelled {
        rows[0].extend(strings(["true positive rate", "95 % interval", "of"]));
    }
    for group in &grouping.groups {
        let mut row = vec![
            name(&group.shown),
            grouped(group.rows),
            grouped(group.affected),
            number(group.adverse_rate),
            number(group.selection_rate),
            interval(group.selection_rate_interval),
        ];
        if labelled {
            let positives = grouped(group.positives.unwrap_or(0.0));
            row.extend([number(group.tpr), interval(group.tpr_interval), positives]);
        }
        rows.push(row);
    }
    let mut text = table(&rows, &[0]);
    let mut ratios = Vec::new();
    if let Some(ratio) = grouping.adverse_rate_ratio {
        ratios
            .push(format!("adverse-rate ratio {ratio:.2}{}", ends(grouping.adverse_rate_ratio_interval, 2)));
    }
    if let Some(ratio) = grouping.selection_rate_ratio {
        let ends = ends(grouping.selection_rate_ratio_interval, 2);
        ratios.push(format!("selection-rate ratio {ratio:.2}{ends} (the one of the four-fifths rule)"));
    }
    if let Some(gap) = grouping.tpr_gap {
        ratios.push(format!("true-positive-rate gap {gap:.3}{}", ends(grouping.tpr_gap_interval, 3)));
    }
    if !ratios.is_empty() {
        text += &format!("  {}\n", ratios.join(", "));
    }
    text
}

fn recourse(grouping: &GroupingAudit) -> Text {
    let head = [
        "group",
        "n",
        "measure",
        "mean",
        "mean gap",
        "interval",
        "p (Holm)",
        "worse on",
        "clearly on",
        "widest (point)",
    ];
    let mut rows = vec![strings(head)];
    let mut small = Vec::new();
    for group in &grouping.groups {
        let Some(measures) = &group.measures else {
            small.push(group);
            continue;
        };
        for measure in MeasureName::ALL {
            let first = measure == MeasureName::Cost;
            let (shown, count) =
                if first { (name(&group.shown), grouped(group.affected)) } else { Default::default() };
            rows.push(measure_row(shown, count, measure, measures.get(measure)));
        }
    }
    let mut text = if rows.len() > 1 { table(&rows, &[0, 2]) } else { Text::default() };
    if let Some(spread) = &grouping.spread
        && grouping.comparisons > 2 * MeasureName::ALL.len()
    {
        let parts: Vec<String> = MeasureName::ALL
            .iter()
            .map(|&measure| {
                let values = spread.get(measure);
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                format!("{} {mean:.3}", measure.name())
            })
            .collect();
        text += &format!("  largest minus smallest group, mean over the front: {}\n", parts.join(", "));
    }
    text + &too_small(&small)
}

fn measure_row(group: String, count: String, measure: MeasureName, found: &MeasureAudit) -> Vec<String> {
    let mean = found.values.iter().sum::<f64>() / found.values.len() as f64;
    let widest = found.gap.get(found.widest).copied().unwrap_or(0.0);
    vec![
        group,
        count,
        measure.name().to_owned(),
        format!("{mean:.3}"),
        format!("{:+.3}", found.mean_gap),
        format!("[{:+.3}, {:+.3}]", found.mean_gap_low, found.mean_gap_high),
        found.p_holm.map_or("–".to_owned(), p_value),
        format!("{:.1} %", 100.0 * found.share_worse),
        format!("{:.1} %", 100.0 * found.share_clearly_worse),
        format!("{widest:+.3} ({})", found.widest),
    ]
}

/// A p-value in at most three digits.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

fn too_small(small: &[&GroupAudit]) -> String {
    if small.is_empty() {
        return String::new();
    }
    const SHOWN: usize = 6;
    let mut names: Vec<String> = small
        .iter()
        .take(SHOWN)
        .map(|group| format!("{} ({} affected)", name(&group.shown), grouped(group.affected)))
        .collect();
    if small.len() > SHOWN {
        names.push(format!("{} more", small.len() - SHOWN));
    }
    format!("  no statement, too few affected people in the group or outside it: {}\n", names.join(", "))
}

fn out_of_reach(population: &PopulationAudit, count: f64, blocked_by: &BlockedBy) -> Text {
    let mut text = Text::from(format!(
        "Out of reach: no admissible action works for {} of {} affected people ({:.2} %)\n",
        grouped(count),
        grouped(population.affected),
        100.0 * count / population.affected
    ));
    if count == 0.0 {
        return text;
    }
    let mut rows = vec![strings([
        "who",
        "people",
        "immutability",
        "limits",
        "number of edits",
        "rules",
        "none of these",
    ])];
    let cells = |name: String, count: f64, blocked_by: &BlockedBy| {
        let cell = |count: Option<f64>| count.map_or("not tested".to_owned(), grouped);
        vec![
            name,
            grouped(count),
            cell(blocked_by.immutability),
            cell(blocked_by.limits),
            cell(blocked_by.edits),
            cell(blocked_by.rules),
            grouped(blocked_by.none_alone),
        ]
    };
    rows.push(cells("everybody".to_owned(), count, blocked_by));
    let several = population.groupings.len() > 1;
    for grouping in &population.groupings {
        for group in &grouping.groups {
            let some = group.unreachable.filter(|&count| count > 0.0);
            let (Some(count), Some(blocked_by)) = (some, &group.blocked_by) else {
                continue;
            };
            let shown = name(&group.shown);
            let shown = if several { format!("{}: {shown}", name(&grouping.shown)) } else { shown };
            rows.push(cells(shown, count, blocked_by));
        }
    }
    text += "What keeps them out of reach (how many would be reached if it alone were lifted):\n";
    text += table(&rows, &[0]);
    text
}
