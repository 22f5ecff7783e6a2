//! Gates: the different conditions that model leaves put on a unit.
//!
//! Thousands of leaves share a few hundred conditions such as `30 < age <= 41`. For a row, each is looked at once: does the row
//! meet it, and which edits change that? The leaves then only collect answers.

use std::collections::BTreeMap;

use super::units::Units;

/// The cells of some features that a gate lets through.
pub(super) type Conditions = Vec<(usize, Vec<u64>)>;

/// All gates of a model.
#[derive(Default)]
pub(super) struct Gates {
    gates: Vec<Gate>,
    /// The words of all sets of cells.
    words: Vec<u64>,
    numbers: BTreeMap<(Option<usize>, Conditions), u32>,
}

struct Gate {
    /// `None` where no edit reaches the features.
    unit: Option<usize>,
    /// Per feature, where its set of cells begins among the words.
    conditions: Vec<(usize, usize)>,
}

/// More edits than any action has, and small enough to be added up.
const NEVER: u32 = 1 << 16;

/// What a row does at every gate.
#[derive(Default)]
pub(super) struct Passage {
    /// 0 where the row passes, 1 where an edit is needed, [`NEVER`] where none helps.
    pub shut: Vec<u32>,
    /// Edits that change whether it does: `turning[starts[gate]..starts[gate + 1]]`, ascending.
    starts: Vec<u32>,
    turning: Vec<u32>,
    /// Per unit, the edits that move some feature to another cell.
    moving: Vec<Vec<u32>>,
}

impl Passage {
    /// The edits that change whether the row passes a gate.
    #[inline]
    pub fn turning(&self, gate: u32) -> &[u32] {
        let gate = gate as usize;
        &self.turning[self.starts[gate] as usize..self.starts[gate + 1] as usize]
    }
}

impl Gates {
    /// The number of the gate with these conditions, features ascending, on a unit.
    pub fn number(&mut self, unit: Option<usize>, conditions: Conditions) -> u32 {
        let next = self.gates.len() as u32;
        let (gates, words) = (&mut self.gates, &mut self.words);
        *self.numbers.entry((unit, conditions)).or_insert_with_key(|(unit, conditions)| {
            let starts = conditions.iter().map(|(feature, set)| {
                words.extend_from_slice(set);
                (*feature, words.len() - set.len())
            });
            gates.push(Gate { unit: *unit, conditions: starts.collect() });
            next
        })
    }

    /// Takes a row to every gate: `cell_of[feature]` is where it stands, `edited[edit]` the cells of the features that the edit
    /// touches, afterwards.
    pub fn pass(&self, units: &Units, cell_of: &[usize], edited: &[Vec<(usize, usize)>], out: &mut Passage) {
        out.shut.clear();
        out.starts.clear();
        out.turning.clear();
        out.moving.resize_with(units.edits.len(), Vec::new);
        for (moving, edits) in out.moving.iter_mut().zip(&units.edits) {
            moving.clear();
            let moves =
                |edit: u32| edited[edit as usize].iter().any(|&(feature, cell)| cell_of[feature] != cell);
            moving.extend(edits.iter().copied().filter(|&edit| moves(edit)));
        }
        for gate in &self.gates {
            out.starts.push(out.turning.len() as u32);
            let passes = gate.conditions.iter().all(|&(feature, start)| self.has(start, cell_of[feature]));
            let edits = gate.unit.map_or(&[][..], |unit| &out.moving[unit]);
            let start = out.turning.len();
            for &edit in edits {
                let after = match (&gate.conditions[..], &edited[edit as usize][..]) {
                    // One feature, which the edit changes: the common case.
                    (&[(feature, start)], &[(touched, cell)]) if feature == touched => self.has(start, cell),
                    (conditions, touched) => conditions.iter().all(|&(feature, start)| {
                        let moved = touched.iter().find(|(touched, _)| *touched == feature);
                        self.has(start, moved.map_or(cell_of[feature], |(_, cell)| *cell))
                    }),
                };
                if after != passes {
                    out.turning.push(edit);
                }
            }
            out.shut.push(match (passes, out.turning.len() > start) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => NEVER,
            });
        }
        out.starts.push(out.turning.len() as u32);
    }

    #[inline]
    fn has(&self, start: usize, cell: usize) -> bool {
        self.words[start + cell / 64] >> (cell % 64) & 1 == 1
    }
}
