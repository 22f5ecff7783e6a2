//! People out of reach in parts of a table, as bytes.
//!
//! Who is out of reach, and why, depends on each person alone. Only whether to search depends on their number: the leader decides
//! that for the whole table, and discards the results of parts if it is too large. (The limit of scorings for a model that the
//! engine cannot read applies to each part.)

use std::ops::Range;

use sogar_solver::CancelToken;
use sogar_solver::varint::{DecodeError, Reader, put};

use super::part::{damaged, wrong};
use super::unreachable::{self, Reasons, Unreachable, tested_reasons};
use sogar_base::envelope::{Fault, Label};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::evaluate::HeldOut;
use sogar_prepare::prepared::Prepared;
use sogar_table::table::Table;

/// Looks for people out of reach in a part of a table; the answer is for the leader.
pub fn reach_of_part(prepared: &Prepared, table: &Table) -> Result<Vec<u8>> {
    let held_out = HeldOut::part(prepared, table, None)?;
    let found =
        prepared.with_threads(|| unreachable::of_held_out(prepared, &held_out, &(), &CancelToken::new()))?;
    Ok(to_bytes(held_out.affected.len(), found.as_ref()))
}

/// Looks for people out of reach among the affected people of the reference table at some positions, in the order of the table;
/// the answer is for the leader.
pub fn reach_of_reference(prepared: &Prepared, block: Range<usize>) -> Result<Vec<u8>> {
    let rows = prepared
        .affected()
        .get(block)
        .ok_or_else(|| Error::new(ErrorKind::Usage, "there are no affected rows at these positions"))?;
    let found =
        prepared.with_threads(|| unreachable::among_reference(prepared, rows, &(), &CancelToken::new()))?;
    Ok(to_bytes(rows.len(), Some(&found)))
}

/// The people of the reference table who are out of reach, collected block by block.
#[derive(Debug, Default)]
pub struct ReachFound(Reach);

impl ReachFound {
    /// Adds the result of [`reach_of_reference`] for the next block, which has this many people.
    pub fn add(&mut self, bytes: &[u8], people: usize) -> Result<()> {
        self.0.add(bytes, people)
    }

    /// All of them, with the reasons that are tested for this number.
    pub(super) fn finish(self, prepared: &Prepared) -> Result<Unreachable> {
        if self.0.people != prepared.affected().len() || self.0.incomplete {
            return Err(Error::new(ErrorKind::Usage, "not everybody was searched for people out of reach"));
        }
        self.0.with_tested(prepared)
    }
}

fn to_bytes(affected: usize, found: Option<&Unreachable>) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, u64::from(found.is_some()));
    if let Some(found) = found {
        put(&mut out, found.people.len() as u64);
        let mut next = 0;
        for (&person, reasons) in found.people.iter().zip(&found.reasons) {
            put(&mut out, (person - next) as u64);
            let codes = reasons.each().map(|reason| reason.map_or(0, |holds| 1 + u64::from(holds)));
            put(&mut out, codes.iter().fold(0, |all, code| 3 * all + code));
            next = person + 1;
        }
    }
    label(affected).sealed(&out)
}

/// The envelope of the people out of reach of a part with this number of affected people.
fn label(affected: usize) -> Label {
    Label { kind: "reach-part", version: 1, owner: format!("{affected} affected people") }
}

/// The result of a part, if it has this number of affected people.
fn from_bytes(bytes: &[u8], affected: usize) -> std::result::Result<Option<Unreachable>, Fault> {
    read(&label(affected).opened(bytes)?, affected).map_err(wrong)
}

fn read(payload: &[u8], affected: usize) -> std::result::Result<Option<Unreachable>, DecodeError> {
    let mut reader = Reader::new(payload);
    if reader.below(2)? == 0 {
        return reader.end().map(|()| None);
    }
    let mut found = Unreachable::default();
    let mut next = 0;
    for _ in 0..reader.below(affected as u64 + 1)? {
        let person = next + reader.below((affected - next) as u64)? as usize;
        let codes = reader.below(81)?;
        let reason = |power: u32| match codes / 3u32.pow(power) % 3 {
            0 => None,
            code => Some(code == 2),
        };
        found.people.push(person);
        found.reasons.push(Reasons::of([reason(3), reason(2), reason(1), reason(0)]));
        next = person + 1;
    }
    reader.end().map(|()| Some(found))
}

/// The people out of reach of a whole table, collected part by part.
#[derive(Debug, Default)]
pub(super) struct Reach {
    found: Unreachable,
    /// Affected people of the parts so far.
    pub people: usize,
    /// Number of parts so far.
    pub parts: usize,
    /// Whether a part did not search.
    incomplete: bool,
}

impl Reach {
    /// Adds the next part, which has this many affected people.
    pub fn add(&mut self, bytes: &[u8], affected: usize) -> Result<()> {
        let found = from_bytes(bytes, affected)
            .map_err(|why| damaged("this does not say who is out of reach in a part of the table", why))?;
        match found {
            Some(found) => {
                self.found.people.extend(found.people.iter().map(|person| self.people + person));
                self.found.reasons.extend(found.reasons);
            }
            None => self.incomplete = true,
        }
        self.people += affected;
        self.parts += 1;
        Ok(())
    }

    /// Those out of reach, with the reasons that are tested for this number; `None` if some were not searched.
    pub fn finish(self, prepared: &Prepared) -> Result<Option<Unreachable>> {
        if self.incomplete || !unreachable::is_searched(prepared, self.people) {
            return Ok(None);
        }
        self.with_tested(prepared).map(Some)
    }

    fn with_tested(mut self, prepared: &Prepared) -> Result<Unreachable> {
        let tested = tested_reasons(prepared, self.found.people.len())?;
        for reasons in &mut self.found.reasons {
            let each = reasons.each();
            *reasons = Reasons::of(std::array::from_fn(|test| each[test].filter(|_| tested[test])));
        }
        Ok(self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Unreachable {
        let reasons = |each| Reasons::of(each);
        Unreachable {
            people: vec![0, 3, 4],
            reasons: vec![
                reasons([Some(true), None, Some(false), Some(true)]),
                reasons([None; 4]),
                reasons([Some(false), Some(true), None, None]),
            ],
        }
    }

    #[test]
    fn what_a_part_found_comes_back() {
        let found = example();
        assert_eq!(from_bytes(&to_bytes(6, Some(&found)), 6).unwrap(), Some(found));
        assert_eq!(from_bytes(&to_bytes(6, None), 6).unwrap(), None);
        assert!(from_bytes(&to_bytes(6, None), 5).is_err());
    }

    #[test]
    fn damage_is_refused_or_told_from_nothing() {
        let bytes = to_bytes(6, Some(&example()));
        for position in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[position] ^= 0x41;
            assert!(from_bytes(&changed, 6).is_err(), "byte {position}");
            assert!(from_bytes(&bytes[..position], 6).is_err(), "{position} bytes");
        }
        let content = label(6).opened(&bytes).unwrap();
        for position in 0..content.len() {
            let mut forged = content.clone();
            forged[position] ^= 0x41;
            if let Ok(Some(found)) = from_bytes(&label(6).sealed(&forged), 6) {
                assert!(found.people.iter().all(|&person| person < 6));
            }
        }
    }

    #[test]
    fn parts_are_counted_one_after_the_other() {
        let mut reach = Reach::default();
        reach.add(&to_bytes(6, Some(&example())), 6).unwrap();
        reach.add(&to_bytes(0, Some(&Unreachable::default())), 0).unwrap();
        reach.add(&to_bytes(5, Some(&example())), 5).unwrap();
        assert_eq!(reach.found.people, [0, 3, 4, 6, 9, 10]);
        assert_eq!((reach.people, reach.parts, reach.incomplete), (11, 3, false));
        reach.add(&to_bytes(2, None), 2).unwrap();
        assert!(reach.incomplete);
    }
}
