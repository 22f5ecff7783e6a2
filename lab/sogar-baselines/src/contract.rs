//! What every competing method has in common: how it is fitted, what it proposes, and how it describes itself.
//!
//! Methods differ in what they learn (a tree, rules, directions, actions, regions), but all answer the same question: which new
//! values do they propose to this person? The evaluator sees only that answer, [`Assigned`].

use std::fmt;

use serde::{Deserialize, Serialize};
use sogar::Result;
use sogar::describe::{joined, people, spoken_number};
use sogar::feature::FeatureTable;
use sogar::pipeline::Prepared;
use sogar_solver::stop::{Stop, StopReason};

/// A method that can be fitted on a table and a model.
pub trait Baseline: Send + Sync {
    /// The method with the settings that distinguish its variants, e.g. `T-CREx 0.9`.
    fn name(&self) -> String;

    /// Learns from the reference table and its affected rows. Equal seeds give equal results, with any number of threads; a
    /// method without randomness ignores the seed. On `stop`, the method ends with its best so far, and its status says why.
    fn fit(&self, prepared: &Prepared, seed: u64, stop: &Stop) -> Result<Box<dyn Fitted>>;
}

/// What a method has learned.
pub trait Fitted: Send + Sync {
    /// One proposal for each of `rows`, in their order. The rows are affected rows of `table`: the reference table, or another
    /// one with its features.
    fn assign(&self, prepared: &Prepared, table: &FeatureTable, rows: &[usize]) -> Result<Vec<Assigned>>;

    /// What was learned, in words.
    fn describe(&self) -> Description;

    /// Whether the method finished.
    fn status(&self) -> FitStatus;
}

/// A method's proposal to one person.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Assigned {
    /// New values by feature, as a [`FeatureTable`] writes them: the number, or the index of the level.
    pub to: Vec<(usize, f64)>,
    /// The leaf, rule, direction, action or region that the proposal comes from.
    pub part: Option<u32>,
    /// Whether there is a proposal at all. One that changes nothing is a proposal too; without one, `to` is ignored.
    pub covered: bool,
}

impl Assigned {
    /// No proposal: the person stays unchanged and keeps the undesired outcome.
    pub fn nothing() -> Self {
        Assigned::default()
    }
}

/// How a fit ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FitStatus {
    /// The method finished.
    Complete,
    /// The deadline passed; this is the best so far.
    TimeLimit,
    /// Not everything fitted into memory; this is the best of what did.
    MemoryLimit,
    /// The user cancelled it; this is the best so far.
    Cancelled,
    /// The method finished without a proposal.
    NoResult {
        /// Why, in words for a table of results.
        reason: String,
    },
}

impl From<StopReason> for FitStatus {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::TimeLimit => FitStatus::TimeLimit,
            _ => FitStatus::Cancelled,
        }
    }
}

/// What a method has learned, in words. New methods may add kinds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Description {
    /// A tree of tests with one action per leaf.
    Tree {
        /// The action of each leaf; a proposal's `part` is a position in this list.
        leaves: Vec<Group>,
        /// The tests that lead a person to their leaf.
        guide: Guide,
    },
    /// Rules for people who meet conditions: the first one that covers a person counts.
    RuleList {
        /// The rules; a proposal's `part` is a position in this list.
        rules: Vec<Group>,
        /// The rule for everyone else, whose part comes after those of the rules.
        default: Option<Group>,
    },
    /// Directions along which each person goes as far as they need.
    Directions {
        /// The directions, followed once; a proposal's `part` is a position in this list.
        directions: Vec<Group>,
        /// The largest multiple that anyone follows, or everyone's.
        longest: f64,
        /// Whether everyone follows the direction equally far.
        common: bool,
    },
    /// A few actions, of which each person gets one.
    ActionSet {
        /// The actions; a proposal's `part` is a position in this list.
        actions: Vec<Group>,
        /// How a person gets one of them.
        choice: String,
    },
    /// Regions into which people are sent, and who is sent where.
    Regions {
        /// The regions; a proposal's `part` is a position in this list.
        regions: Vec<Region>,
        /// The tests that lead a person to their region; `None` without regions.
        guide: Option<Guide>,
    },
}

/// People with the same proposal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// Who they are, one condition each; empty: no condition.
    pub conditions: Vec<String>,
    /// Their proposal, one edit each; empty: nothing.
    pub edits: Vec<String>,
    /// Affected rows of the reference table among them.
    pub rows: usize,
    /// Those of them for whom it works.
    pub flipped: usize,
}

impl Group {
    /// The proposal, and how often it works: `increase `a` by 2 and set `b` to yes (works for 3 of 4 people)`.
    fn advice(&self) -> String {
        let edits = if self.edits.is_empty() { "no change".to_owned() } else { joined(&self.edits) };
        format!("{edits} (works for {} of {})", self.flipped, people(self.rows as u64))
    }
}

/// A region in which (nearly) everyone has the desired outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Region {
    /// Its conditions, one per feature; empty: no condition at all.
    pub conditions: Vec<String>,
    /// Share of the reference table that lies in it.
    pub feasibility: f64,
    /// Share of those who have the desired outcome.
    pub accuracy: f64,
}

/// A decision tree over people whose leaves are parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Guide {
    /// The part of these people; `None`: there is no proposal for them.
    Part(Option<u32>),
    /// A condition, and where it leads.
    Ask {
        /// The condition.
        condition: String,
        /// Where people go for whom it holds.
        yes: Box<Guide>,
        /// Where the others go.
        no: Box<Guide>,
    },
}

impl Guide {
    fn write(
        &self,
        indent: usize,
        part_text: &dyn Fn(u32) -> String,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let space = "  ".repeat(indent);
        match self {
            Guide::Part(Some(part)) => writeln!(f, "{space}→ {}", part_text(*part)),
            Guide::Part(None) => writeln!(f, "{space}→ no proposal"),
            Guide::Ask { condition, yes, no } => {
                writeln!(f, "{space}if {condition}:")?;
                yes.write(indent + 1, part_text, f)?;
                writeln!(f, "{space}else:")?;
                no.write(indent + 1, part_text, f)
            }
        }
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Description::Tree { leaves, guide } => {
                let advice = |part: u32| leaves.get(part as usize).map_or_else(String::new, Group::advice);
                guide.write(0, &advice, f)
            }
            Description::RuleList { rules, default } => {
                for rule in rules {
                    writeln!(f, "If {}:\n  {}", joined(&rule.conditions), rule.advice())?;
                }
                match default {
                    Some(default) if rules.is_empty() => writeln!(f, "Everybody: {}", default.advice()),
                    Some(default) => writeln!(f, "Everybody else:\n  {}", default.advice()),
                    None => Ok(()),
                }
            }
            Description::Directions { directions, longest, common } => {
                for (number, direction) in directions.iter().enumerate() {
                    writeln!(f, "Direction {}: {}", number + 1, direction.advice())?;
                }
                let most = spoken_number(*longest);
                match common {
                    true => writeln!(f, "Everybody goes equally far, {most} times that."),
                    false => writeln!(f, "Everybody goes as far as they need to, at most {most} times that."),
                }
            }
            Description::ActionSet { actions, choice } => {
                for (number, action) in actions.iter().enumerate() {
                    writeln!(f, "Action {}: {}", number + 1, action.advice())?;
                    if !action.conditions.is_empty() {
                        writeln!(f, "  for people such as: {}", joined(&action.conditions))?;
                    }
                }
                writeln!(f, "{choice}")
            }
            Description::Regions { regions, guide } => write_regions(regions, guide.as_ref(), f),
        }
    }
}

fn write_regions(regions: &[Region], guide: Option<&Guide>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (number, region) in regions.iter().enumerate() {
        let conditions =
            if region.conditions.is_empty() { "anywhere".into() } else { region.conditions.join(" and ") };
        let (inside, desired) = (100.0 * region.feasibility, 100.0 * region.accuracy);
        let number = number + 1;
        writeln!(f, "Region {number}: {conditions} ({inside:.1} % of all rows, {desired:.1} % desired)")?;
    }
    guide.map_or(Ok(()), |guide| guide.write(0, &|part| format!("region {}", part + 1), f))
}
