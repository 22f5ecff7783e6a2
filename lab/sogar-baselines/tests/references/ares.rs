use sogar::config::CostKind;
use sogar_baselines::{Ares, Score};

use crate::folds::{as_the_cet_authors, assert_near, folders, mean, open, scores};

/// The reference was fitted with the `cet` cost under the CET authors' constraints, and is a rule list for everybody.
fn near_its_reference(data: &str, reference: [f64; 4]) {
    let scores: Vec<(Score, Score)> = folders(data)
        .iter()
        .map(|folder| {
            let fold = open(folder, data, |config, _| {
                as_the_cet_authors(config, data);
                config.cost.kind = CostKind::Cet;
            });
            scores(&Ares::default(), &fold, 0)
        })
        .collect();
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
fn ares_is_near_its_reference() {
    near_its_reference("german", [0.358, 0.196, 0.381, 0.215]);
    near_its_reference("attrition", [0.578, 0.154, 0.577, 0.135]);
}
