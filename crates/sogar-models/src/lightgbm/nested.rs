//! A tree of the JSON dump: nodes that contain their children, to any depth.
//!
//! The text is valid JSON (serde_json has parsed it), so a few tokens suffice; an explicit stack replaces recursion.

use super::tree::beside_zero;
use crate::ensemble::{Missing, Node, Test, Tree};

/// LightGBM's categories are non-negative 32-bit numbers.
const LARGEST_CATEGORY: u32 = i32::MAX as u32;

/// Reads a tree over `columns` model columns from the text of its root. `room` is the number of words that sets of categories may
/// still use.
pub(super) fn read(text: &str, columns: usize, room: &mut usize) -> Result<Tree, String> {
    let mut tree = Tree { nodes: Vec::new(), leaves: Vec::new(), covers: Vec::new() };
    let mut open: Vec<Opened<'_>> = Vec::new();
    let mut rest = text;
    let mut root = None;
    while let Some(token) = next_token(&mut rest) {
        match (token, open.last_mut()) {
            (Token::Open, None) if root.is_none() => open.push(Opened::default()),
            (Token::Open, Some(parent)) if matches!(parent.key, Some("left_child" | "right_child")) => {
                open.push(Opened::default());
            }
            (Token::Close, Some(_)) => {
                let Some(finished) = open.pop() else { break };
                let number = finished.close(&mut tree, columns, room)?;
                match open.last_mut() {
                    Some(parent) => parent.adopt(number)?,
                    None => root = Some(number),
                }
            }
            (Token::Text(key), Some(node)) if node.key.is_none() => node.key = Some(key),
            (Token::Text(value) | Token::Scalar(value), Some(node)) => node.set(value),
            // Linear trees have lists; `close` refuses them by their keys.
            (Token::List, Some(node)) => node.set(""),
            _ => return Err("this is not a node".into()),
        }
    }
    if root.is_none() {
        return Err("there is no root".into());
    }
    // Nodes were finished from the leaves up; the root must be first.
    let last = tree.nodes.len() as i32 - 1;
    let turned = |child: i32| if child < 0 { child } else { last - child };
    tree.nodes.reverse();
    for node in &mut tree.nodes {
        (node.left, node.right) = (turned(node.left), turned(node.right));
    }
    Ok(tree)
}

/// A node that is still open.
#[derive(Default)]
struct Opened<'a> {
    /// The key of the next value.
    key: Option<&'a str>,
    split_feature: Option<&'a str>,
    threshold: Option<&'a str>,
    decision_type: Option<&'a str>,
    default_left: Option<&'a str>,
    missing_type: Option<&'a str>,
    leaf_value: Option<&'a str>,
    leaf_count: Option<&'a str>,
    linear: bool,
    left: Option<i32>,
    right: Option<i32>,
}

impl<'a> Opened<'a> {
    fn set(&mut self, value: &'a str) {
        let field = match self.key.take() {
            Some("split_feature") => &mut self.split_feature,
            Some("threshold") => &mut self.threshold,
            Some("decision_type") => &mut self.decision_type,
            Some("default_left") => &mut self.default_left,
            Some("missing_type") => &mut self.missing_type,
            Some("leaf_value") => &mut self.leaf_value,
            Some("leaf_count") => &mut self.leaf_count,
            Some("leaf_coeff" | "leaf_const") => {
                self.linear = true;
                return;
            }
            _ => return,
        };
        *field = Some(value);
    }

    fn adopt(&mut self, child: i32) -> Result<(), String> {
        let place = if self.key.take() == Some("left_child") { &mut self.left } else { &mut self.right };
        match place.replace(child) {
            None => Ok(()),
            Some(_) => Err("a node has a child twice".into()),
        }
    }

    /// Adds the node or leaf to the tree and returns its number.
    fn close(self, tree: &mut Tree, columns: usize, room: &mut usize) -> Result<i32, String> {
        if self.linear {
            return Err("linear trees (`linear_tree=true`) are not read".into());
        }
        let too_large = |_| "the tree is too large".to_string();
        let Some(feature) = self.split_feature else {
            let value: Option<f64> = self.leaf_value.and_then(|text| text.parse().ok());
            let value =
                value.filter(|value| value.is_finite()).ok_or("a leaf's value is not a finite number")?;
            if self.left.is_some() || self.right.is_some() {
                return Err("a leaf has children".into());
            }
            tree.leaves.push(value);
            // If one leaf has no count, the lengths differ, and no count is used.
            tree.covers.extend(self.leaf_count.and_then(|text| text.parse::<f64>().ok()));
            return i32::try_from(tree.leaves.len() - 1).map(|leaf| !leaf).map_err(too_large);
        };
        let column = feature.parse().ok().filter(|&column: &usize| column < columns);
        let column = column.ok_or_else(|| format!("there is no column {feature}"))?;
        let (Some(left), Some(right)) = (self.left, self.right) else {
            return Err("a node lacks a child".into());
        };
        tree.nodes.push(Node { column, test: self.test(room)?, left, right });
        i32::try_from(tree.nodes.len() - 1).map_err(too_large)
    }

    fn test(&self, room: &mut usize) -> Result<Test, String> {
        let threshold = self.threshold.ok_or("a node has no threshold")?;
        match self.decision_type {
            Some("==") => Ok(Test::InSet { words: set(threshold, room)? }),
            Some("<=") => {
                let threshold: f64 = threshold.parse().map_err(|_| "a threshold is not a number")?;
                if threshold.is_nan() {
                    return Err("a threshold is not a number".into());
                }
                let missing = match self.missing_type {
                    Some("None") => Missing::AsZero,
                    Some("Zero") => Missing::ZeroIsMissing,
                    Some("NaN") => Missing::NaNIsMissing,
                    _ => return Err("a node does not say what is missing".into()),
                };
                let default_left = self.default_left == Some("true");
                Ok(Test::AtMost { threshold: beside_zero(threshold), missing, default_left })
            }
            _ => Err("a node's test is neither `<=` nor `==`".into()),
        }
    }
}

/// The set of a text such as `1||4||7`, as 32-bit words.
fn set(text: &str, room: &mut usize) -> Result<Vec<u32>, String> {
    let mut words: Vec<u32> = Vec::new();
    for category in text.split("||") {
        let category: Option<u32> = category.parse().ok();
        let category = category.filter(|&category| category <= LARGEST_CATEGORY);
        let category = category.ok_or_else(|| format!("`{text}` is not a set of categories"))? as usize;
        let needed = (category / 32 + 1).saturating_sub(words.len());
        *room = room.checked_sub(needed).ok_or(
            "the codes of categories are too large to be kept; number the categories from 0 without gaps",
        )?;
        words.resize(words.len() + needed, 0);
        words[category / 32] |= 1 << (category % 32);
    }
    Ok(words)
}

enum Token<'a> {
    Open,
    Close,
    /// A whole list.
    List,
    /// The inside of a quoted text, with its escapes.
    Text(&'a str),
    /// A number, `true`, `false` or `null`.
    Scalar(&'a str),
}

/// Takes the next token off the text; skips colons and commas.
fn next_token<'a>(rest: &mut &'a str) -> Option<Token<'a>> {
    *rest = rest.trim_start_matches([' ', '\n', '\r', '\t', ',', ':']);
    let text: &'a str = rest;
    let (length, token) = match text.as_bytes().first()? {
        b'{' => (1, Token::Open),
        b'}' => (1, Token::Close),
        b'[' => (list_length(text), Token::List),
        b'"' => {
            let length = text_length(text);
            (length, Token::Text(text.get(1..length.saturating_sub(1)).unwrap_or("")))
        }
        _ => {
            let length = text.find([',', '}', ']', ':', ' ', '\n', '\r', '\t']).unwrap_or(text.len()).max(1);
            (length, Token::Scalar(text.get(..length)?))
        }
    };
    *rest = text.get(length..).unwrap_or("");
    Some(token)
}

/// The length of the quoted text that begins here, quotes included.
fn text_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of the list that begins here, brackets included.
fn list_length(text: &str) -> usize {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b'"' => {
                at += text_length(&text[at..]);
                continue;
            }
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_tree(text: &str) -> Result<Tree, String> {
        read(text, 3, &mut 1000)
    }

    const LEAF: &str = r#"{"leaf_index": 0, "leaf_value": 0.5}"#;

    fn node(left: &str, right: &str) -> String {
        format!(
            r#"{{"split_feature": 1, "threshold": 2.5, "decision_type": "<=", "default_left": true,
                "missing_type": "NaN", "left_child": {left}, "right_child": {right}}}"#
        )
    }

    #[test]
    fn children_are_read_in_their_places() {
        let tree = read_tree(&node(&node(LEAF, r#"{"leaf_value": 2}"#), r#"{"leaf_value": -1e-3}"#)).unwrap();
        assert_eq!(tree.value_of(&[0.0, 1.0, 0.0]), 0.5);
        assert_eq!(tree.value_of(&[0.0, 3.0, 0.0]), -1e-3);
        assert_eq!(tree.value_of(&[0.0, f64::NAN, 0.0]), 0.5);
        assert_eq!(read_tree(LEAF).unwrap(), Tree { nodes: vec![], leaves: vec![0.5], covers: vec![] });
    }

    #[test]
    fn trees_may_be_as_deep_as_they_like() {
        let chain = |deep: usize| {
            let open = r#"{"split_feature":0,"threshold":"1||40","decision_type":"==","left_child":"#;
            let close = format!(r#","right_child":{LEAF}}}"#);
            open.repeat(deep) + LEAF + &close.repeat(deep)
        };
        let mut room = 1 << 20;
        let tree = read(&chain(50_000), 1, &mut room).unwrap();
        assert_eq!((tree.nodes.len(), tree.leaves.len()), (50_000, 50_001));
        assert_eq!(tree.nodes[0].test, Test::InSet { words: vec![2, 256] });
    }

    #[test]
    fn what_is_no_tree_is_an_error() {
        let cases = [
            node(LEAF, LEAF).replace("2.5", "\"x\""),
            node(LEAF, LEAF).replace("2.5", "null"),
            node(LEAF, LEAF).replace("<=", "<"),
            node(LEAF, LEAF).replace("NaN", "maybe"),
            node(LEAF, LEAF).replace("right_child", "left_child"),
            node(LEAF, LEAF).replace("right_child", "other"),
            node(LEAF, "null"),
            node(LEAF, "[]"),
            node(LEAF, LEAF).replace("\"split_feature\": 1", "\"split_feature\": 3"),
            node(LEAF, LEAF).replace("\"split_feature\": 1", "\"split_feature\": -1"),
            node(LEAF, r#"{"leaf_value": 0, "leaf_const": 1, "leaf_coeff": [1, [2]]}"#),
            r#"{"leaf_value": 1e999}"#.into(),
            "{}".into(),
            "[]".into(),
            "3".into(),
            "\"a\"".into(),
        ];
        for case in cases {
            assert!(read_tree(&case).is_err(), "{case}");
        }
    }

    #[test]
    fn sets_take_no_more_room_than_there_is() {
        assert_eq!(set("0||33", &mut 2).unwrap(), [1, 2]);
        assert!(set("0||33", &mut 1).is_err());
        assert!(set("2147483647", &mut 1_000_000).is_err());
        for bad in ["", "-1", "x", "1|2", "99999999999"] {
            assert!(set(bad, &mut 1000).is_err(), "{bad}");
        }
    }
}
