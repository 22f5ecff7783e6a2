//! The default number of actions: a table of many numbers gets fewer sizes of shifts, then fewer edits per action.
//!
//! The rule depends only on the table, its bins and the settings of how features are edited (`steps`, `edits`, `kind`). It does
//! not depend on the model, or on what is immutable, protected or limited to a direction. Two runs that differ only in these have
//! the same shifts, so their fronts can be compared. The configuration of the result records what was resolved.

use super::amounts::amounts;
use super::target_count;
use sogar_base::error::Result;
use sogar_base::text::grouped;
use sogar_table::binarize::binning;
use sogar_table::config::{Config, EditStyle};
use sogar_table::feature::{Distributions, Kind};

/// Default number of sizes of shifts of a number.
pub const STEPS: u32 = 5;
/// Default number of edits per action.
pub(crate) const MAX_EDITS: u32 = 3;
/// Default limit of actions.
pub(crate) const BUDGET: u64 = 200_000;

/// The sizes of shifts in bins, ascending: up to half of the range, in this number of steps.
pub(crate) fn step_sizes(bins: u32, steps: u32) -> Vec<u32> {
    let size = |i: u64| (i * u64::from(bins)).div_ceil(2 * u64::from(steps.max(1)));
    let mut sizes: Vec<u32> = (1..=u64::from(steps)).map(|i| size(i) as u32).collect();
    sizes.dedup();
    sizes
}

/// How many edits a feature may have.
enum Edits {
    /// A fixed number, for any number of steps.
    Fixed(u64),
    /// Two for each size of a shift; the numbers of sizes for one step, two steps, ….
    Shifts(Vec<u64>),
    /// Some, and this many more.
    And(Box<Edits>, u64),
}

impl Edits {
    fn count(&self, steps: u32) -> u64 {
        match self {
            Edits::Fixed(edits) => *edits,
            Edits::Shifts(sizes) => {
                2 * sizes.get(steps.saturating_sub(1) as usize).or(sizes.last()).copied().unwrap_or(0)
            }
            Edits::And(edits, more) => edits.count(steps) + more,
        }
    }
}

/// Chooses the number of sizes of shifts and of edits per action within the budget: the most edits (at most three) that fit with
/// one size of shifts, then the most sizes (at most five) that fit. Keeps what the configuration sets.
///
/// Stores what differs from the defaults in `config`, so that a run with that configuration has the same actions.
///
/// `left_aside` are ids, dates and the like, which have no edits under any setting.
pub fn resolve(
    table: &dyn Distributions,
    left_aside: &[usize],
    config: &mut Config,
    notices: &mut Vec<String>,
) -> Result<()> {
    config.numbers.get_or_insert_default();
    let budget = match config.limits.actions.take() {
        None => u128::from(BUDGET),
        Some(budget) => budget.limit()?.map_or(u128::MAX, u128::from),
    };
    let edits: Vec<Edits> = (0..table.features().len())
        .filter(|feature| !left_aside.contains(feature))
        .map(|feature| edits_of(table, feature, config))
        .collect::<Result<_>>()?;
    let (steps, max_edits) = (config.limits.steps, config.limits.max_edits);
    let within = |budget: u128| {
        let fits = |steps: u32, most: u32| count(&edits, steps, most) <= budget;
        let most = max_edits.unwrap_or_else(|| {
            (1..=MAX_EDITS).rev().find(|&most| fits(steps.unwrap_or(1), most)).unwrap_or(1)
        });
        let steps = steps.unwrap_or_else(|| (1..=STEPS).rev().find(|&steps| fits(steps, most)).unwrap_or(1));
        (steps, most)
    };
    let full = (steps.unwrap_or(STEPS), max_edits.unwrap_or(MAX_EDITS));
    let chosen = within(budget);
    if chosen != full {
        notices.push(left_out(&edits, budget, chosen, full));
    }
    if chosen != full || chosen != within(u128::from(BUDGET)) {
        (config.limits.steps, config.limits.max_edits) = (Some(chosen.0), Some(chosen.1));
    }
    Ok(())
}

/// What the budget leaves out, in words.
fn left_out(edits: &[Edits], budget: u128, chosen: (u32, u32), full: (u32, u32)) -> String {
    let mut fewer = Vec::new();
    if chosen.0 != full.0 {
        let sizes = if chosen.0 == 1 {
            "one size of shifts".to_owned()
        } else {
            format!("{} sizes of shifts", chosen.0)
        };
        fewer.push(format!("a number has {sizes} instead of {}", full.0));
    }
    if chosen.1 != full.1 {
        let edits = if chosen.1 == 1 { "one edit".to_owned() } else { format!("{} edits", chosen.1) };
        fewer.push(format!("an action has at most {edits} instead of {}", full.1));
    }
    format!(
        "the table allows {} actions, and the budget is {}: {}. --actions all (`actions = \"all\"` under [limits]) brings them back; it takes longer",
        grouped(count(edits, full.0, full.1)),
        grouped(budget),
        fewer.join(", and ")
    )
}

/// How many edits a feature has if nothing is immutable and every direction and target is allowed.
fn edits_of(table: &dyn Distributions, feature: usize, config: &Config) -> Result<Edits> {
    let description = &table.features()[feature];
    let settings = config.features.get(&description.name);
    let levels = description.levels().len() as u64;
    let style = settings.and_then(|settings| settings.edits).unwrap_or(EditStyle::Set);
    Ok(match (&description.kind, style) {
        (Kind::Real | Kind::Integer | Kind::Ordinal { .. }, _) => {
            let Some(bins) = binning(table, feature, config)? else { return Ok(Edits::Fixed(0)) };
            let shifts = match settings.and_then(|settings| settings.steps.as_ref()) {
                Some(steps) => Edits::Fixed(2 * steps.len() as u64),
                None => {
                    // The range and what is immutable do not count.
                    let most = config.limits.steps.unwrap_or(STEPS);
                    let sizes =
                        |steps| amounts(table, feature, &bins, None, config, Some(steps)).len() as u64;
                    Edits::Shifts((1..=most.max(1)).map(sizes).collect())
                }
            };
            match settings.map_or(Ok(0), |settings| target_count(table, feature, settings, &bins))? {
                0 => shifts,
                targets => Edits::And(Box::new(shifts), 2 * targets),
            }
        }
        (_, EditStyle::Set) => Edits::Fixed(levels - u64::from(description.missing_level().is_some())),
        (_, EditStyle::Swap) => Edits::Fixed(levels * levels.saturating_sub(1)),
        (_, EditStyle::Flip) => Edits::Fixed(1),
    })
}

/// Sets of at most this many edits on distinct features, the empty one included.
fn count(edits: &[Edits], steps: u32, most: u32) -> u128 {
    let mut sets = vec![0u128; most as usize + 1];
    sets[0] = 1;
    for feature in edits {
        let own = u128::from(feature.count(steps));
        for k in (1..sets.len()).rev() {
            sets[k] = sets[k].saturating_add(sets[k - 1].saturating_mul(own));
        }
    }
    sets.iter().fold(0, |sum, &count| sum.saturating_add(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::{all_edits, count_actions};
    use sogar_table::config::ActionBudget;
    use sogar_table::config::{Direction, FeatureConfig};
    use sogar_table::feature::FeatureTable;
    use sogar_table::table::{Column, Table};

    #[test]
    fn shifts_reach_up_to_half_of_the_range() {
        assert_eq!(step_sizes(10, 5), [1, 2, 3, 4, 5]);
        assert_eq!(step_sizes(10, 2), [3, 5]);
        assert_eq!(step_sizes(3, 5), [1, 2]);
    }

    /// A table of this many numbers, each with more values than bins.
    fn numbers(features: usize) -> FeatureTable {
        let columns = (0..features).map(|f| {
            Column::numbers(
                format!("x{f}"),
                (0..200).map(|row| f64::from(row * (f as i32 + 3) % 101) / 4.0).collect(),
            )
        });
        let table = Table::from_columns("", columns.collect()).unwrap();
        FeatureTable::infer(&table, &Config::default()).unwrap().0
    }

    fn resolved(table: &FeatureTable, config: &Config) -> (u32, u32, usize) {
        let (mut config, mut notices) = (config.clone(), Vec::new());
        resolve(table, &[], &mut config, &mut notices).unwrap();
        assert_eq!(config.limits.actions, None);
        let limits = &config.limits;
        (limits.steps.unwrap_or(STEPS), limits.max_edits.unwrap_or(MAX_EDITS), notices.len())
    }

    #[test]
    fn steps_shrink_before_edits_do_and_actions_stay_within_the_budget() {
        let plain = Config::default();
        // Ten edits per feature: 1 + 10n + 100·C(n, 2) + 1000·C(n, 3).
        assert_eq!(resolved(&numbers(10), &plain), (5, 3, 0), "125 thousand actions");
        assert_eq!(resolved(&numbers(13), &plain), (4, 3, 1), "294 thousand with five sizes");
        assert_eq!(resolved(&numbers(25), &plain), (2, 3, 1));
        assert_eq!(
            resolved(&numbers(60), &plain),
            (5, 2, 1),
            "280 thousand even with one size: two edits, all sizes"
        );
        for features in [12, 20, 33, 70] {
            let table = numbers(features);
            let mut config = plain.clone();
            resolve(&table, &[], &mut config, &mut Vec::new()).unwrap();
            let edits = all_edits(&table, &config).unwrap();
            assert!(count_actions(&edits, config.limits.max_edits.unwrap_or(3)) <= u128::from(BUDGET));
        }
    }

    #[test]
    fn the_rule_does_not_look_at_what_may_be_changed() {
        let table = numbers(25);
        let mut config = Config::default();
        for feature in 0..20 {
            let setting = FeatureConfig {
                immutable: (feature < 10).then_some(true),
                direction: Some(Direction::Increase),
                ..FeatureConfig::default()
            };
            config.features.insert(format!("x{feature}"), setting);
        }
        assert_eq!(resolved(&table, &config), resolved(&table, &Config::default()));
    }

    #[test]
    fn what_is_set_stays_and_what_is_resolved_gives_the_same_again() {
        let table = numbers(25);
        let mut config = Config::default();
        config.limits.actions = Some(ActionBudget::Named("all".into()));
        assert_eq!(resolved(&table, &config), (5, 3, 0));
        let mut all = config.clone();
        resolve(&table, &[], &mut all, &mut Vec::new()).unwrap();
        assert_eq!(
            (all.limits.steps, all.limits.max_edits),
            (Some(5), Some(3)),
            "else another run would have fewer"
        );
        assert_eq!(resolved(&table, &all), (5, 3, 0));
        config.limits.actions = Some(ActionBudget::Count(1000));
        assert_eq!(
            resolved(&table, &config),
            (5, 1, 1),
            "1,251 sets of two edits with one size are too many"
        );
        config.limits.max_edits = Some(3);
        assert_eq!(resolved(&table, &config), (1, 3, 1));
        let mut steps = Config::default();
        for feature in 0..25 {
            let setting = FeatureConfig { steps: Some(vec![1, 2, 3, 4, 5]), ..FeatureConfig::default() };
            steps.features.insert(format!("x{feature}"), setting);
        }
        let mut kept = steps.clone();
        resolve(&table, &[], &mut kept, &mut Vec::new()).unwrap();
        assert_eq!(kept.features, steps.features);
        assert!(ActionBudget::Named("al".into()).limit().is_err() && ActionBudget::Count(0).limit().is_err());
    }
}
