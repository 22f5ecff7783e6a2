//! Targets of numbers (SPEC §4): *raise to at least v* and *bring down to at most v*.
//!
//! A shift moves everybody by the same amount; a target moves everybody to the same side of a value, at their own cost, and nobody
//! who is there already. For a group, "borrow at most 2,000" is the better sentence. Targets are off unless the configuration has
//! them: `targets = true` takes the lower ends of bins, `"quantiles"` the deciles of the reference table, a list its own values.

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_table::binarize::Binning;
use sogar_table::config::{Direction, FeatureConfig};
use sogar_table::feature::{Feature, Ordered};

use super::Change;

/// Values of a feature that are targets, ascending.
pub(super) fn values(
    feature: &Feature,
    settings: &FeatureConfig,
    bins: &Binning,
    distribution: &Ordered,
) -> Result<Vec<f64>> {
    let Some(targets) = &settings.targets else { return Ok(Vec::new()) };
    let texts: Vec<&str> = targets.iter().map(|text| text.trim()).collect();
    let mut values = match texts.as_slice() {
        ["true"] => (1..bins.count).map(|bin| bins.min + f64::from(bin) * bins.width).collect(),
        ["false"] => Vec::new(),
        ["quantiles"] => deciles(distribution),
        list => list.iter().map(|text| number(text, feature)).collect::<Result<Vec<f64>>>()?,
    };
    let [lo, hi] = settings.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    values.retain(|value| (lo..=hi).contains(value) && !feature.is_code(*value));
    values.sort_by(f64::total_cmp);
    values.dedup();
    Ok(values)
}

/// The changes to these values: ascending, `at least` before `at most`.
pub(super) fn changes(feature: &Feature, settings: &FeatureConfig, values: &[f64]) -> Vec<Change> {
    let codes = &feature.codes;
    let both = |&to: &f64| {
        let up = Change::AtLeast { to, codes: codes.clone() };
        let down = Change::AtMost { to, codes: codes.clone() };
        match settings.direction {
            Some(Direction::Increase) => vec![up],
            Some(Direction::Decrease) => vec![down],
            None => vec![up, down],
        }
    };
    values.iter().flat_map(both).collect()
}

/// The values that 10 %, 20 %, … 90 % of the people do not exceed.
fn deciles(distribution: &Ordered) -> Vec<f64> {
    let all: u64 = distribution.iter().map(|(_, people)| people).sum();
    let mut found = Vec::new();
    let mut so_far = 0u64;
    for (value, people) in distribution.iter() {
        let before = 10 * so_far;
        so_far += people;
        // A decile lies here if the share of people passes a tenth.
        if (1..10).any(|tenth| before < tenth * all && tenth * all <= 10 * so_far) {
            found.push(value);
        }
    }
    found
}

fn number(text: &str, feature: &Feature) -> Result<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| {
        Error::new(ErrorKind::Config, format!("targets: `{text}` is not a number"))
            .column(&feature.name)
            .help("use true, \"quantiles\" or a list of numbers, such as [1000, 2000]")
    })
}
