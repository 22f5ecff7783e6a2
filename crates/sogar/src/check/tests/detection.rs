//! How often draws find that a point is missing, measured: a front that can be proved, one of its points dropped, and nothing but
//! draws to find it. `docs/CHECK.md` has the figures.

use std::path::Path;

use sogar_solver::CancelToken;

use super::fixture;
use crate::check::completeness::{none_better, none_missing};
use crate::check::plain::{LeafFronts, Plain};
use crate::check::sample::{Draw, sub_searches};
use crate::check::weights::{Scalarisations, Weight};
use crate::config::Config;
use crate::model::Source;
use crate::pipeline::Prepared;
use crate::table::Table;

/// Points that are dropped, one at a time.
const TRIALS: usize = 60;

#[test]
#[ignore = "takes minutes; it measures and tests nothing"]
fn detection_rate_of_draws() {
    let german = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/german");
    let problems = [
        ("fixture", fixture("people.csv"), fixture("model.txt"), fixture("sogar.toml"), (2, 3, 8)),
        (
            "german",
            german.join("german.csv"),
            german.join("model.txt"),
            german.join("sogar.toml"),
            (1, 3, 20),
        ),
    ];
    for (name, table, model, config, (max_edits, max_depth, min_leaf)) in problems {
        let mut config = Config::parse(&std::fs::read_to_string(config).unwrap(), Path::new("")).unwrap();
        config.limits.max_edits = Some(max_edits);
        config.limits.max_depth = Some(max_depth);
        config.limits.min_leaf = Some(min_leaf);
        let table = Table::read(&table, &config.read_options().unwrap()).unwrap();
        let model = Source::File(model).open(&table, &config).unwrap();
        let prepared = Prepared::new(config, Path::new(""), &table, model, None).unwrap();
        let front = prepared.solve(&(), &CancelToken::new()).unwrap();
        let made = prepared.problem(&(), &CancelToken::new()).unwrap();
        let plain = Plain::new(&made.problem, prepared.edits.len(), prepared.cost.combine(), None);
        let known = LeafFronts::new();
        let depth = max_depth as usize;
        let mut draw = Draw::new(17, 0);
        let (mut by_draws, mut by_weights, mut by_either) = (0, 0, 0);
        for trial in 0..TRIALS as u64 {
            let mut lacking = front.clone();
            lacking.points.remove(1 + draw.below(front.points.len() - 1));
            let fronts = sub_searches(&lacking, &prepared, &plain, &known, trial);
            let drawn = fronts.iter().any(|found| none_missing(lacking.claim(), found, depth).is_err());
            // All trees, which a check reaches only if the time suffices.
            let weights = Weight::drawn(trial, front.cost.unit);
            let mut search = Scalarisations::new(&plain, weights.clone(), &known, trial, usize::MAX);
            let reached = search.search(1, |_, _| ()).unwrap();
            let weighed = none_better(lacking.claim(), &weights, &reached, true).is_err();
            by_draws += usize::from(drawn);
            by_weights += usize::from(weighed);
            by_either += usize::from(drawn || weighed);
        }
        println!(
            "{name}: {} points, {} splits, {} actions, {} rows, depth {depth}: of {TRIALS} dropped points {by_draws} were found \
             by draws, {by_weights} by scalarisations over all trees, {by_either} by either",
            front.points.len(),
            made.problem.splits(),
            made.problem.actions(),
            made.problem.rows(),
        );
    }
}
