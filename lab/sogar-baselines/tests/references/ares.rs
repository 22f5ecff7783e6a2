use sogar::config::CostKind;
use sogar_baselines::{Ares, ObjectiveWeights, Score};

use crate::folds::{as_the_cet_authors, assert_near, folders, mean, open, scores};

/// A rule list for everybody, fitted with the `cet` cost under the CET authors' constraints.
fn of_all_folds(data: &str, method: &Ares) -> Vec<(Score, Score)> {
    folders(data)
        .iter()
        .map(|folder| {
            let fold = open(folder, data, |config, _| {
                as_the_cet_authors(config, data);
                config.cost.kind = CostKind::Cet;
            });
            scores(method, &fold, 0)
        })
        .collect()
}

/// The reference is our own prototype of the same description: agreement shows that two programs do the same, not that either
/// does what the authors' program does.
fn near_our_prototype(data: &str, reference: [f64; 4]) {
    let scores = of_all_folds(data, &Ares::default());
    if scores.is_empty() {
        return;
    }
    for (own, other) in &scores {
        assert_eq!((own.violations, other.violations, own.coverage), (0, 0, 1.0));
    }
    // Nothing is drawn by lot: ten folds are the reference's.
    let tolerance = if scores.len() == 10 { [0.005, 0.01] } else { [0.15, 0.3] };
    assert_near(&format!("AReS on {data}"), mean(&scores), reference, tolerance);
}

#[test]
#[ignore = "needs the models of the published protocol: make references-test"]
fn ares_is_near_our_prototype() {
    near_our_prototype("german", [0.358, 0.196, 0.381, 0.215]);
    near_our_prototype("attrition", [0.578, 0.154, 0.577, 0.135]);
}

/// Mean cost and loss with the weights of the CET authors' `exp.py`.
fn with_the_authors_weights(data: &str, (incorrectness, cost): (f64, f64)) -> Option<(f64, f64)> {
    let weights = ObjectiveWeights::Fixed { incorrectness, coverage: 1.0, cost };
    let scores = of_all_folds(data, &Ares { weights, ..Ares::default() });
    (!scores.is_empty()).then(|| {
        let found = mean(&scores);
        println!("AReS with fixed weights on {data}: {:.3}/{:.3}", found.cost, found.loss);
        (found.cost, found.loss)
    })
}

/// The CET authors published 0.452 ± 0.090 and 0.232 ± 0.055. Defects of their program were not copied (values in no interval, a
/// default rule that sets numbers to 0), so ours may be better, and must not be worse.
#[test]
#[ignore = "needs the models of the published protocol: make references-test"]
fn ares_with_fixed_weights_is_no_worse_than_its_authors_published_on_german() {
    let Some((cost, loss)) = with_the_authors_weights("german", (10.0, 10.0)) else { return };
    assert!(cost + loss <= 0.452 + 0.232 + 0.15, "{cost} + {loss}");
}

/// The CET authors published 0.436 ± 0.064 and 0.435 ± 0.072. Our loss is near theirs; our cost is higher (0.71 on folds 1 and 2),
/// which their weights leave almost free: a rule's mean cost counts a hundredth of one person whom it fails. docs/EXPERIMENTS.md
/// lists this difference as unexplained.
#[test]
#[ignore = "needs the models of the published protocol: make references-test"]
fn ares_with_fixed_weights_loses_as_many_as_its_authors_published_on_attrition() {
    let Some((cost, loss)) = with_the_authors_weights("attrition", (1.0, 0.01)) else { return };
    assert!((loss - 0.435).abs() <= 0.15, "{cost} + {loss}");
}
