//! What is known about groups of actions before any leaf is looked at.

use crate::bits::BitTable;
use crate::problem::Problem;

/// No such action or pair.
pub(super) const NONE: u32 = u32::MAX;

/// The children of an action.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// The first child.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// The first child's last edit; with regular groups the others follow one by one.
    pub from: u32,
}

/// Unions of flips over all actions that contain an edit, or a pair of edits, wherever it stands in them.
#[derive(Debug)]
pub(super) struct Groups {
    pub edits: usize,
    /// The action that is this edit alone.
    pub single: Vec<u32>,
    /// Position of the pair `{a, b}` in `pair_unions`, by `a * edits + b` (either order), or [`NONE`].
    pub pair: Vec<u32>,
    /// The action that is exactly a pair.
    pub pair_action: Vec<u32>,
    /// Per edit the flips of everything that contains it.
    pub edit_unions: BitTable,
    /// Per pair the flips of everything that contains it.
    pub pair_unions: BitTable,
    /// The blocks of children, and the position of each action's block among them, or [`NONE`].
    pub blocks: Vec<Block>,
    pub block_of: Vec<u32>,
    /// Whether every edit is an action, every pair in use is one, and the children of an action end in consecutive
    /// edits: true for all sets of at most k edits on distinct features, if features come in order.
    pub regular: bool,
    /// Most edits in an action.
    pub longest: usize,
}

impl Groups {
    pub fn new(problem: &Problem) -> Self {
        let (edits, actions) = (problem.edits, problem.actions());
        let mut children = vec![(0, 0); actions];
        for (action, parent) in problem.parents().into_iter().enumerate().skip(1) {
            let range: &mut (u32, u32) = &mut children[parent as usize];
            if range.1 == 0 {
                range.0 = action as u32;
            }
            range.1 = action as u32 + 1;
        }
        let mut single = vec![NONE; edits];
        let longest = problem.edits_of(actions - 1).len();
        let mut pair = vec![NONE; if longest > 1 { edits * edits } else { 0 }];
        let mut pair_action = Vec::new();
        for action in 1..actions {
            // Which edits go together at all is found from the longer actions too: prefixes are actions, but other
            // subsets need not be.
            let list = problem.edits_of(action);
            if let [edit] = list {
                single[*edit as usize] = action as u32;
            }
            for (i, &a) in list.iter().enumerate() {
                for &b in &list[i + 1..] {
                    let at = a as usize * edits + b as usize;
                    if pair[at] == NONE {
                        pair[at] = pair_action.len() as u32;
                        pair[b as usize * edits + a as usize] = pair_action.len() as u32;
                        pair_action.push(NONE);
                    }
                    if list.len() == 2 {
                        pair_action[pair[at] as usize] = action as u32;
                    }
                }
            }
        }
        let mut edit_unions = BitTable::new(edits, problem.rows());
        let mut pair_unions = BitTable::new(pair_action.len(), problem.rows());
        let join = |union: &mut [u64], flips: &[u64]| union.iter_mut().zip(flips).for_each(|(u, f)| *u |= f);
        for action in 1..actions {
            let (list, flips) = (problem.edits_of(action), problem.flips_of(action));
            for (i, &a) in list.iter().enumerate() {
                if list.len() <= 2 {
                    join(edit_unions.set_mut(a as usize), flips);
                }
                for &b in &list[i + 1..] {
                    let position = pair[a as usize * edits + b as usize] as usize;
                    join(pair_unions.set_mut(position), flips);
                }
            }
        }
        // Longer actions reach an edit's union through its pairs.
        for a in 0..if longest > 1 { edits } else { 0 } {
            for b in 0..edits {
                let position = pair[a * edits + b];
                if position != NONE {
                    join(edit_unions.set_mut(a), pair_unions.set(position as usize));
                }
            }
        }
        let mut blocks = Vec::new();
        let mut block_of = vec![NONE; actions];
        let mut regular = single.iter().chain(&pair_action).all(|&action| action != NONE);
        for action in 0..actions {
            let (first, end) = children[action];
            if end > 0 {
                block_of[action] = blocks.len() as u32;
                blocks.push(Block {
                    first,
                    count: end - first,
                    from: problem.edits_of(first as usize).last().copied().unwrap_or(0),
                });
                let last = |child: u32| problem.edits_of(child as usize).last().copied().unwrap_or(0);
                regular &= last(end - 1) - last(first) == end - 1 - first;
            }
        }
        Groups {
            blocks,
            block_of,
            regular,
            edits,
            single,
            pair,
            pair_action,
            edit_unions,
            pair_unions,
            longest,
        }
    }
}
