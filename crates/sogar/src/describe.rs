//! Summaries in words: a tree as indented text, as rules in sentences, or for Graphviz.

use crate::feature::{Feature, Kind, format_number};
use crate::summary::{FrontFile, Node, SplitRef, Value};

/// A tree as indented text.
pub fn tree_text(front: &FrontFile, tree: &Node) -> String {
    let mut text = String::new();
    match tree {
        Node::Leaf { .. } => text += &format!("Everybody: {}\n", leaf_text(front, tree)),
        Node::Split { .. } => branch_text(front, tree, "", &mut text),
    }
    text
}

fn branch_text(front: &FrontFile, node: &Node, indent: &str, text: &mut String) {
    let Node::Split { split, left, right } = node else { return };
    let split = &front.splits[*split];
    let sides = [(left, true, "├─ ", "│  "), (right, false, "└─ ", "   ")];
    for (child, passed, mark, below) in sides {
        let condition = condition(front, split, passed);
        match &**child {
            Node::Leaf { .. } => {
                *text += &format!("{indent}{mark}{condition}\n{indent}{below}→ {}\n", leaf_text(front, child));
            }
            Node::Split { .. } => {
                *text += &format!("{indent}{mark}{condition}\n");
                branch_text(front, child, &format!("{indent}{below}"), text);
            }
        }
    }
}

/// A tree as one sentence per leaf.
pub fn rules_text(front: &FrontFile, tree: &Node) -> String {
    tree.rules()
        .iter()
        .map(|(tests, leaf)| match tests.as_slice() {
            [] => format!("• Everybody: {}.\n", leaf_text(front, leaf)),
            tests => {
                let conditions: Vec<String> =
                    tests.iter().map(|&(split, passed)| condition(front, &front.splits[split], passed)).collect();
                format!("• If {}: {}.\n", conditions.join(" and "), leaf_text(front, leaf))
            }
        })
        .collect()
}

/// A tree for Graphviz.
pub fn tree_dot(front: &FrontFile, tree: &Node) -> String {
    let mut text = String::from("digraph summary {\n  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n");
    let mut count = 0;
    dot_node(front, tree, &mut count, &mut text);
    text + "}\n"
}

fn dot_node(front: &FrontFile, node: &Node, count: &mut usize, text: &mut String) -> usize {
    let id = *count;
    *count += 1;
    let quote = |label: &str| label.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
    match node {
        Node::Leaf { .. } => {
            *text += &format!("  n{id} [label=\"{}\", style=\"rounded,filled\"];\n", quote(&leaf_text(front, node)));
        }
        Node::Split { split, left, right } => {
            *text += &format!("  n{id} [label=\"{}\"];\n", quote(&front.splits[*split].text));
            for (child, label) in [(left, "yes"), (right, "no")] {
                let child = dot_node(front, child, count, text);
                *text += &format!("  n{id} -> n{child} [label=\"{label}\"];\n");
            }
        }
    }
    id
}

/// What a leaf advises, and how well that works: ``Increase `age` by 8: works for 3 of 4 people, mean cost 0.18``.
pub fn leaf_text(front: &FrontFile, leaf: &Node) -> String {
    let Node::Leaf { action, rows, flipped, cost_sum } = leaf else { return String::new() };
    let action = &front.actions[*action];
    if action.edits.is_empty() {
        return format!("No change ({rows} people stay without recourse)");
    }
    let cost = *cost_sum as f64 / front.cost.unit as f64 / (*rows).max(1) as f64;
    format!("{}: works for {flipped} of {rows} people, mean cost {cost:.2}", action.text)
}

/// A split's outcome in words: `age is at most 34`, `job is not skilled`.
fn condition(front: &FrontFile, split: &SplitRef, passed: bool) -> String {
    let feature = front.features.iter().find(|feature| feature.name == split.feature);
    let name = &split.feature;
    match &split.value {
        Value::Level(level) if split.test == "=" => {
            format!("`{name}` is {}{level}", if passed { "" } else { "not " })
        }
        Value::Level(level) => format!("`{name}` is {}{level}", if passed { "at most " } else { "above " }),
        Value::Number(edge) => number_condition(name, feature, *edge, passed),
    }
}

/// Whole numbers are cut between two of them, so both sides can be said with a whole number.
fn number_condition(name: &str, feature: Option<&Feature>, edge: f64, passed: bool) -> String {
    let whole = feature.is_some_and(|feature| matches!(feature.kind, Kind::Integer));
    match (whole, passed) {
        (true, true) => format!("`{name}` is at most {}", format_number(edge.floor())),
        (true, false) => format!("`{name}` is at least {}", format_number(edge.floor() + 1.0)),
        (false, true) => format!("`{name}` is at most {}", format_number(edge)),
        (false, false) => format!("`{name}` is above {}", format_number(edge)),
    }
}
