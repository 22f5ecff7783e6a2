//! Protected features that trees can still see: splits on other features that tell who is who.
//!
//! No tree splits on a protected feature, but a split on another one may divide people in nearly the same way, as `relationship = Husband` does
//! for sex. For every protected feature, its own would-be tests are compared with the allowed splits, on the affected people, by their
//! correlation (φ of a 2 × 2 table).

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_solver::RowSet;
use sogar_table::binarize::{Split, all_splits, useful_splits};
use sogar_table::config::Config;
use sogar_table::feature::{Distributions, FeatureTable, Reference};

/// The correlation from which a split counts as a stand-in.
const CLEAR: f64 = 0.5;
/// Splits that are named for a protected feature.
const NAMED: usize = 3;

/// A split that tells a protected feature apart.
struct Proxy {
    split: usize,
    test: Split,
    correlation: f64,
    /// Share of those who meet the protected test that pass the split, and of the others.
    shares: [f64; 2],
}

/// The protected features, by position. One without two values cannot be audited.
fn protected(reference: &Reference, config: &Config) -> Result<Vec<usize>> {
    let is_protected =
        |name: &str| config.features.get(name).is_some_and(|settings| settings.protected == Some(true));
    let mut found = Vec::new();
    for (feature, description) in reference.features.iter().enumerate() {
        if !is_protected(&description.name) {
            continue;
        }
        if reference.distribution(feature).iter().count() < 2 {
            let message = format!(
                "the protected feature `{}` has the same value in every row: there are no groups to compare",
                description.name
            );
            return Err(Error::new(ErrorKind::Config, message)
                .help("take it out of the protected features, or give a table in which it varies"));
        }
        found.push(feature);
    }
    Ok(found)
}

/// A notice for every protected feature that allowed splits predict well. `rows` are the affected rows in the order of `passing`.
pub(super) fn notices(
    reference: &Reference,
    config: &Config,
    table: &FeatureTable,
    rows: &[usize],
    splits: &[Split],
    passing: &[RowSet],
) -> Result<Vec<String>> {
    let weigh = |set: &RowSet| match &table.weights {
        None => set.count() as f64,
        Some(weights) => set.iter().map(|at| f64::from(weights.of_row(rows[at]))).sum(),
    };
    let all = weigh(&RowSet::full(rows.len()));
    let mut notices = Vec::new();
    for feature in protected(reference, config)? {
        let name = &reference.features[feature].name;
        let mut open = config.clone();
        if let Some(settings) = open.features.get_mut(name) {
            (settings.protected, settings.split) = (None, None);
        }
        let own: Vec<Split> =
            all_splits(reference, &open)?.into_iter().filter(|split| split.feature == feature).collect();
        let mut proxies: Vec<Proxy> = Vec::new();
        for (test, members) in useful_splits(&own, table, rows) {
            let size = weigh(&members);
            for (split, passing) in passing.iter().enumerate() {
                let (both, pass) = (weigh(&members.and(passing)), weigh(passing));
                let spread = (size * (all - size) * pass * (all - pass)).sqrt();
                let correlation = (both * all - size * pass) / spread;
                if correlation.abs() >= CLEAR {
                    let shares = [both / size, (pass - both) / (all - size)];
                    proxies.push(Proxy { split, test, correlation, shares });
                }
            }
        }
        // The strongest of each other feature.
        proxies.sort_by(|a, b| b.correlation.abs().total_cmp(&a.correlation.abs()));
        let mut seen = std::collections::BTreeSet::new();
        proxies.retain(|proxy| seen.insert(splits[proxy.split].feature));
        let named: Vec<String> = proxies
            .iter()
            .take(NAMED)
            .map(|Proxy { split, test, correlation, shares }| {
                format!(
                    "`{}` ({:.0} % of those with `{}` pass it, {:.0} % of the others; correlation {:.2})",
                    splits[*split].text(&table.features),
                    100.0 * shares[0],
                    test.text(&table.features),
                    100.0 * shares[1],
                    correlation.abs()
                )
            })
            .collect();
        if !named.is_empty() {
            let more = proxies.len().saturating_sub(NAMED);
            let more =
                if more > 0 { format!(", and splits on {more} other features") } else { String::new() };
            notices.push(format!(
                "`{name}` is protected, but trees may tell it from {}{more}; `split = false` in a feature's settings stops that",
                named.join(", ")
            ));
        }
    }
    Ok(notices)
}
