//! Decides which output is the model's answer, and how it becomes a label.
//!
//! Without a threshold from the user, the file's label output decides, otherwise the usual reading of its scores: above 0.5 for
//! one probability, the largest of several. A threshold applies to the probability of class 1.

use std::rc::Rc;
use std::sync::Arc;

use super::budget::Budget;
use super::chain::Chain;
use super::damaged;
use super::ensembles::{Answer, Trees};
use super::value::{LabelRule, Labels, ScorePart, Scores, Source, Squash, Value};
use crate::network::{DenseNetwork, NetworkDecision, NetworkModel};
use crate::{Decision, ModelInfo, Predictor, TreeEnsemble, TreeModel};
use sogar_base::error::{Error, ErrorKind, Result};

/// The meaning of the outputs.
pub(super) struct Chosen {
    scores: Scores,
    rule: Option<LabelRule>,
}

/// Chooses among the graph's outputs.
pub(super) fn choose(outputs: &[Value]) -> Result<Chosen> {
    let labels = outputs.iter().find_map(|output| match output {
        Value::Labels(Labels { scores, rule }) => Some(Chosen { scores: scores.clone(), rule: Some(*rule) }),
        _ => None,
    });
    let scores = outputs.iter().find_map(|output| match output {
        Value::Scores(scores) if scores.part != ScorePart::Complement => {
            Some(Chosen { scores: scores.clone(), rule: None })
        }
        _ => None,
    });
    match (labels, scores) {
        (Some(mut labels), scores) => {
            // Either output may have the names.
            if labels.scores.classes.is_none() {
                labels.scores.classes = scores.and_then(|scores| scores.scores.classes);
            }
            Ok(labels)
        }
        (None, Some(scores)) => Ok(scores),
        (None, None) => {
            let unknown = outputs.iter().find_map(|output| match output {
                Value::Unknown(error) => Some(Error::clone(error)),
                _ => None,
            });
            Err(unknown.unwrap_or_else(|| {
                Error::new(ErrorKind::Model, "no output of the graph is a label, a probability or a score")
                    .help("export the classifier itself")
            }))
        }
    }
}

impl Chosen {
    /// The names of the classes, if they are more than `0`, `1`, ….
    fn class_names(&self, count: usize) -> Result<Vec<String>> {
        let names = self.scores.classes.as_deref().cloned().unwrap_or_default();
        if !names.is_empty() && names.len() != count {
            return Err(damaged(format!("the model names {} classes, but has {count}", names.len())));
        }
        let plain = names.iter().enumerate().all(|(index, name)| *name == index.to_string());
        Ok(if plain { Vec::new() } else { names })
    }

    /// The predictor over these columns.
    pub fn predictor(
        self,
        columns: Vec<String>,
        threshold: Option<f64>,
        budget: &mut Budget,
    ) -> Result<Arc<dyn Predictor>> {
        if threshold.is_some_and(|threshold| !threshold.is_finite()) {
            return Err(Error::new(ErrorKind::Usage, "the decision threshold is not a finite number"));
        }
        match &self.scores.source {
            Source::Network(chain) => self.network(chain, columns, threshold, budget),
            Source::Trees(trees) => self.trees(trees, columns, threshold),
        }
    }

    fn network(
        &self,
        chain: &Rc<Chain>,
        columns: Vec<String>,
        threshold: Option<f64>,
        budget: &mut Budget,
    ) -> Result<Arc<dyn Predictor>> {
        let (scaling, layers, sigmoid) = chain.finish(columns.len(), budget)?;
        let outputs = layers.last().map_or(0, |layer| layer.outputs);
        let stated = match self.rule {
            Some(LabelRule::Above(bound)) => Some(bound),
            _ => None,
        };
        let decision = match outputs {
            1 if sigmoid => {
                NetworkDecision::Sigmoid { threshold: probability(threshold.or(stated).unwrap_or(0.5))? }
            }
            1 => NetworkDecision::Raw { threshold: threshold.or(stated).ok_or_else(needs_threshold)? },
            _ if sigmoid => return Err(one_versus_all()),
            2 if self.scores.part == ScorePart::Second => {
                NetworkDecision::SoftmaxAbove { threshold: probability(threshold.or(stated).unwrap_or(0.5))? }
            }
            2 if threshold.is_some() => {
                NetworkDecision::SoftmaxAbove { threshold: probability(threshold.unwrap_or(0.5))? }
            }
            _ if threshold.is_some() => return Err(no_threshold()),
            _ => NetworkDecision::Softmax,
        };
        let classes = outputs.max(2);
        let description = {
            let widths: Vec<String> = layers.iter().map(|layer| layer.outputs.to_string()).collect();
            let parameters: usize = layers.iter().map(|layer| layer.weights.len() + layer.bias.len()).sum();
            let plural = if layers.len() == 1 { "layer" } else { "layers" };
            format!("{} dense {plural} ({}), {parameters} parameters", layers.len(), widths.join(", "))
        };
        let network = DenseNetwork { inputs: columns.len(), scaling, layers, decision };
        let threshold = match decision {
            NetworkDecision::Sigmoid { threshold }
            | NetworkDecision::Raw { threshold }
            | NetworkDecision::SoftmaxAbove { threshold } => Some(threshold),
            NetworkDecision::Softmax => None,
        };
        let info = info(columns, description, classes, self.class_names(classes)?, threshold);
        Ok(Arc::new(NetworkModel::new(info, network)?))
    }

    fn trees(
        &self,
        trees: &Trees,
        columns: Vec<String>,
        threshold: Option<f64>,
    ) -> Result<Arc<dyn Predictor>> {
        let mut of_output = trees.of_output.clone();
        let mut base = trees.base.clone();
        let decision = match self.tree_decision(trees, threshold)? {
            (decision, false) => decision,
            (decision, true) => {
                // Only the score of class 1 counts.
                of_output.truncate(2);
                of_output.drain(..1);
                base.truncate(2);
                base.drain(..1);
                decision
            }
        };
        let outputs = of_output.len();
        let rounds = of_output.first().map_or(0, Vec::len);
        let mut lists: Vec<_> = of_output.into_iter().map(Vec::into_iter).collect();
        let mut list = Vec::with_capacity(outputs * rounds);
        for _ in 0..rounds {
            list.extend(lists.iter_mut().filter_map(Iterator::next));
        }
        let ensemble = TreeEnsemble {
            trees: list,
            outputs,
            base,
            base_last: true,
            divisor: trees.divisor,
            arithmetic: trees.arithmetic,
            decision,
        };
        let classes = trees.outputs().max(2);
        let plural =
            |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let description = format!(
            "{}, {}",
            plural(ensemble.trees.iter().filter(|tree| !tree.nodes.is_empty()).count(), "tree", "trees"),
            plural(ensemble.leaf_count(), "leaf", "leaves")
        );
        let info = info(columns, description, classes, self.class_names(classes)?, decision.threshold());
        Ok(Arc::new(TreeModel { info, ensemble }))
    }

    /// The decision, and whether it uses only the second of two outputs.
    fn tree_decision(&self, trees: &Trees, threshold: Option<f64>) -> Result<(Decision, bool)> {
        let stated = match self.rule {
            Some(LabelRule::Above(bound)) => Some(bound),
            _ => None,
        };
        let raw = |threshold| Decision::Raw { threshold };
        let own = |decision| Ok((decision, false));
        let second = self.scores.part == ScorePart::Second;
        match (trees.answer, self.scores.squash) {
            (_, Squash::Sigmoid) if trees.outputs() == 1 && trees.answer == Answer::Numbers => {
                let threshold = probability(threshold.or(stated).unwrap_or(0.5))?;
                own(Decision::Sigmoid { slope: 1.0, threshold })
            }
            (Answer::Numbers, Squash::None) if trees.outputs() == 1 => {
                own(raw(threshold.or(stated).ok_or_else(needs_threshold)?))
            }
            (Answer::Numbers | Answer::Classes, Squash::None | Squash::Softmax) => {
                let softmax_scores = trees.softmax || self.scores.squash == Squash::Softmax;
                match threshold.or(stated) {
                    None if second => Ok((raw(0.5), !softmax_scores)),
                    None => own(Decision::Largest { softmax_scores }),
                    Some(threshold) if trees.outputs() == 2 && !softmax_scores => Ok((raw(threshold), true)),
                    Some(_) => Err(no_threshold()),
                }
            }
            (Answer::Probability, Squash::None) => own(raw(threshold.or(stated).unwrap_or(0.5))),
            (Answer::Margin { logistic: true }, Squash::None) => own(match threshold.or(stated) {
                Some(threshold) => Decision::Sigmoid { slope: 1.0, threshold: probability(threshold)? },
                None => Decision::Margin { above: 0.0, slope: 1.0 },
            }),
            (Answer::Margin { logistic: false }, Squash::None) => {
                own(raw(threshold.or(stated).unwrap_or(0.0)))
            }
            _ => Err(Error::new(ErrorKind::Model, "the scores of the trees are squashed twice")),
        }
    }
}

fn info(
    columns: Vec<String>,
    description: String,
    classes: usize,
    class_names: Vec<String>,
    threshold: Option<f64>,
) -> ModelInfo {
    ModelInfo {
        format: "ONNX".into(),
        description,
        categories: vec![Vec::new(); columns.len()],
        columns,
        unplaced_categories: Vec::new(),
        classes: u32::try_from(classes).unwrap_or(u32::MAX),
        class_names,
        threshold,
    }
}

pub(super) fn probability(threshold: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&threshold) {
        return Ok(threshold);
    }
    let message = format!("the decision threshold {threshold} is not a probability");
    let help = "the model gives probabilities: choose a threshold between 0 and 1";
    Err(Error::new(ErrorKind::Usage, message).help(help))
}

pub(super) fn needs_threshold() -> Error {
    Error::new(ErrorKind::Model, "the model gives one number that is not known to be a probability").help(
        "say from where on it means class 1, e.g. `--threshold 0` for logits or `--threshold 0.5` for probabilities",
    )
}

pub(super) fn no_threshold() -> Error {
    Error::new(
        ErrorKind::Usage,
        "the model has one output per class and takes the largest; it has no threshold",
    )
    .help("leave the decision threshold out")
}

fn one_versus_all() -> Error {
    Error::new(
        ErrorKind::Model,
        "every output of the network is a probability of its own (one versus the rest)",
    )
    .help("networks with one output, or with a softmax over the classes, are read")
}
