//! Summaries in words: a tree as indented text, as rules in sentences, or for Graphviz.
//!
//! Everything here is a function of the result file. `conditions.rs` describes the path to a leaf.

mod conditions;
mod held_out;
mod plausible;
mod point;
#[cfg(test)]
mod tests;

use crate::summary::{FrontFile, Node};
use sogar_base::markup::visible;
use sogar_base::text::exact_number;

pub use sogar_base::text::{grouped, hoped_for, spoken, spoken_amount, spoken_number};

pub use conditions::{Predicate, conditions, joined, predicates};
pub use held_out::{evaluated_text, held_out_text};
pub use plausible::plausibility_text;
pub use point::point_json;

/// The outcome that people hope for, how many have it, and how many do not.
pub fn outcome_text(front: &FrontFile) -> String {
    let people = front.people();
    format!(
        "People hope for {}: {} of {} have it, {} are turned down ({:.1} %).",
        hoped_for(&front.population.desired, &front.config.model.outcomes),
        people.text(people.all - people.affected),
        people.text(people.all),
        people.text(people.affected),
        100.0 * people.adverse_rate(),
    )
}

/// What people are grouped by, with features by their display names.
///
/// `sex×income<=500` is “sex and monthly income <= 500 €” if `income` is displayed so.
pub fn grouping_title(front: &FrontFile, name: &str) -> String {
    let display = |name: &str| front.config.features.get(name)?.display.clone();
    let part = |part: &str| display(part).unwrap_or_else(|| group_title(front, part));
    match front.config.features.contains_key(name) {
        true => part(name),
        false => name.split(['×', '*']).map(part).collect::<Vec<_>>().join(" and "),
    }
}

/// The name of a group, with the features of its conditions by their display names and units. Values are as they are.
///
/// `male × income <= 25000` is “male × monthly income <= 25,000 €”.
pub fn group_title(front: &FrontFile, name: &str) -> String {
    let signs = ['<', '>', '=', '!', '≤', '≥', '≠'];
    let titled = |part: &str| {
        let (feature, rest) = part.split_at(part.find(signs)?);
        let setting = front.config.features.get(feature.trim())?;
        let display = setting.display.as_deref()?;
        let value = rest.trim_start_matches(signs);
        let sign = &rest[..rest.len() - value.len()];
        let value = match (exact_number(value), &setting.unit) {
            (Some(number), Some(unit)) => format!("{} {unit}", spoken_amount(number)),
            _ => value.trim().to_owned(),
        };
        Some(format!("{display} {sign} {value}"))
    };
    let parts = name.split(" × ").map(|part| titled(part).unwrap_or_else(|| part.to_owned()));
    parts.collect::<Vec<_>>().join(" × ")
}

/// A tree as indented text, with the number of people at every node.
pub fn tree_text(front: &FrontFile, tree: &Node) -> String {
    let mut text = String::new();
    match tree {
        Node::Leaf { .. } => text += &format!("Everybody: {}\n", leaf_text(front, tree)),
        Node::Split { .. } => {
            text += &format!("Everybody ({})\n", people_in(front, rows_of(tree)));
            branch_text(front, tree, "", &mut text);
        }
    }
    text
}

fn branch_text(front: &FrontFile, node: &Node, indent: &str, text: &mut String) {
    let Node::Split { split, left, right } = node else { return };
    let sides = [(left, true, "├─ ", "│  "), (right, false, "└─ ", "   ")];
    for (child, passed, mark, below) in sides {
        let condition = visible(&joined(&conditions(front, &[(*split, passed)])));
        match &**child {
            Node::Leaf { .. } => {
                *text +=
                    &format!("{indent}{mark}{condition}\n{indent}{below}→ {}\n", leaf_text(front, child));
            }
            Node::Split { .. } => {
                *text += &format!("{indent}{mark}{condition} ({})\n", people_in(front, rows_of(child)));
                branch_text(front, child, &format!("{indent}{below}"), text);
            }
        }
    }
}

/// A tree as one sentence per leaf, with the action on its own line.
pub fn rules_text(front: &FrontFile, tree: &Node) -> String {
    tree.rules()
        .iter()
        .map(|(tests, leaf)| match conditions(front, tests).as_slice() {
            [] => format!("• Everybody: {}.\n", leaf_text(front, leaf)),
            parts => format!("• If {}:\n  {}.\n", visible(&joined(parts)), leaf_text(front, leaf)),
        })
        .collect()
}

/// A tree for Graphviz.
pub fn tree_dot(front: &FrontFile, tree: &Node) -> String {
    let mut text =
        String::from("digraph summary {\n  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n");
    let mut count = 0;
    dot_node(front, tree, &mut count, &mut text);
    text + "}\n"
}

fn dot_node(front: &FrontFile, node: &Node, count: &mut usize, text: &mut String) -> usize {
    let id = *count;
    *count += 1;
    let quote = |label: &str| visible(label).replace('\\', "\\\\").replace('"', "\\\"");
    match node {
        Node::Leaf { .. } => {
            *text += &format!(
                "  n{id} [label=\"{}\", style=\"rounded,filled\"];\n",
                quote(&leaf_text(front, node))
            );
        }
        Node::Split { split, left, right } => {
            let question = format!(
                "{}? ({})",
                joined(&conditions(front, &[(*split, true)])),
                people_in(front, rows_of(node))
            );
            *text += &format!("  n{id} [label=\"{}\"];\n", quote(&question));
            for (child, label) in [(left, "yes"), (right, "no")] {
                let child = dot_node(front, child, count, text);
                *text += &format!("  n{id} -> n{child} [label=\"{label}\"];\n");
            }
        }
    }
    id
}

/// The action of a leaf, and how well it works: ``Increase `age` by 8: works for 3 of 4 people, mean cost 0.18``.
pub fn leaf_text(front: &FrontFile, leaf: &Node) -> String {
    let Node::Leaf { action, rows, flipped, cost_sum } = leaf else { return String::new() };
    let action = &front.actions[*action];
    if action.edits.is_empty() {
        let stay = if front.people().count(*rows) == 1.0 { "stays" } else { "stay" };
        return format!("No change ({} {stay} without recourse)", people_in(front, *rows));
    }
    let cost = *cost_sum as f64 / front.cost.unit as f64 / (*rows).max(1) as f64;
    let flipped = front.people().count(*flipped);
    format!(
        "{}: works for {flipped} of {}, mean cost {cost:.2}",
        visible(&action.text),
        people_in(front, *rows)
    )
}

/// `1 person`, `2 people`.
pub fn people(count: u64) -> String {
    if count == 1 { "1 person".to_owned() } else { format!("{count} people") }
}

/// `1 person`, `2.5 people`: from units of weight in a front's tree.
pub fn people_in(front: &FrontFile, units: u64) -> String {
    let count = front.people().count(units);
    if count == 1.0 { "1 person".to_owned() } else { format!("{count} people") }
}

/// The affected rows below a node.
pub fn rows_of(node: &Node) -> u64 {
    match node {
        Node::Leaf { rows, .. } => *rows,
        Node::Split { left, right, .. } => rows_of(left) + rows_of(right),
    }
}
