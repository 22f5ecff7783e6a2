//! What another process needs to find outcomes, as bytes: the affected people and everything that can be done to them. The rest of the table
//! stays where it is, and so does the model, which the other process has already.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sogar_base::envelope::{Label, Payload};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::summary::EditRef;
use sogar_prepare::actions::{Edit, all_actions};
use sogar_prepare::encode::{ColumnSource, Encoder};
use sogar_prepare::limits::Size;
use sogar_prepare::model::LoadedModel;
use sogar_prepare::outcomes::{OutcomeQuery, Outcomes, Watch, outcomes};
use sogar_prepare::plausibility::forest::Forest;
use sogar_prepare::plausibility::{Measure, Plausibility};
use sogar_prepare::predict::predict_table;
use sogar_prepare::require::{OtherModel, Requirements};
use sogar_solver::{Actions, CancelToken, Stop};
use sogar_table::feature::{Feature, FeatureTable};
use sogar_table::rules::Rule;

use super::Search;
use super::distributed::{chosen, no_such_rows};
use super::outcome_source::few_outcomes;

/// For each model column the feature, and the bits of its map.
type Columns = Vec<(usize, Option<Vec<u64>>)>;

fn columns_of(encoder: &Encoder) -> Columns {
    let bits = |map: &Vec<f64>| map.iter().map(|value| value.to_bits()).collect();
    encoder.columns.iter().map(|column| (column.feature, column.map.as_ref().map(bits))).collect()
}

fn encoder_of(columns: Columns) -> Encoder {
    let numbers = |map: Vec<u64>| map.into_iter().map(f64::from_bits).collect();
    let source = |(feature, map): (usize, Option<Vec<u64>>)| ColumnSource { feature, map: map.map(numbers) };
    Encoder { columns: columns.into_iter().map(source).collect() }
}

/// Everything but the values, which follow in columns.
#[derive(Serialize, Deserialize)]
struct Head {
    model: String,
    rows: usize,
    features: Vec<Feature>,
    encoder: Columns,
    /// The hashes of further models, and their columns.
    others: Vec<(String, Columns)>,
    /// How many of them must accept.
    agree: usize,
    /// A forest and the bits of its floor, if edited rows must be plausible.
    plausibility: Option<(Forest, u64)>,
    desired: Vec<bool>,
    edits: Vec<EditRef>,
    rules: Vec<String>,
    max_edits: u32,
    max_scorings: Option<u64>,
    /// Those who are searched, if they are not all.
    searched: Option<Vec<usize>>,
}

/// Outcomes of a run that another process leads.
pub struct OutcomeTask {
    model: LoadedModel,
    /// The affected people, in the order of the problem.
    table: FeatureTable,
    rows: Vec<usize>,
    searched: Vec<usize>,
    encoder: Encoder,
    desired: Vec<bool>,
    edits: Vec<Edit>,
    rules: Vec<Rule>,
    required: Requirements,
    actions: Actions,
    max_edits: u32,
    max_scorings: Option<u64>,
}

fn label() -> Label {
    Label { kind: "outcome-task", version: 3, owner: env!("CARGO_PKG_VERSION").to_owned() }
}

impl Search<'_> {
    /// The run's outcomes as a task for another process ([`OutcomeTask::open`]).
    pub fn outcome_task(&self) -> Result<Vec<u8>> {
        let features = &self.table().features;
        let rows = self.problem_rows();
        let searched = self.searched_set();
        let others = self.requirements().map_or(&[][..], |required| &required.others);
        let head = Head {
            model: self.model().hash.clone(),
            rows: rows.len(),
            features: features.clone(),
            encoder: columns_of(self.encoder()),
            others: others.iter().map(|other| (other.hash.clone(), columns_of(&other.encoder))).collect(),
            agree: self.requirements().map_or(0, |required| required.agree),
            plausibility: self
                .requirements()
                .and_then(Requirements::limiting_plausibility)
                .map(shared)
                .transpose()?,
            desired: self.classes().desired.clone(),
            edits: self.edits().iter().map(|edit| EditRef::new(edit, features)).collect(),
            rules: self.config().rules.clone(),
            max_edits: self.limits().max_edits,
            max_scorings: self.config().limits.max_scorings,
            searched: self.sample().map(|_| searched.iter().collect()),
        };
        let fault = |cause: String| Error::new(ErrorKind::Usage, format!("no task could be made: {cause}"));
        let head = serde_json::to_vec(&head).map_err(|cause| fault(cause.to_string()))?;
        let columns = &self.table().values;
        let length = 8 + head.len() as u64 + 8 * columns.len() as u64 * rows.len() as u64;
        let mut bytes = Vec::with_capacity(label().size(length) as usize);
        let written = label().seal(&mut bytes, length, |out| {
            out.write_all(&(head.len() as u64).to_le_bytes())?;
            out.write_all(&head)?;
            for column in columns {
                let values: Vec<u8> = rows.iter().flat_map(|&row| column[row].to_le_bytes()).collect();
                out.write_all(&values)?;
            }
            Ok(())
        });
        written.map_err(|cause| fault(cause.to_string()))?;
        Ok(bytes)
    }
}

impl OutcomeTask {
    /// Reads a task. Fails unless the model is that of the run, and turns down all of these people.
    pub fn open(bytes: &[u8], model: LoadedModel) -> Result<OutcomeTask> {
        let decode = |payload: &mut Payload<'_>| {
            let length = payload.number()?;
            let rest = payload.rest()?;
            let (head, values) = usize::try_from(length)
                .ok()
                .and_then(|length| rest.split_at_checked(length))
                .ok_or("it is cut short")?;
            let head: Head = serde_json::from_slice(head).map_err(|cause| cause.to_string())?;
            if values.len() as u64 != 8 * head.features.len() as u64 * head.rows as u64 {
                return Err("it has other people than it says".into());
            }
            let numbers: Vec<f64> =
                values.as_chunks::<8>().0.iter().copied().map(f64::from_le_bytes).collect();
            Ok((head, numbers))
        };
        let wrong = |why: String| Error::new(ErrorKind::Usage, format!("this is no task of a run: {why}"));
        let (head, numbers) =
            label().open(bytes, bytes.len() as u64, decode).map_err(|fault| wrong(fault.to_string()))?;
        let Head { rows, features, desired, max_edits, max_scorings, .. } = head;
        let values = numbers.chunks(rows.max(1)).map(<[f64]>::to_vec).collect();
        let table = FeatureTable { features, values, rows, weights: None };
        let features = &table.features;
        let edits: Vec<Edit> = head.edits.iter().map(|edit| edit.edit(features)).collect::<Result<_>>()?;
        let rules = head.rules.iter().map(|text| Rule::parse(text, features)).collect::<Result<_>>()?;
        let encoder = encoder_of(head.encoder);
        let others: Vec<(String, Encoder)> =
            head.others.into_iter().map(|(hash, columns)| (hash, encoder_of(columns))).collect();
        let searched = head.searched.unwrap_or_else(|| (0..rows).collect());
        let mut encoders = std::iter::once(&encoder).chain(others.iter().map(|(_, encoder)| encoder));
        let known = |encoder: &Encoder| encoder.columns.iter().all(|column| column.feature < features.len());
        if !encoders.all(known) || searched.iter().any(|&row| row >= rows) {
            return Err(wrong("it speaks of features or people that it does not have".into()));
        }
        let mut required = required(&model, others, head.agree, &desired)?;
        if let Some((forest, floor)) = head.plausibility {
            if !forest.fits(features) {
                return Err(wrong("its forest is damaged".into()));
            }
            required.plausibility = Some(Plausibility::of_parts(forest, f64::from_bits(floor), features));
        }
        let actions = all_actions(&edits, max_edits);
        let rows = (0..rows).collect();
        let task = OutcomeTask {
            model,
            table,
            rows,
            searched,
            encoder,
            desired,
            edits,
            rules,
            required,
            actions,
            max_edits,
            max_scorings,
        };
        if task.model.hash != head.model || !task.all_turned_down()? {
            let message = "a worker does not see what the client sees: table, model or predictions differ";
            return Err(unlike(message));
        }
        Ok(task)
    }

    fn all_turned_down(&self) -> Result<bool> {
        if self.encoder.columns.len() != self.model.predictor.info().columns.len() {
            return Ok(false);
        }
        let said = predict_table(&*self.model.predictor, &self.encoder, &self.table)?;
        Ok(said.iter().all(|one| !self.desired.get(one.label as usize).copied().unwrap_or(false)))
    }

    fn query<'a>(&'a self, rows: &'a [usize], actions: &'a Actions) -> OutcomeQuery<'a> {
        OutcomeQuery {
            predictor: &*self.model.predictor,
            encoder: &self.encoder,
            desired: &self.desired,
            table: &self.table,
            rows,
            edits: &self.edits,
            actions,
            rules: &self.rules,
            required: Some(&self.required).filter(|required| !required.is_empty()),
        }
    }

    /// As [`Search::outcomes_of_block`].
    pub fn of_block(&self, block: Range<usize>, cancel: &CancelToken) -> Result<Option<Outcomes>> {
        let rows = self.searched.get(block).ok_or_else(no_such_rows)?;
        on_one_thread(|| {
            let watch = Watch { progress: &|_, _| (), stop: &Stop::from(cancel) };
            outcomes(self.query(rows, &self.actions), &watch)
        })
    }

    /// As [`Search::outcomes_on_everybody`].
    pub fn on_everybody(
        &self,
        block: Range<usize>,
        ids: &[u32],
        cancel: &CancelToken,
    ) -> Result<Option<Outcomes>> {
        let rows = self.rows.get(block).ok_or_else(no_such_rows)?;
        let few = chosen(&self.actions, ids)?;
        let size = Size {
            rows: self.rows.len(),
            edits: &self.edits,
            features: &self.table.features,
            actions: self.actions.len() as u128,
            max_edits: self.max_edits,
        };
        on_one_thread(|| {
            let watch = Watch { progress: &|_, _| (), stop: &Stop::from(cancel) };
            few_outcomes(self.query(rows, &few), &self.actions, ids, &watch, &size, self.max_scorings)
        })
    }
}

/// What another process needs to require plausible rows.
fn shared(plausibility: &Plausibility) -> Result<(Forest, u64)> {
    match &plausibility.measure {
        Measure::Forest(forest, _) => Ok(((**forest).clone(), plausibility.floor.to_bits())),
        Measure::Function(_) => {
            let message = "a function for plausibility cannot be shared with other processes";
            Err(Error::new(ErrorKind::Usage, message)
                .help("leave it out, so that an isolation forest is used, or fit without a cluster"))
        }
    }
}

fn unlike(message: &str) -> Error {
    Error::new(ErrorKind::Model, message)
        .help("give all workers the same version of sogar and of the model's library")
}

/// What an action must do besides convincing the first model; the worker has the further models too.
fn required(
    model: &LoadedModel,
    others: Vec<(String, Encoder)>,
    agree: usize,
    desired: &[bool],
) -> Result<Requirements> {
    let found = others.into_iter().map(|(hash, encoder)| {
        let other = model.also.iter().find(|other| other.hash == hash);
        let other = other.ok_or_else(|| unlike("a worker does not have all models of the client"))?;
        let (predictor, path) = (other.predictor.clone(), other.path.clone());
        Ok(OtherModel { predictor, encoder, path, hash })
    });
    Ok(Requirements {
        others: found.collect::<Result<_>>()?,
        agree,
        desired: desired.to_vec(),
        plausibility: None,
    })
}

/// A worker has a task for each of its threads.
fn on_one_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .map_err(|cause| Error::new(ErrorKind::Usage, format!("a thread could not be started: {cause}")))?;
    pool.install(work)
}
