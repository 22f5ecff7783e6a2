//! Packs arrays of numbers as short text: a front of thousands of points has dozens of them.
//!
//! Numbers are rounded to 16 or 24 bits between the smallest and the largest, which is far finer than what is shown, and written
//! as base64, two or three bytes per number, low byte first.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sogar_solver::RowSet;

/// An array of numbers in base64. A number is `low + step * whole`; `whole` has `bytes` bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Packed {
    /// The smallest number.
    pub low: f64,
    /// The size of one step.
    pub step: f64,
    /// Bytes of a number.
    pub bytes: u32,
    /// The whole numbers, the low byte first.
    pub data: String,
}

/// The precision of stored numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// For drawing, and for three digits.
    Bits16,
    /// For six digits.
    Bits24,
}

impl Packed {
    /// Packs numbers; infinite numbers and NaN become 0.
    pub fn new(numbers: impl Iterator<Item = f64>, precision: Precision) -> Packed {
        let numbers: Vec<f64> = numbers.map(|number| if number.is_finite() { number } else { 0.0 }).collect();
        let bytes = match precision {
            Precision::Bits16 => 2,
            Precision::Bits24 => 3,
        };
        let most = f64::from((1u32 << (8 * bytes)) - 1);
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = if low.is_finite() { low } else { 0.0 };
        let step = if high > low { (high - low) / most } else { 0.0 };
        let data = Packed::encode(numbers.iter().map(|&number| whole(number, low, step)), bytes);
        Packed { low, step, bytes, data }
    }

    /// Packs whole numbers without loss.
    pub fn whole(numbers: &[u64]) -> Packed {
        let most = numbers.iter().copied().max().unwrap_or(0);
        let bytes = (8 - most.leading_zeros() / 8).max(1);
        Packed { low: 0.0, step: 1.0, bytes, data: Packed::encode(numbers.iter().copied(), bytes) }
    }

    fn encode(numbers: impl Iterator<Item = u64>, bytes: u32) -> String {
        let raw: Vec<u8> =
            numbers.flat_map(|number| number.to_le_bytes().into_iter().take(bytes as usize)).collect();
        STANDARD.encode(raw)
    }
}

/// A set of `count` people as base64 of a bitset: person `i` is bit `i % 8` of byte `i / 8`.
pub fn bitset(set: &RowSet, count: usize) -> String {
    let mut bytes = vec![0u8; count.div_ceil(8)];
    for person in set.iter() {
        bytes[person / 8] |= 1 << (person % 8);
    }
    STANDARD.encode(bytes)
}

fn whole(number: f64, low: f64, step: f64) -> u64 {
    if step == 0.0 { 0 } else { ((number - low) / step).round() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(packed: &Packed) -> Vec<f64> {
        let raw = STANDARD.decode(&packed.data).unwrap();
        raw.chunks(packed.bytes as usize)
            .map(|bytes| bytes.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte)))
            .map(|whole| packed.low + packed.step * whole as f64)
            .collect()
    }

    #[test]
    fn numbers_come_back_within_half_a_step() {
        let numbers = [-0.25, 0.0, 1.0 / 3.0, 0.75];
        for (precision, error) in [(Precision::Bits16, 1e-5), (Precision::Bits24, 4e-8)] {
            let packed = Packed::new(numbers.iter().copied(), precision);
            for (number, found) in numbers.iter().zip(unpack(&packed)) {
                assert!((number - found).abs() < error, "{number} {found}");
            }
        }
    }

    #[test]
    fn equal_numbers_no_numbers_and_odd_numbers_are_kept() {
        assert_eq!(unpack(&Packed::new([0.5, 0.5].into_iter(), Precision::Bits16)), [0.5, 0.5]);
        assert_eq!(unpack(&Packed::new([].into_iter(), Precision::Bits16)), [0.0; 0]);
        assert_eq!(unpack(&Packed::new([f64::NAN, 1.0].into_iter(), Precision::Bits16)), [0.0, 1.0]);
    }

    #[test]
    fn whole_numbers_are_kept_exactly() {
        for numbers in [vec![], vec![0], vec![255, 1], vec![256, 70_000, 3]] {
            let found = unpack(&Packed::whole(&numbers));
            assert_eq!(found, numbers.iter().map(|&number| number as f64).collect::<Vec<_>>());
        }
    }
}
