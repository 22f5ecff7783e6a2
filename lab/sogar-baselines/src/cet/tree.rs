//! Trees of tests, and the three ways to change one.
//!
//! A tree here has only a shape and tests. The actions of its leaves follow from the people who reach them.

use sogar_solver::RowSet;

/// A tree over the affected rows. Tests are numbers of rules.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Leaf,
    Ask { rule: usize, yes: Box<Tree>, no: Box<Tree> },
}

impl Tree {
    pub fn ask(rule: usize, yes: Tree, no: Tree) -> Tree {
        Tree::Ask { rule, yes: Box::new(yes), no: Box::new(no) }
    }

    /// A complete tree; `draw` returns its tests, each before those below it.
    pub fn complete(depth: usize, draw: &mut impl FnMut() -> usize) -> Tree {
        if depth == 0 {
            return Tree::Leaf;
        }
        let rule = draw();
        let yes = Tree::complete(depth - 1, draw);
        Tree::ask(rule, yes, Tree::complete(depth - 1, draw))
    }

    /// The tree without tests that have the same result for all of the `rows` that reach them; `passing` has the rows that pass.
    pub fn settled(self, rows: &RowSet, passing: &[RowSet]) -> Tree {
        let Tree::Ask { rule, yes, no } = self else { return Tree::Leaf };
        let (saying_yes, saying_no) = (rows.and(&passing[rule]), rows.and_not(&passing[rule]));
        if saying_yes.count() == 0 {
            no.settled(rows, passing)
        } else if saying_no.count() == 0 {
            yes.settled(rows, passing)
        } else {
            Tree::ask(rule, yes.settled(&saying_yes, passing), no.settled(&saying_no, passing))
        }
    }

    /// Number of leaves; there is one test less.
    pub fn leaf_count(&self) -> usize {
        match self {
            Tree::Leaf => 1,
            Tree::Ask { yes, no, .. } => yes.leaf_count() + no.leaf_count(),
        }
    }

    /// The rows that reach each leaf, yes before no.
    pub fn leaves(&self, rows: &RowSet, passing: &[RowSet]) -> Vec<RowSet> {
        let mut leaves = Vec::new();
        self.visit(rows, passing, &mut |tree, rows| {
            if let Tree::Leaf = tree {
                leaves.push(rows.clone());
            }
        });
        leaves
    }

    /// The rows that reach each test, a test before those below it.
    pub fn questions(&self, rows: &RowSet, passing: &[RowSet]) -> Vec<RowSet> {
        let mut questions = Vec::new();
        self.visit(rows, passing, &mut |tree, rows| {
            if let Tree::Ask { .. } = tree {
                questions.push(rows.clone());
            }
        });
        questions
    }

    fn visit(&self, rows: &RowSet, passing: &[RowSet], see: &mut impl FnMut(&Tree, &RowSet)) {
        see(self, rows);
        if let Tree::Ask { rule, yes, no } = self {
            yes.visit(&rows.and(&passing[*rule]), passing, see);
            no.visit(&rows.and_not(&passing[*rule]), passing, see);
        }
    }

    /// Adds a test at a leaf (numbered as in [`Tree::leaves`]).
    pub fn insert(&mut self, leaf: usize, rule: usize) {
        match self {
            Tree::Leaf => *self = Tree::ask(rule, Tree::Leaf, Tree::Leaf),
            Tree::Ask { yes, no, .. } => match leaf.checked_sub(yes.leaf_count()) {
                None => yes.insert(leaf, rule),
                Some(leaf) => no.insert(leaf, rule),
            },
        }
    }

    /// Removes a leaf with the test above it: its sibling takes the place of the test.
    pub fn delete(&mut self, leaf: usize) {
        let Tree::Ask { yes, no, .. } = self else { return };
        let (side, beside, leaf) = match leaf.checked_sub(yes.leaf_count()) {
            None => (yes, no, leaf),
            Some(leaf) => (no, yes, leaf),
        };
        match **side {
            Tree::Ask { .. } => side.delete(leaf),
            Tree::Leaf => {
                let rest = std::mem::replace(&mut **beside, Tree::Leaf);
                *self = rest;
            }
        }
    }

    /// Replaces a test (numbered as in [`Tree::questions`]) by another.
    pub fn replace(&mut self, question: usize, other: usize) {
        let Tree::Ask { rule, yes, no } = self else { return };
        let Some(below) = question.checked_sub(1) else {
            *rule = other;
            return;
        };
        match below.checked_sub(yes.leaf_count() - 1) {
            None => yes.replace(below, other),
            Some(below) => no.replace(below, other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule i passes rows below i.
    fn passing() -> Vec<RowSet> {
        (0..10).map(|rule| RowSet::from_fn(10, |&row| row < rule)).collect()
    }

    fn rows_of(sets: &[RowSet]) -> Vec<Vec<usize>> {
        sets.iter().map(|set| set.iter().collect()).collect()
    }

    /// Rows 0 | 1 2 | 3 4 5 | 6 7 8 9
    fn four_leaves() -> Tree {
        Tree::ask(3, Tree::ask(1, Tree::Leaf, Tree::Leaf), Tree::ask(6, Tree::Leaf, Tree::Leaf))
    }

    #[test]
    fn rows_follow_the_questions() {
        let (all, passing) = (RowSet::full(10), passing());
        let leaves = four_leaves().leaves(&all, &passing);
        assert_eq!(rows_of(&leaves), [vec![0], vec![1, 2], vec![3, 4, 5], vec![6, 7, 8, 9]]);
        let questions = four_leaves().questions(&all, &passing);
        assert_eq!(questions.iter().map(RowSet::count).collect::<Vec<_>>(), [10, 3, 7]);
    }

    #[test]
    fn questions_that_everybody_answers_alike_are_dropped() {
        let (all, passing) = (RowSet::full(10), passing());
        let mut rules = [5, 0, 3, 2, 7, 6, 8].into_iter();
        let tree = Tree::complete(3, &mut || rules.next().unwrap_or(0));
        // Of rows 0 to 4 nobody passes rule 0, so that the question on its other side takes its place.
        let wanted = Tree::ask(
            5,
            Tree::ask(2, Tree::Leaf, Tree::Leaf),
            Tree::ask(7, Tree::ask(6, Tree::Leaf, Tree::Leaf), Tree::ask(8, Tree::Leaf, Tree::Leaf)),
        );
        assert_eq!(tree.settled(&all, &passing), wanted);
        let idle = Tree::ask(0, Tree::ask(4, Tree::Leaf, Tree::Leaf), Tree::Leaf);
        assert_eq!(idle.settled(&all, &passing), Tree::Leaf);
    }

    #[test]
    fn leaves_come_and_go_and_questions_change() {
        let changed = |change: &dyn Fn(&mut Tree)| {
            let mut tree = four_leaves();
            change(&mut tree);
            tree
        };
        let pair = |rule| Tree::ask(rule, Tree::Leaf, Tree::Leaf);
        assert_eq!(
            changed(&|tree| tree.insert(2, 4)),
            Tree::ask(3, pair(1), Tree::ask(6, pair(4), Tree::Leaf))
        );
        assert_eq!(changed(&|tree| tree.delete(1)), Tree::ask(3, Tree::Leaf, pair(6)));
        assert_eq!(changed(&|tree| tree.delete(2)), Tree::ask(3, pair(1), Tree::Leaf));
        let mut small = Tree::ask(3, Tree::Leaf, pair(6));
        small.delete(0);
        assert_eq!(small, pair(6));
        assert_eq!(changed(&|tree| tree.replace(0, 9)), Tree::ask(9, pair(1), pair(6)));
        assert_eq!(changed(&|tree| tree.replace(1, 9)), Tree::ask(3, pair(9), pair(6)));
        assert_eq!(changed(&|tree| tree.replace(2, 9)), Tree::ask(3, pair(1), pair(9)));
        let mut lone = Tree::Leaf;
        lone.delete(0);
        lone.replace(0, 1);
        assert_eq!(lone, Tree::Leaf);
        lone.insert(0, 4);
        assert_eq!(lone, pair(4));
    }
}
