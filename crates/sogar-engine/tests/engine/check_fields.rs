//! Every field of a result file, changed in turn: `docs/CHECK.md` says which of them are verified and which are only for people to
//! read, and `check` must do as it says. And whatever a file says, `check` answers; it never panics.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a panic is the report

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sogar::CancelToken;
use sogar::check::{Completeness, Options, Report, check};
use sogar::config::{Bins, Config, CostKind, Link};
use sogar::evaluate::{HeldOut, evaluate};
use sogar::model::Source;
use sogar::pipeline::{Prepared, Search};
use sogar::summary::FrontFile;
use sogar::table::Table;
use sogar_testing::Random;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sogar-cli/tests/fixtures").join(name)
}

/// An honest result with the table that it came from.
struct Honest {
    name: &'static str,
    json: Value,
    table: PathBuf,
}

impl Honest {
    /// What is said of the result once it is changed: why it can't be read, or what a check finds.
    fn checked(&self, changed: &Value) -> Result<Report, String> {
        let front = FrontFile::parse(changed.to_string().as_bytes()).map_err(|error| error.to_string())?;
        let model = Source::File(fixture("model.txt"));
        let options = Options {
            time_limit: Duration::from_secs(20),
            holdout: Some(fixture("others.csv")),
            ..Options::default()
        };
        check(&front, &self.table, &model, options, &()).map_err(|error| error.to_string())
    }
}

/// The small problem, made smaller.
fn config() -> Config {
    let text = std::fs::read_to_string(fixture("sogar.toml")).unwrap();
    let mut config = Config::parse(&text, Path::new("sogar.toml")).unwrap();
    config.limits.max_depth = Some(1);
    config.limits.max_edits = Some(1);
    config.limits.min_leaf = Some(25);
    config.bins = Bins::Count(3);
    config
}

fn solved(name: &'static str, config: Config, table: PathBuf, held_out: bool) -> Honest {
    let read = Table::read(&table, &config.read_options().unwrap()).unwrap();
    let model = Source::File(fixture("model.txt")).open(&read, &config).unwrap();
    let prepared = Prepared::new(config, Path::new(""), &read, model, None).unwrap();
    let mut front = Search(&prepared).solve(&(), &CancelToken::new()).unwrap();
    if held_out {
        let others = Table::read(&fixture("others.csv"), &prepared.config().read_options().unwrap()).unwrap();
        let others = HeldOut::new(&prepared, &others).unwrap();
        front.holdout = Some(evaluate(&front, &prepared, &others).unwrap());
        front.run.holdout_path = Some("others.csv".into());
    }
    Honest { name, json: serde_json::to_value(&front).unwrap(), table }
}

/// A plain result, one with weights, one with a cost table, one of a sample, one with held-out people, and stopped ones.
fn honest(folder: &Path) -> Vec<Honest> {
    let table = fixture("people.csv");
    let weighted = folder.join("weighted.csv");
    let text = std::fs::read_to_string(&table).unwrap();
    let lines = text.lines().enumerate().map(|(number, line)| match number {
        0 => format!("{line},count\n"),
        _ => format!("{line},{}.5\n", 1 + number % 3),
    });
    std::fs::write(&weighted, lines.collect::<String>()).unwrap();
    let costs = folder.join("costs.csv");
    let rows = ["income", "hours", "school", "job", "owner"].map(|feature| format!("{feature},*,*,0.25\n"));
    std::fs::write(&costs, format!("feature,from,to,cost\n{}", rows.concat())).unwrap();
    let mut priced = config();
    priced.cost.kind = CostKind::Table;
    priced.cost.table = Some(costs.to_str().unwrap().into());
    let with = |change: fn(&mut Config)| {
        let mut config = config();
        change(&mut config);
        config
    };
    vec![
        solved("plain", config(), table.clone(), false),
        solved("weighted", with(|config| config.data.weight = Some("count".into())), weighted, false),
        solved("priced", priced, table.clone(), false),
        solved("sampled", with(|config| config.limits.sample = Some(80)), table.clone(), false),
        solved("held-out", config(), table.clone(), true),
        solved(
            "plausible",
            with(|config| config.plausibility.min_plausibility = Some(0.3)),
            table.clone(),
            true,
        ),
        solved("stopped", with(|config| config.limits.time_limit = Some(1e-9)), table.clone(), false),
        solved(
            "stopped on a sample",
            with(|config| {
                config.limits.time_limit = Some(1e-9);
                config.limits.sample = Some(80);
            }),
            table,
            false,
        ),
    ]
}

/// A place in a file, and its name in the table of fields.
#[derive(Clone)]
struct Place {
    pointer: String,
    field: String,
}

/// All places of a file. In names, list positions are left out and a tree is one node.
fn places(value: &Value, at: &Place, found: &mut Vec<Place>) {
    if !at.pointer.is_empty() {
        found.push(at.clone());
    }
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let inner = at.field.ends_with("tree") && (key == "left" || key == "right");
                let field = match at.field.as_str() {
                    "" => key.clone(),
                    field if inner => field.to_owned(),
                    field => format!("{field}.{key}"),
                };
                places(value, &Place { pointer: format!("{}/{key}", at.pointer), field }, found);
            }
        }
        Value::Array(items) => {
            for (number, value) in items.iter().enumerate() {
                let pointer = format!("{}/{number}", at.pointer);
                places(value, &Place { pointer, field: format!("{}[]", at.field) }, found);
            }
        }
        _ => {}
    }
}

fn all_places(value: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    places(value, &Place { pointer: String::new(), field: String::new() }, &mut found);
    found
}

/// What the documentation says of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Verified,
    DisplayOnly,
    /// Verified as a bound: a weaker one is as true.
    Bound,
}

#[derive(Debug, Clone, Copy)]
struct Documented {
    class: Class,
    may_be_absent: bool,
}

/// The rows of the table of fields: `` | `field` | class | … ``.
fn documented() -> BTreeMap<String, Documented> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/CHECK.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, text) = text.split_once("## Fields").unwrap();
    let mut fields = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let class = match cells[2].split(',').next().unwrap() {
            "verified" | "refused if wrong" => Class::Verified,
            "display only" => Class::DisplayOnly,
            "verified as a bound" => Class::Bound,
            other => panic!("unknown class `{other}`"),
        };
        let documented = Documented { class, may_be_absent: cells[2].contains("may be absent") };
        for field in cells[1].split(", ") {
            let field = field.trim_matches('`').to_owned();
            assert!(fields.insert(field.clone(), documented).is_none(), "`{field}` is there twice");
        }
    }
    fields
}

/// Values that a scalar could have instead.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Bool(value) => vec![json!(!value)],
        Value::String(text) => vec![json!(format!("{text}x"))],
        Value::Number(number) => match number.as_u64() {
            Some(0) => vec![json!(1)],
            Some(number) => vec![json!(number + 1), json!(number - 1)],
            None => {
                let number = number.as_f64().unwrap();
                vec![json!(number + 1.0), json!(number - 1.0)]
            }
        },
        _ => Vec::new(),
    }
}

fn refused(verdict: &Result<Report, String>) -> bool {
    verdict.as_ref().map_or(true, |report| !report.passed())
}

/// Removes what is at a pointer.
fn remove(value: &mut Value, pointer: &str) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Object(entries) => drop(entries.remove(key)),
        Value::Array(items) => drop(items.remove(key.parse().unwrap())),
        _ => unreachable!(),
    }
}

#[test]
fn every_field_is_what_the_documentation_says() {
    let folder = tempfile::tempdir().unwrap();
    let documented = documented();
    let mut met = BTreeSet::new();
    let mut faults: Vec<String> = Vec::new();
    for (number, result) in honest(folder.path()).iter().enumerate() {
        let name = result.name;
        let verdict = result.checked(&result.json).unwrap();
        assert!(verdict.passed(), "{name}: {verdict:?}");
        let expected = match name {
            "sampled" => Completeness::ProvedOnSample,
            "stopped" | "stopped on a sample" => Completeness::NotClaimed,
            _ => Completeness::Proved,
        };
        assert_eq!(verdict.completeness, expected, "{name}");
        let mut by_field: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for Place { pointer, field } in all_places(&result.json) {
            by_field.entry(field).or_default().push(pointer);
        }
        for (field, pointers) in by_field {
            // The first, one in the middle and the last of its kind; in further results that have the field, another one each.
            let count = pointers.len();
            let again = met.contains(&field);
            let chosen: BTreeSet<&String> = match again {
                false => [0, count / 2, count - 1].map(|at| &pointers[at]).into(),
                true => [&pointers[number * 7919 % count]].into(),
            };
            for pointer in chosen {
                let old = result.json.pointer(pointer).unwrap();
                let told = |what: &str, verdict: &Result<Report, String>| match verdict {
                    Ok(report) => format!("{name}: {pointer} {what}: passed {}", report.passed()),
                    Err(error) => format!("{name}: {pointer} {what}: {error}"),
                };
                if let Value::Object(_) = old {
                    let mut changed = result.json.clone();
                    changed.pointer_mut(pointer).unwrap()["unknown"] = json!(1);
                    let verdict = result.checked(&changed);
                    if !refused(&verdict) {
                        faults.push(told("with an unknown field", &verdict));
                    }
                }
                if old.is_object() || old.is_array() {
                    continue;
                }
                let Some(said) = documented.get(&field) else {
                    faults.push(format!("`{field}` is not in docs/CHECK.md ({name})"));
                    continue;
                };
                met.insert(field.clone());
                // Of a field that another result had before, one other value is enough: a larger or a smaller one.
                let mut tried = others(old);
                if again && !tried.is_empty() {
                    tried = vec![tried.swap_remove(number % tried.len())];
                }
                for other in tried {
                    let mut changed = result.json.clone();
                    *changed.pointer_mut(pointer).unwrap() = other.clone();
                    let verdict = result.checked(&changed);
                    let as_said = match said.class {
                        Class::Verified => refused(&verdict),
                        Class::DisplayOnly
                            if field == "config.seed"
                                && ["sample", "plausibility"]
                                    .iter()
                                    .any(|block| result.json.get(*block).is_some()) =>
                        {
                            refused(&verdict)
                        }
                        Class::DisplayOnly => !refused(&verdict),
                        Class::Bound => true,
                    };
                    let text = field.ends_with(".text");
                    let texts = verdict.as_ref().map_or(0, |report| report.text_differs.len());
                    if !as_said || text != (texts > 0) {
                        faults.push(told(&format!("= {other}"), &verdict));
                    }
                }
                // What a stopped run did not find can't be missed.
                let stopped = name.starts_with("stopped") && field.ends_with("points[]");
                if !pointer.ends_with(|last: char| last.is_ascii_digit()) && !stopped {
                    let mut changed = result.json.clone();
                    remove(&mut changed, pointer);
                    let verdict = result.checked(&changed);
                    if refused(&verdict) == said.may_be_absent {
                        faults.push(told("removed", &verdict));
                    }
                }
            }
        }
    }
    let idle: Vec<&String> = documented.keys().filter(|field| !met.contains(*field)).collect();
    // Fields of settings, edits and features that the small problem does not have.
    let known_idle = |field: &str| {
        let elsewhere = ["config.", "features[].", "actions[].edits[]."];
        elsewhere.iter().any(|start| field.starts_with(start)) || field.starts_with("holdout.weight")
    };
    faults.extend(
        idle.iter().filter(|field| !known_idle(field)).map(|field| format!("no result has `{field}`")),
    );
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Whole blocks: which may be left out, and that lists can't be cut short.
#[test]
fn blocks_and_lists_are_not_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    for result in honest(folder.path()) {
        let blocks = result.json.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        for block in blocks {
            let mut changed = result.json.clone();
            remove(&mut changed, &format!("/{block}"));
            let verdict = result.checked(&changed);
            // A result without its held-out block is as true.
            assert_eq!(refused(&verdict), block != "holdout", "{} without {block}", result.name);
        }
        if result.name.starts_with("stopped") {
            continue;
        }
        for list in [
            "/points",
            "/actions",
            "/splits",
            "/features",
            "/sample/front",
            "/sample/points",
            "/holdout/points",
        ] {
            let Some(Value::Array(items)) = result.json.pointer(list) else { continue };
            let mut changed = result.json.clone();
            remove(&mut changed, &format!("{list}/{}", items.len() - 1));
            assert!(refused(&result.checked(&changed)), "{} with {list} cut short", result.name);
        }
    }
}

/// Values that files should not have.
fn hostile(draw: &mut Random) -> Value {
    let values = [
        json!(0),
        json!(1),
        json!(-1),
        json!(u64::MAX),
        json!(u32::MAX),
        json!(1e-9),
        json!(1e308),
        json!(-1e308),
        json!(""),
        json!("*"),
        json!("//////////8="),
        json!("cet"),
        json!("table"),
        json!("cancelled"),
        json!("complete"),
        json!(null),
        json!([]),
        json!({}),
        json!(true),
        json!([[0, 0]]),
    ];
    values[draw.index(values.len())].clone()
}

/// Changes some values of a file, or moves them to another place.
fn mutated(honest: &Value, draw: &mut Random) -> Value {
    let mut changed = honest.clone();
    for _ in 0..1 + draw.index(3) {
        let places = all_places(&changed);
        let place = places[draw.index(places.len())].pointer.clone();
        match draw.index(4) {
            0 => remove(&mut changed, &place),
            1 => {
                let other = places[draw.index(places.len())].pointer.clone();
                let value = changed.pointer(&other).unwrap().clone();
                *changed.pointer_mut(&place).unwrap() = value;
            }
            _ => *changed.pointer_mut(&place).unwrap() = hostile(draw),
        }
    }
    changed
}

#[test]
fn no_file_makes_a_check_panic() {
    check_hostile_files(1, 1200);
}

#[test]
#[ignore = "a long campaign"]
fn none_of_20_000_files_makes_a_check_panic() {
    check_hostile_files(2, 20_000);
}

/// Files with wrong values, and as many with wrong bytes.
fn check_hostile_files(seed: u64, files: usize) {
    let folder = tempfile::tempdir().unwrap();
    let results = honest(folder.path());
    let mut draw = Random(seed);
    let mut read = 0;
    for round in 0..files {
        let result = &results[round % results.len()];
        let changed = mutated(&result.json, &mut draw);
        let verdict = catch_unwind(AssertUnwindSafe(|| result.checked(&changed)));
        let verdict = verdict.unwrap_or_else(|_| panic!("round {round}: {changed}"));
        read += usize::from(verdict.is_ok());
    }
    assert!(read > files / 40, "only {read} files could be read at all");
    // Bytes.
    for round in 0..files {
        let result = &results[round % results.len()];
        let mut bytes = result.json.to_string().into_bytes();
        for _ in 0..1 + draw.index(4) {
            let at = draw.index(bytes.len());
            match draw.index(3) {
                0 => bytes[at] = b"0123456789-.eE{}[],:\"\\"[draw.index(22)],
                1 => drop(bytes.remove(at)),
                _ => bytes[at] = draw.index(256) as u8,
            }
        }
        let parsed = catch_unwind(AssertUnwindSafe(|| FrontFile::parse(&bytes).ok()));
        let parsed = parsed.unwrap_or_else(|_| panic!("round {round}"));
        if let Some(front) = parsed {
            let changed = serde_json::to_value(&front).unwrap();
            let verdict = catch_unwind(AssertUnwindSafe(|| result.checked(&changed)));
            assert!(verdict.is_ok(), "round {round}: {changed}");
        }
    }
}

/// Settings that make other problems of the same table, links and weights of features among them.
fn random_config(draw: &mut Random) -> Config {
    let mut config = config();
    let kinds = [CostKind::Mps, CostKind::Cet, CostKind::Logshift, CostKind::L1];
    config.cost.kind = kinds[draw.index(4)];
    config.bins =
        [Bins::Count(4), Bins::Named("auto".into()), Bins::Named("quantile:3".into())][draw.index(3)].clone();
    config.limits.max_depth = Some(draw.index(3) as u32);
    config.limits.max_edits = Some(1 + draw.index(2) as u32);
    config.limits.min_leaf = Some(10 + draw.index(20) as u32);
    config.limits.sample = (draw.index(3) == 0).then(|| 40 + draw.index(90) as u32);
    config.seed = draw.index(100) as u64;
    if draw.index(2) == 0 {
        // `age` is immutable, so that nothing is moved twice.
        config.links = vec![Link { from: "hours".into(), to: "age".into(), factor: 0.25 }];
    }
    for name in ["hours", "income", "owner"] {
        if draw.index(3) == 0 {
            config.features.entry(name.into()).or_default().weight = Some(0.1 * (1 + draw.index(20)) as f64);
        }
    }
    if draw.index(2) == 0 {
        config.plausibility.min_plausibility = Some([0.0, 0.05, 0.3][draw.index(3)]);
    }
    if draw.index(3) == 0 {
        config.rules = vec!["hours <= age".into()];
    }
    config.features.entry("job".into()).or_default().immutable = Some(draw.index(2) == 0);
    config
}

#[test]
fn random_results_are_proved_by_prices_of_the_verifiers_own() {
    check_random_results(5, 24);
}

#[test]
#[ignore = "a long campaign"]
fn a_thousand_random_results_are_proved_by_prices_of_the_verifiers_own() {
    check_random_results(6, 1000);
}

/// Results of random settings, some of them of samples.
fn check_random_results(seed: u64, rounds: usize) {
    let mut draw = Random(seed);
    let mut on_samples = 0;
    for round in 0..rounds {
        let result = solved("random", random_config(&mut draw), fixture("people.csv"), round % 3 == 0);
        let report = result.checked(&result.json).unwrap();
        assert!(report.passed(), "round {round}: {:?}", report.findings);
        let sampled = result.json.get("sample").is_some();
        let expected = if sampled { Completeness::ProvedOnSample } else { Completeness::Proved };
        assert_eq!(report.completeness, expected, "round {round}");
        assert!(report.text_differs.is_empty() && (sampled || report.not_proved.is_empty()), "{report:?}");
        on_samples += usize::from(sampled);
    }
    assert!((rounds / 12..rounds * 5 / 6).contains(&on_samples), "{on_samples}");
}
