//! What is known about groups of actions before any leaf is looked at.

use super::dominated_actions::{Trie, useful_actions};
use crate::bits::BitTable;
use crate::problem::Problem;

/// No such action or pair.
pub(super) const NONE: u32 = u32::MAX;

/// The children of an action that lead to useful actions: a part of [`Groups::children`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub first: u32,
    pub end: u32,
}

/// An action with one edit more than its parent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Child {
    pub action: u32,
    /// That edit.
    pub last: u32,
}

/// The useful actions, and the unions of flips over all of them that contain an edit, or a pair of edits, wherever it stands in
/// them.
#[derive(Debug)]
pub(super) struct Groups {
    pub edits: usize,
    /// The useful action that is this edit alone, or [`NONE`].
    pub single: Vec<u32>,
    /// Position of the pair `{a, b}` in `pair_unions`, by `a * edits + b` (either order), or [`NONE`].
    pub pair: Vec<u32>,
    /// The useful action that is exactly a pair, or [`NONE`].
    pub pair_action: Vec<u32>,
    /// The block of the longer actions that begin with a pair, or [`NONE`].
    pub pair_block: Vec<u32>,
    /// Per edit the flips of everything useful that contains it.
    pub edit_unions: BitTable,
    /// Per pair the flips of everything useful that contains it.
    pub pair_unions: BitTable,
    /// The children of actions of at least two edits, block by block.
    pub children: Vec<Child>,
    pub blocks: Vec<Block>,
    /// Per block the last edits of its children, as bits.
    lasts: Vec<u64>,
    /// With actions of more than three edits: the position of each action's block, or [`NONE`].
    pub block_of: Vec<u32>,
    /// Which actions can matter (the others may stand between them and the pairs that they begin with).
    pub useful: Vec<bool>,
    pub useful_actions: u64,
    /// Most edits in an action.
    pub longest: usize,
}

impl Groups {
    /// The children in a block, each with its place among all children.
    #[inline(always)]
    pub fn block(&self, block: u32) -> impl Iterator<Item = (usize, Child)> + '_ {
        let Block { first, end } = self.blocks[block as usize];
        (first as usize..).zip(self.children[first as usize..end as usize].iter().copied())
    }

    /// The place of the child of a block that ends with this edit.
    #[inline(always)]
    pub fn child_with(&self, block: u32, last: usize) -> Option<usize> {
        let words = self.edits.div_ceil(64);
        let bits = &self.lasts[block as usize * words..(block as usize + 1) * words];
        if bits[last / 64] >> (last % 64) & 1 == 0 {
            return None;
        }
        let mut before = (bits[last / 64] & ((1 << (last % 64)) - 1)).count_ones();
        for word in &bits[..last / 64] {
            before += word.count_ones();
        }
        Some((self.blocks[block as usize].first + before) as usize)
    }

    /// The place of what is exactly a pair, after those of the children.
    #[inline(always)]
    pub fn place_of_pair(&self, pair: u32) -> usize {
        self.children.len() + pair as usize
    }

    /// The place of what is one edit alone.
    #[inline(always)]
    pub fn place_of_single(&self, edit: usize) -> usize {
        self.children.len() + self.pair_action.len() + edit
    }

    /// The place of everything that contains a pair.
    #[inline(always)]
    pub fn place_with_pair(&self, pair: u32) -> usize {
        self.place_of_single(self.edits) + pair as usize
    }

    /// The place of everything that contains an edit.
    #[inline(always)]
    pub fn place_with_edit(&self, edit: usize) -> usize {
        self.place_with_pair(self.pair_action.len() as u32) + edit
    }

    /// How many places there are.
    #[inline(always)]
    pub fn places(&self) -> usize {
        self.place_with_edit(self.edits)
    }

    /// `reduce`: whether actions that can't matter are left out.
    pub fn new(problem: &Problem, reduce: bool) -> Self {
        let (edits, actions) = (problem.edits, problem.actions());
        let trie = Trie::new(problem);
        let useful = match reduce {
            true => useful_actions(problem, &trie),
            false => vec![true; actions],
        };
        let mut single = vec![NONE; edits];
        let longest = problem.edits_of(actions - 1).len();
        let mut pair = vec![NONE; if longest > 1 { edits * edits } else { 0 }];
        let mut pair_action = Vec::new();
        for action in (1..actions).filter(|&action| useful[action]) {
            // Which edits go together at all is found from the longer actions too: not every part of an action is a
            // (useful) action.
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
        for action in (1..actions).filter(|&action| useful[action]) {
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
        let mut groups = Groups {
            edits,
            single,
            pair,
            pair_block: vec![NONE; pair_action.len()],
            pair_action,
            edit_unions,
            pair_unions,
            children: Vec::new(),
            blocks: Vec::new(),
            lasts: Vec::new(),
            block_of: vec![NONE; if longest > 3 { actions } else { 0 }],
            useful_actions: useful.iter().filter(|&&useful| useful).count() as u64,
            useful,
            longest,
        };
        groups.add_blocks(problem, &trie);
        groups
    }

    /// Children before their parents, so that it is known which of them lead to useful actions.
    fn add_blocks(&mut self, problem: &Problem, trie: &Trie<'_>) {
        for action in (0..self.useful.len() as u32).rev() {
            let list = problem.edits_of(action as usize);
            if list.len() < 2 {
                break;
            }
            let first = self.children.len() as u32;
            for child in trie.children(action) {
                let leads_on = self.block_of.get(child as usize).is_some_and(|&block| block != NONE);
                if self.useful[child as usize] || leads_on {
                    self.children.push(Child { action: child, last: trie.last(child) });
                }
            }
            let end = self.children.len() as u32;
            if end == first {
                continue;
            }
            let block = self.blocks.len() as u32;
            self.blocks.push(Block { first, end });
            let words = self.edits.div_ceil(64);
            self.lasts.resize(self.blocks.len() * words, 0);
            for child in &self.children[first as usize..] {
                self.lasts[block as usize * words + child.last as usize / 64] |= 1 << (child.last % 64);
            }
            match *list {
                [a, b] => {
                    let position = self.pair[a as usize * self.edits + b as usize];
                    if position != NONE {
                        self.pair_block[position as usize] = block;
                    }
                }
                _ => self.block_of[action as usize] = block,
            }
        }
    }
}
