//! The published figures, as printed: means over ten folds, rounded to two digits.
//!
//! They are in `paper.csv`, one line per figure. Empty cells are dashes in the paper: no result within an hour, or not reported.
//! For `generalization` the column `invalidity` holds the distance.

/// Figures of one line of a published table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// Mean cost.
    pub cost: &'static str,
    /// Mean loss.
    pub loss: &'static str,
    /// Mean invalidity.
    pub invalidity: &'static str,
    /// Seconds.
    pub seconds: &'static str,
}

static TABLE: &str = include_str!("paper.csv");

/// The published figures of this line, if there are any.
pub fn published(
    experiment: &str,
    data: &str,
    model: &str,
    method: &str,
    setting: &str,
) -> Option<Published> {
    let wanted = [experiment, data, model, method, setting];
    TABLE.lines().skip(1).find_map(|line| {
        let cells: Vec<&'static str> = line.split(',').collect();
        match cells[..] {
            [a, b, c, d, e, cost, loss, invalidity, seconds] if [a, b, c, d, e] == wanted => {
                Some(Published { cost, loss, invalidity, seconds })
            }
            _ => None,
        }
    })
}

impl Published {
    /// The invalidity as a number.
    pub fn invalidity(&self) -> Option<f64> {
        self.invalidity.parse().ok()
    }

    /// `cost / loss / invalidity`, a dash where nothing was published.
    pub fn without_time(&self) -> String {
        if self.invalidity.is_empty() {
            return "–".to_owned();
        }
        [self.cost, self.loss, self.invalidity].join(" / ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::inputs::{DATA_SETS, KINDS};
    use super::super::name::Name;
    use super::*;

    #[test]
    fn every_line_is_whole_and_names_what_exists() {
        for line in TABLE.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), 9, "{line}");
            assert!(Name::ALL.iter().any(|name| name.name() == cells[0]), "{line}");
            assert!(DATA_SETS.contains(&cells[1]), "{line}");
            assert!(KINDS.iter().any(|(kind, _)| *kind == cells[2]), "{line}");
            for number in cells[5..].iter().filter(|cell| !cell.is_empty()) {
                assert!(number.trim_start_matches(['<', '>']).parse::<f64>().is_ok(), "{line}");
            }
        }
    }

    #[test]
    fn the_papers_own_summaries_are_all_there() {
        for data in DATA_SETS {
            for (kind, _) in KINDS {
                let found = published("table1", data, kind, "sogar", "").unwrap();
                assert!(found.invalidity().is_some());
            }
        }
        let german = published("table1", "german", "lightgbm", "sogar", "").unwrap();
        assert_eq!(german.without_time(), "0.11 / 0.03 / 0.14");
        assert_eq!(published("table1", "adult", "dnn", "cet", "").unwrap().without_time(), "–");
        assert_eq!(published("table1", "adult", "dnn", "xyz", ""), None);
    }
}
