//! Result files that are damaged, or that belong to other files: refused by every command that reads them.

use serde_json::{Value, json};

use crate::folder::{Folder, Run, assert_transcript};

/// What `show` says of a result file with these bytes; `select` and `evaluate` say the same.
fn refused(bytes: impl AsRef<[u8]>) -> Run {
    let folder = Folder::new();
    folder.write("front.json", bytes);
    let run = folder.sogar(&["show", "front.json"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run}");
    for other in [&["select", "front.json"][..], &["evaluate", "front.json", "--holdout", "others.csv"]] {
        assert_eq!(folder.sogar(other).stderr, run.stderr);
    }
    run
}

/// The fixture with something changed.
fn changed(change: impl FnOnce(&mut Value)) -> Run {
    let mut front: Value = serde_json::from_str(include_str!("../fixtures/front.json")).unwrap();
    change(&mut front);
    refused(front.to_string())
}

/// The first leaf of the last point's tree.
fn first_leaf(front: &mut Value) -> &mut Value {
    let points = front["points"].as_array_mut().unwrap();
    let mut node = &mut points.last_mut().unwrap()["tree"];
    while node.get("left").is_some() {
        node = &mut node["left"];
    }
    node
}

#[test]
fn absent_file() {
    assert_transcript!(Folder::new().sogar(&["show", "frnt.json"]));
}

#[test]
fn broken_json() {
    let text = include_str!("../fixtures/front.json");
    assert_transcript!(refused(&text[..text.len() / 2]));
}

#[test]
fn empty_file() {
    assert_transcript!(refused(""));
}

#[test]
fn bytes_that_are_no_text() {
    assert_transcript!(refused(b"\x00\xff\x00\xff"));
}

#[test]
fn other_json() {
    assert_transcript!(refused("{\"points\": []}"));
}

#[test]
fn version_of_the_future() {
    assert_transcript!(changed(|front| front["version"] = json!(3)));
}

#[test]
fn no_version() {
    assert_transcript!(changed(|front| front["version"] = Value::Null));
}

#[test]
fn missing_block() {
    assert_transcript!(changed(|front| drop(front.as_object_mut().unwrap().remove("splits"))));
}

#[test]
fn unknown_status() {
    assert_transcript!(changed(|front| front["status"] = json!("perfect")));
}

#[test]
fn no_points() {
    assert_transcript!(changed(|front| front["points"] = json!([])));
}

#[test]
fn rows_that_are_not_base64() {
    assert_transcript!(changed(|front| front["population"]["affected_rows"] = json!("!!")));
}

#[test]
fn rows_of_another_table() {
    assert_transcript!(changed(|front| front["population"]["affected"] = json!(7)));
}

#[test]
fn flips_of_other_rows() {
    assert_transcript!(changed(|front| front["actions"][1]["flips"] = json!("AAAA")));
}

#[test]
fn unknown_action() {
    assert_transcript!(changed(|front| first_leaf(front)["action"] = json!(100_000)));
}

#[test]
fn unknown_split() {
    assert_transcript!(changed(|front| {
        let points = front["points"].as_array_mut().unwrap();
        points.last_mut().unwrap()["tree"]["split"] = json!(100_000);
    }));
}

#[test]
fn unknown_feature() {
    assert_transcript!(changed(|front| front["splits"][0]["feature"] = json!("wages")));
}

#[test]
fn unknown_level() {
    assert_transcript!(changed(
        |front| front["actions"][1]["edits"] = json!([{"feature": "job", "op": "set", "to": "king"}])
    ));
}

#[test]
fn changed_leaf_count() {
    assert_transcript!(changed(|front| {
        let leaf = first_leaf(front);
        leaf["rows"] = json!(leaf["rows"].as_u64().unwrap() + 1);
    }));
}

#[test]
fn more_flips_than_rows() {
    assert_transcript!(changed(|front| first_leaf(front)["flipped"] = json!(1_000_000)));
}

#[test]
fn counts_beyond_any_table() {
    assert_transcript!(changed(|front| first_leaf(front)["cost_sum"] = json!(u64::MAX)));
}

#[test]
fn changed_total() {
    assert_transcript!(changed(|front| front["points"][3]["cost_sum"] = json!(1)));
}

#[test]
fn dominated_point() {
    assert_transcript!(changed(|front| {
        let points = front["points"].as_array_mut().unwrap();
        let twice = points[2].clone();
        points.insert(2, twice);
    }));
}

#[test]
fn points_out_of_order() {
    assert_transcript!(changed(|front| front["points"].as_array_mut().unwrap().swap(1, 2)));
}

#[test]
fn tree_without_end() {
    let deep = "{\"split\":0,\"left\":".repeat(5000);
    let text = include_str!("../fixtures/front.json").replacen("\"tree\":", &format!("\"tree\":{deep}"), 1);
    assert_transcript!(refused(text));
}

#[test]
fn result_of_another_table() {
    let folder = Folder::new();
    folder.replace("people.csv", "teacher", "clerk");
    assert_transcript!(folder.sogar(&["evaluate", "front.json", "--holdout", "others.csv"]));
    // Neither the trees nor the choice need the table.
    assert_eq!(folder.sogar(&["show", "front.json"]).code, 0);
}

#[test]
fn result_of_another_model() {
    let folder = Folder::new();
    folder.replace("model.txt", "end of parameters", "end of parameters\n");
    assert_transcript!(folder.sogar(&["evaluate", "front.json", "--holdout", "others.csv"]));
}
