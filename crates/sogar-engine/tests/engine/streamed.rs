//! A table that is read part by part gives what the table in memory gives, to the byte: 60 random tables with all that can be in one,
//! as they are and as Parquet files, and the errors that name a place.

#![allow(clippy::unwrap_used, clippy::panic)] // a panic is the report

use std::path::Path;

use sogar::CancelToken;
use sogar::config::{Bins, Config, CostKind};
use sogar::model::{Answers, Callback, LoadedModel, ModelInfo};
use sogar::outcomes::Outcomes;
use sogar::pipeline::{OutcomeTask, Prepared, Search};
use sogar::table::{Column, Partitions, Table, TableSource, Visit};
use sogar::{Error, Result};

/// Numbers that follow from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn is_one_of(&mut self, end: u64) -> bool {
        self.below(end) == 0
    }
}

/// A source whose parts have few rows.
struct FewAtOnce<'a>(&'a dyn TableSource, usize);

impl TableSource for FewAtOnce<'_> {
    fn header(&self) -> &Table {
        self.0.header()
    }

    fn each_part(&self, columns: &[&str], at_once: usize, visit: &mut Visit<'_>) -> Result<()> {
        self.0.each_part(columns, at_once.min(self.1), visit)
    }
}

/// The next text of a column, for a row.
type NextText = Box<dyn FnMut(&mut Draw, usize) -> Option<&'static str>>;

/// Numbers, some missing; texts, some of which come late; a truth value; one-hot columns; a label; weights; and a column to be ignored.
fn people(draw: &mut Draw, rows: usize) -> Vec<Column> {
    let mut numbers = |name: &str, mut next: Box<dyn FnMut(&mut Draw) -> f64>| {
        Column::numbers(name, (0..rows).map(|_| next(draw)).collect())
    };
    let debt = numbers("debt", Box::new(|draw| draw.below(12) as f64));
    let income = numbers(
        "income",
        Box::new(|draw| if draw.is_one_of(15) { f64::NAN } else { draw.below(900) as f64 / 8.0 }),
    );
    let weight = numbers("people", Box::new(|draw| (1 + draw.below(30)) as f64 / 10.0));
    let jobs: Vec<u64> = (0..rows).map(|_| draw.below(3)).collect();
    let job = |level: u64| {
        let cells = jobs.iter().map(|&job| f64::from(job == level)).collect();
        Column::numbers(format!("job_{}", ["clerk", "cook", "smith"][level as usize]), cells)
    };
    let mut texts = |name: &str, mut next: NextText| {
        let cells: Vec<Option<&str>> = (0..rows).map(|row| next(draw, row)).collect();
        Column::text(name, cells)
    };
    let region = texts(
        "region",
        Box::new(move |draw, row| match draw.below(4) {
            0 if row < rows - 9 => None,
            1 if row < rows - 9 => Some("south"),
            2 if row < rows - 9 => Some("west"),
            _ if row >= rows - 9 => Some(["east", "</script>", "south"][row % 3]),
            _ => Some("north"),
        }),
    );
    let member = texts(
        "member",
        Box::new(|draw, row| Some(["false", "true"][(row.min(1) as u64 & draw.below(2)) as usize])),
    );
    let label = texts("loan", Box::new(|draw, _| Some(["no", "yes"][draw.below(2) as usize])));
    let id = texts("id", Box::new(|draw, _| Some(["a", "b", "c"][draw.below(3) as usize])));
    vec![id, debt, job(1), income, region, job(0), member, label, job(2), weight]
}

const COLUMNS: [&str; 7] = ["debt", "income", "region", "member", "job_clerk", "job_cook", "job_smith"];

/// Income against debt, with a little help for some.
fn model() -> LoadedModel {
    let list = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
    let mut categories = vec![Vec::new(); COLUMNS.len()];
    categories[2] = list(&["(missing)", "</script>", "east", "north", "south", "west"]);
    categories[3] = list(&["false", "true"]);
    let info = ModelInfo {
        format: "function".into(),
        description: "income and debt".into(),
        columns: list(&COLUMNS),
        categories,
        unplaced_categories: vec![],
        classes: 2,
        class_names: vec![],
        threshold: Some(30.0),
    };
    let score = |row: &[f64]| {
        let income = if row[1].is_nan() { 20.0 } else { row[1] };
        income - 2.0 * row[0] + 4.0 * f64::from(row[2] == 1.0) + 3.0 * row[3] + 9.0 * row[4]
    };
    Callback::new(info, move |rows| Ok(Answers::Scores(rows.iter().map(score).collect())))
        .into_model("model", b"model")
}

fn config(draw: &mut Draw) -> Config {
    let bins = [Bins::Count(4), Bins::Named("auto".into()), Bins::Named("quantile:3".into())];
    let mut config = Config { bins: bins[draw.below(3) as usize].clone(), ..Config::default() };
    config.cost.kind =
        [CostKind::Mps, CostKind::Cet, CostKind::Logshift, CostKind::L1][draw.below(4) as usize];
    (config.data.label, config.data.desired) = (Some("loan".into()), vec!["yes".into()]);
    config.data.ignore = vec!["id".into()];
    match draw.below(2) {
        0 => config.data.weight = Some("people".into()),
        _ => config.data.ignore.push("people".into()),
    }
    config.limits.max_depth = Some(1);
    config.limits.max_edits = Some(1 + draw.below(2) as u32);
    config.limits.sample = draw.is_one_of(4).then_some(20);
    config.limits.threads = Some(1);
    let mut job = sogar::config::FeatureConfig::default();
    if draw.is_one_of(2) {
        job.columns = ["job_smith", "job_cook", "job_clerk"].map(String::from).to_vec();
        config.features.insert("work".into(), job);
    }
    config.features.entry("member".into()).or_default().immutable = Some(draw.is_one_of(2));
    if draw.is_one_of(3) {
        config.features.entry("debt".into()).or_default().kind = Some(sogar::config::KindName::Categorical);
    }
    config
}

/// Everything that a run gives, as text; or what is wrong.
fn found(prepared: Result<Prepared>) -> String {
    let said = |error: &Error| format!("{error} | {}", error.remedy().unwrap_or_default());
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return said(&error),
    };
    let mut front = Search(&prepared).solve(&(), &CancelToken::new()).unwrap();
    front.run = Default::default();
    let (notices, identity) = (prepared.notices().join("\n"), Search(&prepared).outcomes_identity());
    format!("{notices}\n{identity}\n{}", serde_json::to_string(&front).unwrap())
}

fn in_memory(config: &Config, table: &Table, predictions: Option<&str>) -> String {
    found(Prepared::new(config.clone(), Path::new(""), table, model(), predictions))
}

fn in_parts(config: &Config, source: &dyn TableSource, predictions: Option<&str>) -> String {
    found(Prepared::streamed(config.clone(), Path::new(""), source, model(), predictions))
}

/// Gives partitions of so many rows.
fn partitions_of(
    table: &Table,
    rows: usize,
) -> impl Fn(usize, Option<&[&str]>) -> Result<Option<Table>> + Sync + '_ {
    move |number, names| {
        let all: Vec<&str> = table.names().collect();
        let (mut wanted, mut at) = (None, 0);
        table.each_part(names.unwrap_or(&all), rows, &mut |part| {
            if at == number {
                wanted = Some(part.clone());
            }
            at += 1;
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(wanted)
    }
}

/// What the model says of each row, as a column.
fn predictions(config: &Config, table: &Table, wrong: bool) -> Column {
    let prepared = Prepared::new(config.clone(), Path::new(""), table, model(), None).unwrap();
    let mut labels: Vec<Option<&str>> = vec![Some("yes"); table.rows];
    for &row in prepared.affected() {
        labels[row] = Some("no");
    }
    if wrong {
        labels[table.rows - 2] = None;
    }
    Column::text("said", labels)
}

#[test]
fn parts_of_a_table_in_memory_give_the_same_result() {
    let mut draw = Draw(7);
    let mut points = 0;
    for problem in 0..60 {
        let rows = 60 + draw.below(80) as usize;
        let columns = people(&mut draw, rows);
        let config = config(&mut draw);
        let table = Table::from_columns("people", columns.clone()).unwrap();
        let whole = in_memory(&config, &table, None);
        points += whole.matches("cost_sum").count();
        for at_once in [7, 1000] {
            assert_eq!(in_parts(&config, &FewAtOnce(&table, at_once), None), whole, "problem {problem}");
        }
        let fetch = partitions_of(&table, 31);
        let partitions = Partitions::open("people", 6, &fetch).unwrap();
        assert_eq!(in_parts(&config, &partitions, None), whole, "problem {problem}");
        if problem % 10 < 2 {
            let mut columns = columns;
            columns.push(predictions(&config, &table, problem % 10 == 1));
            let table = Table::from_columns("people", columns).unwrap();
            let whole = in_memory(&config, &table, Some("said"));
            assert_eq!(whole.contains("predictions differ"), problem % 10 == 1, "{whole:.200}");
            assert_eq!(in_parts(&config, &FewAtOnce(&table, 7), Some("said")), whole);
        }
    }
    assert!(points > 1000, "{points}");
}

#[test]
fn the_german_example_is_the_same_in_parts() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/german");
    let mut config = Config::read(&example.join("sogar.toml")).unwrap();
    config.limits.max_depth = Some(1);
    config.limits.max_edits = Some(2);
    let table = Table::read(&example.join("german.csv"), &config.read_options().unwrap()).unwrap();
    let model = || sogar::model::load(&example.join("model.txt"), None).unwrap();
    let whole = Prepared::new(config.clone(), &example, &table, model(), None).unwrap();
    let parts = Prepared::streamed(config, &example, &FewAtOnce(&table, 64), model(), None).unwrap();
    assert_eq!((parts.reference(), parts.table().rows), (whole.reference(), whole.affected().len()));
    let (held, all) = (parts.memory_estimate(parts.size()), whole.memory_estimate(whole.size()));
    assert!(held.rest < all.rest && held.flips == all.flips, "those who are not kept take no memory");
    assert_eq!(found(Ok(parts)), found(Ok(whole)));
}

#[test]
fn the_german_example_is_the_same_in_partitions_and_its_outcomes_are_found_elsewhere() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/german");
    let mut config = Config::read(&example.join("sogar.toml")).unwrap();
    config.limits.max_depth = Some(1);
    config.limits.max_edits = Some(2);
    config.limits.sample = Some(150);
    let read = Table::read(&example.join("german.csv"), &config.read_options().unwrap()).unwrap();
    let table = Table::from_columns("", read.columns).unwrap();
    let model = || sogar::model::load(&example.join("model.txt"), None).unwrap();
    let fetch = partitions_of(&table, 300);
    let partitions = Partitions::open("", 5, &fetch).unwrap();
    let whole = Prepared::new(config.clone(), &example, &table, model(), None).unwrap();
    let parts = Prepared::streamed(config, &example, &partitions, model(), None).unwrap();
    let (search, cancel) = (Search(&parts), CancelToken::new());
    let task = search.outcome_task().unwrap();
    let elsewhere = OutcomeTask::open(&task, model()).unwrap();
    let ids = [0, 3, 4, 99];
    let same = |here: Result<Option<Outcomes>>, there: Result<Option<Outcomes>>| {
        let (here, there) = (here.unwrap().unwrap(), there.unwrap().unwrap());
        assert!(here.flips == there.flips && here.settled == there.settled);
    };
    same(search.outcomes_of_block(64..150, &cancel), elsewhere.of_block(64..150, &cancel));
    let all = 0..parts.affected().len();
    same(
        search.outcomes_on_everybody(all.clone(), &ids, &cancel),
        elsewhere.on_everybody(all, &ids, &cancel),
    );
    assert!(
        elsewhere.of_block(64..151, &cancel).is_err()
            && elsewhere.on_everybody(0..9, &[9, 3], &cancel).is_err()
    );
    for at in (0..task.len()).step_by(task.len() / 50) {
        let mut damaged = task.clone();
        damaged[at] ^= 1;
        assert!(OutcomeTask::open(&damaged, model()).is_err(), "{at}");
        assert!(OutcomeTask::open(&task[..at], model()).is_err(), "{at}");
    }
    let other = sogar::model::load(&example.join("model.txt"), Some(0.9))
        .map(|model| LoadedModel { hash: "another".into(), ..model });
    let refused = OutcomeTask::open(&task, other.unwrap()).err().unwrap();
    assert!(refused.to_string().contains("does not see what the client sees"), "{refused}");
    assert_eq!(found(Ok(parts)), found(Ok(whole)));
}

#[test]
fn errors_name_the_same_place() {
    let fails = |settings: &str, name: &str, cells: Column| {
        let mut columns = people(&mut Draw(3), 100);
        columns.retain(|column| column.name != name);
        columns.push(cells);
        let table = Table::from_columns("people", columns).unwrap();
        let config = Config::parse(settings, Path::new("sogar.toml")).unwrap();
        let whole = in_memory(&config, &table, None);
        assert_eq!(in_parts(&config, &FewAtOnce(&table, 16), None), whole);
        whole.lines().next().unwrap_or_default().to_owned()
    };
    let numbers = |name: &str, odd: f64| {
        Column::numbers(
            name,
            (0..100).map(|row| if row == 70 { odd } else { f64::from(row % 9 + 1) }).collect(),
        )
    };
    let texts = |name: &str, odd: &'static str| {
        Column::text(name, (0..100).map(|row| Some(if row == 70 { odd } else { ["1", "2"][row % 2] })))
    };
    let base = "[data]\nlabel = \"loan\"\nignore = [\"id\", \"people\"]\n";
    let with = |rest: &str| format!("{base}{rest}");
    let said = fails(&with("[features.debt]\nkind = \"integer\"\n"), "debt", numbers("debt", 1.5));
    assert!(said.starts_with("people, line 71, column `debt`: 1.5 is not a whole number"), "{said}");
    let said = fails(&with("[features.debt]\nlevels = [\"1\", \"2\"]\n"), "debt", texts("debt", "3"));
    assert!(said.starts_with("people, line 71, column `debt`: `3` is not one of"), "{said}");
    let said = fails(&with("[features.debt]\nkind = \"real\"\n"), "debt", texts("debt", "much"));
    assert!(said.starts_with("people, line 71, column `debt`: `much` is text"), "{said}");
    let said = fails(&with("[features.debt]\nkind = \"binary\"\n"), "debt", texts("debt", "3"));
    assert!(said.contains("declared as binary, but it has 3 distinct values"), "{said}");
    let said = fails(&base.replace("\"id\", ", ""), "debt", Column::numbers("debt", vec![f64::NAN; 100]));
    assert!(!said.contains("no values"), "an empty column is no fault, what follows from it may be: {said}");
    let columns = "columns = [\"job_smith\", \"job_cook\", \"job_clerk\"]\n";
    let said = fails(&with(&format!("[features.work]\n{columns}")), "job_cook", numbers("job_cook", 1.0));
    assert!(
        said.contains("column `job_cook`: a one-hot column must hold 0 and 1, or true and false"),
        "{said}"
    );
    let weighted = base.replace(", \"people\"]", "]\nweight = \"people\"");
    let said = fails(&weighted, "people", numbers("people", 0.0));
    assert!(said.starts_with("people, line 71, column `people`: a weight of 0 counts for nobody"), "{said}");
    let said = fails(&weighted, "people", texts("people", "many"));
    assert!(said.starts_with("people, line 71, column `people`: `many` is not a number"), "{said}");
    let said = fails(&weighted, "people", texts("people", "1"));
    assert!(said.starts_with("people, line 1, column `people`: `1` is not a number"), "{said}");
    let said = fails(&base.replace("loan", "laon"), "debt", numbers("debt", 2.0));
    assert!(said.contains("did you mean `loan`?"), "{said}");
    let said = fails(&with("desired = [\"maybe\"]\n"), "debt", numbers("debt", 2.0));
    assert!(said.contains("`maybe` is not a value of the label"), "{said}");
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use std::path::PathBuf;
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, Time32SecondArray,
    };
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;
    use sogar::table::{Cells, MISSING, ReadOptions, open_source};

    use super::*;

    /// Some rows of the columns as a Parquet file with small row groups.
    fn write(path: PathBuf, columns: &[Column], rows: std::ops::Range<usize>) {
        let array = |column: &Column| -> ArrayRef {
            match &column.cells {
                Cells::Numbers(values) => {
                    let known = |value: &f64| (!value.is_nan()).then_some(*value);
                    Arc::new(values[rows.clone()].iter().map(known).collect::<Float64Array>())
                }
                Cells::Text { codes, levels } => {
                    let cells = codes[rows.clone()].iter();
                    let cells = cells.map(|&code| (code != MISSING).then(|| levels[code as usize].as_str()));
                    match column.name.as_str() {
                        "member" => Arc::new(
                            cells.map(|cell| cell.map(|cell| cell == "true")).collect::<BooleanArray>(),
                        ),
                        _ => Arc::new(cells.collect::<StringArray>()),
                    }
                }
            }
        };
        let arrays = columns.iter().map(|column| (column.name.as_str(), array(column), true));
        let batch = RecordBatch::try_from_iter_with_nullable(arrays).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(16)).build();
        let file = std::fs::File::create(path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn parquet_files_give_the_same_result_as_their_table_in_memory() {
        let mut draw = Draw(11);
        let mut points = 0;
        for problem in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let rows = 60 + draw.below(80) as usize;
            let columns = people(&mut draw, rows);
            // A file, or a folder of files, one of which has no rows.
            let path = if problem % 2 == 0 {
                let path = folder.path().join("people.parquet");
                write(path.clone(), &columns, 0..rows);
                path
            } else {
                let cuts = [0, 1, 1, rows / 2, rows];
                for (number, ends) in cuts.windows(2).enumerate() {
                    write(folder.path().join(format!("{number}.parquet")), &columns, ends[0]..ends[1]);
                }
                folder.path().to_path_buf()
            };
            let config = config(&mut draw);
            let options = config.read_options().unwrap();
            let table = Table::read(&path, &options).unwrap();
            let source = open_source(&path, &options).unwrap();
            assert_eq!((source.header().rows, &source.header().hash), (rows, &table.hash));
            let whole = in_memory(&config, &table, None);
            points += whole.matches("cost_sum").count();
            for at_once in [1, 10, 1000] {
                assert_eq!(
                    in_parts(&config, &FewAtOnce(&*source, at_once), None),
                    whole,
                    "problem {problem}"
                );
            }
        }
        assert!(points > 300, "{points}");
    }

    #[test]
    fn what_is_wrong_with_a_parquet_file_is_said_as_for_a_table_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("people.parquet");
        let fails = |name: &str, array: ArrayRef, options: &ReadOptions| {
            let rest: ArrayRef = Arc::new(Int64Array::from_iter_values(0..array.len() as i64));
            let batch =
                RecordBatch::try_from_iter_with_nullable([("x", rest, true), (name, array, true)]).unwrap();
            let mut writer =
                ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            let whole = Table::read(&path, options).unwrap_err();
            let parts = open_source(&path, options).and_then(|source| {
                let names: Vec<&str> = source.header().names().collect();
                FewAtOnce(&*source, 4).each_part(&names, 10, &mut |_| Ok(std::ops::ControlFlow::Continue(())))
            });
            let parts = parts.unwrap_err();
            assert_eq!((parts.to_string(), parts.remedy()), (whole.to_string(), whole.remedy()));
            parts.to_string()
        };
        let plain = ReadOptions::default();
        assert!(fails("day", Arc::new(Time32SecondArray::from(vec![1, 2])), &plain).contains("type Time32"));
        let infinite: ArrayRef = Arc::new(
            (0..9).map(|row| Some(if row == 6 { f64::INFINITY } else { 1.0 })).collect::<Float64Array>(),
        );
        assert!(fails("y", infinite, &plain).contains("line 7, column `y`: `inf` is not a finite"));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["1", "2", "3", "4", "5", "six"]));
        let numbers = ReadOptions { numbers: vec!["y".into()], ..ReadOptions::default() };
        assert!(fails("y", texts, &numbers).contains("line 6, column `y`: `six` is not a number"));
        let none: ArrayRef = Arc::new(Int64Array::from(Vec::<i64>::new()));
        assert!(fails("y", none.clone(), &plain).contains("the table has no rows"));
        assert!(fails("x", none, &plain).contains("two columns are called `x`"));
    }
}
