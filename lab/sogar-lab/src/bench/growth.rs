//! How time and memory grow: one parameter at a time, around a problem that takes seconds.

use sogar::describe::grouped;

use super::measure::Measurement;
use super::report::median;
use super::variation::Variation;

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The varied parameter, and its value.
    pub parameter: &'static str,
    pub value: String,
    pub problem: super::problems::Case,
}

/// All lines. A quick run takes only the small problem.
pub fn cases(quick: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    if !quick {
        for (every, value) in [(8, "1/8"), (4, "1/4"), (2, "1/2"), (1, "all")] {
            let variation = Variation { every: Some(every), ..Variation::default() };
            cases.push(Case::new("rows", value, "paper-adult", 2, variation));
        }
    }
    let bases = [("paper-adult", 2), ("paper-german", 3)];
    for &(preset, depth) in if quick { &bases[1..] } else { &bases } {
        for bins in ["5", "10", "20", "auto"] {
            let variation = Variation { bins: Some(bins.to_owned()), ..Variation::default() };
            cases.push(Case::new("bins", bins, preset, depth, variation));
        }
        for edits in 1..=3 {
            let variation = Variation { max_edits: Some(edits), ..Variation::default() };
            cases.push(Case::new("edits", &edits.to_string(), preset, depth, variation));
        }
        for depth in 1..=(if quick { 3 } else { 4 }) {
            cases.push(Case::new("depth", &depth.to_string(), preset, depth, Variation::default()));
        }
    }
    cases
}

impl Case {
    fn new(
        parameter: &'static str,
        value: &str,
        preset: &'static str,
        depth: u32,
        variation: Variation,
    ) -> Self {
        let problem = super::problems::Case { name: preset.to_owned(), depth, variation };
        Case { parameter, value: value.to_owned(), problem }
    }
}

/// The table.
pub fn table(measured: &[(Case, Measurement)]) -> String {
    let mut text = String::from(
        "| varied | value | data set | depth | rows | splits | actions | leaf sets | outcomes (s) | search (s) | front \
         | peak memory |\n|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (case, found) in measured {
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {:.2} | {:.2}{} | {} | {:.0} MB |\n",
            case.parameter,
            case.value,
            case.problem.name,
            case.problem.depth,
            grouped(found.rows as u64),
            found.splits,
            grouped(found.actions as u64),
            grouped(found.searched),
            median(found, |run| run.outcomes),
            median(found, |run| run.search),
            if found.complete { "" } else { ", stopped" },
            grouped(found.points as u64),
            found.peak_bytes as f64 / 1e6,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_varied_alone_and_four_of_them_are() {
        let cases = cases(false);
        for case in &cases {
            let Variation { every, bins, max_edits, .. } = &case.problem.variation;
            let changed = [every.is_some(), bins.is_some(), max_edits.is_some()];
            assert_eq!(
                changed.iter().filter(|changed| **changed).count(),
                usize::from(case.parameter != "depth")
            );
        }
        for parameter in ["rows", "bins", "edits", "depth"] {
            assert!(
                cases.iter().filter(|case| case.parameter == parameter).count()
                    >= 4 - usize::from(parameter == "edits")
            );
        }
    }

    #[test]
    fn a_short_look_leaves_the_large_problem_out() {
        assert!(
            super::cases(true)
                .iter()
                .all(|case| case.problem.name == "paper-german" && case.problem.depth <= 3)
        );
    }
}
