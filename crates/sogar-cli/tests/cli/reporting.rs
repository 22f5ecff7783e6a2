//! `report`: what is printed, what is written, and what is refused.

use crate::folder::{Folder, Run, assert_transcript};

/// The data that a report carries.
fn data(folder: &Folder, name: &str) -> serde_json::Value {
    let text = folder.read(name);
    let start = text.find("<script id=\"data\"").and_then(|at| text[at..].find('>').map(|end| at + end + 1));
    let rest = &text[start.unwrap()..];
    serde_json::from_str(&rest[..rest.find("</script>").unwrap()]).unwrap()
}

/// A run that must fail without a report.
fn refused(args: &[&str]) -> Run {
    let folder = Folder::new();
    let run = folder.sogar(args);
    assert_eq!(run.code, 2, "{run}");
    assert!(!folder.names().iter().any(|name| name == "report.html"), "{run}");
    run
}

#[test]
fn a_report_is_written_with_the_requested_groups() {
    let folder = Folder::new();
    let run = folder.sogar(&["report", "front.json", "--group", "owner", "--group", "age<=30"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.starts_with("Written to report.html ("), "{run}");
    let data = data(&folder, "report.html");
    let names: Vec<&str> = data["groupings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|grouping| grouping["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[0], "owner");
    assert_eq!(names.len(), 2);
    assert!(data["people"].is_null());
    assert!(data["individual"].is_array());
}

#[test]
fn json_tells_where_the_report_is() {
    let folder = Folder::new();
    let run = folder.sogar(&["report", "front.json", "-o", "page.html", "--json"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(run.json()["report"], "page.html");
    assert_eq!(run.json()["bytes"].as_u64().unwrap() as usize, folder.read("page.html").len());
}

#[test]
fn held_out_people_are_evaluated_where_the_front_has_none() {
    let folder = Folder::new();
    let run = folder.sogar(&["report", "front.json", "--holdout", "others.csv", "--group", "owner"]);
    assert_eq!(run.code, 0, "{run}");
    let data = data(&folder, "report.html");
    assert_eq!(
        data["holdout"]["cost_sum"].as_array().unwrap().len(),
        data["points"]["tree"].as_array().unwrap().len()
    );
    assert!(data["groupings"][0]["holdout"]["groups"].is_array());
}

#[test]
fn without_the_table_the_report_says_what_is_missing() {
    let folder = Folder::new();
    folder.replace("front.json", "\"table_path\":\"people.csv\"", "\"table_path\":\"gone.csv\"");
    let run = folder.sogar(&["report", "front.json"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("made of the result file alone"), "{run}");
    assert!(data(&folder, "report.html")["individual"].is_null());
}

#[test]
fn titles_picks_and_single_people_follow_the_flags() {
    let folder = Folder::new();
    let run = folder.sogar(&[
        "report",
        "front.json",
        "--title",
        "</title><b>",
        "--by",
        "loss<=0.5",
        "--include-rows",
        "--min-n",
        "1",
    ]);
    assert_eq!(run.code, 0, "{run}");
    let data = data(&folder, "report.html");
    assert_eq!(data["picks"].as_array().unwrap().len(), 1);
    assert_eq!(
        data["people"]["rows"].as_array().unwrap().len() as u64,
        data["population"]["affected"].as_u64().unwrap()
    );
    assert!(folder.read("report.html").contains("<title>&lt;/title&gt;&lt;b&gt;</title>"));
}

#[test]
fn unknown_group() {
    assert_transcript!(refused(&["report", "front.json", "--group", "ownr"]));
}

#[test]
fn groups_of_a_table_that_is_gone() {
    assert_transcript!(refused(&["report", "front.json", "--group", "owner", "--table", "gone.csv"]));
}

#[test]
fn another_table() {
    assert_transcript!(refused(&["report", "front.json", "--table", "others.csv"]));
}

#[test]
fn a_folder_that_does_not_exist() {
    assert_transcript!(refused(&["report", "front.json", "-o", "no/report.html"]));
}

#[test]
fn an_unknown_criterion() {
    assert_transcript!(refused(&["report", "front.json", "--by", "price<=3"]));
}
