//! The table of a bias audit of a hiring tool, as New York City's Local Law 144 and its rules (6 RCNY § 5-301) describe it.
//!
//! Per category: the people, the selection rate or the scoring rate, and the *impact ratio*: the category's rate over that of the
//! category with the highest rate. A scoring rate is the share with a score above the median of all people. People of an unknown
//! category are counted apart. Categories with less than 2 % of the people have a rate but no ratio, which the rules allow; they
//! are marked. Intervals are added here; the rules ask for none. A law asks for more than a table, such as an independent
//! auditor: this is no legal statement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::statistics::{CONFIDENCE, Interval, ratio_of_rates, wilson};
use sogar_front::describe::{group_title, grouping_title};
use sogar_front::summary::{FrontFile, as_count};
use sogar_prepare::model::Prediction;
use sogar_prepare::predict::predict_table;
use sogar_prepare::prepared::Prepared;
use sogar_table::feature::{FeatureTable, MISSING_LEVEL};
use sogar_table::table::Table;

use super::grouping::{Grouping, View};

/// Categories with a smaller share of the people get no ratio.
pub const SMALL_SHARE: f64 = 0.02;

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateKind {
    /// People with a desired outcome.
    Selection,
    /// People with a score above the median.
    Scoring,
}

/// The settings of a bias audit.
#[derive(Debug, Clone)]
pub struct BiasAuditRequest {
    /// Categories. Where two or more single columns are given, the combination of the first two is added.
    pub groups: Vec<Grouping>,
    /// What is counted.
    pub rate: RateKind,
    /// Where the data come from, in the user's words.
    pub source: Option<String>,
    /// Since when the tool has been in use, in the user's words.
    pub in_use_since: Option<String>,
}

/// A bias audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BiasAudit {
    /// What rates count.
    pub rate: RateKind,
    /// Where the data come from, as stated by the user.
    pub source: Option<String>,
    /// The table's file …
    pub table: String,
    /// … and its SHA-256.
    pub table_hash: String,
    /// The model's format and size …
    pub model: String,
    /// … and its SHA-256.
    pub model_hash: String,
    /// The date of this audit, in UTC.
    pub date: String,
    /// Since when the tool has been in use, as stated by the user.
    pub in_use_since: Option<String>,
    /// People in the table.
    #[serde(serialize_with = "as_count")]
    pub people: f64,
    /// One table of categories for each grouping.
    pub tables: Vec<CategoryTable>,
}

/// The categories of one grouping.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CategoryTable {
    /// What people are grouped by.
    pub name: String,
    /// The same for readers: features by their display names.
    #[serde(default)]
    pub shown: String,
    /// The categories.
    pub categories: Vec<Category>,
    /// People of an unknown category, who are in no category above.
    #[serde(serialize_with = "as_count")]
    pub unknown: f64,
}

/// One category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Category {
    /// Its name.
    pub category: String,
    /// The same for readers: features of conditions by their display names.
    #[serde(default)]
    pub shown: String,
    /// Its people.
    #[serde(serialize_with = "as_count")]
    pub people: f64,
    /// Those of them who are selected, or have a score above the median.
    #[serde(serialize_with = "as_count")]
    pub selected: f64,
    /// Their share.
    pub rate: f64,
    /// Its 95 % interval (Wilson).
    pub rate_interval: Interval,
    /// The rate over the highest rate of the categories that are not small; `None` for small categories, or if that rate is 0.
    pub impact_ratio: Option<f64>,
    /// Its 95 % interval (Koopman).
    pub impact_ratio_interval: Option<Interval>,
    /// Whether it has less than 2 % of the people.
    pub small: bool,
}

/// The bias audit of a model on a table; `features` are its rows as the model's features.
pub fn bias_audit(
    front: &FrontFile,
    prepared: &Prepared,
    reference: &Table,
    (table, features): (&Table, &FeatureTable),
    request: &BiasAuditRequest,
) -> Result<BiasAudit> {
    let learned = View { columns: reference, features: prepared.table() };
    let view = View { columns: table, features };
    let predictions = predict_table(&*prepared.model().predictor, prepared.encoder(), features)?;
    let weight = |row: usize| f64::from(features.weight(row)) / features.weight_unit() as f64;
    let selected = selected(prepared, &predictions, request.rate, weight)?;
    let people: f64 = (0..features.rows).map(weight).sum();
    let mut tables = Vec::new();
    for grouping in with_combination(&request.groups)? {
        let groups = grouping.learn(learned, prepared.config())?.apply(view)?;
        let mut counts = vec![(0.0, 0.0); groups.names.len()];
        for (row, &group) in groups.of_row.iter().enumerate() {
            let count = &mut counts[group as usize];
            count.1 += weight(row);
            count.0 += if selected[row] { weight(row) } else { 0.0 };
        }
        let mut table = categories(groups.name, &groups.names, &counts, people);
        table.shown = grouping_title(front, &table.name);
        table.categories.iter_mut().for_each(|found| found.shown = group_title(front, &found.category));
        tables.push(table);
    }
    Ok(BiasAudit {
        rate: request.rate,
        source: request.source.clone(),
        table: table.path.display().to_string(),
        table_hash: table.hash.clone(),
        model: format!("{}, {}", front.model.format, front.model.description),
        model_hash: front.model.hash.clone(),
        date: sogar_base::clock::utc_now().chars().take(10).collect(),
        in_use_since: request.in_use_since.clone(),
        people,
        tables,
    })
}

/// The groupings, and the combination of the first two single columns.
fn with_combination(groups: &[Grouping]) -> Result<Vec<Grouping>> {
    if groups.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "a bias audit needs categories")
            .help("for example --group sex --group race"));
    }
    let mut all = groups.to_vec();
    let single: Vec<&str> =
        groups.iter().map(Grouping::text).filter(|text| !text.contains(['×', '*', '<', '>', '='])).collect();
    if let [first, second, ..] = single[..] {
        let both: Grouping = format!("{first}×{second}").parse()?;
        if !all.iter().any(|known| known.is(both.text())) {
            all.push(both);
        }
    }
    Ok(all)
}

/// Who is selected, or scores above the median.
fn selected(
    prepared: &Prepared,
    predictions: &[Prediction],
    rate: RateKind,
    weight: impl Fn(usize) -> f64,
) -> Result<Vec<bool>> {
    let classes = prepared.classes();
    if rate == RateKind::Selection {
        return Ok(predictions.iter().map(|prediction| classes.is_desired(prediction)).collect());
    }
    let direction = match classes.desired[..] {
        [false, true] => 1.0,
        [true, false] => -1.0,
        _ => {
            return Err(Error::new(
                ErrorKind::Usage,
                "scoring rates need a model with one score for two classes",
            )
            .help("use the selection rate"));
        }
    };
    let scores: Vec<f64> = predictions.iter().map(|prediction| direction * prediction.score).collect();
    let median = weighted_median(&scores, weight);
    Ok(scores.iter().map(|&score| score > median).collect())
}

/// The middle value by weight; the mean of two where the middle is between them.
fn weighted_median(values: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let half = order.iter().map(|&row| weight(row)).sum::<f64>() / 2.0;
    let mut up_to = 0.0;
    for (position, &row) in order.iter().enumerate() {
        up_to += weight(row);
        if up_to > half {
            return values[row];
        }
        if up_to == half {
            let next = order.get(position + 1).map_or(values[row], |&next| values[next]);
            return (values[row] + next) / 2.0;
        }
    }
    f64::NAN
}

fn categories(name: String, names: &[String], counts: &[(f64, f64)], all: f64) -> CategoryTable {
    let is_unknown = |name: &str| name.split(" × ").any(|part| part == MISSING_LEVEL);
    let known: Vec<(&String, (f64, f64))> = names
        .iter()
        .zip(counts.iter().copied())
        .filter(|(name, (_, people))| !is_unknown(name) && *people > 0.0)
        .collect();
    // Not `sum`: of nothing it is −0.
    let unknown = names
        .iter()
        .zip(counts)
        .filter(|(name, _)| is_unknown(name))
        .fold(0.0, |sum, (_, count)| sum + count.1);
    let is_small = |people: f64| people < SMALL_SHARE * all;
    let best = known
        .iter()
        .map(|(_, count)| *count)
        .filter(|count| !is_small(count.1))
        .max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)))
        .filter(|best| best.0 > 0.0);
    let categories = known.iter().map(|&(name, (some, people))| {
        let compared = best.filter(|_| !is_small(people));
        Category {
            category: name.clone(),
            shown: String::new(),
            people,
            selected: some,
            rate: some / people,
            rate_interval: wilson(some, people, CONFIDENCE),
            impact_ratio: compared.map(|best| some / people / (best.0 / best.1)),
            // The best category is 1 by definition.
            impact_ratio_interval: compared
                .filter(|best| *best != (some, people))
                .map(|best| ratio_of_rates((some, people), best, CONFIDENCE)),
            small: is_small(people),
        }
    });
    CategoryTable { name, shown: String::new(), categories: categories.collect(), unknown }
}

impl BiasAudit {
    /// The audit as Markdown, ready to be published with its source and dates.
    pub fn markdown(&self) -> String {
        let rate = match self.rate {
            RateKind::Selection => "Selection rate",
            RateKind::Scoring => "Scoring rate",
        };
        let stated = |text: &Option<String>| text.clone().unwrap_or_else(|| "not stated".to_owned());
        let mut text = format!(
            "# Bias audit\n\n| | |\n|---|---|\n| Date of the audit | {} |\n| Tool in use since | {} |\n| Source of the data | {} |\n\
             | Table | {} (SHA-256 {}) |\n| Model | {} (SHA-256 {}) |\n| People | {} |\n",
            self.date,
            cell(&stated(&self.in_use_since)),
            cell(&stated(&self.source)),
            cell(&self.table),
            self.table_hash,
            cell(&self.model),
            self.model_hash,
            sogar_front::describe::grouped(self.people),
        );
        for table in &self.tables {
            let counted =
                if self.rate == RateKind::Selection { "Selected" } else { "Above the median score" };
            text += &format!(
                "\n## {}\n\n| Category | People | {counted} | {rate} | 95 % interval | Impact ratio | 95 % interval |\n\
                 |---|---:|---:|---:|---|---:|---|\n",
                cell(&table.shown)
            );
            for category in &table.categories {
                let interval = |interval: Interval| match interval.high.is_finite() {
                    true => format!("{:.3}–{:.3}", interval.low, interval.high),
                    false => format!("{:.3} or more", interval.low),
                };
                let ratio = match category.impact_ratio {
                    Some(ratio) => format!("{ratio:.3}"),
                    None if category.small => "– (small)".to_owned(),
                    None => "–".to_owned(),
                };
                text += &format!(
                    "| {} | {} | {} | {:.3} | {} | {ratio} | {} |\n",
                    cell(&category.shown),
                    sogar_front::describe::grouped(category.people),
                    sogar_front::describe::grouped(category.selected),
                    category.rate,
                    interval(category.rate_interval),
                    category.impact_ratio_interval.map_or("–".to_owned(), interval),
                );
            }
            text += &format!(
                "\n{} people are of an unknown category and in none of the above.\n",
                sogar_front::describe::grouped(table.unknown)
            );
        }
        text += "\nThe impact ratio is a category's rate over the highest rate. Categories marked (small) have less than 2 % of the people: \
                 they have no ratio, and none is compared with them. Intervals are 95 % (Wilson for rates, Koopman for ratios). This table \
                 alone is no statement of compliance.\n";
        text
    }
}

/// Text in a cell of a Markdown table.
fn cell(text: &str) -> String {
    sogar_base::markup::visible(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> CategoryTable {
        let names = ["Female", "Male", "Other", MISSING_LEVEL].map(String::from);
        let counts = [(250.0, 500.0), (320.0, 480.0), (9.0, 10.0), (1.0, 10.0)];
        categories("sex".into(), &names, &counts, 1000.0)
    }

    #[test]
    fn ratios_are_to_the_best_category_that_is_not_small() {
        let table = example();
        let [women, men, others] = &table.categories[..] else { panic!("{table:?}") };
        assert_eq!((women.rate, men.impact_ratio, others.impact_ratio), (0.5, Some(1.0), None));
        assert!((women.impact_ratio.unwrap() - 0.75).abs() < 1e-12);
        assert!(others.small && others.rate == 0.9 && !women.small);
        assert_eq!(table.unknown, 10.0);
        assert!(women.impact_ratio_interval.is_some() && men.impact_ratio_interval.is_none());
    }

    #[test]
    fn where_everybody_has_a_category_nobody_is_unknown() {
        let table = categories("sex".into(), &["f".into(), "m".into()], &[(1.0, 2.0), (1.0, 3.0)], 5.0);
        assert!(table.unknown == 0.0 && table.unknown.is_sign_positive());
    }

    #[test]
    fn the_combination_of_two_columns_is_added_once() {
        let groups =
            |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Grouping>>();
        let names = |texts: &[&str]| {
            with_combination(&groups(texts)).unwrap().iter().map(|g| g.text().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&["sex", "race"]), ["sex", "race", "sex×race"]);
        assert_eq!(names(&["sex", "race", "sex*race"]), ["sex", "race", "sex*race"]);
        assert_eq!(names(&["sex", "age<=25"]), ["sex", "age<=25"]);
        assert!(with_combination(&[]).is_err());
    }

    #[test]
    fn the_median_counts_weights_and_lies_between_two_in_the_middle() {
        assert_eq!(weighted_median(&[3.0, 1.0, 2.0], |_| 1.0), 2.0);
        assert_eq!(weighted_median(&[4.0, 1.0, 2.0, 3.0], |_| 1.0), 2.5);
        assert_eq!(weighted_median(&[1.0, 2.0], |row| [3.0, 1.0][row]), 1.0);
    }
}
