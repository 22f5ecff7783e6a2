//! Table, model and configuration, their history, and the runs. Every tab of the page shows this one state.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use sogar::config::Config;
use sogar::outcomes::memory::OutcomeMemory;
use sogar::pipeline::Prepared;
use sogar::{Error, ErrorKind, Result};
use tokio::sync::watch;

use crate::change::Change;
use crate::columns;
use crate::dropped::Dropped;
use crate::inputs::{Given, Inputs, ModelOf, TableOf};
use crate::run::{Live, Run};

/// Bytes of outcomes that are kept for later runs.
const REMEMBERED: usize = 1 << 30;
/// Longest history of changes.
const MOST_STEPS: usize = 500;

/// One session of the studio.
pub struct Session {
    state: Mutex<State>,
    /// Changes come one after the other; reading the state does not wait for them.
    changing: Mutex<()>,
    changed: watch::Sender<u64>,
    memory: Arc<OutcomeMemory>,
    dropped: Dropped,
}

#[derive(Default)]
struct State {
    given: Given,
    opened: Option<Opened>,
    fault: Option<Error>,
    runs: Vec<Arc<Run>>,
    live: Option<Arc<Live>>,
    thread: Option<std::thread::JoinHandle<()>>,
    next_run: usize,
    ended: bool,
}

/// A table and a model with their configuration.
struct Opened {
    inputs: Arc<Inputs>,
    steps: Vec<Step>,
    at: usize,
    prepared: std::result::Result<Arc<Prepared>, Error>,
    /// Distinguishes what tabs have shown already.
    number: u64,
    problem: Arc<String>,
}

/// A configuration in the history.
#[derive(Clone)]
struct Step {
    label: String,
    config: Config,
}

impl Session {
    /// A session with what the user named; the rest is dropped on the page.
    pub fn new(given: Given) -> Result<Arc<Session>> {
        let session = Session {
            state: Mutex::new(State { given, next_run: 1, ..State::default() }),
            changing: Mutex::new(()),
            changed: watch::Sender::new(1),
            memory: Arc::new(OutcomeMemory::new(REMEMBERED)),
            dropped: Dropped::new()?,
        };
        Ok(Arc::new(session))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn one_at_a_time(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    /// Tells of every change.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Opens table and model, if both are known. A fault is returned and stays visible in the state.
    pub fn open(&self) -> Result<()> {
        let _one = self.one_at_a_time();
        let (table, model, (config, complete), folder, before) = {
            let state = self.state();
            let given = &state.given;
            let before = state.opened.as_ref();
            let before =
                before.map(|opened| (Arc::clone(&opened.inputs), opened.steps[opened.at].config.clone()));
            match (&given.table, &given.model) {
                (Some(table), Some(model)) => (
                    table.clone(),
                    model.clone(),
                    (given.config.clone(), given.complete),
                    given.folder.clone(),
                    before,
                ),
                _ => return Ok(()),
            }
        };
        let open = |config: &Config, complete, label: &str| -> Result<Opened> {
            let (inputs, config) = Inputs::open(&table, &model, &folder, config, complete)?;
            Ok(self.opened(inputs, vec![Step { label: label.to_owned(), config }], 0))
        };
        // Another model, or new rows of the same table: the settings stay if they fit.
        let kept = before.and_then(|(inputs, config)| {
            let kept = open(&config, true, "Settings as before").ok()?;
            (kept.prepared.is_ok() && names(&kept.inputs) == names(&inputs)).then_some(kept)
        });
        let result = match kept {
            Some(kept) => Ok(kept),
            None => open(&config, complete, if complete { "Configuration file" } else { "Start" }),
        };
        let mut state = self.state();
        let result = match result {
            Ok(opened) => {
                state.opened = Some(opened);
                state.fault = None;
                Ok(())
            }
            Err(error) => {
                state.fault = Some(error.clone());
                Err(error)
            }
        };
        drop(state);
        self.tell();
        result
    }

    /// The state after a step of the history.
    fn opened(&self, inputs: Arc<Inputs>, steps: Vec<Step>, at: usize) -> Opened {
        let config = &steps[at].config;
        let prepared =
            Prepared::new(config.clone(), &inputs.folder, &inputs.table, inputs.model.clone(), None);
        let prepared = prepared.map(|mut prepared| {
            prepared.set_outcome_memory(Arc::clone(&self.memory));
            Arc::new(prepared)
        });
        let problem = columns::problem(&inputs, config, prepared.as_deref());
        let number = *self.changed.borrow() + 1;
        Opened { inputs, steps, at, prepared, number, problem: Arc::new(problem.to_string()) }
    }

    /// Keeps a dropped file as the table, the model or the configuration, and opens what is there.
    pub fn dropped(&self, what: &str, name: &str, bytes: &[u8]) -> Result<()> {
        let fault = |message: &str| Error::new(ErrorKind::Usage, message);
        match what {
            "table" | "model" => {
                let path = self.dropped.keep(name, bytes)?;
                let mut state = self.state();
                if what == "table" {
                    state.given.table = Some(TableOf::Dropped(path));
                } else {
                    state.given.model = Some(ModelOf::Dropped(path));
                }
                // A configuration that was given belongs to the first table and model. Runs stay.
                if state.opened.is_some() {
                    (state.given.config, state.given.complete) = (Config::default(), false);
                }
            }
            "config" => {
                let text =
                    std::str::from_utf8(bytes).map_err(|_| fault("a configuration is text in UTF-8"))?;
                let config = Config::parse(text, Path::new(name))?;
                if config.model.command.is_some() || config.cost.table.is_some() {
                    return Err(fault("a configuration that names a command or another file must be given on the command line")
                        .help("sogar studio TABLE --config FILE"));
                }
                config.check(None)?;
                let opened = self.state().opened.is_some();
                if opened {
                    return self.step("Configuration file", |_| Ok(config.clone()));
                }
                let mut state = self.state();
                (state.given.config, state.given.complete) = (config, true);
            }
            _ => return Err(fault("there is no such kind of file")),
        }
        self.tell();
        self.open()
    }

    /// Applies a change of settings, and searches if it says so.
    pub fn change(self: &Arc<Self>, change: &Change) -> Result<()> {
        self.step(&change.label, |config| change.apply(config))?;
        if change.solve { self.solve() } else { Ok(()) }
    }

    /// Adds a step to the history. Its configuration must be valid by itself; whether there is anything to search is shown.
    fn step(&self, label: &str, next: impl FnOnce(&Config) -> Result<Config>) -> Result<()> {
        let _one = self.one_at_a_time();
        let (inputs, mut steps, at) = self.history()?;
        let config = next(&steps[at].config)?;
        if config == steps[at].config {
            return Ok(());
        }
        let inputs = inputs.after(&steps[at].config, &config)?;
        steps.truncate(at + 1);
        steps.push(Step { label: label.chars().take(200).collect(), config });
        if steps.len() > MOST_STEPS {
            steps.remove(0);
        }
        let at = steps.len() - 1;
        self.place(self.opened(inputs, steps, at));
        Ok(())
    }

    /// Goes to a step of the history.
    pub fn go_to(&self, wanted: usize) -> Result<()> {
        let _one = self.one_at_a_time();
        self.go(wanted)
    }

    fn go(&self, wanted: usize) -> Result<()> {
        let (inputs, steps, at) = self.history()?;
        let step = steps.get(wanted);
        let step = step.ok_or_else(|| Error::new(ErrorKind::Usage, "there is no such step"))?;
        let inputs = inputs.after(&steps[at].config, &step.config)?;
        self.place(self.opened(inputs, steps, wanted));
        Ok(())
    }

    /// Goes back or forward in the history.
    pub fn undo(&self, back: bool) -> Result<()> {
        // Two clicks go back two steps: the second one looks where the first one has arrived.
        let _one = self.one_at_a_time();
        let (_, steps, at) = self.history()?;
        match if back { at.checked_sub(1) } else { Some(at + 1).filter(|&next| next < steps.len()) } {
            Some(wanted) => self.go(wanted),
            None => Ok(()),
        }
    }

    /// Makes the configuration of a run the current one.
    pub fn restore(&self, id: usize) -> Result<()> {
        let run = self.run(id)?;
        let label = format!("Settings of {}", run.name.clone().unwrap_or_else(|| format!("run {id}")));
        self.step(&label, |_| Ok(run.config.clone()))
    }

    fn history(&self) -> Result<(Arc<Inputs>, Vec<Step>, usize)> {
        let state = self.state();
        let opened = state.opened.as_ref().ok_or_else(nothing_open)?;
        Ok((Arc::clone(&opened.inputs), opened.steps.clone(), opened.at))
    }

    fn place(&self, opened: Opened) {
        self.state().opened = Some(opened);
        self.tell();
    }

    /// Starts a search with the current settings. One that is running is stopped, and what it found is kept.
    pub fn solve(self: &Arc<Self>) -> Result<()> {
        // A change that is being applied comes first.
        let _one = self.one_at_a_time();
        let mut state = self.state();
        let opened = state.opened.as_ref().ok_or_else(nothing_open)?;
        let prepared = opened.prepared.clone()?;
        let (inputs, step) = (Arc::clone(&opened.inputs), opened.steps[opened.at].clone());
        let live = Arc::new(Live::new(state.next_run, step.label.clone(), self.changed.clone()));
        state.next_run += 1;
        if let Some(before) = state.live.replace(Arc::clone(&live)) {
            before.cancel.cancel();
        }
        let before = state.thread.take();
        let session = Arc::clone(self);
        state.thread = Some(std::thread::spawn(move || {
            if let Some(before) = before {
                let _ = before.join();
            }
            let found = catch_unwind(AssertUnwindSafe(|| live.search(&prepared, &inputs)));
            let found = found.unwrap_or_else(|_| {
                let message = "the search failed unexpectedly; its settings are kept";
                Err(Error::new(ErrorKind::Usage, message).help("save them, and report what you did"))
            });
            session.finished(&live, step.config, inputs, found);
        }));
        drop(state);
        self.tell();
        Ok(())
    }

    fn finished(
        &self,
        live: &Arc<Live>,
        config: Config,
        inputs: Arc<Inputs>,
        found: Result<sogar::summary::FrontFile>,
    ) {
        let mut state = self.state();
        match found {
            Ok(front) => {
                let run = Run {
                    id: live.id,
                    name: None,
                    label: live.label.clone(),
                    config,
                    inputs,
                    front: Arc::new(front),
                    reuse: self.memory.last(),
                    seconds: live.seconds(),
                };
                state.runs.push(Arc::new(run));
                state.fault = None;
            }
            Err(error) => state.fault = Some(error),
        }
        if state.live.as_ref().is_some_and(|now| now.id == live.id) {
            state.live = None;
        }
        drop(state);
        self.tell();
    }

    /// Stops the search that is running; what it found is kept.
    pub fn stop(&self) {
        if let Some(live) = &self.state().live {
            live.cancel.cancel();
        }
        self.tell();
    }

    /// Ends the session: stops the search without waiting for it.
    pub fn finish(&self) {
        let mut state = self.state();
        state.ended = true;
        if let Some(live) = &state.live {
            live.cancel.cancel();
        }
        drop(state);
        self.tell();
    }

    /// Ends the session, and waits for the search.
    pub fn end(&self) {
        self.finish();
        let thread = self.state().thread.take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    /// Whether the session has ended.
    pub fn has_ended(&self) -> bool {
        self.state().ended
    }

    /// A finished run.
    pub fn run(&self, id: usize) -> Result<Arc<Run>> {
        let found = self.state().runs.iter().find(|run| run.id == id).cloned();
        found.ok_or_else(|| Error::new(ErrorKind::Usage, "there is no such run"))
    }

    /// Gives a run a name, or takes it away.
    pub fn name(&self, id: usize, name: &str) -> Result<()> {
        let run = self.run(id)?;
        let name: String = name.trim().chars().take(80).collect();
        let named = Run {
            id,
            name: Some(name).filter(|name| !name.is_empty()),
            label: run.label.clone(),
            config: run.config.clone(),
            inputs: Arc::clone(&run.inputs),
            front: Arc::clone(&run.front),
            reuse: run.reuse,
            seconds: run.seconds,
        };
        let mut state = self.state();
        if let Some(place) = state.runs.iter_mut().find(|run| run.id == id) {
            *place = Arc::new(named);
        }
        drop(state);
        self.tell();
        Ok(())
    }

    /// Everything that changes often, as the page shows it.
    pub fn shown(&self) -> Value {
        let version = *self.changed.borrow();
        let state = self.state();
        json!({
            "version": version,
            "table": state.given.table.as_ref().map(TableOf::name),
            "model": state.given.model.as_ref().map(ModelOf::name),
            "fault": state.fault.as_ref().map(told),
            "opened": state.opened.as_ref().map(|opened| json!({
                "number": opened.number,
                "table": opened.inputs.origin.name(),
                "named": opened.inputs.source.name(),
                "at": opened.at,
                "steps": opened.steps.iter().map(|step| &step.label).collect::<Vec<_>>(),
                "rows": opened.inputs.table.rows,
                "columns": opened.inputs.table.columns.len(),
                "model": opened.inputs.model.predictor.info().description,
                "format": opened.inputs.model.predictor.info().format,
            })),
            "live": state.live.as_ref().map(|live| live.shown()),
            "runs": state.runs.iter().map(|run| run.shown()).collect::<Vec<_>>(),
            "ended": state.ended,
        })
    }

    /// Columns, counts and settings, as the page shows them.
    pub fn problem(&self) -> Result<Arc<String>> {
        let state = self.state();
        state.opened.as_ref().map(|opened| Arc::clone(&opened.problem)).ok_or_else(nothing_open)
    }

    /// The current configuration and its inputs.
    pub fn current(&self) -> Result<(Arc<Inputs>, Config)> {
        let (inputs, steps, at) = self.history()?;
        Ok((inputs, steps[at].config.clone()))
    }
}

/// An error as the page shows it.
pub fn told(error: &Error) -> Value {
    json!({ "message": error.to_string(), "help": error.remedy() })
}

fn names(inputs: &Inputs) -> Vec<&str> {
    inputs.table.columns.iter().map(|column| column.name.as_str()).collect()
}

fn nothing_open() -> Error {
    Error::new(ErrorKind::Usage, "there is no table and model yet").help("drop both on the page")
}
