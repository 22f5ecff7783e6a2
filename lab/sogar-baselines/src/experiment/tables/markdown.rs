//! Results for people: Markdown, with the published figures beside ours.

use super::super::inputs::CLASSIFIERS;
use super::super::name::Name;
use super::super::statistics::MeanSd;
use super::{Figures, Row, Tables};
use sogar::device::GPU_BUILT_IN;

impl Tables {
    /// The whole experiment as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}: {}\n\n", self.name.name(), self.name.title());
        if self.rows.iter().all(|row| row.folds == 0) {
            return text + "No cell has a result yet.\n";
        }
        text += &match self.name {
            Name::Table1 => self.overviews() + &self.methods(),
            Name::Generalization => self.distances(),
            Name::Audit => self.groups(),
            _ => self.settings(),
        };
        let verdicts = self.verdicts();
        if !verdicts.is_empty() {
            text += "\n";
            for verdict in verdicts {
                text += &format!("- {verdict}\n");
            }
        }
        text + &self.missing()
    }

    /// One table for each cost: the invalidity of every method in every cell.
    fn overviews(&self) -> String {
        let mut text = String::new();
        for cost in distinct(self.rows.iter().map(|row| row.cost)) {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.cost == cost).collect();
            let cells = distinct(rows.iter().map(|row| (row.dataset, row.model)));
            text += &format!("## Invalidity with cost `{cost}`: train (held-out)\n\n| method |");
            for (dataset, model) in &cells {
                text += &format!(" {dataset} {} |", title(model));
            }
            text += &format!("\n|---|{}\n", "--:|".repeat(cells.len()));
            for method in distinct(rows.iter().map(|row| row.method)) {
                text += &format!("| {method} |");
                for &(dataset, model) in &cells {
                    let wanted =
                        |row: &&&Row| (row.dataset, row.model, row.method) == (dataset, model, method);
                    text +=
                        &format!(" {} |", rows.iter().find(wanted).map_or("–".into(), |row| self.both(row)));
                }
                text += "\n";
            }
            let published = |&(dataset, model): &(&'static str, &'static str)| {
                let wanted = |row: &&&Row| (row.dataset, row.model, row.method) == (dataset, model, "sogar");
                rows.iter().find(wanted).and_then(|row| row.paper).map_or("–", |paper| paper.invalidity)
            };
            let published: Vec<&str> = cells.iter().map(published).collect();
            text += &format!("| paper's SOGAR | {} |\n\n", published.join(" | "));
        }
        text
    }

    /// Invalidity on train and on held-out rows; the lowest of their kind are bold.
    fn both(&self, row: &Row) -> String {
        let invalidity = |figures: Option<Figures>, best: bool| match figures {
            Some(figures) if best => format!("**{:.3}**", figures.invalidity.mean),
            Some(figures) => format!("{:.3}", figures.invalidity.mean),
            None => "–".to_owned(),
        };
        if row.train.is_none() {
            return "–".to_owned();
        }
        format!(
            "{} ({})",
            invalidity(row.train, self.is_best(row, |row| row.train)),
            invalidity(row.held_out, self.is_best(row, |row| row.held_out))
        )
    }

    /// One table for each data set, classifier and cost.
    fn methods(&self) -> String {
        let mut text = String::new();
        for rows in self.rows.chunk_by(same_table) {
            let Row { dataset, model, cost, .. } = &rows[0];
            text += &format!("## {dataset}, {}, cost `{cost}`\n\n", title(model));
            text += "| method | cost | loss | invalidity | held-out cost | loss | invalidity | groups | s | folds | paper: cost / loss / inv. / s |\n";
            text += "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
            for row in rows {
                let best = self.is_best(row, |row| row.train);
                let best_elsewhere = self.is_best(row, |row| row.held_out);
                text += &format!(
                    "| {} | {} | {} | {} | {} | {} | {} |\n",
                    row.method,
                    three(row.train, best),
                    three(row.held_out, best_elsewhere),
                    short(row.train.map(|train| train.groups), 1),
                    seconds(row.seconds),
                    folds(row),
                    row.paper.map_or("–".to_owned(), |paper| paper.text()),
                );
            }
            text += "\n";
        }
        text
    }

    /// Settings of sogar, each compared with the usual one.
    fn settings(&self) -> String {
        let mut text = format!("| data set | model | kind of cost | {} ", self.name.name());
        text += "| cost | loss | invalidity | change | held-out invalidity | summaries | s | search s | folds | paper: cost / loss / inv. / s |\n";
        text += "|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
        for row in &self.rows {
            text += &format!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                row.dataset,
                title(row.model),
                row.cost,
                row.setting,
                three(row.train, false),
                self.change(row).map_or("–".to_owned(), |change| format!("{:+.1} %", 100.0 * change)),
                short(row.held_out.map(|figures| figures.invalidity), 3),
                short(row.points, 0),
                seconds(row.seconds),
                seconds(row.seconds_search),
                folds(row),
                row.paper.map_or("–".to_owned(), |paper| paper.text()),
            );
        }
        if self.name == Name::Hardware && self.rows.iter().all(|row| !row.setting.starts_with("gpu")) {
            text += match GPU_BUILT_IN {
                true => "\nThere is no GPU here; software adapters are not timed.\n",
                false => "\nThis build does not know GPUs.\n",
            };
        }
        text
    }

    fn distances(&self) -> String {
        let mut text = String::from(
            "| data set | model | kind of cost | summaries | mean distance | train invalidity | held-out invalidity | folds | paper |\n\
             |---|---|---|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in &self.rows {
            text += &format!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                row.dataset,
                title(row.model),
                row.cost,
                short(row.points, 0),
                short(row.distance, 3),
                short(row.train.map(|figures| figures.invalidity), 3),
                short(row.held_out.map(|figures| figures.invalidity), 3),
                folds(row),
                row.paper.map_or("–", |paper| paper.invalidity),
            );
        }
        text
    }

    /// Why there are dashes, and where a time limit ended methods.
    fn missing(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let cell =
                format!("{} on {}, {}, cost `{}`", row.method, row.dataset, title(row.model), row.cost);
            let setting = if row.setting.is_empty() { String::new() } else { format!(", {}", row.setting) };
            if !row.reasons.is_empty() {
                text += &format!("- {cell}{setting}: {}\n", row.reasons.join("; "));
            }
            if row.cut > 0 && self.name != Name::Timeouts {
                text += &format!(
                    "- {cell}{setting}: {} of {} folds reached the time limit\n",
                    row.cut, row.asked
                );
            }
        }
        if text.is_empty() { text } else { format!("\nNot complete:\n\n{text}") }
    }
}

/// Each item once, in the order of their first appearance.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

pub(super) fn same_table(one: &Row, other: &Row) -> bool {
    (one.dataset, one.model, one.cost) == (other.dataset, other.model, other.cost)
}

pub(super) fn title(model: &str) -> &str {
    CLASSIFIERS.iter().find(|known| known.name == model).map_or(model, |known| known.title)
}

pub(super) fn short(value: Option<MeanSd>, digits: usize) -> String {
    value.map_or("–".to_owned(), |value| value.text(digits))
}

/// Cost, loss and invalidity as three cells.
fn three(figures: Option<Figures>, best: bool) -> String {
    let Some(figures) = figures else { return "– | – | –".to_owned() };
    let invalidity = figures.invalidity.text(3);
    let invalidity = if best { format!("**{invalidity}**") } else { invalidity };
    format!("{} | {} | {invalidity}", figures.cost.text(3), figures.loss.text(3))
}

fn seconds(value: Option<MeanSd>) -> String {
    value.map_or("–".to_owned(), |value| {
        if value.mean < 10.0 { format!("{:.2}", value.mean) } else { format!("{:.0}", value.mean) }
    })
}

/// Folds with a result, of those asked for.
fn folds(row: &Row) -> String {
    let cut = if row.cut > 0 { "*" } else { "" };
    if row.folds == row.asked {
        format!("{}{cut}", row.folds)
    } else {
        format!("{} of {}{cut}", row.folds, row.asked)
    }
}
