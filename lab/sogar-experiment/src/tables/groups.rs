//! The audit's tables: groups of people along sogar's front, and at the operating points of all methods.

use super::super::paper::published;
use super::super::result::{GroupFigures, GroupMeasure, GroupScore};
use super::super::statistics::MeanSd;
use super::markdown::{short, title};
use super::{Row, Tables};

/// The place of invalidity among a group's measures.
const INVALIDITY: usize = 2;

impl Tables {
    /// Means over folds of the audits of single folds, along sogar's front.
    pub fn groups(&self) -> String {
        let mut text = String::from(
            "| protocol | data set | model | table | group | turned down | cost | loss | invalidity \
             | gap in cost | in loss | in invalidity | front worse off | folds | paper: cost / loss / inv. |\n\
             |---|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in &self.rows {
            let first = row.results.values().find(|result| !result.audit.is_empty());
            for group in first.map_or(&[][..], |result| &result.audit) {
                text += &self.group(row, group);
            }
        }
        text
    }

    fn group(&self, row: &Row, group: &GroupFigures) -> String {
        let of_folds: Vec<&GroupFigures> = row
            .results
            .values()
            .flat_map(|result| &result.audit)
            .filter(|other| (&other.table, &other.group) == (&group.table, &group.group))
            .collect();
        let over = |read: &dyn Fn(&GroupFigures) -> Option<f64>| {
            MeanSd::of(&of_folds.iter().filter_map(|group| read(group)).collect::<Vec<_>>())
        };
        let measure = |number: usize, read: fn(&GroupMeasure) -> f64| {
            short(over(&|group| group.measures.get(number).map(read)), 3)
        };
        let worse = over(&|group| Some(100.0 * group.measures.get(INVALIDITY)?.worse));
        let setting = format!("{} {}", group.table, group.group);
        let paper = published("audit", row.dataset, row.model, row.method.name, &setting);
        let paper = paper.map_or("–".to_owned(), |paper| {
            format!("{} / {} / {}", paper.cost, paper.loss, paper.invalidity)
        });
        let varied = |name: &str| format!("{} ({name} {})", row.protocol, row.setting);
        let cells = [
            if row.setting.is_empty() { row.protocol.clone() } else { varied(self.name.name()) },
            row.dataset.to_owned(),
            title(row.model).to_owned(),
            group.table.clone(),
            group.group.replace('|', "\\|"),
            over(&|group| Some(group.affected as f64))
                .map_or("–".into(), |rows| format!("{:.0}", rows.mean)),
            measure(0, |measure| measure.mean),
            measure(1, |measure| measure.mean),
            measure(2, |measure| measure.mean),
            measure(0, |measure| measure.gap),
            measure(1, |measure| measure.gap),
            measure(2, |measure| measure.gap),
            worse.map_or("–".to_owned(), |worse| format!("{} %", worse.text(1))),
            of_folds.len().to_string(),
            paper,
        ];
        format!("| {} |\n", cells.join(" | "))
    }

    /// The gap between two groups under every method's own proposals, beside the mean gap along sogar's front. Train rows.
    pub fn operating_points(&self) -> String {
        let mut text = String::from(
            "| protocol | data set | model | groups | method | gap in cost | in loss | in invalidity | mean gap along sogar's front | share of the front with a wider gap | folds |\n\
             |---|---|---|---|---|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in &self.rows {
            let gaps: Vec<(Gap, Option<Along>)> = row
                .results
                .iter()
                .filter_map(|(fold, result)| {
                    let gap = Gap::of(&result.groups)?;
                    let along =
                        self.front_of(row).and_then(|front| Along::of(&front.results.get(fold)?.audit, &gap));
                    Some((gap, along))
                })
                .collect();
            let Some((first, _)) = gaps.first() else { continue };
            let over = |read: fn(&Gap) -> f64| {
                MeanSd::of(&gaps.iter().map(|(gap, _)| read(gap)).collect::<Vec<_>>())
            };
            let along = |read: fn(&Along) -> Option<f64>| {
                MeanSd::of(
                    &gaps.iter().filter_map(|(_, along)| along.as_ref().and_then(read)).collect::<Vec<_>>(),
                )
            };
            text += &format!(
                "| {} | {} | {} | {} − {} | {} | {} | {} | {} | {} | {} | {} |\n",
                row.protocol,
                row.dataset,
                title(row.model),
                first.groups.0,
                first.groups.1,
                row.method.name,
                short(over(|gap| gap.cost), 3),
                short(over(|gap| gap.loss), 3),
                short(over(|gap| gap.cost + gap.loss), 3),
                short(along(|along| Some(along.mean)), 3),
                along(|along| along.wider)
                    .map_or("–".into(), |wider| format!("{:.0} %", 100.0 * wider.mean)),
                gaps.len(),
            );
        }
        text
    }

    /// The gap in invalidity under a method's proposals, and the mean gap along sogar's front: means over folds.
    pub fn gap_beside_front(&self, row: &Row) -> Option<(f64, f64)> {
        let front = self.front_of(row)?;
        let pairs: Vec<(f64, f64)> = row
            .results
            .iter()
            .filter_map(|(fold, result)| {
                let gap = Gap::of(&result.groups)?;
                let along = Along::of(&front.results.get(fold)?.audit, &gap)?;
                Some((gap.cost + gap.loss, along.mean))
            })
            .collect();
        let mean = |read: fn(&(f64, f64)) -> f64| pairs.iter().map(read).sum::<f64>() / pairs.len() as f64;
        (!pairs.is_empty()).then(|| (mean(|pair| pair.0), mean(|pair| pair.1)))
    }

    /// Sogar's row on the same people and classifier.
    fn front_of(&self, row: &Row) -> Option<&Row> {
        self.rows.iter().find(|other| super::same_table(row, other) && other.method.name == "sogar")
    }
}

/// The gap between the first two groups of a table.
struct Gap {
    /// The groups: the first minus the second.
    groups: (String, String),
    /// In cost.
    cost: f64,
    /// In loss.
    loss: f64,
}

impl Gap {
    /// The gap on train rows; `None` unless there are exactly two groups.
    fn of(scores: &[GroupScore]) -> Option<Gap> {
        let train: Vec<&GroupScore> = scores.iter().filter(|score| score.table == "train").collect();
        let [one, other] = train[..] else { return None };
        let groups = (one.group.clone(), other.group.clone());
        Some(Gap { groups, cost: one.cost - other.cost, loss: one.loss - other.loss })
    }
}

/// The gap in invalidity along sogar's front.
struct Along {
    /// Its mean.
    mean: f64,
    /// The share of the front with a wider gap than a method's; `None` without a stored curve.
    wider: Option<f64>,
}

impl Along {
    fn of(audit: &[GroupFigures], gap: &Gap) -> Option<Along> {
        let group = |name: &str| {
            let found =
                audit.iter().find(|group| group.table == "train" && same_group(&group.group, name))?;
            found.measures.get(INVALIDITY)
        };
        let (one, other) = (group(&gap.groups.0)?, group(&gap.groups.1)?);
        let own = (gap.cost + gap.loss).abs();
        let apart = one.curve.iter().zip(&other.curve).map(|(one, other)| (one - other).abs());
        let wider = apart.filter(|apart| *apart > own).count() as f64 / one.curve.len().max(1) as f64;
        Some(Along { mean: one.gap, wider: (!one.curve.is_empty()).then_some(wider) })
    }
}

/// An audit may write a group as `0` where the table says `0.0`, or with its column's name.
fn same_group(audited: &str, written: &str) -> bool {
    audited == written
        || audited.parse::<f64>().ok().zip(written.parse::<f64>().ok()).is_some_and(|(a, b)| a == b)
}
