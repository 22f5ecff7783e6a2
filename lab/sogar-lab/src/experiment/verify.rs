//! `sogar-lab experiment verify`: runs stored cells again, drawn by lot from those that the flags name, and compares.
//!
//! Results that a time limit ended depend on the machine, and those made from other tables or models than the ones at hand can't
//! be repeated: both are left out and counted.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use serde_json::json;
use sogar::{Error, ErrorKind, Result};
use sogar_baselines::FitStatus;
use sogar_baselines::methods::{choose, methods};
use sogar_cli::interrupt;
use sogar_cli::output::{Exit, Output};
use sogar_experiment::inputs::{DATA_SETS, FOLDS, KINDS, data_sets, folds, kinds};
use sogar_experiment::{Cell, Name, PATIENCE, Paper, Request, Store};

use super::{ExperimentArgs, Lines, all_protocols, runner};

pub fn run(args: &ExperimentArgs, output: &Output) -> Result<Exit> {
    let named = Named::of(args)?;
    let store = Store::open(&args.cells())?;
    let cells = every_cell(args)?;
    let left_over = store.left_over(&cells);
    for (file, result) in &left_over {
        output.warning(format!(
            "{file}: no protocol, method and experiment leads to {} {} fold {} ({})",
            result.protocol, result.method, result.fold, result.key
        ));
    }
    let paper = Paper::new(&args.paper);
    let mut known: Vec<&Cell> = Vec::new();
    let (mut elsewhere, mut cut) = (0, 0);
    let mut keys = std::collections::BTreeSet::new();
    for cell in cells.iter().filter(|cell| named.has(cell)) {
        let Some(stored) = store.best(cell).filter(|result| keys.insert(result.key.clone())) else {
            continue;
        };
        if stored.status == FitStatus::TimeLimit {
            cut += 1;
        } else if paper
            .inputs(&cell.data, cell.model, cell.fold)?
            .is_none_or(|inputs| inputs != stored.inputs)
        {
            elsewhere += 1;
        } else {
            known.push(cell);
        }
    }
    if known.is_empty() {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("none of the chosen cells can be run again here, of {} stored ones", store.len()),
        )
        .help(
            "train the models with scripts/paper_models.py; other versions of the libraries may train others",
        ));
    }
    known.shuffle(&mut ChaCha8Rng::seed_from_u64(args.seed));
    known.truncate(args.sample);
    let cancel = interrupt::token();
    let progress = Lines::new(output);
    let repeated = runner(args, &paper, &cancel).repeat(&known, &store, &progress, &progress.bars)?;
    progress.bars.clear();
    interrupt::finish();
    let different: Vec<String> = repeated
        .iter()
        .filter_map(|again| again.difference.as_ref().map(|what| format!("{}: {what}", again.cell.title())))
        .collect();
    if output.json {
        output.print_json(&json!({
            "repeated": repeated.len(), "different": different, "made_elsewhere": elsewhere, "cut": cut,
            "left_over": left_over.len(),
        }))?;
    } else {
        for line in &different {
            output.print(format!("{line}\n"))?;
        }
        output.print(format!(
            "{} of {} cells run again give the stored figures. Not drawn: {elsewhere} made from tables or models that are not here, \
             {cut} ended by a time limit.\n",
            repeated.len() - different.len(),
            repeated.len(),
        ))?;
    }
    if !different.is_empty() {
        return Err(Error::new(
            ErrorKind::ResultFile,
            format!("{} cells differ from the stored ones", different.len()),
        )
        .help(
            "a method that changed on purpose needs a higher revision in lab/sogar-baselines/src/methods.rs",
        ));
    }
    Ok(if repeated.len() == known.len() { Exit::Complete } else { Exit::Stopped })
}

/// What the flags name; without any, everything.
struct Named {
    data: Vec<&'static str>,
    kinds: Vec<&'static str>,
    folds: Vec<u32>,
    methods: Vec<&'static str>,
    protocols: Vec<String>,
}

impl Named {
    fn of(args: &ExperimentArgs) -> Result<Named> {
        let or_all =
            |names: &[String]| if names.is_empty() { vec!["all".to_owned()] } else { names.to_vec() };
        let methods = if args.methods == ["all"] { choose(&["readings"])? } else { choose(&args.methods)? };
        Ok(Named {
            data: data_sets(&or_all(&args.datasets))?,
            kinds: kinds(&or_all(&args.models))?,
            folds: folds(args.folds.as_deref().unwrap_or("1-10"))?,
            methods: methods.into_iter().map(|method| method.name).collect(),
            protocols: args.protocol.clone(),
        })
    }

    fn has(&self, cell: &Cell) -> bool {
        self.data.contains(&cell.data.name)
            && self.kinds.contains(&cell.model.kind)
            && self.folds.contains(&cell.fold)
            && self.methods.contains(&cell.method.name)
            && (self.protocols.is_empty() || self.protocols.contains(&cell.protocol))
    }
}

/// Every cell that a protocol, an experiment and a method lead to.
fn every_cell(args: &ExperimentArgs) -> Result<Vec<Cell>> {
    let protocols = all_protocols(&args.protocols())?;
    let request = |name: Name| Request {
        name,
        protocols: protocols.clone(),
        data: DATA_SETS.to_vec(),
        kinds: KINDS.map(|(kind, _)| kind).to_vec(),
        folds: (1..=FOLDS).collect(),
        methods: methods().iter().collect(),
        patience: args.time_limit.unwrap_or(PATIENCE),
        time_limit: args.time_limit,
        quick: false,
        seed: args.seed,
    };
    Ok(Name::ALL.into_iter().flat_map(|name| request(name).cells()).collect())
}
