//! Row sets as the kernels read them: the non-empty words, one set after the other.

use sogar_solver::Problem;
use sogar_solver::leaf::LeafRequest;

use super::batch::Room;
use super::tables::{NONE, Tables};

/// Some sets, with actions that are known to be good on them.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// Where the words of each set begin, and where those of the last one end.
    pub starts: Vec<u32>,
    /// (number of the word | plane << 26, bits)
    pub entries: Vec<[u32; 2]>,
    /// (set, position of a long action, its loss)
    pub warm: Vec<[u32; 3]>,
}

impl Sets {
    /// As many of the first requests as fit, and at least one.
    pub fn of(problem: &Problem, tables: &Tables, requests: &[LeafRequest<'_>], room: Room) -> Sets {
        let mut sets = Sets { starts: vec![0], ..Sets::default() };
        for (number, request) in requests.iter().take(room.sets).enumerate() {
            let before = sets.entries.len();
            for (plane, rows) in (0u32..).zip(&tables.planes) {
                for (word, (&all, &plane_rows)) in (0u32..).zip(request.set.words().iter().zip(rows)) {
                    let both = all & plane_rows;
                    for (half, bits) in [(0, both as u32), (1, (both >> 32) as u32)] {
                        if bits != 0 {
                            sets.entries.push([(2 * word + half) | plane << 26, bits]);
                        }
                    }
                }
            }
            if sets.entries.len() > room.entries && number > 0 {
                sets.entries.truncate(before);
                break;
            }
            sets.starts.push(sets.entries.len() as u32);
            let Some(longs) = &tables.longs else { continue };
            let size = problem.weight_of(request.set);
            for &action in request.warm {
                let position = longs.position.get(action as usize).copied().unwrap_or(NONE);
                if position != NONE && sets.warm.len() < room.warm {
                    let loss = size - problem.flipped_among(action as usize, request.set);
                    sets.warm.push([number as u32, position, loss as u32]);
                }
            }
        }
        sets
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }
}
