//! The paper's claims one by one, beside what stored cells say under the protocol `paper`.

use std::sync::Arc;

use sogar::error::Result;

use super::inputs::{DATA_SETS, FOLDS, KINDS};
use super::name::Name;
use super::paper::published;
use super::protocol::Protocol;
use super::store::Store;
use super::tables::{Row, Tables};
use super::{PATIENCE, Request};
use crate::contract::FitStatus;
use crate::methods::{MethodKind, choose};

/// A claim, and what was found.
struct Claim {
    claim: &'static str,
    here: String,
    /// `None`: nothing was run that would tell.
    holds: Option<bool>,
}

/// A table of claims.
pub fn claims(store: &Store, protocols: &[Arc<Protocol>]) -> Result<String> {
    let paper = protocols.iter().filter(|protocol| protocol.name == "paper").cloned().collect::<Vec<_>>();
    let evidence = Evidence { store, paper };
    let mut text =
        String::from("| the paper's claim | here, protocol `paper` | holds here |\n|---|---|---|\n");
    for Claim { claim, here, holds } in evidence.claims()? {
        let holds = match holds {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not decided",
        };
        text += &format!("| {claim} | {here} | {holds} |\n");
    }
    Ok(text)
}

struct Evidence<'a> {
    store: &'a Store,
    paper: Vec<Arc<Protocol>>,
}

/// The mean invalidity of a row.
fn invalidity(row: &Row) -> Option<f64> {
    row.train.map(|train| train.invalidity.mean)
}

fn column(row: &Row) -> String {
    format!("{} {}", row.dataset, row.model)
}

impl Evidence<'_> {
    fn tables(&self, name: Name) -> Result<Tables> {
        let request = Request {
            name,
            protocols: self.paper.clone(),
            data: DATA_SETS.to_vec(),
            kinds: KINDS.map(|(kind, _)| kind).to_vec(),
            folds: (1..=FOLDS).collect(),
            methods: choose(&["all"])?,
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
            |change| change < 0.0,
        ));
        let sparsity = self.tables(Name::Sparsity)?;
        claims.push(self.changes(&sparsity, "2", "two edits instead of three raise invalidity: Attrition 0.37 to 0.50, German 0.14 to 0.19, Bank 0.25 to 0.36, Adult 0.52 to 0.84", |change| change > 0.0));
        let bins = self.tables(Name::Bins)?;
        claims.push(self.changes(
            &bins,
            "5",
            "5 bins for every number raise invalidity by 4.7 % (Attrition)",
            |change| change > 0.0,
        ));
        let timeouts = self.tables(Name::Timeouts)?;
        claims.push(self.changes(
            &timeouts,
            "10 s",
            "a search of 10 s raises invalidity by 8 to 16 % on the three smaller tables",
            |change| change > 0.0,
        ));
        claims.push(self.generalization()?);
        let audit = self.tables(Name::Audit)?;
        claims.push(self.women(&audit));
        claims.push(self.understated(&audit));
        Ok(claims)
    }

    fn lowest_invalidity(&self, main: &Tables) -> Claim {
        let (won, all) = main.wins(None, |means| means.invalidity);
        let (summaries, of) = main.wins(Some(MethodKind::Summary), |means| means.invalidity);
        Claim {
            claim: "SOGAR always has the lowest invalidity",
            here: format!(
                "lowest of all methods in {won} of {all} columns with results, lowest of summaries in {summaries} of {of}"
            ),
            holds: (all > 0).then_some(won == all),
        }
    }

    fn lowest_cost(&self, main: &Tables) -> Claim {
        let rows = |row: &&Row| row.method.name == "sogar" && row.train.is_some();
        let (mut lower, mut found) = (Vec::new(), 0);
        for row in main.rows().iter().filter(rows) {
            let own = row.train.map_or(0.0, |train| train.cost.mean);
            let cheaper: Vec<&str> = main
                .rows()
                .iter()
                .filter(|other| {
                    (other.dataset, other.model) == (row.dataset, row.model) && other.method.name != "sogar"
                })
                .filter(|other| other.train.is_some_and(|train| train.cost.mean < own))
                .map(|other| other.method.name)
                .collect();
            found += usize::from(row.dataset != "attrition");
            if !cheaper.is_empty() && row.dataset != "attrition" {
                lower.push(format!("{} ({})", column(row), cheaper.join(", ")));
            }
        }
        let here = if lower.is_empty() {
            format!("lowest cost in all {found} columns with results outside Attrition")
        } else {
            format!(
                "a cheaper method in {} of {found} columns outside Attrition: {}",
                lower.len(),
                lower.join("; ")
            )
        };
        Claim {
            claim: "SOGAR has the lowest cost in every data set besides Attrition",
            here,
            holds: (found > 0).then_some(lower.is_empty()),
        }
    }

    fn lower_losses(&self, main: &Tables) -> Claim {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for row in main.rows().iter().filter(|row| row.method.name == "sogar" && row.train.is_some()) {
            let own = row.train.map_or(0.0, |train| train.loss.mean);
            for other in
                main.rows().iter().filter(|other| (other.dataset, other.model) == (row.dataset, row.model))
            {
                if other.train.is_some_and(|train| train.loss.mean < own) {
                    match counts.iter_mut().find(|(name, _)| *name == other.method.name) {
                        Some((_, count)) => *count += 1,
                        None => counts.push((other.method.name, 1)),
                    }
                }
            }
        }
        counts.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        let listed: Vec<String> = counts.iter().map(|(name, count)| format!("{name} in {count}")).collect();
        let first: Vec<&str> = counts
            .iter()
            .filter(|(_, count)| Some(count) == counts.first().map(|(_, most)| most))
            .map(|(name, _)| *name)
            .collect();
        Claim {
            claim: "the methods that most often have a lower loss than SOGAR are GLOBE-CE and GLANCE",
            here: if listed.is_empty() {
                "no cells".into()
            } else {
                format!("lower loss, in columns: {}", listed.join(", "))
            },
            holds: (!listed.is_empty())
                .then(|| first.iter().all(|name| name.starts_with("glo") || name.starts_with("gla"))),
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
        Claim {
            claim: "SOGAR always recovers the whole front, within an hour",
            here: format!(
                "{whole} complete cells of at most {} are stored; stopped searches are not counted",
                10 * 12
            ),
            holds: (whole == 120).then_some(true),
        }
    }

    fn depth_two(&self, depth: &Tables, main: &Tables) -> Claim {
        let (mut won, mut all) = (0, 0);
        for row in depth.rows().iter().filter(|row| row.setting == "2") {
            let Some(own) = invalidity(row) else { continue };
            let others: Vec<f64> = main
                .rows()
                .iter()
                .filter(|other| {
                    (other.dataset, other.model) == (row.dataset, row.model) && other.method.name != "sogar"
                })
                .filter(|other| other.folds() == row.folds())
                .filter_map(invalidity)
                .collect();
            if !others.is_empty() {
                all += 1;
                won += usize::from(others.iter().all(|&other| own <= other));
            }
        }
        Claim {
            claim: "depth 2 still has a lower invalidity than all baselines",
            here: format!("in {won} of {all} columns with results on the same folds"),
            holds: (all > 0).then_some(won == all),
        }
    }

    /// The relative change of invalidity under a setting, by column.
    fn changes(
        &self,
        tables: &Tables,
        label: &str,
        claim: &'static str,
        as_claimed: fn(f64) -> bool,
    ) -> Claim {
        let mut found: Vec<(String, f64)> = Vec::new();
        for row in tables.rows().iter().filter(|row| row.setting == label) {
            if let Some(change) = tables.change_of(row) {
                found.push((
                    format!("{} {:+.1} % ({} folds)", column(row), 100.0 * change, row.folds()),
                    change,
                ));
            }
        }
        let listed: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
        Claim {
            claim,
            here: if listed.is_empty() { "no cells".into() } else { listed.join(", ") },
            holds: (!found.is_empty()).then(|| found.iter().all(|(_, change)| as_claimed(*change))),
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
        Ok(Claim {
            claim: "held-out rows lie 0.04 ± 0.02 from the train front (Attrition, LightGBM)",
            here: if values.is_empty() {
                "no cells".into()
            } else {
                format!("{mean:.3} over {} folds", values.len())
            },
            holds: (!values.is_empty()).then_some(mean <= 0.06),
        })
    }

    fn women(&self, audit: &Tables) -> Claim {
        let row = audit.rows().iter().find(|row| {
            (row.dataset, row.model, row.method.name) == ("adult", "lightgbm", "sogar")
                && !row.results.is_empty()
        });
        let found = row.and_then(|row| {
            let audit = &row.results.values().next()?.audit;
            let women = audit.iter().find(|group| group.table == "train" && group.group == "Female")?;
            women.measures.iter().find(|measure| measure.measure == "invalidity")
        });
        let gap = published("audit", "adult", "lightgbm", "sogar", "train gap")
            .map_or("", |paper| paper.invalidity);
        Claim {
            claim: "Adult: women have the higher invalidity on 96.4 % of the front, by 0.093 on average",
            here: found.map_or("no cells".into(), |women| {
                format!(
                    "on {:.1} % of the front, by {:+.3} (published {gap})",
                    100.0 * women.worse,
                    women.gap
                )
            }),
            holds: found.map(|women| women.worse > 0.9 && women.gap > 0.0),
        }
    }

    fn understated(&self, audit: &Tables) -> Claim {
        let mut listed = Vec::new();
        let mut narrower = true;
        for row in audit
            .rows()
            .iter()
            .filter(|row| ["globe-ce", "globe-ce-common", "glance"].contains(&row.method.name))
        {
            if let Some((own, along)) = audit.gap_beside_front(row) {
                narrower &= own.abs() < along.abs();
                listed.push(format!("{} {}: {own:+.3} against {along:+.3}", row.dataset, row.method.name));
            }
        }
        Claim {
            claim: "GLOBE-CE and GLANCE sit where the gap between groups is narrow, and understate it",
            here: if listed.is_empty() {
                "no cells".into()
            } else {
                format!("gap in invalidity, own against mean along the front: {}", listed.join("; "))
            },
            holds: (!listed.is_empty()).then_some(narrower),
        }
    }
}
