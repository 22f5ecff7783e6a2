//! Orders rows so that rows on the same sides of many splits are neighbours.
//!
//! The search sums costs over row sets, 64 rows to a word. A few splits define each set, so if rows that splits treat alike are
//! neighbours, whole words of a set are empty and skipped. No result depends on the order of rows.

use sogar_solver::RowSet;

use sogar_table::binarize::Split;

/// Fewer rows than this are not divided further: they share a few words in any order.
const SMALLEST: usize = 96;

/// The rows in such an order: divides them by the split that cuts them most evenly, then each part again.
pub fn cluster_rows(rows: &[usize], splits: &[(Split, RowSet)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut open = Vec::from([(0, rows.len())]);
    while let Some((start, end)) = open.pop() {
        if end - start < SMALLEST {
            continue;
        }
        let part = &mut order[start..end];
        let passing = |split: &RowSet| part.iter().filter(|&&row| split.contains(row)).count();
        let uneven = |(_, split): &&(Split, RowSet)| passing(split).abs_diff(part.len() / 2);
        let Some((_, split)) = splits.iter().min_by_key(uneven) else { continue };
        let passing = passing(split);
        // Stable, so that the table's order remains where splits do not decide.
        part.sort_by_key(|&row| !split.contains(row));
        if passing == 0 || passing == part.len() {
            continue;
        }
        let middle = start + passing;
        open.push((start, middle));
        open.push((middle, end));
    }
    order.into_iter().map(|position| rows[position]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sogar_table::binarize::Test;

    #[test]
    fn rows_stay_the_same_and_those_on_one_side_of_an_even_split_come_together() {
        let rows: Vec<usize> = (0..1000).map(|i| 3 * i).collect();
        let split = |test: fn(&usize) -> bool| {
            (Split { feature: 0, test: Test::Equals(0) }, RowSet::from_fn(1000, test))
        };
        let splits = [split(|row| row % 2 == 0), split(|row| row % 10 == 0)];
        let ordered = cluster_rows(&rows, &splits);
        assert!(ordered[..500].iter().all(|row| row / 3 % 2 == 0));
        assert!(ordered[500..].iter().all(|row| row / 3 % 2 == 1));
        let mut sorted = ordered;
        sorted.sort_unstable();
        assert_eq!(sorted, rows);
        assert_eq!(cluster_rows(&rows, &[]), rows);
    }
}
