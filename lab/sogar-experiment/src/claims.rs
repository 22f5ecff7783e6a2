//! The paper's claims one by one, beside what stored cells say under the protocol `paper`.

use std::collections::BTreeMap;
use std::sync::Arc;

use sogar::error::Result;

use super::inputs::{DATA_SETS, FOLDS, KINDS};
use super::name::Name;
use super::protocol::Protocol;
use super::store::Store;
use super::tables::{Figure, Row, Tables};
use super::{PATIENCE, Request};
use sogar_baselines::contract::FitStatus;
use sogar_baselines::methods::{MethodKind, choose};

/// A claim, and what was found.
struct Claim {
    claim: &'static str,
    here: String,
    holds: Holds,
}

/// Whether a claim holds.
#[derive(Clone, Copy)]
enum Holds {
    /// In everything that it is about.
    Yes,
    /// In everything that was run, which is less.
    SoFar,
    No,
    /// Nothing was run that would tell.
    Open,
}

impl Holds {
    /// Of a claim about `of` columns, of which `found` have results.
    fn of(found: usize, of: usize, as_claimed: bool) -> Holds {
        match as_claimed {
            _ if found == 0 => Holds::Open,
            false => Holds::No,
            true if found < of => Holds::SoFar,
            true => Holds::Yes,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Holds::Yes => "yes",
            Holds::SoFar => "as far as it was run",
            Holds::No => "no",
            Holds::Open => "not decided",
        }
    }
}

/// All data sets with all classifiers.
const COLUMNS: usize = DATA_SETS.len() * KINDS.len();

/// A table of claims.
pub fn claims(store: &Store, protocols: &[Arc<Protocol>]) -> Result<String> {
    let paper = protocols.iter().filter(|protocol| protocol.name == "paper").cloned().collect::<Vec<_>>();
    let evidence = Evidence { store, paper };
    let mut text =
        String::from("| the paper's claim | here, protocol `paper` | holds here |\n|---|---|---|\n");
    for Claim { claim, here, holds } in evidence.claims()? {
        text += &format!("| {claim} | {here} | {} |\n", holds.text());
    }
    Ok(text)
}

struct Evidence<'a> {
    store: &'a Store,
    paper: Vec<Arc<Protocol>>,
}

impl Evidence<'_> {
    fn tables(&self, name: Name) -> Result<Tables> {
        let request = Request {
            name,
            protocols: self.paper.clone(),
            data: DATA_SETS.to_vec(),
            kinds: KINDS.map(|(kind, _)| kind).to_vec(),
            folds: (1..=FOLDS).collect(),
            methods: choose(&["readings"])?,
            patience: PATIENCE,
            time_limit: None,
            quick: false,
            seed: 0,
        };
        Ok(Tables::new(name, &request.cells(), self.store))
    }

    fn claims(&self) -> Result<Vec<Claim>> {
        let main = self.tables(Name::Table1)?;
        let depth = self.tables(Name::Depth)?;
        let mut claims = vec![
            self.lowest_invalidity(&main),
            self.lowest_cost(&main),
            self.lower_losses(&main),
            self.complete(&main),
            self.depth_two(&depth, &main),
        ];
        claims.push(self.changes(
            &depth,
            "4",
            "depth 4 lowers invalidity by 11 % (Attrition), 7 % (German), 12 % (Bank), 4 % (Adult)",
            &DATA_SETS,
            |change| change < 0.0,
        ));
        let sparsity = self.tables(Name::Sparsity)?;
        claims.push(self.changes(
            &sparsity,
            "2",
            "two edits instead of three raise invalidity by 35 % (Attrition), 36 % (German), 44 % (Bank), 62 % (Adult)",
            &DATA_SETS,
            |change| change > 0.0,
        ));
        let bins = self.tables(Name::Bins)?;
        claims.push(self.changes(
            &bins,
            "5",
            "5 bins for every number raise invalidity by 4.7 % (Attrition)",
            &["attrition"],
            |change| change > 0.0,
        ));
        let timeouts = self.tables(Name::Timeouts)?;
        claims.push(self.changes(
            &timeouts,
            "10 s",
            "a search of 10 s raises invalidity by 8 to 16 % on the three smaller tables",
            &["attrition", "german", "bank"],
            |change| change > 0.0,
        ));
        claims.push(self.generalization()?);
        let audit = self.tables(Name::Audit)?;
        claims.push(self.women(&audit, &depth));
        claims.push(self.understated(&audit));
        Ok(claims)
    }

    fn lowest_invalidity(&self, main: &Tables) -> Claim {
        let all = main.lower_than_sogar(None, Figure::Invalidity);
        let summaries = main.lower_than_sogar(Some(MethodKind::Summary), Figure::Invalidity);
        let won =
            |columns: &[(&Row, Vec<&str>)]| columns.iter().filter(|(_, lower)| lower.is_empty()).count();
        Claim {
            claim: "SOGAR always has the lowest invalidity",
            here: format!(
                "lowest of all methods in {} of {} columns with results, lowest of summaries in {} of {}{}",
                won(&all),
                all.len(),
                won(&summaries),
                summaries.len(),
                listed("; lower", &all)
            ),
            holds: Holds::of(all.len(), COLUMNS, won(&all) == all.len()),
        }
    }

    fn lowest_cost(&self, main: &Tables) -> Claim {
        let mut columns = main.lower_than_sogar(None, Figure::Cost);
        columns.retain(|(row, _)| row.dataset != "attrition");
        let cheaper = columns.iter().filter(|(_, lower)| !lower.is_empty()).count();
        Claim {
            claim: "SOGAR has the lowest cost in every data set besides Attrition",
            here: format!(
                "a cheaper method in {cheaper} of {} columns with results{}",
                columns.len(),
                listed("", &columns)
            ),
            holds: Holds::of(columns.len(), COLUMNS - KINDS.len(), cheaper == 0),
        }
    }

    fn lower_losses(&self, main: &Tables) -> Claim {
        let columns = main.lower_than_sogar(None, Figure::Loss);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for name in columns.iter().flat_map(|(_, lower)| lower) {
            *counts.entry(name).or_default() += 1;
        }
        let most = counts.values().max().copied();
        let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let often = |name: &str| name.starts_with("globe-ce") || name.starts_with("glance");
        let listed: Vec<String> = counts.iter().map(|(name, count)| format!("{name} in {count}")).collect();
        Claim {
            claim: "the methods that most often have a lower loss than SOGAR are GLOBE-CE and GLANCE",
            here: format!("of {} columns with results: {}", columns.len(), listed.join(", ")),
            holds: Holds::of(
                if counts.is_empty() { 0 } else { columns.len() },
                COLUMNS,
                counts.iter().all(|&(name, count)| Some(count) != most || often(name)),
            ),
        }
    }

    fn complete(&self, main: &Tables) -> Claim {
        let results: Vec<&FitStatus> = main
            .rows()
            .iter()
            .filter(|row| row.method.name == "sogar")
            .flat_map(|row| row.results.values().map(|result| &result.status))
            .collect();
        let whole = results.iter().filter(|status| ***status == FitStatus::Complete).count();
        let cells = COLUMNS * FOLDS as usize;
        Claim {
            claim: "SOGAR always recovers the whole front, within an hour",
            here: format!(
                "{whole} of {cells} searches are complete; our own, shorter limits stopped {}; {} were not run",
                results.len() - whole,
                cells - results.len()
            ),
            holds: Holds::of(whole, cells, true),
        }
    }

    fn depth_two(&self, depth: &Tables, main: &Tables) -> Claim {
        let two = depth.rows().iter().filter(|row| row.setting == "2");
        let columns: Vec<(&Row, Vec<&str>)> =
            two.filter_map(|row| Some((row, main.lower_than(row, None, Figure::Invalidity)?))).collect();
        let won = columns.iter().filter(|(_, lower)| lower.is_empty()).count();
        Claim {
            claim: "depth 2 still has a lower invalidity than all baselines",
            here: format!(
                "in {won} of {} columns with results{}",
                columns.len(),
                listed("; lower", &columns)
            ),
            holds: Holds::of(columns.len(), COLUMNS, won == columns.len()),
        }
    }

    /// The relative change of invalidity under a setting: one sign in all columns of the `claimed` data sets.
    fn changes(
        &self,
        tables: &Tables,
        label: &str,
        claim: &'static str,
        claimed: &[&str],
        as_claimed: fn(f64) -> bool,
    ) -> Claim {
        let found: Vec<(&Row, f64)> = tables
            .rows()
            .iter()
            .filter(|row| row.setting == label && row.model == "lightgbm")
            .filter_map(|row| Some((row, tables.change_of(row)?)))
            .collect();
        let listed: Vec<String> = found
            .iter()
            .map(|(row, change)| {
                let stopped = if row.cut() > 0 { ", some stopped" } else { "" };
                format!("{} {:+.1} % ({} folds{stopped})", row.dataset, 100.0 * change, row.folds())
            })
            .collect();
        let about: Vec<f64> = found
            .iter()
            .filter(|(row, _)| claimed.contains(&row.dataset))
            .map(|(_, change)| *change)
            .collect();
        Claim {
            claim,
            here: if listed.is_empty() { "no cells".into() } else { listed.join(", ") },
            holds: Holds::of(about.len(), claimed.len(), about.iter().all(|&change| as_claimed(change))),
        }
    }

    fn generalization(&self) -> Result<Claim> {
        let tables = self.tables(Name::Generalization)?;
        let row = tables.rows().iter().find(|row| (row.dataset, row.model) == ("attrition", "lightgbm"));
        let values: Vec<f64> = row.map_or(Vec::new(), |row| {
            row.results
                .values()
                .filter_map(|result| result.search.map(|search| search.mean_distance))
                .collect()
        });
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let stopped = row.map_or(0, Row::cut);
        Ok(Claim {
            claim: "held-out rows lie 0.04 ± 0.02 from the train front (Attrition, LightGBM)",
            here: if values.is_empty() {
                "no cells".into()
            } else {
                format!("{mean:.3} over {} folds, {stopped} of them stopped", values.len())
            },
            holds: Holds::of(values.len(), FOLDS as usize, mean <= 0.06),
        })
    }

    fn women(&self, audit: &Tables, depth: &Tables) -> Claim {
        // Depth 2 where depth 3 was not run.
        let two = depth.rows().iter().filter(|row| row.setting == "2");
        let found = audit
            .rows()
            .iter()
            .filter(|row| row.method.name == "sogar")
            .map(|row| (row, ""))
            .chain(two.map(|row| (row, ", depth 2")))
            .filter(|(row, _)| (row.dataset, row.model) == ("adult", "lightgbm"))
            .find_map(|(row, depth)| {
                let audit = &row.results.values().next()?.audit;
                let women = audit.iter().find(|group| group.table == "train" && group.group == "Female")?;
                let invalidity = women.measures.iter().find(|measure| measure.measure == "invalidity")?;
                Some((invalidity, depth, if row.cut() > 0 { ", stopped" } else { "" }))
            });
        Claim {
            claim: "Adult: women have the higher invalidity on 96.4 % of the front, by 0.093 on average",
            here: found.map_or("no cells".into(), |(women, depth, stopped)| {
                format!(
                    "on {:.1} % of the front, by {:+.3} (one fold{depth}{stopped})",
                    100.0 * women.worse,
                    women.gap
                )
            }),
            holds: found.map_or(Holds::Open, |(women, depth, stopped)| {
                Holds::of(1, 1 + depth.len() + stopped.len(), women.worse > 0.9 && women.gap > 0.0)
            }),
        }
    }

    fn understated(&self, audit: &Tables) -> Claim {
        let individual = |row: &&Row| ["globe-ce", "globe-ce-common", "glance"].contains(&row.method.name);
        let found: Vec<(&Row, f64, f64)> = audit
            .rows()
            .iter()
            .filter(individual)
            .filter(|row| row.model == "lightgbm")
            .filter_map(|row| audit.gap_beside_front(row).map(|(own, along)| (row, own, along)))
            .collect();
        let listed: Vec<String> = found
            .iter()
            .map(|(row, own, along)| {
                format!("{} {} {own:+.3} against {along:+.3}", row.dataset, row.method.name)
            })
            .collect();
        let adult: Vec<bool> = found
            .iter()
            .filter(|(row, ..)| row.dataset == "adult")
            .map(|(_, own, along)| own.abs() < along.abs())
            .collect();
        Claim {
            claim: "Adult: GLOBE-CE and GLANCE sit where the gap between groups is narrow, and understate it",
            here: if listed.is_empty() {
                "no cells".into()
            } else {
                format!("gap in invalidity, own against mean along the front: {}", listed.join("; "))
            },
            holds: Holds::of(adult.len(), adult.len(), adult.iter().all(|narrower| *narrower)),
        }
    }
}

/// The columns with lower methods, these in brackets.
fn listed(before: &str, columns: &[(&Row, Vec<&str>)]) -> String {
    let found: Vec<String> = columns
        .iter()
        .filter(|(_, lower)| !lower.is_empty())
        .map(|(row, lower)| format!("{} {} ({})", row.dataset, row.model, lower.join(", ")))
        .collect();
    if found.is_empty() { String::new() } else { format!("{before}: {}", found.join("; ")) }
}
