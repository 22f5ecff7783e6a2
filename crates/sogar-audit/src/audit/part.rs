//! Audits a part of a table in place: cost and loss of its people along the front, as bytes.
//!
//! The leader of the audit sends the group of each row of the part ([`Places`]). The process that has the part finds who is
//! affected and routes them along the front ([`part`]). Sums of whole numbers do not depend on who adds them, and single people
//! need only their cost and loss over the whole front. Received bytes are never trusted: they come in an envelope whose owner is the
//! digest of the places, and every number is checked for its range.

use sha2::{Digest, Sha256};
use sogar_solver::varint::{DecodeError, Reader, put};

use super::measures::{Along, Members, Sums};
use super::routed_people::RoutedPeople;
use sogar_base::envelope::{Fault, Label};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::files::sha256_hex;
use sogar_front::evaluate::HeldOut;
use sogar_front::summary::FrontFile;
use sogar_prepare::prepared::Prepared;
use sogar_table::table::Table;

/// Bytes of a digest.
const DIGEST: usize = 32;
/// Limit of groups in a part.
const MOST_GROUPS: u64 = 1 << 24;
type Read<T> = std::result::Result<T, DecodeError>;

/// What the process of a part needs to know about its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Places {
    /// Identifies the front and its table.
    pub front: [u8; DIGEST],
    /// Units in the weight of one person; 0 if every row is one person.
    pub unit: u32,
    /// Rows of the part.
    pub rows: usize,
    /// For each grouping the number of groups, and the group of each row.
    pub groupings: Vec<(usize, Vec<u32>)>,
}

impl Places {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.front.to_vec();
        put(&mut out, u64::from(self.unit));
        put(&mut out, self.rows as u64);
        put(&mut out, self.groupings.len() as u64);
        for (groups, of_row) in &self.groupings {
            put(&mut out, *groups as u64);
            of_row.iter().for_each(|&group| put(&mut out, u64::from(group)));
        }
        out
    }

    fn from_bytes(bytes: &[u8]) -> Read<Places> {
        let mut reader = Reader::new(bytes);
        let front = digest(reader.take(DIGEST)?)?;
        let unit = reader.below(1_000_001)?;
        let rows = reader.below(u64::from(u32::MAX))? as usize;
        let mut groupings = Vec::new();
        for _ in 0..reader.count()? {
            let groups = u64::from(reader.below(MOST_GROUPS)?);
            let of_row = (0..rows).map(|_| reader.below(groups)).collect::<Read<_>>()?;
            groupings.push((groups as usize, of_row));
        }
        reader.end()?;
        Ok(Places { front, unit, rows, groupings })
    }
}

/// Identifies a front and its table.
pub(super) fn identity(front: &FrontFile, prepared: &Prepared) -> [u8; DIGEST] {
    let mut hash = Sha256::new();
    hash.update(prepared.table_hash().as_bytes());
    hash.update(prepared.model().hash.as_bytes());
    for point in &front.points {
        hash.update(point.cost_sum.to_le_bytes());
        hash.update(point.loss_count.to_le_bytes());
    }
    hash.finalize().into()
}

/// The results for the people of a part.
#[derive(Debug, PartialEq)]
pub(super) struct PartAudit {
    /// The affected rows, ascending.
    pub affected: Vec<usize>,
    /// `[point][grouping][group]`.
    pub points: Vec<Vec<Vec<Sums>>>,
    /// Per affected row: costs over all points, in units.
    pub costs: Vec<u64>,
    /// Per affected row: at how many points it is not flipped.
    pub losses: Vec<u64>,
}

/// Routes the affected people of a part of a table along a front. `places` is the leader's message about its rows; the answer is
/// for the leader.
pub fn part(front: &FrontFile, prepared: &Prepared, table: &Table, places: &[u8]) -> Result<Vec<u8>> {
    let asked = places;
    let places = Places::from_bytes(places)
        .map_err(|why| damaged("this does not say who is in which group", wrong(why)))?;
    if places.front != identity(front, prepared) {
        return Err(Error::new(ErrorKind::Usage, "this is another front than the one that is audited")
            .help("give all processes the same version of sogar, and the same front, table and model"));
    }
    if places.rows != table.rows {
        let message = format!("a partition has {} rows, but it had {} before", table.rows, places.rows);
        return Err(Error::new(ErrorKind::Table, message)
            .help("give a table whose partitions are the same whenever they are computed"));
    }
    let held_out = HeldOut::part(prepared, table, (places.unit > 0).then_some(places.unit))?;
    let people = RoutedPeople::held_out(front, prepared, &held_out)?;
    let members: Vec<Members> =
        places.groupings.into_iter().map(|(groups, of_row)| Members::new(&people, &of_row, groups)).collect();
    let Along { points, costs, losses, .. } =
        prepared.with_threads(|| Ok(Along::new(front, &people, &members)))?;
    Ok(PartAudit { affected: people.affected.clone(), points, costs, losses }.to_bytes(asked))
}

impl PartAudit {
    fn to_bytes(&self, places: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, self.affected.len() as u64);
        let mut next = 0;
        for ((&row, &cost), &loss) in self.affected.iter().zip(&self.costs).zip(&self.losses) {
            put(&mut out, (row - next) as u64);
            put(&mut out, cost);
            put(&mut out, loss);
            next = row + 1;
        }
        for sums in self.points.iter().flatten().flatten() {
            for number in [sums.people, sums.cost, sums.lost, sums.cost_of_lost] {
                put(&mut out, number);
            }
            for squares in [sums.squares, sums.squares_of_lost] {
                put(&mut out, squares as u64);
                put(&mut out, (squares >> 64) as u64);
            }
        }
        label(places).sealed(&out)
    }

    /// Reads the result of [`part`] for these places, along this number of points.
    pub fn from_bytes(bytes: &[u8], places: &Places, points: usize) -> Result<PartAudit> {
        let read = || {
            let content = label(&places.to_bytes()).opened(bytes)?;
            let mut reader = Reader::new(&content);
            let part = PartAudit::read(&mut reader, places, points).map_err(wrong)?;
            reader.end().map_err(wrong)?;
            Ok(part)
        };
        read().map_err(|why| damaged("this is no part of the audit", why))
    }

    fn read(reader: &mut Reader<'_>, places: &Places, points: usize) -> Read<PartAudit> {
        let count = reader.below(places.rows as u64 + 1)? as usize;
        let (mut affected, mut costs, mut losses) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = 0;
        for _ in 0..count {
            let row = next + reader.below((places.rows - next) as u64)? as usize;
            affected.push(row);
            costs.push(reader.number()?);
            losses.push(u64::from(reader.below(points as u64 + 1)?));
            next = row + 1;
        }
        let sums = |reader: &mut Reader<'_>| -> Read<Sums> {
            let [people, cost, lost, cost_of_lost, low, high, low_of_lost, high_of_lost] = {
                let mut numbers = [0; 8];
                for number in &mut numbers {
                    *number = reader.number()?;
                }
                numbers
            };
            let squares = u128::from(high) << 64 | u128::from(low);
            let squares_of_lost = u128::from(high_of_lost) << 64 | u128::from(low_of_lost);
            Ok(Sums { people, cost, squares, lost, cost_of_lost, squares_of_lost })
        };
        let mut along = Vec::new();
        for _ in 0..points {
            let mut point = Vec::with_capacity(places.groupings.len());
            for (groups, _) in &places.groupings {
                point.push((0..*groups).map(|_| sums(reader)).collect::<Read<Vec<Sums>>>()?);
            }
            along.push(point);
        }
        Ok(PartAudit { affected, points: along, costs, losses })
    }
}

/// The envelope of the audit of a part, which the leader's message identifies.
fn label(places: &[u8]) -> Label {
    Label { kind: "audit-part", version: 1, owner: sha256_hex(places) }
}

/// Why a payload can't be used.
pub(super) fn wrong(why: DecodeError) -> Fault {
    why.0.into()
}

fn digest(bytes: &[u8]) -> Read<[u8; DIGEST]> {
    bytes.try_into().map_err(|_| DecodeError("it is cut short"))
}

/// The error for invalid bytes.
pub(super) fn damaged(what: &str, why: Fault) -> Error {
    Error::new(ErrorKind::Usage, format!("{what}: {why}"))
        .help("give all processes the same version of sogar, and start the audit anew")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (Places, PartAudit) {
        let places = Places {
            front: [7; 32],
            unit: 0,
            rows: 6,
            groupings: vec![(2, vec![0, 1, 1, 0, 1, 1]), (1, vec![0; 6])],
        };
        let sums = |people: u64| Sums {
            people,
            cost: 300,
            squares: 1 << 70,
            lost: 1,
            cost_of_lost: 9,
            squares_of_lost: 1 << 66,
        };
        let point = vec![vec![sums(1), sums(2)], vec![sums(3)]];
        let part = PartAudit {
            affected: vec![0, 2, 5],
            points: vec![point.clone(), point],
            costs: vec![0, 1 << 40, 7],
            losses: vec![2, 0, 1],
        };
        (places, part)
    }

    #[test]
    fn a_part_comes_back_and_only_where_it_belongs() {
        let (places, part) = example();
        assert_eq!(Places::from_bytes(&places.to_bytes()).unwrap(), places);
        let bytes = part.to_bytes(&places.to_bytes());
        assert_eq!(PartAudit::from_bytes(&bytes, &places, 2).unwrap(), part);
        let other = Places { front: [8; 32], ..places.clone() };
        let error = PartAudit::from_bytes(&bytes, &other, 2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "this is no part of the audit: this was stored for another run or problem, or elsewhere in this one"
        );
        assert!(error.remedy().is_some());
        assert!(PartAudit::from_bytes(&bytes, &places, 3).is_err(), "a front with another point");
    }

    #[test]
    fn damage_is_refused_wherever_it_is() {
        let (places, part) = example();
        let bytes = part.to_bytes(&places.to_bytes());
        for position in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[position] ^= 1 << bit;
                assert!(PartAudit::from_bytes(&damaged, &places, 2).is_err(), "byte {position}");
            }
            assert!(PartAudit::from_bytes(&bytes[..position], &places, 2).is_err(), "{position} bytes");
        }
        assert!(PartAudit::from_bytes(&[&bytes[..], &[0]].concat(), &places, 2).is_err());
    }

    #[test]
    fn what_no_checksum_tells_is_refused_or_read_but_never_panics() {
        let (places, part) = example();
        let bytes = part.to_bytes(&places.to_bytes());
        let label = label(&places.to_bytes());
        let content = label.opened(&bytes).unwrap();
        for position in 0..content.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut forged = content.clone();
                forged[position] = value;
                if let Ok(read) = PartAudit::from_bytes(&label.sealed(&forged), &places, 2) {
                    assert!(read.affected.is_sorted() && read.affected.iter().all(|&row| row < 6));
                }
            }
        }
        let told = places.to_bytes();
        for length in 0..told.len() {
            assert!(Places::from_bytes(&told[..length]).is_err());
        }
        assert!(Places::from_bytes(&[&told[..], &[0]].concat()).is_err());
    }
}
