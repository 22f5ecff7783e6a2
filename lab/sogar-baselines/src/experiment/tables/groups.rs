//! The audit's table: groups of people along sogar's front.

use super::super::cell::{GroupFigures, GroupMeasure};
use super::super::paper::published;
use super::super::statistics::MeanSd;
use super::markdown::{short, title};
use super::{Row, Tables};

impl Tables {
    /// Means over folds of what the audits of single folds found.
    pub(super) fn groups(&self) -> String {
        let mut text = String::from(
            "| data set | model | kind of cost | table | group | turned down | adverse rate | TPR | cost | loss | invalidity \
             | gap in cost | in loss | in invalidity | front worse off | folds | paper: cost / loss / inv. |\n\
             |---|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in &self.rows {
            let Some(first) = row.audits.first() else { continue };
            for (place, group) in first.iter().enumerate() {
                text += &self.group(row, place, group);
            }
        }
        text
    }

    fn group(&self, row: &Row, place: usize, group: &GroupFigures) -> String {
        let of_folds: Vec<&GroupFigures> = row
            .audits
            .iter()
            .filter_map(|audit| audit.get(place))
            .filter(|other| (&other.table, &other.group) == (&group.table, &group.group))
            .collect();
        let over = |read: &dyn Fn(&GroupFigures) -> Option<f64>| {
            MeanSd::of(&of_folds.iter().filter_map(|group| read(group)).collect::<Vec<_>>())
        };
        let measure = |number: usize, read: fn(&GroupMeasure) -> f64| {
            short(over(&|group| group.measures.get(number).map(read)), 3)
        };
        let worse = over(&|group| Some(100.0 * group.measures.get(2)?.worse));
        let setting = format!("{} {}", group.table, group.group);
        let paper = published(self.name.name(), row.dataset, row.model, row.method, &setting);
        let paper = paper.map_or("–".to_owned(), |paper| {
            format!("{} / {} / {}", paper.cost, paper.loss, paper.invalidity)
        });
        let cells = [
            row.dataset.to_owned(),
            title(row.model).to_owned(),
            row.cost.to_owned(),
            group.table.clone(),
            group.group.replace('|', "\\|"),
            short(over(&|group| Some(group.affected as f64)), 0),
            short(over(&|group| group.adverse_rate), 3),
            short(over(&|group| group.tpr), 3),
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
}
