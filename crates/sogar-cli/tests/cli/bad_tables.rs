//! Tables that can't be used: message, place, remedy and exit code 2.

use crate::folder::{Folder, assert_transcript};

/// Solves with a table of these bytes.
fn solve(table: impl AsRef<[u8]>) -> crate::folder::Run {
    let folder = Folder::new();
    folder.write("people.csv", table);
    let run = folder.solve(&["-o", "new.json"]);
    assert_eq!(run.code, 2, "{run}");
    assert!(!folder.path("new.json").exists());
    run
}

/// The fixture with one line replaced.
fn with_line(number: usize, line: &[u8]) -> Vec<u8> {
    let text = include_str!("../fixtures/people.csv");
    let mut lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
    lines[number - 1] = line;
    lines.join(&b'\n')
}

#[test]
fn empty_table() {
    assert_transcript!(solve(""));
}

#[test]
fn header_only() {
    assert_transcript!(solve("age,income,hours,school,job,owner,loan,predicted\n"));
}

#[test]
fn duplicate_column_names() {
    assert_transcript!(solve(with_line(1, b"age,income,hours,school,job,age,loan,predicted")));
}

#[test]
fn row_with_too_few_cells() {
    assert_transcript!(solve(with_line(7, b"41,40.8,21,none")));
}

#[test]
fn row_with_too_many_cells() {
    assert_transcript!(solve(with_line(7, b"41,40.8,21,none,worker,no,no,no,what,else")));
}

#[test]
fn bytes_that_are_not_utf8() {
    assert_transcript!(solve(with_line(5, b"41,40.8,21,n\xf6ne,worker,no,no,no")));
}

#[test]
fn number_with_stray_text() {
    assert_transcript!(solve(with_line(9, b"41,40.8 EUR,21,none,worker,no,no,no")));
}

#[test]
fn features_that_are_all_constant() {
    let people = "41,40.8,21,none,worker,no,no,no\n41,40.8,21,none,worker,no,yes,no\n";
    let table = "age,income,hours,school,job,owner,loan,predicted\n".to_owned() + &people.repeat(30);
    assert_transcript!(solve(table));
}

#[test]
fn level_that_the_configuration_does_not_list() {
    assert_transcript!(solve(with_line(4, b"41,40.8,21,university,worker,no,no,no")));
}

#[test]
fn absent_table() {
    let folder = Folder::new();
    assert_transcript!(folder.sogar(&["solve", "peple.csv", "--model", "model.txt"]));
}

#[test]
fn model_as_table() {
    let folder = Folder::new();
    assert_transcript!(folder.sogar(&["solve", "model.txt", "--model", "model.txt"]));
}

#[test]
fn held_out_table_that_lacks_a_column() {
    let folder = Folder::new();
    folder.write("others.csv", "age,income,hours,school,job\n41,40.8,21,none,worker\n");
    assert_transcript!(folder.solve(&["--holdout", "others.csv", "-o", "new.json"]));
    assert_transcript!(folder.sogar(&["evaluate", "front.json", "--holdout", "others.csv"]));
}

#[test]
fn held_out_table_in_which_nobody_is_turned_down() {
    let folder = Folder::new();
    let header_and_approved: Vec<String> =
        folder.read("others.csv").lines().filter(|line| !line.ends_with(",no")).map(str::to_owned).collect();
    folder.write("others.csv", header_and_approved.join("\n"));
    let run = folder.solve(&["--holdout", "others.csv", "-o", "new.json"]);
    assert_transcript!(run);
    assert!(!folder.path("new.json").exists());
}

/// A table with decimal commas, as spreadsheets of half of the world write it.
fn european() -> String {
    let text = include_str!("../fixtures/people.csv");
    text.replace(',', ";").replace('.', ",")
}

#[test]
fn decimal_commas_are_answered_with_the_setting() {
    assert_transcript!(solve(european()));
}

#[test]
fn decimal_commas_are_read_where_they_are_declared() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&["-o", "plain.json"]).code, 0);
    folder.write("people.csv", european());
    let run = folder.solve(&["-o", "flag.json", "--decimal", ","]);
    assert_eq!(run.code, 0, "{run}");
    folder.replace("sogar.toml", "[data]\n", "[data]\ndecimal = \",\"\n");
    assert_eq!(folder.solve(&["-o", "setting.json"]).code, 0);
    let points = |name: &str| folder.json(name)["points"].clone();
    assert_eq!(points("flag.json"), points("plain.json"));
    assert_eq!(points("setting.json"), points("plain.json"));
    assert_eq!(folder.sogar(&["audit", "setting.json", "--group", "job"]).code, 0);
    let run = folder.solve(&["-o", "new.json", "--decimal", "'"]);
    assert!(run.code == 2 && run.stderr.contains("--decimal: `'` is no decimal sign"), "{run}");
}

#[test]
fn columns_of_one_name_are_understood_where_the_model_has_the_names_of_pandas() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&["-o", "plain.json"]).code, 0);
    let header = "age,income,hours,school,job,owner,loan,predicted";
    folder.replace("people.csv", header, &header.replace("hours", "income"));
    let run = folder.solve(&["-o", "new.json"]);
    assert!(
        run.code == 2 && run.stderr.contains("two columns are called `income` (the 2nd and the 3rd)"),
        "{run}"
    );
    folder.replace("model.txt", "hours", "income.1");
    let run = folder.solve(&["-o", "new.json"]);
    assert!(run.code == 0 && run.stderr.contains("the 3rd column `income` is called `income.1`"), "{run}");
    let costs = |name: &str| -> Vec<u64> {
        let front = folder.json(name);
        front["points"].as_array().unwrap().iter().map(|point| point["cost_sum"].as_u64().unwrap()).collect()
    };
    assert_eq!(costs("new.json"), costs("plain.json"));
    assert_eq!(folder.sogar(&["audit", "new.json", "--group", "job"]).code, 0);
    let check = folder.sogar(&["config", "check", "sogar.toml", "--table", "people.csv"]);
    assert!(check.code == 2 && check.stderr.contains("--ignore income.1"), "{check}");
}

#[test]
fn an_empty_column_is_ignored_with_a_notice() {
    let folder = Folder::new();
    assert_eq!(folder.solve(&["-o", "plain.json"]).code, 0);
    let people: String = folder.read("people.csv").lines().map(|line| format!("{line},\n")).collect();
    folder.write("people.csv", people.replacen("predicted,", "predicted,remark", 1));
    let run = folder.solve(&["-o", "new.json"]);
    assert!(run.code == 0 && run.stderr.contains("`remark` is empty: it is ignored"), "{run}");
    assert_eq!(folder.json("new.json")["points"], folder.json("plain.json")["points"]);
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_at_once() {
    let folder = Folder::new();
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    for path in ["pipe", "/dev/zero", "/dev/fd/0"] {
        for args in [
            vec!["solve", path, "-m", "model.txt"],
            vec!["solve", "people.csv", "-m", path],
            vec!["solve", "people.csv", "-m", "model.txt", "-c", path],
            vec!["solve", "people.csv", "-m", "model.txt", "-c", "sogar.toml", "--holdout", path],
            vec!["show", path],
            vec!["model", "inspect", path],
            vec!["config", "init", path],
            vec!["explain", "front.json", "--person", path],
            vec!["evaluate", "front.json", "--holdout", path],
            vec!["audit", "front.json", "--group", "job", "--table", path],
        ] {
            let run = folder.sogar(&args);
            assert!(run.code == 2 && run.stderr.contains("a regular file is wanted"), "{run}");
        }
    }
}

#[test]
fn damaged_parquet() {
    let folder = Folder::new();
    let whole = include_bytes!("../../../../fuzz/seeds/parquet/dictionary.parquet");
    for keep in [0, 3, 8, whole.len() / 2, whole.len() - 1] {
        folder.write("people.parquet", &whole[..keep]);
        let run = folder.sogar(&["predict", "people.parquet", "-m", "model.txt"]);
        assert!(run.code == 2 && run.stderr.contains("people.parquet"), "{keep} bytes: {run}");
    }
}
