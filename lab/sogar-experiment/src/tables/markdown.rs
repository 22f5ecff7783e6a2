//! Results as Markdown, with the published figures beside ours.

use super::super::inputs::KINDS;
use super::super::name::Name;
use super::super::statistics::MeanSd;
use super::{Means, Row, Tables, distinct, held_out, same_table, train};
use sogar::device::GPU_BUILT_IN;
use sogar_baselines::methods::{MethodKind, methods};

/// The protocol that variants are compared with.
const BASE: &str = "paper";

/// The kinds of methods, in the order of tables.
const METHOD_KINDS: [MethodKind; 2] = [MethodKind::Summary, MethodKind::Individual];

impl Tables {
    /// The whole experiment as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}: {}\n\n", self.name.name(), self.name.title());
        if self.rows.iter().all(|row| row.folds() == 0) {
            return text + "No cell has a result yet.\n";
        }
        text += &match self.name {
            Name::Table1 => self.overviews() + &self.methods(),
            Name::Generalization => self.distances(),
            Name::Audit => self.groups() + "\n" + &self.operating_points(),
            Name::Choice => self.candidates_for(BASE),
            Name::Hypotheses => self.variants_of(BASE),
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

    /// One table for each protocol: the invalidity of every method in every column.
    pub fn overviews(&self) -> String {
        let mut text = String::new();
        let protocols = distinct(self.rows.iter().map(|row| row.protocol.as_str()));
        for protocol in &protocols {
            if protocols.len() > 1 {
                text += &format!("Protocol `{protocol}`:\n\n");
            }
            text += &self.overview(protocol);
        }
        text
    }

    fn overview(&self, protocol: &str) -> String {
        let rows: Vec<&Row> =
            self.rows.iter().filter(|row| row.protocol == protocol && row.train.is_some()).collect();
        let columns = distinct(rows.iter().map(|row| (row.dataset, row.model)));
        let mut text = String::from("| invalidity: train (held-out) |");
        for (dataset, model) in &columns {
            text += &format!(" {dataset} {} |", title(model));
        }
        text += &format!("\n|---|{}\n", "--:|".repeat(columns.len()));
        let find = |method: &str, column: &(&str, &str)| {
            rows.iter().find(|row| row.method.name == method && (row.dataset, row.model) == *column)
        };
        for kind in METHOD_KINDS {
            let of_kind: Vec<&str> = methods()
                .iter()
                .filter(|method| method.kind == kind && rows.iter().any(|row| row.method.name == method.name))
                .map(|method| method.name)
                .collect();
            if of_kind.is_empty() {
                continue;
            }
            text += &format!("| *{}* |{}\n", kind.title(), " |".repeat(columns.len()));
            for method in of_kind {
                let cells: Vec<String> = columns
                    .iter()
                    .map(|column| find(method, column).map_or("–".to_owned(), |row| self.both(row)))
                    .collect();
                text += &format!("| {method} | {} |\n", cells.join(" | "));
            }
        }
        let of_sogar = |read: &dyn Fn(&Row) -> String| {
            let cells: Vec<String> = columns
                .iter()
                .map(|column| find("sogar", column).map_or("–".into(), |row| read(row)))
                .collect();
            cells.join(" | ")
        };
        let paper = of_sogar(&|row| row.paper.map_or("–".into(), |paper| paper.invalidity.to_owned()));
        text += &format!("| *paper's SOGAR* | {paper} |\n| *folds of sogar* | {} |\n\n", of_sogar(&folds));
        text
    }

    /// Invalidity on train and on held-out rows; the lowest of their kind are bold.
    fn both(&self, row: &Row) -> String {
        let invalidity = |means: Option<Means>, best: bool| match means {
            Some(means) if best => format!("**{:.3}**", means.invalidity.mean),
            Some(means) => format!("{:.3}", means.invalidity.mean),
            None => "–".to_owned(),
        };
        format!(
            "{} ({}){}",
            invalidity(row.train, self.is_best(row, train, true)),
            invalidity(row.held_out, self.is_best(row, held_out, true)),
            if row.cut() > 0 { "*" } else { "" },
        )
    }

    /// One table for each data set, classifier and protocol: cost, loss and invalidity with standard deviations.
    pub fn methods(&self) -> String {
        let mut text = String::new();
        for rows in self.rows.chunk_by(same_table) {
            if rows.iter().all(|row| row.folds() == 0) {
                continue;
            }
            let Row { dataset, model, protocol, .. } = &rows[0];
            text += &format!("**{dataset}, {}** (`{protocol}`)\n\n", title(model));
            text += "| method | cost | loss | invalidity | held-out cost | loss | invalidity | groups | nothing proposed | folds | paper: cost / loss / inv. |\n";
            text += "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
            for kind in METHOD_KINDS {
                let of_kind = rows.iter().filter(|row| row.method.kind == kind);
                for (number, row) in of_kind.enumerate() {
                    if number == 0 {
                        text += &format!("| *{}* |{}\n", kind.title(), " |".repeat(10));
                    }
                    text += &self.method(row);
                }
            }
            text += "\n";
        }
        text
    }

    fn method(&self, row: &Row) -> String {
        let unchanged =
            row.train.map_or("–".to_owned(), |train| format!("{:.0} %", 100.0 * train.unchanged.mean));
        format!(
            "| {} | {} | {} | {} | {unchanged} | {} | {} |\n",
            row.method.name,
            three(row.train, self.is_best(row, train, true)),
            three(row.held_out, self.is_best(row, held_out, true)),
            row.train.map_or("–".to_owned(), |train| format!("{:.1}", train.groups.mean)),
            folds(row),
            row.paper.map_or("–".to_owned(), |paper| paper.without_time()),
        )
    }

    /// Settings of sogar, each compared with the usual one.
    pub fn settings(&self) -> String {
        let timed = self.rows.iter().any(|row| row.seconds().is_some());
        let times = if timed { " s | search s |" } else { "" };
        let mut text = format!(
            "| data set | model | {} | cost | loss | invalidity | change | held-out invalidity | summaries |{times}",
            self.name.name()
        );
        text += " folds | paper: cost / loss / inv. |\n|---|---|---|--:|--:|--:|--:|--:|--:|";
        text += if timed { "--:|--:|--:|--:|\n" } else { "--:|--:|\n" };
        for row in self.rows.iter().filter(|row| row.folds() > 0) {
            let times = if timed {
                format!(" {} | {} |", seconds(row.seconds()), seconds(row.seconds_search()))
            } else {
                String::new()
            };
            text += &format!(
                "| {} | {} | {} | {} | {} | {} | {} |{times} {} | {} |\n",
                row.dataset,
                title(row.model),
                row.setting,
                three(row.train, false),
                self.change_of(row).map_or("–".to_owned(), |change| format!("{:+.1} %", 100.0 * change)),
                short(row.held_out.map(|means| means.invalidity), 3),
                row.points().map_or("–".to_owned(), |points| format!("{:.0}", points.mean)),
                folds(row),
                row.paper.map_or("–".to_owned(), |paper| paper.without_time()),
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

    /// How far summaries are from their train figures on held-out rows.
    pub fn distances(&self) -> String {
        let mut text = String::from(
            "| data set | model | summaries | mean distance over folds | sd over the front | train invalidity | held-out invalidity | folds | paper |\n\
             |---|---|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in self.rows.iter().filter(|row| row.folds() > 0) {
            let spread = row.over(|result| result.search.map(|search| search.sd_distance));
            text += &format!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                row.dataset,
                title(row.model),
                row.points().map_or("–".to_owned(), |points| format!("{:.0}", points.mean)),
                short(row.distance(), 3),
                spread.map_or("–".to_owned(), |spread| format!("{:.3}", spread.mean)),
                short(row.train.map(|means| means.invalidity), 3),
                short(row.held_out.map(|means| means.invalidity), 3),
                folds(row),
                row.paper.map_or("–", |paper| paper.invalidity),
            );
        }
        text
    }

    /// How many folds of every method there are.
    pub fn coverage(&self) -> String {
        let with_results =
            |name: &&str| self.rows.iter().any(|row| row.method.name == *name && row.folds() > 0);
        let methods: Vec<&str> = methods().iter().map(|method| method.name).filter(with_results).collect();
        let mut text = format!(
            "| folds with results | {} |\n|---|{}\n",
            methods.join(" | "),
            "--:|".repeat(methods.len())
        );
        for rows in self.rows.chunk_by(same_table) {
            let count = |method: &&str| {
                let row = rows.iter().find(|row| row.method.name == *method);
                row.map_or("".to_owned(), |row| if row.results.is_empty() { "–".into() } else { folds(row) })
            };
            let counts: Vec<String> = methods.iter().map(count).collect();
            text += &format!("| {} {} | {} |\n", rows[0].dataset, title(rows[0].model), counts.join(" | "));
        }
        text
    }

    /// Why there are dashes, and where a time limit ended methods.
    pub fn missing(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let cell = format!(
                "{} on {}, {}, protocol `{}`",
                row.method.name,
                row.dataset,
                title(row.model),
                row.protocol
            );
            let setting = if row.setting.is_empty() { String::new() } else { format!(", {}", row.setting) };
            if !row.reasons().is_empty() {
                text += &format!("- {cell}{setting}: {}\n", row.reasons().join("; "));
            }
            if row.cut() > 0 && self.name != Name::Timeouts {
                text += &format!(
                    "- {cell}{setting}: {} of {} folds reached the time limit\n",
                    row.cut(),
                    row.asked
                );
            }
        }
        if text.is_empty() { text } else { format!("\nNot complete:\n\n{text}") }
    }
}

/// A kind of classifier in print.
pub(super) fn title(model: &str) -> &str {
    KINDS.iter().find(|(name, _)| *name == model).map_or(model, |(_, title)| title)
}

pub(super) fn short(value: Option<MeanSd>, digits: usize) -> String {
    value.map_or("–".to_owned(), |value| value.text(digits))
}

/// Cost, loss and invalidity as three cells.
fn three(means: Option<Means>, best: bool) -> String {
    let Some(means) = means else { return "– | – | –".to_owned() };
    let invalidity = means.invalidity.text(3);
    let invalidity = if best { format!("**{invalidity}**") } else { invalidity };
    format!("{} | {} | {invalidity}", means.cost.text(3), means.loss.text(3))
}

fn seconds(value: Option<MeanSd>) -> String {
    value.map_or("–".to_owned(), |value| {
        if value.mean < 10.0 { format!("{:.2}", value.mean) } else { format!("{:.0}", value.mean) }
    })
}

/// Folds with a result, of those asked for; a star where a limit ended some.
fn folds(row: &Row) -> String {
    let cut = if row.cut() > 0 { "*" } else { "" };
    if row.folds() == row.asked {
        format!("{}{cut}", row.folds())
    } else {
        format!("{} of {}{cut}", row.folds(), row.asked)
    }
}
