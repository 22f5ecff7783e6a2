//! The report as a document: headings, paragraphs and tables of the figures in [`Data`], without anything that needs a script.
//!
//! It is built once and written as HTML (`static_page.rs`: the static report, the print view, and what the interactive page shows
//! without JavaScript) and as Markdown (`markdown.rs`). It adds no figure: what [`Data`] leaves out, it cannot show.

use sogar_base::statistics::Interval;
use sogar_front::describe::{conditions, grouped, joined};
use sogar_front::intervals::share_text;
use sogar_front::neighbours::Neighbours;
use sogar_front::summary::FrontFile;

use super::data::{Data, GroupData, GroupingFigures, Holdout};
use crate::plot::{Look, front_svg, gaps_svg};
use sogar_audit::audit::MeasureName;

/// A part of the document.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A heading of a level, 2 or 3.
    Heading(u8, String),
    /// A paragraph.
    Paragraph(String),
    /// A list.
    List(Vec<String>),
    /// Commands, each after what it is for.
    Commands(Vec<[String; 2]>),
    /// A table: caption, head and rows. Columns whose head begins with `#` hold numbers.
    Table(String, Vec<String>, Vec<Vec<String>>),
    /// A figure: what it shows, in words, and as SVG. Markdown has the words alone.
    Figure(String, String),
}

/// What is left out because it is about few people.
pub const LEFT_OUT: &str = "–";

/// Limits on the gap whose costs are listed.
const LIMITS_ON_GAPS: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];

/// What a reader must not conclude.
const LIMITS: [&str; 4] = [
    "That the model decides otherwise says nothing about causes: real changes may move other features too.",
    "Advice is only as sensible as the changes that were allowed.",
    "Costs measure distance within this table, not money, time or effort.",
    "Gaps between groups are screening figures. Whether a difference is unlawful or unfair is not decided by a number.",
];

/// The document of a report.
pub fn document(front: &FrontFile, data: &Data) -> Vec<Block> {
    let mut blocks =
        vec![Block::Heading(2, "What was found".into()), Block::Paragraph(data.headline.clone())];
    blocks.push(Block::List(data.verdict.iter().map(|statement| statement.text.clone()).collect()));
    audited(data, &mut blocks);
    summaries(front, data, &mut blocks);
    if !data.groupings.is_empty() {
        blocks.push(Block::Heading(2, "Groups".into()));
        blocks.push(Block::Paragraph(format!(
            "A gap is a figure of one group minus the same figure of everyone else; above 0 is worse for the group. \
             {LEFT_OUT} stands for figures about fewer than {} people, and for what would give them away.",
            data.min_n
        )));
    }
    for grouping in &data.groupings {
        group_table(&format!("By {}", grouping.shown), &grouping.reference, &mut blocks);
        if let Some(holdout) = &grouping.holdout {
            group_table(&format!("By {}, held-out people", grouping.shown), holdout, &mut blocks);
        }
    }
    fairness(front, data, &mut blocks);
    subgroups(data, &mut blocks);
    reach(data, &mut blocks);
    features(data, &mut blocks);
    if !data.notes.is_empty() {
        blocks.push(Block::Heading(2, "Notes".into()));
        blocks.push(Block::List(data.notes.clone()));
    }
    blocks.push(Block::Heading(2, "What it does not say".into()));
    blocks.push(Block::List(LIMITS.map(str::to_owned).to_vec()));
    blocks.push(Block::Heading(2, "How to reproduce it".into()));
    let commands = data.reproduce.commands.iter();
    blocks.push(Block::Commands(
        commands.map(|[command, purpose]| [purpose.clone(), command.clone()]).collect(),
    ));
    blocks.iter_mut().for_each(Block::without_backticks);
    blocks
}

impl Block {
    /// Names between backticks are for terminals.
    fn without_backticks(&mut self) {
        let clean = |text: &mut String| *text = text.replace('`', "");
        match self {
            Block::Heading(_, text) | Block::Paragraph(text) => clean(text),
            Block::List(items) => items.iter_mut().for_each(clean),
            Block::Commands(_) => {}
            Block::Table(caption, head, rows) => {
                clean(caption);
                head.iter_mut().chain(rows.iter_mut().flatten()).for_each(clean);
            }
            Block::Figure(told, _) => clean(told),
        }
    }
}

fn row<const N: usize>(cells: [String; N]) -> Vec<String> {
    cells.to_vec()
}

fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A number to three decimals.
fn three(number: f64) -> String {
    format!("{:.3}", number + 0.0).replace('-', "−")
}

/// A share in percent, to one decimal.
fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn or_left_out(number: Option<f64>, write: impl Fn(f64) -> String) -> String {
    number.map_or_else(|| LEFT_OUT.to_owned(), write)
}

fn audited(data: &Data, blocks: &mut Vec<Block>) {
    blocks.push(Block::Heading(2, "What was audited".into()));
    let population = &data.population;
    let made = data.made.date.replace('T', " ").replace('Z', " UTC");
    let mut rows = vec![
        row(["Table".into(), format!("{}, {}", data.table.name, data.table.description)]),
        row(["Table, SHA-256".into(), data.table.hash.clone()]),
        row(["Model".into(), format!("{}, {}", data.model.name, data.model.description)]),
        row(["Model, SHA-256".into(), data.model.hash.clone()]),
        row(["People".into(), grouped(population.rows)]),
        row(["Turned down".into(), grouped(population.affected)]),
        row(["Hoped for".into(), population.shown.join(" or ")]),
        row(["Cost".into(), data.cost.text.to_owned()]),
        row(["Search".into(), data.status.name().replace('_', " ")]),
        row(["Summaries".into(), grouped(data.points.tree.len())]),
        row(["Made".into(), format!("{} by sogar {}", made, data.made.version)]),
    ];
    if let Some(weights) = &population.weights {
        rows.push(row(["Weights".into(), weights.clone()]));
    }
    blocks.push(Block::Table("The table, the model and the search".into(), head(&["what", "value"]), rows));
    if !data.exclusions.is_empty() {
        blocks.push(Block::List(data.exclusions.clone()));
    }
}

/// The named points, and the tree of each.
fn summaries(front: &FrontFile, data: &Data, blocks: &mut Vec<Block>) {
    blocks.push(Block::Heading(2, "The named summaries".into()));
    let told = "The front: mean cost against the share of people for whom it does not work";
    blocks.push(Block::Figure(told.into(), front_svg(front, &Look::default())));
    let affected = data.population.affected * data.population.person.unwrap_or(1) as f64;
    let figures = |point: usize| {
        let cost = data.points.cost_sum[point] as f64 / data.cost.unit as f64 / affected;
        let loss = data.points.loss_count[point] as f64 / affected;
        (cost, loss)
    };
    let mut names = vec!["name", "#summary", "#works for", "#mean cost", "#invalidity"];
    if data.holdout.is_some() {
        names.extend(["#works for, held-out", "#all summaries at once", "#mean cost, held-out"]);
    }
    let rows = data.picks.iter().map(|pick| {
        let (cost, loss) = figures(pick.point);
        let mut cells = row([
            pick.name.clone(),
            pick.point.to_string(),
            percent(1.0 - loss),
            three(cost),
            three(cost + loss),
        ]);
        if let Some(held_out) = &data.holdout {
            cells.extend(held_out_cells(held_out, pick.point, data.cost.unit));
        }
        cells
    });
    blocks.push(Block::Table("Named summaries of the front".into(), head(&names), rows.collect()));
    if data.holdout.is_some() {
        let told = "Held-out figures have 95 % intervals. Those of all summaries at once hold together, so a summary may be chosen after looking.";
        blocks.push(Block::Paragraph(told.into()));
    }
    for pick in &data.picks {
        blocks.push(Block::Heading(3, format!("{} (summary {})", pick.name, pick.point)));
        let mut rows = Vec::new();
        leaves(front, data, data.points.tree[pick.point], &mut Vec::new(), &mut rows);
        let mut names = vec!["who", "advice", "#people", "#works for", "#mean cost"];
        if let Some(held_out) = &data.holdout {
            names.push("#works for, held-out");
            let shares = held_out.leaves.get(pick.point).into_iter().flatten();
            for (row, share) in rows.iter_mut().zip(shares) {
                row.push(share.map_or(LEFT_OUT.to_owned(), |[share, low, high]| {
                    share_text(share, Interval { low, high })
                }));
            }
        }
        if let Some(plausibility) = &data.plausibility {
            names.extend(["#less usual people before", "#after"]);
            for (row, usual) in rows.iter_mut().zip(&plausibility[pick.point]) {
                let share = |share: f64| format!("{:.0} %", 100.0 * share);
                let cells =
                    usual.map_or([LEFT_OUT.to_owned(), LEFT_OUT.to_owned()], |usual| usual.map(share));
                row.extend(cells);
            }
        }
        if let Some(near) = data.neighbours.get(&pick.point) {
            names.push("an edited person, and the real people nearest to it");
            for (row, near) in rows.iter_mut().zip(near) {
                row.push(near.as_ref().map_or(LEFT_OUT.to_owned(), near_text));
            }
        }
        blocks.push(Block::Table(format!("The groups of summary {}", pick.point), head(&names), rows));
    }
}

fn near_text(found: &Neighbours) -> String {
    let rows: Vec<String> = found.nearest.iter().map(|near| near.row.to_string()).collect();
    format!("row {} → rows {}", found.row, rows.join(", "))
}

/// A point on held-out people: for whom it works, the same for all points at once, and its mean cost.
fn held_out_cells(there: &Holdout, point: usize, unit: u64) -> [String; 3] {
    let people = there.affected * there.person.unwrap_or(1) as f64;
    let [low, high, band_low, band_high] = there.works[point];
    let cost = three(there.cost_sum[point] as f64 / unit as f64 / people);
    let ends =
        there.cost[point].map_or(String::new(), |[low, high]| format!(" ({}–{})", three(low), three(high)));
    [
        share_text(1.0 - there.loss_count[point] as f64 / people, Interval { low, high }),
        format!("{:.0}–{:.0} %", 100.0 * band_low, 100.0 * band_high),
        cost + &ends,
    ]
}

/// The leaves of a tree, from the left, as rows.
fn leaves(
    front: &FrontFile,
    data: &Data,
    node: usize,
    tests: &mut Vec<(usize, bool)>,
    rows: &mut Vec<Vec<String>>,
) {
    let who = |tests: &[(usize, bool)]| match tests.is_empty() {
        true => "Everybody".to_owned(),
        false => joined(&conditions(front, tests)),
    };
    let person = data.population.person.unwrap_or(1) as f64;
    let advice = |action: u64| data.actions[action as usize].text.clone();
    match *data.nodes[node].as_slice() {
        [split, left, right] => {
            for (child, passed) in [(left, true), (right, false)] {
                tests.push((split as usize, passed));
                leaves(front, data, child as usize, tests, rows);
                tests.pop();
            }
        }
        [action] => {
            let fewer = format!("fewer than {}", data.min_n);
            rows.push(row([who(tests), advice(action), fewer, LEFT_OUT.into(), LEFT_OUT.into()]));
        }
        [action, people, flipped, cost, ..] => {
            let mean = cost as f64 / data.cost.unit as f64 / people.max(1) as f64;
            rows.push(row([
                who(tests),
                advice(action),
                grouped(people as f64 / person),
                grouped(flipped as f64 / person),
                three(mean),
            ]));
        }
        _ => {}
    }
}

fn group_table(title: &str, figures: &GroupingFigures, blocks: &mut Vec<Block>) {
    blocks.push(Block::Heading(3, title.to_owned()));
    let with_rates = figures.groups.iter().any(|group| group.tpr.is_some());
    let with_reach = figures.groups.iter().any(|group| group.unreachable.is_some());
    let mut names = vec!["group", "#people", "#turned down", "#adverse rate", "#selection rate"];
    if with_rates {
        names.push("#true positive rate");
    }
    names.extend(["#gap in invalidity", "#95 % interval", "#worse on"]);
    if with_reach {
        names.push("#out of reach");
    }
    let cells = |group: &GroupData| {
        let gap = group.measures.as_ref().map(|measures| &measures.invalidity);
        let mut cells = row([
            group.name.clone(),
            or_left_out(group.rows, grouped),
            or_left_out(group.affected, grouped),
            or_left_out(group.adverse_rate, percent),
            or_left_out(group.selection_rate, percent),
        ]);
        if with_rates {
            cells.push(or_left_out(group.tpr, percent));
        }
        cells.push(or_left_out(gap.map(|gap| gap.mean_gap), three));
        cells.push(gap.map_or_else(
            || LEFT_OUT.to_owned(),
            |gap| format!("{} to {}", three(gap.mean_gap_low), three(gap.mean_gap_high)),
        ));
        cells.push(or_left_out(gap.map(|gap| gap.share_worse), percent));
        if with_reach {
            cells.push(or_left_out(group.unreachable, grouped));
        }
        cells
    };
    let rows = figures.groups.iter().map(cells).collect();
    blocks.push(Block::Table(format!("{title}: means over the whole front"), head(&names), rows));
    let ratio = |name: &str, value: Option<f64>| value.map(|value| format!("{name}: {}", three(value)));
    let ratios: Vec<String> = [
        ratio("Adverse-rate ratio", figures.adverse_rate_ratio),
        ratio("Selection-rate ratio", figures.selection_rate_ratio),
        ratio("Gap of true positive rates", figures.tpr_gap),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !ratios.is_empty() {
        blocks.push(Block::List(ratios));
    }
}

/// Cost, loss and gap as one picture, and what a limit on the gap costs.
fn fairness(front: &FrontFile, data: &Data, blocks: &mut Vec<Block>) {
    if data.gaps.is_empty() {
        return;
    }
    blocks.push(Block::Heading(2, "Fairness: cost, loss and gap".into()));
    let limited = front.fairness.is_some();
    let better = if limited { "" } else { " A search that is limited from the start may find better ones." };
    blocks.push(Block::Paragraph(format!(
        "The gap of a summary is the largest distance of a group's loss from that of everyone else. A limit on it admits fewer summaries of \
         this front; the tables say what the best of them costs.{better}"
    )));
    for (grouping, gaps) in &data.gaps {
        blocks.push(Block::Heading(3, format!("Limits on the gap by {grouping}")));
        let told = format!(
            "Mean cost and loss of every summary, coloured by the gap in loss by {grouping}, and that gap along the front"
        );
        blocks.push(Block::Figure(told, gaps_svg(front, grouping, MeasureName::Loss, gaps, None)));
        let widest = gaps.iter().copied().fold(0.0, f64::max);
        let limits = LIMITS_ON_GAPS.into_iter().filter(|&limit| limit < widest);
        let rows = limits.map(Some).chain([None]).filter_map(|limit| {
            let within = |&at: &usize| limit.is_none_or(|limit| gaps[at] <= limit);
            let admitted: Vec<usize> = (0..gaps.len()).filter(within).collect();
            let best = |a: &&usize, b: &&usize| {
                front.points[**a].invalidity.total_cmp(&front.points[**b].invalidity)
            };
            let &best = admitted.iter().min_by(best)?;
            let point = &front.points[best];
            Some(row([
                limit.map_or_else(|| "none".to_owned(), three),
                grouped(admitted.len()),
                best.to_string(),
                percent(1.0 - point.loss),
                three(point.cost),
                three(point.invalidity),
                three(gaps[best]),
            ]))
        });
        let names = [
            "limit",
            "#summaries within it",
            "#best of them",
            "#works for",
            "#mean cost",
            "#invalidity",
            "#gap",
        ];
        let caption = format!("What a limit on the gap in loss by {grouping} costs");
        blocks.push(Block::Table(caption, head(&names), rows.collect()));
    }
}

/// The worst-off subgroups of a scan.
fn subgroups(data: &Data, blocks: &mut Vec<Block>) {
    let Some(scan) = &data.scan else { return };
    blocks.push(Block::Heading(2, "Subgroups that nobody named".into()));
    let about = format!(
        "The worst-off subgroups by {} at summary {}, of up to {} conditions on {}. The p-value is the share of {} shuffles whose worst-off \
         subgroup is at least as bad, so it allows for the search.",
        scan.measure,
        scan.point,
        scan.max_terms,
        scan.shown.join(", "),
        grouped(scan.permutations)
    );
    blocks.push(Block::Paragraph(about));
    let confirmed = scan.found.iter().any(|found| found.holdout.is_some());
    let rows = scan.found.iter().map(|found| {
        let held_out = match &found.holdout {
            Some(held) if held.confirmed => "confirmed",
            Some(held) if held.gap.is_some() => "not confirmed",
            _ => LEFT_OUT,
        };
        let mut cells = row([
            joined(&found.shown),
            grouped(found.affected),
            three(found.value),
            three(found.others),
            three(found.gap),
            three(found.p),
        ]);
        if confirmed {
            cells.push(held_out.to_owned());
        }
        cells
    });
    let mut names = vec!["subgroup", "#people", "#mean", "#everyone else", "#gap", "#p"];
    if confirmed {
        names.push("held-out people");
    }
    blocks.push(Block::Table("The worst-off subgroups".into(), head(&names), rows.collect()));
}

fn reach(data: &Data, blocks: &mut Vec<Block>) {
    let Some(found) = &data.unreachable else { return };
    blocks.push(Block::Heading(2, "Out of reach".into()));
    blocks.push(Block::Paragraph(match found.count {
        Some(0.0) => "Some admissible change works for each person turned down, if each gets their own advice.".to_owned(),
        Some(count) => format!("{} people stay turned down for every admissible change.", grouped(count)),
        None => format!("Some people stay turned down for every admissible change. Their number is not shown: they, or the others, are fewer than {}.", data.min_n),
    }));
}

fn features(data: &Data, blocks: &mut Vec<Block>) {
    blocks.push(Block::Heading(2, "What may change".into()));
    let rows = data.features.iter().map(|feature| {
        row([
            feature.display.clone().unwrap_or_else(|| feature.name.clone()),
            feature.kind.to_owned(),
            feature.change.clone(),
        ])
    });
    blocks.push(Block::Table(
        "Features and how advice may change them".into(),
        head(&["feature", "kind", "change"]),
        rows.collect(),
    ));
}
