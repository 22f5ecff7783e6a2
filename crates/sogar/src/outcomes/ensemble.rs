//! Outcomes of a tree ensemble without re-scoring (DESIGN §2.1).
//!
//! Around a row `x` the margin under a set of edits is a sum over the subsets `U` of the edited *units* of terms `g_U`
//! (inclusion–exclusion anchored at `x`): a model leaf with value `w` adds
//! `w · Π_{j∈U}(in'_j − in_j) · Π_{j∉U} in_j` to `g_U`, where `in_j` tells whether `x` meets the leaf's conditions on unit
//! `j` and `in'_j` whether the edited value does. So one pass over the leaves of the model fills a table of terms, indexed like the
//! actions themselves, and every action's margin is then at most 2^k additions away, most of them from memory in sequence.
//!
//! A *unit* is a set of features that no edit reaches partly: a feature, or features tied by links. One-hot columns
//! are one feature already. Actions with two edits in one unit are not decomposed but scored (only links make them).
//!
//! **Error.** A margin is the sum of at most `K = 2^k · leaves + 1` numbers whose absolute values add up to at most
//! `A = 2^k · Σ|w| + |base|`, in double precision in some order; the same holds, with fewer terms, for the library's own sum. Each is within
//! `K·ε·A` of the true sum (ε = 2^-52, twice the unit round-off, covers the rounding of `w / divisor` and of higher order), so
//! the two differ by at most `2·K·ε·A`. Outcomes whose margin is within that of the threshold are settled by the model itself.

use rayon::prelude::*;
use sogar_solver::BitTable;

use super::cells::Cells;
use super::decision::{Judge, Threshold};
use super::kernel::{Kernel, transpose};
use super::{Outcomes, Question, Watch, scoring};
use crate::error::Result;
use crate::model::{Rows, TreeEnsemble};

/// Everything about the model and the actions that does not depend on the row.
pub(super) struct Decomposition<'a> {
    question: &'a Question<'a>,
    judge: Judge,
    cells: Vec<Cells>,
    outputs: usize,
    base: Vec<f64>,
    leaves: Vec<ModelLeaf>,
    boxes: Vec<u64>,
    /// Edits of each unit, ascending.
    unit_edits: Vec<Vec<u32>>,
    index: ActionIndex,
    /// Actions with two edits in one unit.
    scored: Vec<u32>,
    /// Largest possible difference between our margin and the library's.
    error: f64,
    most_edits: usize,
    kernel: Kernel,
}

/// The way to a node: per feature the cells that every test so far lets through.
type Path = Vec<(usize, Vec<u64>)>;

/// A leaf of the model with its conditions.
struct ModelLeaf {
    value: f64,
    output: usize,
    /// Conditions on features that no edit changes: `(feature, box)`.
    fixed: Vec<(usize, CellSet)>,
    /// Conditions on units, units ascending.
    units: Vec<(usize, Vec<(usize, CellSet)>)>,
}

/// A set of cells: words in [`Decomposition::boxes`] from `start`.
#[derive(Debug, Clone, Copy)]
struct CellSet {
    start: usize,
}

/// Finds the number of an action from its edits: the children of an action are consecutive.
struct ActionIndex {
    first_child: Vec<u32>,
    /// For every action with children: where the terms of the proper subsets of its edits, with each later edit added,
    /// start. `runs[run_start[a]..run_start[a + 1]]`.
    runs: Vec<u32>,
    run_start: Vec<u32>,
    /// The first edit of a later feature.
    after: Vec<u32>,
}

impl ActionIndex {
    fn new(question: &Question<'_>, most_edits: usize) -> Self {
        let edits = question.edits;
        let after: Vec<u32> = (0..edits.len())
            .map(|edit| {
                let own =
                    edits[edit..].iter().take_while(|other| other.feature == edits[edit].feature).count();
                (edit + own) as u32
            })
            .collect();
        let mut first_child = vec![0; question.actions.len()];
        let mut next = 1;
        for (action, list) in question.actions.iter().enumerate() {
            if list.len() < most_edits {
                first_child[action] = next;
                next += edits.len() as u32 - list.last().map_or(0, |&last| after[last as usize]);
            }
        }
        let mut index = ActionIndex { first_child, after, runs: Vec::new(), run_start: vec![0] };
        for list in question.actions.iter().take_while(|list| list.len() < most_edits) {
            let from = list.last().map_or(0, |&last| index.after[last as usize]);
            for subset in 0..(1u32 << list.len()) - 1 {
                let chosen: Vec<u32> =
                    (0..list.len()).filter(|i| subset >> i & 1 == 1).map(|i| list[i]).collect();
                let start = index.child(index.of(&chosen), chosen.last().copied(), from);
                index.runs.push(start);
            }
            index.run_start.push(index.runs.len() as u32);
        }
        index
    }

    /// The action `parent` with `edit` added, which comes after all of its edits; `last` is its last one.
    #[inline]
    fn child(&self, parent: u32, last: Option<u32>, edit: u32) -> u32 {
        let first = last.map_or(0, |last| self.after[last as usize]);
        self.first_child[parent as usize] + edit - first
    }

    fn of(&self, edits: &[u32]) -> u32 {
        let mut last = None;
        edits.iter().fold(0, |action, &edit| {
            let child = self.child(action, last, edit);
            last = Some(edit);
            child
        })
    }
}

/// What one thread needs for one row.
struct Scratch {
    cell_of: Vec<usize>,
    /// Per edit: the cells of the features that it touches, after the edit.
    edited: Vec<Vec<(usize, usize)>>,
    /// `terms[output][action]`: g_U, then turned into margins.
    terms: Vec<Vec<f64>>,
    margins: Vec<Vec<f64>>,
    path: Vec<PathUnit>,
    /// The edits of all path units, one after the other.
    turning: Vec<u32>,
    /// Outcomes of the row that is being computed, a bit per action.
    above: Vec<u64>,
    close: Vec<u32>,
}

/// A unit on the way to a model leaf, as seen from one row.
struct PathUnit {
    /// Whether the row itself fails the leaf's conditions here, so that an edit must repair it.
    violated: bool,
    /// Edits that change the answer: a range of [`Scratch::turning`].
    turning: std::ops::Range<usize>,
}

impl<'a> Decomposition<'a> {
    /// `None` where the decomposition does not apply (the caller then scores).
    pub fn new(ensemble: &TreeEnsemble, question: &'a Question<'a>) -> Option<Self> {
        let judge = Judge::new(ensemble, question.desired)?;
        let features = &question.table.features;
        let cells = Cells::of_features(ensemble, question.encoder, features);
        let (unit_of_feature, unit_edits) = units(question);
        let most_edits = question.actions.iter().last().map_or(0, <[u32]>::len);
        let unit_of_edit = |edit: u32| unit_of_feature[question.edits[edit as usize].feature];
        let scored = (1..question.actions.len() as u32)
            .filter(|&action| {
                let list = question.actions.get(action as usize);
                list.iter()
                    .enumerate()
                    .any(|(i, &a)| list[..i].iter().any(|&b| unit_of_edit(a) == unit_of_edit(b)))
            })
            .collect();
        let mut this = Decomposition {
            judge,
            outputs: ensemble.outputs,
            base: ensemble.base.iter().map(|base| base / ensemble.divisor).collect(),
            leaves: Vec::new(),
            boxes: Vec::new(),
            unit_edits,
            index: ActionIndex::new(question, most_edits),
            scored,
            error: 0.0,
            kernel: Kernel::best(),
            most_edits,
            cells,
            question,
        };
        this.collect_leaves(ensemble, &unit_of_feature);
        let subsets = 2f64.powi(most_edits as i32);
        let terms = subsets * this.leaves.len() as f64 + 8.0;
        let weight: f64 = this.leaves.iter().map(|leaf| leaf.value.abs()).sum();
        let base = this.base.iter().fold(0.0f64, |largest, base| largest.max(base.abs()));
        this.error = 2.0 * terms * f64::EPSILON * (subsets * weight + base);
        this.error.is_finite().then_some(this)
    }

    fn collect_leaves(&mut self, ensemble: &TreeEnsemble, unit_of_feature: &[Option<usize>]) {
        for (number, tree) in ensemble.trees.iter().enumerate() {
            let output = number % ensemble.outputs;
            if tree.nodes.is_empty() {
                if let Some(&value) = tree.leaves.first() {
                    self.base[output] += value / ensemble.divisor;
                }
                continue;
            }
            let mut open: Vec<(i32, Path)> = vec![(0, Vec::new())];
            while let Some((node, path)) = open.pop() {
                if node < 0 {
                    self.add_leaf(
                        tree.leaves[!node as usize] / ensemble.divisor,
                        output,
                        &path,
                        unit_of_feature,
                    );
                    continue;
                }
                let node = &tree.nodes[node as usize];
                let source = &self.question.encoder.columns[node.column];
                let cells = &self.cells[source.feature];
                let mut passing = vec![0u64; cells.count().div_ceil(64)];
                for cell in 0..cells.count() {
                    if node.test.passes(source.value(cells.value(cell))) {
                        passing[cell / 64] |= 1 << (cell % 64);
                    }
                }
                for (child, keep) in [(node.left, true), (node.right, false)] {
                    let mut path = path.clone();
                    let known = path.iter().position(|(feature, _)| *feature == source.feature);
                    let position = known.unwrap_or_else(|| {
                        path.push((source.feature, vec![u64::MAX; passing.len()]));
                        path.len() - 1
                    });
                    for (word, pass) in path[position].1.iter_mut().zip(&passing) {
                        *word &= if keep { *pass } else { !*pass };
                    }
                    open.push((child, path));
                }
            }
        }
    }

    fn add_leaf(&mut self, value: f64, output: usize, path: &Path, unit_of_feature: &[Option<usize>]) {
        let mut leaf = ModelLeaf { value, output, fixed: Vec::new(), units: Vec::new() };
        for (feature, words) in path {
            let condition = (*feature, CellSet { start: self.boxes.len() });
            self.boxes.extend_from_slice(words);
            match unit_of_feature[*feature] {
                None => leaf.fixed.push(condition),
                Some(unit) => match leaf.units.iter_mut().find(|(known, _)| *known == unit) {
                    Some((_, conditions)) => conditions.push(condition),
                    None => leaf.units.push((unit, vec![condition])),
                },
            }
        }
        leaf.units.sort_by_key(|(unit, _)| *unit);
        self.leaves.push(leaf);
    }

    #[inline]
    fn contains(&self, set: CellSet, cell: usize) -> bool {
        self.boxes[set.start + cell / 64] >> (cell % 64) & 1 == 1
    }

    /// All outcomes, 64 rows to a word of every action's flip set.
    pub fn outcomes(&self, watch: &Watch<'_>) -> Result<Option<Outcomes>> {
        let question = self.question;
        let mut flips = BitTable::new(question.actions.len(), question.rows.len());
        let mut settled = 0;
        let mut done = 0;
        let blocks: Vec<&[usize]> = question.rows.chunks(64).collect();
        // A few blocks at a time bound the memory for words that wait to be written.
        let at_once = rayon::current_num_threads().max(1) * 2;
        for (group, some) in blocks.chunks(at_once).enumerate() {
            if watch.cancel.is_cancelled() {
                return Ok(None);
            }
            let words: Vec<(Vec<u64>, u64)> =
                some.par_iter().map(|rows| self.block(rows)).collect::<Result<_>>()?;
            for (i, (words, close)) in words.iter().enumerate() {
                for (action, &word) in words.iter().enumerate() {
                    flips.set_mut(action)[group * at_once + i] = word;
                }
                settled += close;
                done += some[i].len();
            }
            (watch.progress)(done, question.rows.len());
        }
        Ok(Some(Outcomes { flips, method: "tree ensemble, decomposed around each row", settled }))
    }

    /// One word per action for up to 64 rows, and how many outcomes had to be settled by the model.
    fn block(&self, rows: &[usize]) -> Result<(Vec<u64>, u64)> {
        let question = self.question;
        let actions = question.actions.len();
        let per_row = actions.div_ceil(64);
        // Outcomes row by row, each a bitset over the actions; transposed at the end.
        let mut by_row = vec![0u64; 64 * per_row];
        let mut scratch = Scratch {
            cell_of: Vec::new(),
            edited: vec![Vec::new(); question.edits.len()],
            terms: vec![vec![0.0; actions]; self.outputs],
            margins: vec![vec![0.0; actions]; self.outputs],
            path: Vec::new(),
            turning: Vec::new(),
            above: vec![0; per_row],
            close: Vec::new(),
        };
        let mut settled = 0;
        for (&row, flips) in rows.iter().zip(by_row.chunks_exact_mut(per_row)) {
            let values = question.table.row(row);
            self.look_up_cells(&values, &mut scratch);
            self.collect_terms(&mut scratch);
            scratch.close.clear();
            match self.judge.threshold(self.error) {
                Some(threshold) => self.compare_margins(threshold, &mut scratch),
                None => self.judge_margins(&mut scratch),
            }
            flips.copy_from_slice(&scratch.above);
            self.settle(&values, &scratch.close, flips)?;
            settled += scratch.close.len() as u64;
        }
        let mut words = vec![0u64; actions];
        for (block, words) in words.chunks_mut(64).enumerate() {
            let mut square: [u64; 64] = std::array::from_fn(|row| by_row[row * per_row + block]);
            transpose(&mut square);
            words.copy_from_slice(&square[..words.len()]);
        }
        words[0] = 0; // the identity flips nobody
        for (&action, word) in self.scored.iter().zip(scoring::score(question, rows, &self.scored)?) {
            words[action as usize] = word;
        }
        Ok((words, settled))
    }

    /// One output against a threshold: margins are compared as they are summed, most of them without being kept.
    fn compare_margins(&self, threshold: Threshold, scratch: &mut Scratch) {
        let Threshold { low, high, desired_above } = threshold;
        let actions = self.question.actions;
        let edits = self.question.edits.len() as u32;
        let (terms, margins) = (&scratch.terms[0], &mut scratch.margins[0]);
        let (above, close) = (&mut scratch.above, &mut scratch.close);
        above.fill(0);
        margins[0] = terms[0];
        for (action, list) in actions.iter().enumerate().take(self.index.run_start.len() - 1) {
            let from = list.last().map_or(0, |&last| self.index.after[last as usize]);
            let (first, count) = (self.index.first_child[action] as usize, (edits - from) as usize);
            let runs = &self.index.runs
                [self.index.run_start[action] as usize..self.index.run_start[action + 1] as usize];
            let parent = margins[action];
            let own = &terms[first..first + count];
            let children = &mut margins[first..first + count];
            self.kernel.sum(parent, own, terms, runs, children);
            if self.kernel.compare(children, low, high, first, above) {
                let unsure = |margin: &f64| !(*margin > high || *margin < low);
                close.extend((0..count).filter(|&i| unsure(&children[i])).map(|i| (first + i) as u32));
            }
        }
        if !desired_above {
            above.iter_mut().for_each(|word| *word = !*word);
        }
    }

    /// Several outputs: all margins first, then a judgement per action.
    fn judge_margins(&self, scratch: &mut Scratch) {
        self.sum_margins(scratch);
        scratch.above.fill(0);
        for action in 1..self.question.actions.len() {
            match self.judge.judge(scratch.margins.iter().map(|margins| margins[action]), self.error) {
                Some(flips) => scratch.above[action / 64] |= u64::from(flips) << (action % 64),
                None => scratch.close.push(action as u32),
            }
        }
    }

    /// Asks the model about the outcomes that are too close to call.
    fn settle(&self, values: &[f64], close: &[u32], flips: &mut [u64]) -> Result<()> {
        let question = self.question;
        let (mut edited, mut encoded) = (Vec::new(), Vec::new());
        for &action in close {
            edited.clear();
            edited.extend_from_slice(values);
            for &edit in question.actions.get(action as usize) {
                question.edits[edit as usize].apply(&mut edited);
            }
            question.encoder.encode_row(&edited, &mut encoded);
            let rows = Rows { values: &encoded, columns: encoded.len() };
            let label = question.predictor.predict(rows)?.first().map_or(0, |prediction| prediction.label);
            let desired = question.desired.get(label as usize).copied().unwrap_or(false);
            let (word, bit) = (&mut flips[action as usize / 64], action % 64);
            *word = *word & !(1 << bit) | u64::from(desired) << bit;
        }
        Ok(())
    }

    fn look_up_cells(&self, values: &[f64], scratch: &mut Scratch) {
        scratch.cell_of.clear();
        scratch.cell_of.extend(self.cells.iter().zip(values).map(|(cells, &value)| cells.cell(value)));
        let mut edited = Vec::new();
        for (edit, cells) in self.question.edits.iter().zip(&mut scratch.edited) {
            edited.clear();
            edited.extend_from_slice(values);
            edit.apply(&mut edited);
            cells.clear();
            cells.extend(edit.touched().map(|feature| (feature, self.cells[feature].cell(edited[feature]))));
        }
    }

    /// Fills `terms` with g_U for every action U.
    fn collect_terms(&self, scratch: &mut Scratch) {
        let Scratch { cell_of, edited, terms, path, turning, .. } = scratch;
        for (terms, base) in terms.iter_mut().zip(&self.base) {
            terms.fill(0.0);
            terms[0] = *base;
        }
        'leaves: for leaf in &self.leaves {
            if leaf.fixed.iter().any(|&(feature, set)| !self.contains(set, cell_of[feature])) {
                continue;
            }
            path.clear();
            turning.clear();
            let mut violations = 0;
            for (_, conditions) in &leaf.units {
                if conditions.iter().any(|&(feature, set)| !self.contains(set, cell_of[feature])) {
                    violations += 1;
                    if violations > self.most_edits {
                        continue 'leaves;
                    }
                }
            }
            for (unit, conditions) in &leaf.units {
                let inside = conditions.iter().all(|&(feature, set)| self.contains(set, cell_of[feature]));
                let turns = |edit: &u32| {
                    let after = &edited[*edit as usize];
                    inside
                        != conditions.iter().all(|&(feature, set)| {
                            let moved = after.iter().find(|(touched, _)| *touched == feature);
                            self.contains(set, moved.map_or(cell_of[feature], |(_, cell)| *cell))
                        })
                };
                let start = turning.len();
                turning.extend(self.unit_edits[*unit].iter().filter(|edit| turns(edit)));
                if turning.len() == start {
                    if inside {
                        continue; // no edit here matters to this leaf
                    }
                    continue 'leaves; // no edit can repair it
                }
                path.push(PathUnit { violated: !inside, turning: start..turning.len() });
            }
            let terms = &mut terms[leaf.output];
            if violations == 0 {
                terms[0] += leaf.value;
            }
            if self.scored.is_empty() {
                let walk = Walk { index: &self.index, turning, most: self.most_edits };
                walk.add(path, leaf.value, violations, 0, None, terms);
            } else {
                let walk = LinkedWalk { index: &self.index, turning, most: self.most_edits };
                walk.add(path, leaf.value, violations, &mut Vec::new(), terms);
            }
        }
    }

    /// Turns terms into margins: a child's margin is its parent's plus the terms of all subsets with the new edit.
    fn sum_margins(&self, scratch: &mut Scratch) {
        let edits = self.question.edits.len() as u32;
        for (terms, margins) in scratch.terms.iter().zip(&mut scratch.margins) {
            margins[0] = terms[0];
            for (action, list) in
                self.question.actions.iter().enumerate().take(self.index.run_start.len() - 1)
            {
                let from = list.last().map_or(0, |&last| self.index.after[last as usize]);
                let (first, count) = (self.index.first_child[action] as usize, (edits - from) as usize);
                let runs = &self.index.runs
                    [self.index.run_start[action] as usize..self.index.run_start[action + 1] as usize];
                let parent = margins[action];
                let (own, children) = (&terms[first..first + count], &mut margins[first..first + count]);
                self.kernel.sum(parent, own, terms, runs, children);
            }
        }
    }
}

/// Adds one model leaf's value to the terms of every set of edits that it contributes to. Units come in the order of
/// their edits.
struct Walk<'a> {
    index: &'a ActionIndex,
    turning: &'a [u32],
    most: usize,
}

impl Walk<'_> {
    /// `violated` units of `path` are still to be repaired by an edit; `action` is what was chosen so far, `last` its
    /// last edit, and `self.most` more edits may be added.
    fn add(
        &self,
        path: &[PathUnit],
        value: f64,
        violated: usize,
        action: u32,
        last: Option<u32>,
        terms: &mut [f64],
    ) {
        let from = last.map_or(0, |last| self.index.after[last as usize]);
        // The children of `action` are consecutive: child = first + (edit - from).
        let first = self.index.first_child[action as usize];
        let deeper = Walk { most: self.most - 1, ..*self };
        for (position, unit) in path.iter().enumerate() {
            let left = violated - usize::from(unit.violated);
            let value = if unit.violated { value } else { -value };
            let turning = &self.turning[unit.turning.clone()];
            if left == 0 {
                for &edit in turning {
                    terms[(first + edit - from) as usize] += value;
                }
            }
            if left < self.most && self.most > 1 {
                for &edit in turning {
                    deeper.add(&path[position + 1..], value, left, first + edit - from, Some(edit), terms);
                }
            }
            if unit.violated {
                return; // it can't be left out
            }
        }
    }
}

/// The same where links tie features together: units then do not follow the order of edits.
struct LinkedWalk<'a> {
    index: &'a ActionIndex,
    turning: &'a [u32],
    most: usize,
}

impl LinkedWalk<'_> {
    fn add(&self, path: &[PathUnit], value: f64, violated: usize, chosen: &mut Vec<u32>, terms: &mut [f64]) {
        for (position, unit) in path.iter().enumerate() {
            let left = violated - usize::from(unit.violated);
            let value = if unit.violated { value } else { -value };
            if left < self.most - chosen.len() {
                for &edit in &self.turning[unit.turning.clone()] {
                    chosen.push(edit);
                    if left == 0 {
                        let mut sorted = chosen.clone();
                        sorted.sort_unstable();
                        terms[self.index.of(&sorted) as usize] += value;
                    }
                    if chosen.len() < self.most {
                        self.add(&path[position + 1..], value, left, chosen, terms);
                    }
                    chosen.pop();
                }
            }
            if unit.violated {
                return;
            }
        }
    }
}

/// Groups features that edits tie together: per feature its unit (`None` if no edit reaches it), and the edits of
/// each unit. Units are numbered by their first feature.
fn units(question: &Question<'_>) -> (Vec<Option<usize>>, Vec<Vec<u32>>) {
    let features = question.table.features.len();
    let mut group: Vec<usize> = (0..features).collect();
    for edit in question.edits {
        for touched in edit.touched() {
            let (a, b) = (group[edit.feature], group[touched]);
            let (low, high) = (a.min(b), a.max(b));
            group.iter_mut().filter(|g| **g == high).for_each(|g| *g = low);
        }
    }
    let reached = |feature: usize| {
        question.edits.iter().any(|edit| edit.touched().any(|touched| group[touched] == group[feature]))
    };
    let mut unit_of_feature = vec![None; features];
    let mut numbers: Vec<usize> = Vec::new();
    for feature in 0..features {
        if reached(feature) {
            let known = numbers.iter().position(|&number| number == group[feature]);
            unit_of_feature[feature] = Some(known.unwrap_or_else(|| {
                numbers.push(group[feature]);
                numbers.len() - 1
            }));
        }
    }
    let mut unit_edits = vec![Vec::new(); numbers.len()];
    for (edit, description) in question.edits.iter().enumerate() {
        if let Some(unit) = unit_of_feature[description.feature] {
            unit_edits[unit].push(edit as u32);
        }
    }
    (unit_of_feature, unit_edits)
}
