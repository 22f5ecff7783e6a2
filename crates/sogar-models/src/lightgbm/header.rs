//! What precedes the trees: version, columns, and the objective that turns sums into labels.

use super::damaged;
use super::fields::{Block, Field};
use crate::Decision;
use sogar_base::error::{Error, ErrorKind, Result};

/// The supported versions.
const VERSIONS: [&str; 2] = ["v3", "v4"];

/// Objectives whose prediction is the sum of the trees itself.
const IDENTITY_OBJECTIVES: [&str; 9] = [
    "regression",
    "regression_l1",
    "huber",
    "fair",
    "quantile",
    "mape",
    "lambdarank",
    "rank_xendcg",
    "custom",
];

/// The contents of a model column, as far as the file says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ColumnInfo {
    /// Numbers between these two.
    Numbers(f64, f64),
    /// Category codes up to this one.
    Codes(i64),
    /// The training did not use the column.
    Unused,
}

/// The header's contents.
pub(super) struct Header {
    pub(super) columns: Vec<String>,
    pub(super) infos: Vec<ColumnInfo>,
    pub(super) trees_per_round: usize,
    pub(super) average_output: bool,
    /// Name of the objective; empty for a custom one.
    pub(super) objective: String,
    /// What follows the objective's name.
    pub(super) parameters: Vec<String>,
    pub(super) tree_count: Option<usize>,
}

impl Header {
    pub(super) fn read(block: &Block<'_>) -> Result<Header> {
        check_version(block.field("version")?.value).map_err(|error| error.row(2))?;
        let columns = read_columns(block)?;
        let infos = match block.find("feature_infos") {
            Some(field) => read_infos(&field, columns.len())?,
            None => vec![ColumnInfo::Unused; columns.len()],
        };
        let classes: usize = block.field("num_class")?.number()?;
        let per_round = block.field("num_tree_per_iteration")?;
        let trees_per_round: usize = per_round.number()?;
        if trees_per_round == 0 || trees_per_round != classes {
            return Err(
                per_round.error(format!("{trees_per_round} trees a round do not fit {classes} classes"))
            );
        }
        let objective = block.find("objective").map(|field| field.value).unwrap_or_default();
        let mut words = objective.split_ascii_whitespace().map(str::to_string);
        Ok(Header {
            columns,
            infos,
            trees_per_round,
            average_output: block.find("average_output").is_some(),
            objective: words.next().unwrap_or_default(),
            parameters: words.collect(),
            tree_count: block
                .find("tree_sizes")
                .map(|field| field.value.split_ascii_whitespace().count())
                .filter(|&count| count > 0),
        })
    }

    /// How the outputs become a label, with the user's threshold in place of the library's.
    pub(super) fn decision(&self, threshold: Option<f64>) -> Result<Decision> {
        if threshold.is_some_and(|t| !t.is_finite()) {
            return Err(Error::new(ErrorKind::Usage, "the decision threshold is not a finite number"));
        }
        let outputs = self.trees_per_round;
        match self.objective.as_str() {
            "binary" | "cross_entropy" if outputs == 1 => {
                let threshold = threshold.unwrap_or(0.5);
                if !(0.0..=1.0).contains(&threshold) {
                    let message = format!("the decision threshold {threshold} is not a probability");
                    let help = "the model gives probabilities: choose a threshold between 0 and 1";
                    return Err(Error::new(ErrorKind::Usage, message).help(help));
                }
                let slope = if self.objective == "binary" { self.slope()? } else { 1.0 };
                Ok(Decision::Sigmoid { slope, threshold })
            }
            "multiclass" | "multiclassova" if threshold.is_some() => {
                let message = "the model has one output per class and takes the largest; it has no threshold";
                Err(Error::new(ErrorKind::Usage, message).help("leave the decision threshold out"))
            }
            "multiclass" | "multiclassova" => {
                if self
                    .parameter("num_class")
                    .and_then(|text| text.parse().ok())
                    .is_some_and(|k: usize| k != outputs)
                {
                    return Err(damaged("the objective's number of classes is not the number of outputs"));
                }
                match self.objective.as_str() {
                    "multiclass" => Ok(Decision::Softmax),
                    _ => Ok(Decision::OneVsAll { slope: self.slope()? }),
                }
            }
            objective => self.number_decision(objective, threshold),
        }
    }

    /// The decision of a model that predicts a number rather than a class.
    fn number_decision(&self, objective: &str, threshold: Option<f64>) -> Result<Decision> {
        let named = if objective.is_empty() {
            "an objective of the user's own".into()
        } else {
            format!("`{objective}`")
        };
        let known = objective.is_empty() || IDENTITY_OBJECTIVES.contains(&objective);
        // `regression sqrt` predicts the square of the sum.
        let identity = known && !self.parameters.iter().any(|parameter| parameter == "sqrt");
        if !identity || self.trees_per_round != 1 {
            let message = format!("the model was trained with {named}, which gives no labels");
            let help =
                "train a classifier: objective `binary`, `cross_entropy`, `multiclass` or `multiclassova`";
            return Err(Error::new(ErrorKind::Model, message).help(help));
        }
        let message = format!("the model was trained with {named}: it gives a number, not a class");
        let help = "say above which number a row has class 1: `threshold` under [model] in the configuration, \
                    or `--threshold`";
        match threshold {
            Some(threshold) => Ok(Decision::Raw { threshold }),
            None => Err(Error::new(ErrorKind::Model, message).help(help)),
        }
    }

    fn slope(&self) -> Result<f64> {
        let text = self.parameter("sigmoid").unwrap_or("1");
        match text.parse::<f64>() {
            Ok(slope) if slope.is_finite() && slope > 0.0 => Ok(slope),
            _ => Err(damaged("the objective's `sigmoid` parameter is not a positive number")),
        }
    }

    /// The value of a `name:value` parameter of the objective.
    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .filter_map(|word| word.split_once(':'))
            .find(|(key, _)| *key == name)
            .map(|(_, v)| v)
    }
}

/// Refuses other versions.
pub(super) fn check_version(version: &str) -> Result<()> {
    if VERSIONS.contains(&version) {
        return Ok(());
    }
    let message = format!("version `{version}` of LightGBM's format is not known");
    let help = "versions v3 and v4 (LightGBM 3 and 4) are read; load the model with such a release and \
                save it again with `booster.save_model(\"model.txt\")`";
    Err(Error::new(ErrorKind::Model, message).help(help))
}

/// The name that two columns share, if there is one.
pub(super) fn repeated(columns: &[String]) -> Option<&str> {
    let mut sorted: Vec<&String> = columns.iter().collect();
    sorted.sort();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].as_str())
}

fn read_columns(block: &Block<'_>) -> Result<Vec<String>> {
    let last: usize = block.field("max_feature_idx")?.number()?;
    let field = block.field("feature_names")?;
    let columns: Vec<String> = field.value.split_ascii_whitespace().map(str::to_string).collect();
    if last.checked_add(1) != Some(columns.len()) {
        let message = format!("{} names are there, but `max_feature_idx` is {last}", columns.len());
        return Err(field.error(message));
    }
    match repeated(&columns) {
        Some(name) => Err(field.error(format!("the name `{name}` stands twice"))),
        None => Ok(columns),
    }
}

fn read_infos(field: &Field<'_>, columns: usize) -> Result<Vec<ColumnInfo>> {
    let bad = |word: &str| field.error(format!("`{word}` describes no column"));
    let read = |word: &str| -> Result<ColumnInfo> {
        if word == "none" {
            return Ok(ColumnInfo::Unused);
        }
        if let Some(range) = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let (low, high) = range.split_once(':').ok_or_else(|| bad(word))?;
            let parse = |text: &str| text.parse::<f64>().map_err(|_| bad(word));
            return Ok(ColumnInfo::Numbers(parse(low)?, parse(high)?));
        }
        let mut largest = -1;
        for code in word.split(':') {
            largest = largest.max(code.parse::<i64>().map_err(|_| bad(word))?);
        }
        Ok(ColumnInfo::Codes(largest))
    };
    let infos = field.value.split_ascii_whitespace().map(read).collect::<Result<Vec<_>>>()?;
    if infos.len() == columns {
        Ok(infos)
    } else {
        Err(field.error(format!("{columns} columns are due, {} are there", infos.len())))
    }
}
