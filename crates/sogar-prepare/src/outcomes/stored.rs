//! Outcomes as bytes, for caches and checkpoints: the numbers of actions, of rows and of settled outcomes, then a bit for each action and row.

use std::io::{self, Read, Write};

use sogar_base::envelope::{Fault, Payload};
use sogar_solver::BitTable;

use super::Outcomes;

/// Words that are read or written at a time.
const BLOCK: usize = 8192;
/// Bytes before the bits.
const HEAD: u64 = 24;

/// How many bytes the outcomes of so many actions and rows take; `None` if more than can be counted.
pub fn length(actions: usize, rows: usize) -> Option<u64> {
    let words = (actions as u64).checked_mul(rows.div_ceil(64) as u64)?;
    words.checked_mul(8)?.checked_add(HEAD)
}

/// Writes the outcomes of `rows` rows.
pub fn write(outcomes: &Outcomes, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    let actions = outcomes.flips.sets();
    for number in [actions as u64, rows as u64, outcomes.settled] {
        out.write_all(&number.to_le_bytes())?;
    }
    let mut block = Vec::with_capacity(8 * BLOCK);
    for words in (0..actions).flat_map(|action| outcomes.flips.set(action).chunks(BLOCK)) {
        if block.len() + 8 * words.len() > 8 * BLOCK {
            out.write_all(&block)?;
            block.clear();
        }
        block.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    out.write_all(&block)
}

/// Reads the outcomes of so many actions and rows: the bits, and how many were settled. What has another size is refused before memory is
/// taken.
pub fn read(payload: &mut Payload<'_>, actions: usize, rows: usize) -> Result<(BitTable, u64), Fault> {
    let fits = length(actions, rows) == Some(payload.left());
    if !fits || (payload.number()?, payload.number()?) != (actions as u64, rows as u64) {
        return Err("these are outcomes of other actions or rows".into());
    }
    let settled = payload.number()?;
    let mut flips = BitTable::new(actions, rows);
    let mut block = vec![0; 8 * BLOCK];
    for words in flips.words_mut().chunks_mut(BLOCK) {
        let block = &mut block[..8 * words.len()];
        payload.read_exact(block)?;
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
    let beyond = if rows.is_multiple_of(64) { 0 } else { u64::MAX << (rows % 64) };
    if (0..actions).any(|action| flips.set(action).last().is_some_and(|word| word & beyond != 0)) {
        return Err("it has outcomes of rows that do not exist".into());
    }
    Ok((flips, settled))
}
