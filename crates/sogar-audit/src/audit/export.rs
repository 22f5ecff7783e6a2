//! An audit as CSV: one line per table, group and point of the front.

use super::result::{Audit, MeasureName, PopulationAudit};

impl Audit {
    /// The audit point by point, as CSV. Groups that are too small have one line without a point.
    pub fn csv(&self) -> String {
        let mut text = String::from("table,grouping,group,rows,affected,point");
        for measure in MeasureName::ALL.map(MeasureName::name) {
            text += &format!(",{measure},{measure}_gap,{measure}_gap_low,{measure}_gap_high");
        }
        text.push('\n');
        lines("reference", &self.reference, &mut text);
        if let Some(holdout) = &self.holdout {
            lines("holdout", holdout, &mut text);
        }
        text
    }
}

fn lines(table: &str, population: &PopulationAudit, text: &mut String) {
    for grouping in &population.groupings {
        for group in &grouping.groups {
            let head = format!(
                "{table},{},{},{},{}",
                cell(&grouping.name),
                cell(&group.group),
                group.rows,
                group.affected
            );
            let Some(measures) = &group.measures else {
                *text += &format!("{head},{}\n", ",".repeat(12));
                continue;
            };
            for point in 0..measures.cost.values.len() {
                *text += &format!("{head},{point}");
                for measure in MeasureName::ALL {
                    let found = measures.get(measure);
                    let (value, gap) = (found.values[point], found.gap[point]);
                    *text += &format!(",{value},{gap},{},{}", found.low[point], found.high[point]);
                }
                text.push('\n');
            }
        }
    }
}

/// A name as a cell: quoted if necessary, and with an apostrophe before what a spreadsheet would read as a formula.
fn cell(name: &str) -> String {
    let formula = name.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let shown = if formula { format!("'{name}") } else { name.to_owned() };
    if shown.contains([',', '"', '\n', '\r']) { format!("\"{}\"", shown.replace('"', "\"\"")) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_text() {
        assert_eq!(cell("Female"), "Female");
        assert_eq!(cell("=1+1"), "'=1+1");
        assert_eq!(cell("@SUM(A1),\"x\""), "\"'@SUM(A1),\"\"x\"\"\"");
        assert_eq!(cell("a\nb"), "\"a\nb\"");
        assert_eq!(cell("</script>"), "</script>");
    }
}
