//! The experiments by name, and which settings each of them varies.

use serde::Serialize;
use sogar::config::{Bins, Config, CostKind};
use sogar::device::devices;
use sogar::error::{Error, ErrorKind, Result, suggest};

/// An experiment of the published evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// Methods × classifiers × data sets.
    Table1,
    /// Limits on the time of the search.
    Timeouts,
    /// Depth of the trees.
    Depth,
    /// Edits in an action.
    Sparsity,
    /// Bins of numbers.
    Bins,
    /// Threads, and a GPU if there is one.
    Hardware,
    /// Distance between train and held-out rows along the front.
    Generalization,
    /// Groups of people along the front.
    Audit,
    /// Candidates for the published protocol, on the folds that it is chosen on.
    Choice,
    /// The published protocol with one change each.
    Hypotheses,
}

impl Name {
    /// All experiments.
    pub const ALL: [Name; 10] = [
        Name::Table1,
        Name::Timeouts,
        Name::Depth,
        Name::Sparsity,
        Name::Bins,
        Name::Hardware,
        Name::Generalization,
        Name::Audit,
        Name::Choice,
        Name::Hypotheses,
    ];

    /// The name on command lines and in files.
    pub fn name(self) -> &'static str {
        match self {
            Name::Table1 => "table1",
            Name::Timeouts => "timeouts",
            Name::Depth => "depth",
            Name::Sparsity => "sparsity",
            Name::Bins => "bins",
            Name::Hardware => "hardware",
            Name::Generalization => "generalization",
            Name::Audit => "audit",
            Name::Choice => "choice",
            Name::Hypotheses => "hypotheses",
        }
    }

    /// What it shows, as a heading.
    pub fn title(self) -> &'static str {
        match self {
            Name::Table1 => "Methods, classifiers and data sets",
            Name::Timeouts => "Limits on the time of the search",
            Name::Depth => "Depth of the trees",
            Name::Sparsity => "Most edits in an action",
            Name::Bins => "Bins of numeric features",
            Name::Hardware => "Threads",
            Name::Generalization => "Train and held-out rows along the front",
            Name::Audit => "Groups of people along the front",
            Name::Choice => "Candidates for the published protocol",
            Name::Hypotheses => "The published protocol with one change each",
        }
    }

    /// The experiments of a name: itself, or all of them.
    pub fn parse(text: &str) -> Result<Vec<Name>> {
        if text == "all" {
            return Ok(Name::ALL.to_vec());
        }
        let found = Name::ALL.into_iter().find(|name| name.name() == text);
        found.map(|name| vec![name]).ok_or_else(|| {
            let known = Name::ALL.iter().map(|name| name.name()).chain(["all"]);
            Error::new(ErrorKind::Usage, format!("there is no experiment `{text}`"))
                .help(suggest(text, known))
        })
    }

    /// What the experiment varies, the usual setting included.
    pub fn settings(self, quick: bool) -> Vec<Setting> {
        let limit = |seconds: f64| Setting {
            label: format!("{seconds} s"),
            time_limit: Some(seconds),
            ..Setting::default()
        };
        let none = Setting { label: "none".to_owned(), ..Setting::default() };
        match self {
            Name::Table1 | Name::Generalization | Name::Audit | Name::Choice | Name::Hypotheses => {
                vec![Setting::default()]
            }
            Name::Timeouts if quick => vec![limit(1.0), limit(10.0), none],
            Name::Timeouts => vec![limit(1.0), limit(10.0), limit(60.0), limit(200.0), none],
            Name::Depth => (2..=4)
                .map(|depth| Setting {
                    label: depth.to_string(),
                    max_depth: (depth != 3).then_some(depth),
                    ..Setting::default()
                })
                .collect(),
            // Four edits are millions of actions: not for a quick run.
            Name::Sparsity => (1..=if quick { 3 } else { 4 })
                .map(|edits| Setting {
                    label: edits.to_string(),
                    max_edits: (edits != 3).then_some(edits),
                    ..Setting::default()
                })
                .collect(),
            Name::Bins => ["5", "10", "auto"]
                .map(|bins| Setting { label: bins.to_owned(), bins: Some(bins), ..Setting::default() })
                .into_iter()
                .chain([Setting { label: "preset".to_owned(), ..Setting::default() }])
                .collect(),
            Name::Hardware => {
                let all = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u32;
                let threads = |count: u32| Setting {
                    label: if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") },
                    threads: Some(count),
                    ..Setting::default()
                };
                let mut settings = if all == 1 { vec![threads(1)] } else { vec![threads(1), threads(all)] };
                // A software adapter is the CPU in disguise, and takes hours.
                let gpu = devices().into_iter().find(|device| !["cpu", "software"].contains(&&*device.kind));
                settings.extend(gpu.map(|gpu| Setting {
                    label: format!("{} ({})", gpu.device, gpu.name),
                    device: Some(gpu.device),
                    ..Setting::default()
                }));
                settings
            }
        }
    }

    /// The label of the reference setting.
    pub fn usual(self) -> Option<&'static str> {
        match self {
            Name::Timeouts => Some("none"),
            Name::Depth | Name::Sparsity => Some("3"),
            Name::Bins => Some("preset"),
            Name::Hardware => Some("1 thread"),
            Name::Table1 | Name::Generalization | Name::Audit | Name::Choice | Name::Hypotheses => None,
        }
    }
}

/// What a cell changes about the protocol's usual run: depth 3, at most 3 edits, its own bins, no limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Setting {
    /// Its name; empty: the usual run.
    #[serde(skip)]
    pub label: String,
    /// Largest depth, with all leaves that it allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// Largest number of edits in an action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_edits: Option<u32>,
    /// Bins of every numeric feature, with the steps that follow from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<&'static str>,
    /// Seconds for the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
    /// Threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// The device; by default the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

impl Setting {
    /// Applies the setting to a configuration.
    pub fn apply(&self, config: &mut Config) {
        if let Some(depth) = self.max_depth {
            config.limits.max_depth = Some(depth);
            config.limits.max_leaves = None;
        }
        if self.max_edits.is_some() {
            config.limits.max_edits = self.max_edits;
        }
        if let Some(bins) = self.bins {
            config.bins = bins.parse().map_or_else(|_| Bins::Named(bins.to_owned()), Bins::Count);
            for feature in config.features.values_mut() {
                feature.bins = None;
                feature.steps = None;
            }
        }
        if self.time_limit.is_some() {
            config.limits.time_limit = self.time_limit;
        }
        if self.threads.is_some() {
            config.limits.threads = self.threads;
        }
        if self.device.is_some() {
            config.limits.device.clone_from(&self.device);
        }
    }
}

/// The name of a cost.
pub fn cost_name(cost: CostKind) -> &'static str {
    match cost {
        CostKind::Cet => "cet",
        _ => "mps",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in Name::ALL {
            assert_eq!(Name::parse(name.name()).unwrap(), [name]);
            let labels: Vec<String> = name.settings(false).into_iter().map(|setting| setting.label).collect();
            assert!(name.usual().is_none_or(|usual| labels.iter().any(|label| label == usual)), "{labels:?}");
        }
        assert_eq!(Name::parse("all").unwrap().len(), 10);
        assert_eq!(Name::parse("tabel1").unwrap_err().remedy(), Some("did you mean `table1`?"));
    }

    #[test]
    fn a_setting_changes_what_it_names_and_nothing_else() {
        let usual = Config::preset("paper-attrition").unwrap();
        for name in Name::ALL {
            for setting in name.settings(false) {
                let mut config = usual.clone();
                setting.apply(&mut config);
                config.check(None).unwrap();
                let changes = name.usual() != Some(setting.label.as_str()) || name == Name::Hardware;
                assert_eq!(config != usual, changes && name.usual().is_some(), "{name:?} {setting:?}");
            }
        }
    }
}
