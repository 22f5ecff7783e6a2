//! Subgroups that nobody named: which conjunction of conditions, such as `age<=25 and job=clerk`, fares worst at one point?
//!
//! Among thousands of subgroups, some are bad by chance. So the scan is exact (`search` evaluates every conjunction
//! or rules it out), and so is its p-value: people's values are shuffled 999 times, every shuffle is scanned in full, and the
//! largest studentised gap of the table is compared with the largest of each shuffle. The p-value of a subgroup counts the
//! shuffles whose *best* subgroup is at least as bad, which allows for the search. Held-out people, whom the scan has not
//! seen, confirm a subgroup or do not.

mod request;
mod search;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

use sogar_base::draw::Draw;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::statistics::holm;
use sogar_front::describe::{group_title, grouped, grouping_title};
use sogar_front::summary::FrontFile;
use sogar_prepare::prepared::{Prepared, Reporter};
use sogar_solver::CancelToken;

use super::grouping::{View, Vocabulary};
use super::intervals::{Gap, Moments, welch, welch_p};
use super::result::MeasureName;
use super::routed_people::RoutedPeople;
pub use request::{Confirmation, MAX_TERMS, PERMUTATIONS, Scan, ScanMeasure, ScanRequest, Subgroup};
use search::{Candidate, Found, LANES, Plan, ScanColumn, TermRef};

/// Limits of shuffles and of terms: more take time without end.
const MOST_PERMUTATIONS: usize = 100_000;
const MOST_TERMS: usize = 5;
/// Subgroups in the list.
const LISTED: usize = 10;
/// A subgroup that shares more than this of its people with a better one (shared ÷ people of either) is not listed again.
const OVERLAP: f64 = 0.8;
/// Streams of the seed from here on are shuffles; those before it are bootstrap draws.
const FIRST_STREAM: u64 = 1 << 32;

/// What is compared: affected people with a value, in whole units.
struct Compared {
    /// Positions among the affected people.
    people: Vec<usize>,
    values: Vec<u64>,
    weights: Vec<u64>,
    /// Units in a value of 1.
    unit: f64,
}

/// The scan of one table, and of held-out people.
pub(super) struct Scanner<'a> {
    pub front: &'a FrontFile,
    pub prepared: &'a Prepared,
    pub request: &'a ScanRequest,
    pub seed: u64,
    pub min_group: usize,
}

impl Scanner<'_> {
    /// Scans the reference table, and looks at what was found on held-out people. `None` if cancelled.
    pub fn run(
        &self,
        reference: (&RoutedPeople, View<'_>),
        holdout: Option<(&RoutedPeople, View<'_>)>,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
    ) -> Result<Option<Scan>> {
        let point = self.checked()?;
        let vocabulary = self.vocabulary(reference.1)?;
        let compared = self.compared(reference.0, point);
        let person = reference.0.person;
        let plan = plan(&compared, &vocabulary, reference, self.least(person), self.request.max_terms)?;
        let varies = plan.values.iter().any(|&value| value > 0);
        let Some((ranked, best, evaluated)) = self.searched(&plan, reporter, cancel)? else {
            return Ok(None);
        };
        let mut found: Vec<Subgroup> = Vec::new();
        let mut listed: Vec<TermRefs> = Vec::new();
        for candidate in distinct(&plan, ranked) {
            let members = plan.members(&candidate.terms);
            let gap = compared.gap(&members, person);
            let as_bad = best.iter().filter(|&&other| other >= candidate.z).count();
            let terms: Vec<String> = candidate
                .terms
                .iter()
                .map(|&(column, condition)| vocabulary[column].conditions[condition].text.clone())
                .collect();
            found.push(Subgroup {
                shown: terms.iter().map(|term| group_title(self.front, term)).collect(),
                terms,
                affected: gap.affected,
                value: gap.group.mean,
                others: gap.rest.mean,
                gap: gap.gap.gap,
                low: gap.gap.low,
                high: gap.gap.high,
                z: candidate.z,
                p: (as_bad + 1) as f64 / (best.len() + 1) as f64,
                holdout: None,
            });
            listed.push(candidate.terms);
        }
        if let Some(holdout) = holdout {
            self.confirm(&vocabulary, &listed, holdout, point, &mut found)?;
        }
        Ok(Some(Scan {
            features: self.request.features.clone(),
            shown: self.request.features.iter().map(|name| grouping_title(self.front, name)).collect(),
            max_terms: self.request.max_terms,
            measure: self.request.measure.name(),
            point,
            permutations: self.request.permutations,
            seed: self.seed,
            min_group: self.min_group.max(1),
            evaluated,
            varies,
            found,
        }))
    }

    /// The point, if the request makes sense.
    fn checked(&self) -> Result<usize> {
        let usage = |message: String, help: &str| Err(Error::new(ErrorKind::Usage, message).help(help));
        let request = self.request;
        if request.features.is_empty() {
            return usage("a scan needs features".to_owned(), "for example --scan age,sex,job");
        }
        if !(1..=MOST_TERMS).contains(&request.max_terms) {
            let message = format!("a scan for subgroups of {} terms is not possible", request.max_terms);
            return usage(message, &format!("give 1 to {MOST_TERMS} terms; {MAX_TERMS} are usual"));
        }
        if request.permutations > MOST_PERMUTATIONS {
            let message = format!("{} shuffles are too many", grouped(request.permutations));
            return usage(message, &format!("{PERMUTATIONS} are usual"));
        }
        let points = self.front.points.len();
        let lowest = || sogar_front::select::select(self.front, sogar_front::select::By::Invalidity);
        match request.point {
            Some(point) if point >= points => {
                let message = format!("there is no point {point} to scan");
                usage(message, &format!("the front's points are 0 to {}", points.saturating_sub(1)))
            }
            Some(point) => Ok(point),
            None => lowest(),
        }
    }

    fn least(&self, person: u64) -> u64 {
        self.min_group.max(1) as u64 * person
    }

    fn vocabulary(&self, view: View<'_>) -> Result<Vec<Vocabulary>> {
        let mut known: Vec<&String> = Vec::new();
        let mut vocabulary = Vec::new();
        for name in &self.request.features {
            if known.contains(&name) {
                continue;
            }
            known.push(name);
            let learned = Vocabulary::learn(name, view, self.prepared.config())?;
            let codes = learned.codes(view)?;
            if codes.windows(2).all(|pair| pair[0] == pair[1]) {
                let message = format!("`{name}` is the same in every row, so no subgroup can be made of it");
                return Err(Error::new(ErrorKind::Usage, message).help("leave it out of the scan"));
            }
            vocabulary.push(learned);
        }
        Ok(vocabulary)
    }

    /// The values of affected people at a point.
    fn compared(&self, people: &RoutedPeople, point: usize) -> Compared {
        let unit = people.unit;
        let mut found = Compared { people: Vec::new(), values: Vec::new(), weights: Vec::new(), unit: 1.0 };
        if !matches!(self.request.measure, ScanMeasure::Basic(MeasureName::Loss) | ScanMeasure::Unreached(_))
        {
            found.unit = unit as f64;
        }
        let mut of_person: Vec<Option<u64>> = vec![None; people.count()];
        for (action, leaf) in people.leaves(&self.front.points[point].tree) {
            let flips = people.flips(action);
            for person in leaf.iter() {
                let (cost, lost) = (people.cost(action, person), !flips.contains(person));
                of_person[person] = match self.request.measure {
                    ScanMeasure::Basic(MeasureName::Cost) => Some(cost),
                    ScanMeasure::Basic(MeasureName::Loss) => Some(u64::from(lost)),
                    ScanMeasure::Basic(MeasureName::Invalidity) => Some(cost + unit * u64::from(lost)),
                    ScanMeasure::Unreached(budget) => {
                        Some(u64::from(lost || cost as f64 / unit as f64 > budget))
                    }
                    ScanMeasure::CostOfSuccess => (!lost).then_some(cost),
                };
            }
        }
        for (person, value) in of_person.into_iter().enumerate() {
            let weight = people.weight(person);
            if let (Some(value), true) = (value, weight > 0) {
                found.people.push(person);
                found.values.push(value);
                found.weights.push(weight);
            }
        }
        found
    }

    /// Scans the table and its shuffles. `None` if cancelled.
    fn searched(
        &self,
        plan: &Plan,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
    ) -> Result<Option<Searched>> {
        let largest = plan.largest_sum();
        if largest > i64::MAX as u128 {
            return Err(Error::new(ErrorKind::Usage, "weights or costs are too large to scan")
                .help("give the table smaller weights"));
        }
        let narrow = largest <= i32::MAX as u128;
        let all = self.request.permutations + 1;
        let done = AtomicUsize::new(0);
        let block = |start: usize| {
            let lanes: Vec<Vec<u32>> = (start..(start + LANES).min(all))
                .map(|shuffle| shuffled(plan.values.len(), self.seed, shuffle))
                .collect();
            let found = match narrow {
                true => plan.scan::<i32>(&lanes, start == 0, cancel),
                false => plan.scan::<i64>(&lanes, start == 0, cancel),
            };
            let scanned = done.fetch_add(lanes.len(), Ordering::Relaxed) + lanes.len();
            reporter.checking("subgroups: shuffles", scanned, all);
            found
        };
        let starts: Vec<usize> = (0..all).step_by(LANES).collect();
        let blocks = self
            .prepared
            .with_threads(|| Ok(starts.into_par_iter().map(block).collect::<Option<Vec<Found>>>()))?;
        let Some(mut blocks) = blocks else { return Ok(None) };
        let best = blocks.iter().flat_map(|block| block.best).take(all).skip(1).collect();
        let (ranked, evaluated) = (std::mem::take(&mut blocks[0].ranked), blocks[0].evaluated);
        Ok(Some((ranked, best, evaluated)))
    }

    /// The listed subgroups on held-out people.
    fn confirm(
        &self,
        vocabulary: &[Vocabulary],
        listed: &[TermRefs],
        (people, view): (&RoutedPeople, View<'_>),
        point: usize,
        found: &mut [Subgroup],
    ) -> Result<()> {
        let compared = self.compared(people, point);
        let least = self.least(people.person);
        let plan = plan(&compared, vocabulary, (people, view), least, self.request.max_terms)?;
        let all: u64 = compared.weights.iter().sum();
        let mut tested: Vec<(usize, f64)> = Vec::new();
        for (position, terms) in listed.iter().enumerate() {
            let members = plan.members(terms);
            let inside: u64 =
                members.iter().zip(&compared.weights).filter(|(in_it, _)| **in_it).map(|(_, w)| w).sum();
            let enough = inside >= least && all - inside >= least;
            let gap = enough.then(|| compared.gap(&members, people.person));
            if let Some(gap) = &gap {
                tested.push((position, welch_p(gap.group, gap.rest)));
            }
            found[position].holdout = Some(Confirmation {
                affected: people.people(inside),
                value: gap.as_ref().map(|gap| gap.group.mean),
                others: gap.as_ref().map(|gap| gap.rest.mean),
                gap: gap.as_ref().map(|gap| gap.gap.gap),
                low: gap.as_ref().map(|gap| gap.gap.low),
                high: gap.as_ref().map(|gap| gap.gap.high),
                p: None,
                confirmed: false,
            });
        }
        let corrected = holm(&tested.iter().map(|&(_, p)| p).collect::<Vec<f64>>());
        for (&(position, _), p) in tested.iter().zip(corrected) {
            if let Some(holdout) = &mut found[position].holdout {
                holdout.p = Some(p);
                holdout.confirmed = p <= 0.05 && holdout.gap.is_some_and(|gap| gap > 0.0);
            }
        }
        Ok(())
    }
}

type TermRefs = Vec<TermRef>;

/// Ranked conjunctions of the table itself, the best of each shuffle, and the number of evaluated conjunctions.
type Searched = (Vec<Candidate>, Vec<f64>, u64);

/// Columns, values and weights of the compared people.
fn plan(
    compared: &Compared,
    vocabulary: &[Vocabulary],
    (people, view): (&RoutedPeople, View<'_>),
    least: u64,
    max_terms: usize,
) -> Result<Plan> {
    let columns = vocabulary
        .iter()
        .map(|column| {
            let codes = column.codes(view)?;
            Ok(ScanColumn {
                codes: compared.people.iter().map(|&person| codes[people.affected[person]]).collect(),
                levels: column.codes_count(),
                conditions: column.conditions.iter().map(|condition| condition.codes.clone()).collect(),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let lowest = compared.values.iter().copied().min().unwrap_or(0);
    Ok(Plan {
        columns,
        values: compared.values.iter().map(|value| value - lowest).collect(),
        weights: compared.weights.clone(),
        least,
        max_terms,
        bounded: true,
    })
}

/// Who gets whose value: nobody moves in shuffle 0 (Fisher–Yates in the others).
fn shuffled(people: usize, seed: u64, shuffle: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..people as u32).collect();
    if shuffle > 0 {
        let mut draw = Draw::new(seed, FIRST_STREAM + shuffle as u64);
        for last in (1..people).rev() {
            order.swap(last, draw.below(last + 1));
        }
    }
    order
}

/// The best conjunctions, without those that mostly repeat a better one.
fn distinct(plan: &Plan, ranked: Vec<Candidate>) -> Vec<Candidate> {
    let mut kept: Vec<(Candidate, Vec<bool>)> = Vec::new();
    for candidate in ranked.into_iter().filter(|candidate| candidate.z > 0.0) {
        let members = plan.members(&candidate.terms);
        let repeats = kept.iter().any(|(_, other)| {
            let count = |test: &dyn Fn(bool, bool) -> bool| {
                members.iter().zip(other).filter(|(a, b)| test(**a, **b)).count() as f64
            };
            count(&|a, b| a && b) > OVERLAP * count(&|a, b| a || b)
        });
        if !repeats {
            kept.push((candidate, members));
        }
        if kept.len() == LISTED {
            break;
        }
    }
    kept.into_iter().map(|(candidate, _)| candidate).collect()
}

/// A subgroup against everyone else.
struct Difference {
    affected: f64,
    group: Moments,
    rest: Moments,
    gap: Gap,
}

impl Compared {
    fn gap(&self, members: &[bool], person: u64) -> Difference {
        let side = |wanted: bool| {
            let chosen = (0..self.values.len()).filter(move |&at| members[at] == wanted);
            Moments::of_values(
                chosen
                    .map(|at| (self.values[at] as f64 / self.unit, self.weights[at] as f64 / person as f64)),
            )
        };
        let (group, rest) = (side(true), side(false));
        Difference { affected: group.count, group, rest, gap: welch(group, rest) }
    }
}
