//! A summary as a tree, from left to right: all people, then what each group has in common, and at the end its action, for how
//! many it works, and what it costs.
//!
//! A tree that grows to the side has room for sentences; a tree that grows downwards does not.

use super::lettering::{BOLD, cut, lines};
use super::svg::{Drawing, GREY, INK, SERIES, Style};
use sogar_front::describe::{conditions, leaf_text, people_in, rows_of};
use sogar_front::summary::{FrontFile, Node};

const LETTERS: f64 = 13.0;
const LINE: f64 = 17.0;
const PAD: f64 = 8.0;
/// Space to the next box on the right, and to the next one below.
const ACROSS: f64 = 30.0;
const BELOW: f64 = 12.0;
const INNER: f64 = 168.0;
const LEAF: f64 = 300.0;
const MARGIN: f64 = 12.0;
/// Limit of lines of a condition and of an action; the box's tooltip has all of it.
const MOST_LINES: usize = 6;

/// Draws the summary of a point. For an unknown point, draws the last one.
pub fn tree_svg(front: &FrontFile, point: usize) -> String {
    let point = point.min(front.points.len().saturating_sub(1));
    let Some(chosen) = front.points.get(point) else { return String::new() };
    let root = NodeBox::of(front, &chosen.tree, "Everybody");
    let depth = f64::from(chosen.depth);
    let width = 2.0 * MARGIN + depth * (INNER + ACROSS) + LEAF;
    let heading = format!(
        "Summary {point} of {}: works for {:.1} % at a mean cost of {:.3}",
        front.points.len(),
        100.0 * (1.0 - chosen.loss),
        chosen.cost
    );
    let told: Vec<String> = chosen
        .tree
        .rules()
        .iter()
        .map(|(tests, leaf)| {
            format!("{}: {}.", conditions(front, tests).join(" and "), leaf_text(front, leaf))
        })
        .collect();
    let top = 38.0;
    let mut drawing = Drawing::new(width, top + root.extent() + MARGIN, &heading, &told.join(" "));
    drawing.text(
        (MARGIN, 23.0),
        &cut(&heading, 15.0 * BOLD, width - 2.0 * MARGIN),
        Style::plain(15.0).bold(),
    );
    root.draw(&mut drawing, MARGIN, top);
    drawing.finish()
}

/// A node with its texts broken into lines.
struct NodeBox {
    condition: Vec<String>,
    /// People, of an inner node.
    people: String,
    leaf: Option<Suggestion>,
    children: Vec<NodeBox>,
    told: String,
}

struct Suggestion {
    action: Vec<String>,
    stands: bool,
    success: String,
    share: f64,
}

impl NodeBox {
    fn of(front: &FrontFile, node: &Node, condition: &str) -> NodeBox {
        let (width, leaf, told) = match node {
            Node::Leaf { action, rows, flipped, cost_sum } => {
                let action = &front.actions[*action];
                let text = action.edits.iter().fold(action.text.clone(), |text, edit| {
                    text.replace(&format!("`{}`", edit.feature), &edit.feature)
                });
                let cost = *cost_sum as f64 / front.cost.unit as f64 / (*rows).max(1) as f64;
                let success = match action.edits.is_empty() {
                    true => format!("{} without recourse", people_in(front, *rows)),
                    false => format!(
                        "works for {} of {} · mean cost {cost:.2}",
                        front.people().count(*flipped),
                        people_in(front, *rows)
                    ),
                };
                let leaf = Suggestion {
                    action: lines(&text, LETTERS * BOLD, LEAF - 2.0 * PAD, MOST_LINES),
                    stands: action.edits.is_empty(),
                    success: success.clone(),
                    share: *flipped as f64 / (*rows).max(1) as f64,
                };
                (LEAF, Some(leaf), format!("{condition}. {text}: {success}"))
            }
            Node::Split { .. } => (INNER, None, condition.to_owned()),
        };
        let children = match node {
            Node::Leaf { .. } => Vec::new(),
            Node::Split { split, left, right } => [(left, true), (right, false)]
                .into_iter()
                .map(|(child, passed)| {
                    let name = &front.splits[*split].feature;
                    let condition = conditions(front, &[(*split, passed)]).join(" and ");
                    NodeBox::of(front, child, &condition.replacen(&format!("`{name}`"), name, 1))
                })
                .collect(),
        };
        NodeBox {
            condition: lines(condition, LETTERS * BOLD, width - 2.0 * PAD, MOST_LINES),
            people: people_in(front, rows_of(node)),
            leaf,
            children,
            told,
        }
    }

    fn width(&self) -> f64 {
        if self.leaf.is_some() { LEAF } else { INNER }
    }

    /// Height of the box itself.
    fn height(&self) -> f64 {
        let below = self.leaf.as_ref().map_or(1.0, |leaf| leaf.action.len() as f64 + 1.0);
        let bar = if self.leaf.as_ref().is_some_and(|leaf| !leaf.stands) { 9.0 } else { 0.0 };
        2.0 * PAD + LINE * (self.condition.len() as f64 + below) + bar
    }

    /// Height of the box with its subtree.
    fn extent(&self) -> f64 {
        let gaps = BELOW * self.children.len().saturating_sub(1) as f64;
        self.height().max(self.children.iter().map(NodeBox::extent).sum::<f64>() + gaps)
    }

    /// Draws the subtree from this corner; returns the height of its incoming line.
    fn draw(&self, drawing: &mut Drawing, x: f64, top: f64) -> f64 {
        let next = x + self.width() + ACROSS;
        let gaps = BELOW * self.children.len().saturating_sub(1) as f64;
        let needed = self.children.iter().map(NodeBox::extent).sum::<f64>() + gaps;
        let mut at = top + (self.extent() - needed) / 2.0;
        let mut ends = Vec::new();
        for child in &self.children {
            ends.push(child.draw(drawing, next, at));
            at += child.extent() + BELOW;
        }
        let middle = match (ends.first(), ends.last()) {
            (Some(first), Some(last)) => f64::midpoint(*first, *last),
            _ => top + self.extent() / 2.0,
        };
        // The box stays within its own space even if its children hang to one side.
        let half = self.height() / 2.0;
        let middle = middle.clamp(top + half, (top + self.extent() - half).max(top + half));
        let from = x + self.width();
        for end in ends {
            let bend = f64::midpoint(from, next);
            let path =
                format!("M{from:.1} {middle:.1}C{bend:.1} {middle:.1} {bend:.1} {end:.1} {next:.1} {end:.1}");
            drawing.stroke(&path, "#9aa7b3", 1.4, "");
        }
        self.draw_box(drawing, x, middle - half);
        middle
    }

    fn draw_box(&self, drawing: &mut Drawing, x: f64, y: f64) {
        let (fill, line) = match &self.leaf {
            Some(leaf) if leaf.stands => ("#f6f1ec", "#c9b8a8"),
            Some(_) => ("#eef5fa", "#8fb6d1"),
            None => ("#f7f8fa", "#b8c2cc"),
        };
        drawing.begin_group(&self.told);
        drawing.rounded((x, y), (self.width(), self.height()), fill, line);
        let mut base = y + PAD + 12.0;
        let mut say = |drawing: &mut Drawing, words: &str, style: Style| {
            drawing.text((x + PAD, base), words, style);
            base += LINE;
        };
        let plain = Style::plain(LETTERS);
        for words in &self.condition {
            say(drawing, words, if self.leaf.is_some() { plain.colour(GREY) } else { plain.bold() });
        }
        let Some(leaf) = &self.leaf else {
            say(drawing, &self.people, plain.colour(GREY));
            drawing.end_group();
            return;
        };
        for words in &leaf.action {
            say(drawing, words, plain.bold());
        }
        say(drawing, &leaf.success, plain.colour(INK));
        if !leaf.stands {
            let (bar, room) = (y + self.height() - PAD - 4.0, self.width() - 2.0 * PAD);
            drawing.line((x + PAD, bar), (x + PAD + room, bar), "#cfdbe5", 5.0);
            drawing.line((x + PAD, bar), (x + PAD + room * leaf.share, bar), SERIES[0], 5.0);
        }
        drawing.end_group();
    }
}
