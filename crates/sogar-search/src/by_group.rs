//! Fairness inside the search: the front over cost and the loss of every group, and the points that the configuration wants of it.

use std::time::Instant;

use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::fairness::{self, FairnessRef, GroupRef, SearchedGroups};
use sogar_front::summary::{FrontFile, Status};
use sogar_prepare::limits::memory_limit;
use sogar_prepare::prepared::{ProblemPopulation, Reporter};
use sogar_solver::bound::{cheapest_flips, individual_bound};
use sogar_solver::{
    CancelToken, Epsilon, GroupOutcome, Grouping, Outcome, Point, Problem, SearchStatus, Solution,
};

use super::result::Describe;
use super::{Search, SearchObserver, Searched};
use crate::checkpoint::Checkpoint;
use crate::device::Compute;

impl Search<'_> {
    /// The front that `fairness` in the configuration asks for, with the groups of the affected people. Leaves are evaluated on the CPU; of a checkpoint,
    /// only outcomes are used.
    pub fn solve_by_group(
        &self,
        groups: &SearchedGroups,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
    ) -> Result<FrontFile> {
        let settings = &self.config().fairness;
        let Some(goal) = settings.goal()? else {
            return Err(Error::new(ErrorKind::Usage, "the configuration asks nothing of groups")
                .help("set fairness.max_gap or fairness.minimax"));
        };
        if !groups.changed.is_empty() {
            reporter.notice(&format!(
                "people are grouped by `{}` as it is today, but advice may change `{}`; {} stops that",
                groups.name,
                groups.changed.join("`, `"),
                reporter.setting("protected"),
            ));
        }
        let people = self.everybody();
        let grouping = self.grouping(&people, groups)?;
        let compute =
            Compute::new(self.device()?, reporter, self.threads(), memory_limit(&self.config().limits)?);
        let start = Instant::now();
        let checkpoint = self
            .checkpoint()
            .map(|settings| Checkpoint::open(settings, &self.run_key(&people)))
            .transpose()?;
        let made = self.with_outcomes(&people, checkpoint.as_ref(), Some(&compute), reporter, cancel)?;
        let seconds_outcomes = start.elapsed().as_secs_f64();
        self.warn_if_nothing_works(&made, reporter);
        let start = Instant::now();
        let solver = self.solver(&people, cancel)?;
        let problem = &made.problem;
        let observer = SearchObserver::new(self.0, reporter, problem.size());
        let epsilon = Epsilon { millionths: settings.millionths(), unit: self.cost().unit() };
        let found = solver.solve_by_group(problem, &grouping, epsilon, &observer);
        let sizes: Vec<u64> =
            (0..grouping.groups()).map(|group| problem.weight_of(grouping.rows(group))).collect();
        let front: Vec<Vec<u64>> = found
            .points
            .iter()
            .map(|point| std::iter::once(point.cost).chain(point.losses.iter().copied()).collect())
            .collect();
        let chosen = fairness::chosen(&goal, &front, &sizes);
        let status = match found.status {
            _ if !made.finished && !cancel.is_cancelled() => Status::TimeLimit,
            _ if !made.finished => Status::Cancelled,
            SearchStatus::Complete if epsilon.millionths > 0 => Status::CompleteWithinEpsilon,
            SearchStatus::Complete => Status::Complete,
            SearchStatus::TimeLimit => Status::TimeLimit,
            _ => Status::Cancelled,
        };
        let outcome = outcome_of(problem, &found, &chosen);
        let least_limit = goal.max_gap.and_then(|_| fairness::least_limit(&front, &sizes, &chosen));
        let names = groups.names.iter().zip(sizes);
        let fairness = FairnessRef {
            grouping: groups.name.clone(),
            groups: names.map(|(group, affected)| GroupRef { group: group.clone(), affected }).collect(),
            epsilon: f64::from(epsilon.millionths) / 1e6,
            front,
            points: chosen,
            least_limit,
        };
        let seconds_search = start.elapsed().as_secs_f64();
        let mut found =
            Searched { made, outcome, status, device: compute.label(), seconds_outcomes, seconds_search };
        self.verify_front(&people, &found, None, reporter, cancel)?;
        let solutions = std::mem::take(&mut found.outcome.front);
        let ids: Vec<u32> = (0..found.made.actions.len() as u32).collect();
        let mut file = self.file(&found, solutions, &ids, &mut Describe::default());
        file.fairness = Some(fairness);
        self.with_plausibility(file)
    }

    /// The groups in the order of the problem's rows.
    fn grouping(&self, people: &ProblemPopulation, groups: &SearchedGroups) -> Result<Grouping> {
        let fault = |message: String| Error::new(ErrorKind::Usage, message);
        if groups.of_affected.len() != people.rows.len() {
            return Err(fault("the groups are not those of the affected people".into()));
        }
        let group = |&row: &usize| groups.of_affected[self.affected().partition_point(|&known| known < row)];
        Grouping::new(people.rows.iter().map(group).collect())
            .map_err(|cause| fault(format!("`{}` cannot be told apart in a search: {cause}", groups.name)))
    }
}

/// The chosen points as the outcome of a search over cost and loss.
fn outcome_of(problem: &Problem, found: &GroupOutcome, chosen: &[usize]) -> Outcome {
    let solution = |&at: &usize| {
        let point = &found.points[at];
        Solution { cost: point.cost, loss: point.loss(), tree: found.tree(at) }
    };
    let bound: Vec<Point> = match found.status {
        SearchStatus::Complete => Vec::new(),
        _ => individual_bound(&cheapest_flips(problem), |row| u64::from(problem.weight(row))),
    };
    Outcome { front: chosen.iter().map(solution).collect(), status: found.status, bound, stats: found.stats }
}
