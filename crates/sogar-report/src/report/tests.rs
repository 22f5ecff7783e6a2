//! A small front through the whole report.

use std::path::PathBuf;

use sogar_solver::CancelToken;

use super::*;
use sogar_front::evaluate::reopen_with;
use sogar_prepare::model::Source;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sogar-cli/tests/fixtures").join(name)
}

fn front() -> FrontFile {
    FrontFile::read(&fixture("front.json")).unwrap()
}

fn alone(front: &FrontFile, request: &ReportRequest) -> Result<Data> {
    gather(front, None, request, &(), &CancelToken::new())
}

fn with_files(groups: &[&str], min_n: usize) -> (FrontFile, Data) {
    let front = front();
    let model = Source::File(fixture("model.txt"));
    let (prepared, reference) = reopen_with(&front, &fixture("people.csv"), &model).unwrap();
    let opened = Opened { prepared: &prepared, reference: &reference, holdout: None };
    let groups = groups.iter().map(|text| text.parse().unwrap()).collect();
    let request = ReportRequest { groups, min_n, draws: 50, ..ReportRequest::default() };
    let data = gather(&front, Some(opened), &request, &(), &CancelToken::new()).unwrap();
    (front, data)
}

/// A tree from the table of nodes.
fn rebuilt(data: &Data, node: usize) -> Node {
    match data.nodes[node].as_slice() {
        &[split, left, right] => Node::Split {
            split: split as usize,
            left: Box::new(rebuilt(data, left as usize)),
            right: Box::new(rebuilt(data, right as usize)),
        },
        &[action, rows, flipped, cost_sum, ..] => {
            Node::Leaf { action: action as usize, rows, flipped, cost_sum }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_table_of_nodes_holds_every_tree() {
    let front = front();
    let data = alone(&front, &ReportRequest::default()).unwrap();
    for (point, &root) in front.points.iter().zip(&data.points.tree) {
        assert_eq!(rebuilt(&data, root), point.tree);
    }
    let (front, data) = with_files(&["owner"], 1);
    for (point, &root) in front.points.iter().zip(&data.points.tree) {
        assert_eq!(rebuilt(&data, root), point.tree);
    }
}

#[test]
fn the_page_is_the_same_every_time_and_names_no_folders() {
    let (_, data) = with_files(&["owner"], 5);
    let text = page(&data).unwrap();
    assert_eq!(text, page(&with_files(&["owner"], 5).1).unwrap());
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR")));
    assert!(text.contains("Content-Security-Policy"));
}

#[test]
fn leaves_by_group_add_up() {
    let (_, data) = with_files(&["owner"], 1);
    for node in data.nodes.iter().filter(|node| node.len() == 5) {
        let cells = data.compositions[node[4] as usize][0].iter().map(|cell| cell.unwrap());
        let sum = cells.fold([0, 0], |sum, cell| [sum[0] + cell[0], sum[1] + cell[1]]);
        assert_eq!(sum, [node[1], node[2]]);
    }
}

#[test]
fn no_point_lies_below_individual_advice() {
    let (front, data) = with_files(&[], 5);
    for [cost, loss] in data.individual.unwrap() {
        let better = front.points.iter().any(|point| point.cost_sum < cost && point.loss_count <= loss);
        assert!(!better, "({cost}, {loss})");
    }
}

#[test]
fn small_leaves_have_no_figures_and_are_never_alone() {
    let front = front();
    let min_n = front.limits.min_leaf as usize + 3;
    let data = alone(&front, &ReportRequest { min_n, ..ReportRequest::default() }).unwrap();
    let mut found = 0;
    for point in 0..front.points.len() {
        let rules = front.points[point].tree.rules();
        let hidden =
            (0..rules.len()).filter(|&leaf| composition::is_small(&front, min_n, point, leaf)).count();
        assert!(hidden != 1 || rules.len() == 1, "point {point}");
        found += hidden;
    }
    assert!(found > 0, "the example has leaves of the smallest size");
    assert!(data.nodes.iter().any(|node| node.len() == 1));
}

#[test]
fn few_people_of_a_group_are_left_out() {
    let (_, data) = with_files(&["owner"], 100_000);
    let group = &data.groupings[0].reference.groups[0];
    assert!(group.affected.is_none() && group.adverse_rate.is_none() && group.measures.is_none());
    assert!(data.compositions.iter().flatten().flatten().all(|cell| cell.is_none_or(|cell| cell == [0, 0])));
}

#[test]
fn groups_need_the_table() {
    let request = ReportRequest { groups: vec!["owner".parse().unwrap()], ..ReportRequest::default() };
    let error = alone(&front(), &request).unwrap_err();
    assert!(error.remedy().unwrap().contains("--table"), "{error}");
}

#[test]
fn the_verdict_opens_with_who_is_turned_down() {
    let front = front();
    let data = alone(&front, &ReportRequest::default()).unwrap();
    let start = format!("{} of {} people are turned down.", front.population.affected, front.population.rows);
    assert!(data.headline.starts_with("People hope for “"), "{}", data.headline);
    assert!(data.headline.contains(&start), "{}", data.headline);
    assert_eq!(data.verdict[0].about, "best");
    assert!(data.picks.iter().any(|pick| pick.by == "invalidity"));
}

/// The report of the small problem, whose people are also grouped by `clan`: three of them are in the clan “tiny”, of whom two
/// are turned down, and twenty in the clan “rare”, of whom one is.
fn with_a_small_group(min_n: usize) -> (FrontFile, Data) {
    let front = front();
    let model = Source::File(fixture("model.txt"));
    let (prepared, mut reference) = reopen_with(&front, &fixture("people.csv"), &model).unwrap();
    let affected = prepared.affected();
    let accepted: Vec<usize> = (0..reference.rows).filter(|row| !affected.contains(row)).collect();
    let clan = |row: usize| match row {
        row if affected[..2].contains(&row) || row == accepted[0] => 2,
        row if row == affected[2] || accepted[1..20].contains(&row) => 3,
        row => (row % 2) as u32,
    };
    let codes = (0..reference.rows).map(clan).collect();
    let levels = ["north", "south", "tiny", "rare"].map(String::from).to_vec();
    let mut clan = reference.columns[0].clone();
    clan.name = "clan".into();
    clan.cells = sogar_table::table::Cells::Text { codes, levels };
    reference.columns.push(clan);
    let opened = Opened { prepared: &prepared, reference: &reference, holdout: None };
    let request =
        ReportRequest { groups: vec!["clan".parse().unwrap()], min_n, draws: 20, ..ReportRequest::default() };
    let data = gather(&front, Some(opened), &request, &(), &CancelToken::new()).unwrap();
    (front, data)
}

/// Everything below a key, wherever it stands in the data.
fn below<'a>(json: &'a serde_json::Value, key: &str, found: &mut Vec<&'a serde_json::Value>) {
    match json {
        serde_json::Value::Object(entries) => {
            found.extend(entries.get(key));
            entries.values().for_each(|value| below(value, key, found));
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| below(value, key, found)),
        _ => {}
    }
}

#[test]
fn nothing_about_few_people_is_in_the_data_block_or_in_any_format() {
    let (front, data) = with_a_small_group(5);
    let json = serde_json::to_value(&data).unwrap();
    let groups = json["groupings"][0]["reference"]["groups"].as_array().unwrap();
    let of = |name: &str| groups.iter().find(|group| group["name"] == name).unwrap();
    for (name, open) in [("tiny", &["name"][..]), ("rare", &["name", "rows"])] {
        for (key, value) in of(name).as_object().unwrap() {
            assert!(value.is_null() || open.contains(&key.as_str()), "{name}: {key} is {value}");
        }
    }
    // The lowest rate is that of “rare”: a ratio with it would tell it.
    let figures = &json["groupings"][0]["reference"];
    for key in [
        "adverse_rate_ratio",
        "adverse_rate_ratio_interval",
        "selection_rate_ratio",
        "selection_rate_ratio_interval",
    ] {
        assert!(figures[key].is_null(), "{key}");
    }
    for key in ["affected", "rows", "unreachable"] {
        let mut counts = Vec::new();
        below(&json["groupings"], key, &mut counts);
        for count in counts.into_iter().filter_map(serde_json::Value::as_f64) {
            assert!(count == 0.0 || count >= 5.0, "{key}: {count}");
        }
    }
    let lines = markdown(&front, &data);
    for name in ["tiny", "rare"] {
        let line = lines.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        let cells: Vec<&str> = line.trim_matches('|').split('|').skip(1).map(str::trim).collect();
        let told = cells.iter().filter(|cell| **cell != document::LEFT_OUT && **cell != "0").count();
        assert!(told <= usize::from(name == "rare"), "{line}");
        // Both pages have the same row; the data block is the only other place of figures.
        let start = format!("<tr><th scope=\"row\">{name}</th>");
        for html in [static_page(&data), page(&data).unwrap()] {
            let row = &html[html.find(&start).unwrap()..];
            let row = &row[start.len()..row.find("</tr>").unwrap()];
            let texts: Vec<&str> =
                row.split("</td>").filter_map(|cell| cell.rsplit_once('>')).map(|(_, text)| text).collect();
            assert_eq!(texts, cells, "{name}");
        }
    }
    assert!(!lines.contains("rate ratio"), "{lines}");
}

#[test]
fn a_small_group_is_in_no_output_and_cannot_be_found_by_subtraction() {
    let (front, data) = with_a_small_group(5);
    let groups = &data.groupings[0].reference.groups;
    let tiny = groups.iter().find(|group| group.name == "tiny").unwrap();
    assert_eq!((tiny.rows, tiny.affected, tiny.adverse_rate, tiny.unreachable), (None, None, None, None));
    assert!(tiny.measures.is_none() && tiny.selection_rate.is_none() && tiny.tpr.is_none());
    for hidden in [
        groups.iter().filter(|group| group.rows.is_none()).count(),
        groups.iter().filter(|group| group.affected.is_none()).count(),
    ] {
        assert!(hidden >= 2, "one gap could be filled from the total");
    }
    // Nor are few people told by all gaps together: two and one are turned down in the small groups.
    let told = |count: fn(&data::GroupData) -> Option<f64>| groups.iter().filter_map(count).sum::<f64>();
    assert!(data.population.affected - told(|group| group.affected) >= 5.0);
    assert!(data.population.rows - told(|group| group.rows) >= 5.0);
    let untold: Vec<usize> = (0..groups.len()).filter(|&group| groups[group].affected.is_none()).collect();
    assert_eq!(untold.len(), 3);
    for &group in &untold {
        // Means are fractions of the number, and a summary of one leaf has the whole group in it.
        assert!(groups[group].measures.is_none(), "{}", groups[group].name);
        // Where this were shown, the group would not be one of the small ones, and the others would have the rest.
        assert!(groups[group].unreachable.is_none(), "{}", groups[group].name);
        let leaves = data.compositions.iter().map(|leaf| leaf[0][group]);
        assert!(leaves.into_iter().all(|cell| cell.is_none_or(|cell| cell == [0, 0])));
    }
    for leaf in &data.compositions {
        let cell = leaf[0][2];
        assert!(cell.is_none_or(|[rows, _]| rows == 0 || rows >= 5), "{cell:?}");
    }
    for text in [markdown(&front, &data), static_page(&data), page(&data).unwrap()] {
        assert!(text.contains("tiny"));
    }
    let lines = markdown(&front, &data);
    let line = lines.lines().find(|line| line.starts_with("| tiny |")).unwrap();
    assert!(
        line.trim_matches('|').split('|').skip(1).all(|cell| cell.trim() == document::LEFT_OUT),
        "{line}"
    );
    // With the limit lifted, the same groups are told.
    let (front, data) = with_a_small_group(1);
    let lines = markdown(&front, &data);
    assert!(lines.lines().any(|line| line.starts_with("| tiny | 3 | 2 |")), "{lines}");
}

#[test]
fn a_true_positive_rate_of_few_errors_is_left_out() {
    let people = std::fs::read_to_string(fixture("people.csv")).unwrap();
    // Of the owners and of the others who deserved the outcome: how many got it, and how many did not.
    let mut counts = [[0usize; 2]; 2];
    for line in people.lines().skip(1) {
        let [owner, loan, predicted] = [5, 6, 7].map(|place| line.split(',').nth(place) == Some("yes"));
        counts[usize::from(owner)][usize::from(predicted)] += usize::from(loan);
    }
    let mut hidden = 0;
    for min_n in [1, 4, 11] {
        let (_, data) = with_files(&["owner"], min_n);
        for group in &data.groupings[0].reference.groups {
            let few =
                counts[usize::from(group.name == "yes")].iter().any(|&count| 0 < count && count < min_n);
            assert!(!few || group.tpr.is_none(), "{min_n} {}: {:?} of {counts:?}", group.name, group.tpr);
            hidden += usize::from(few && group.affected.is_some());
        }
        assert!(min_n > 1 || data.groupings[0].reference.groups.iter().all(|group| group.tpr.is_some()));
    }
    assert!(hidden > 0, "{counts:?}");
}

#[test]
fn few_people_out_of_reach_are_neither_counted_nor_said() {
    let blocked = || sogar_audit::audit::BlockedBy {
        immutability: Some(1.0),
        limits: Some(2.0),
        edits: None,
        rules: None,
        none_alone: 0.0,
    };
    let few = suppress::unreachable(3.0, blocked(), 100.0, 5);
    assert_eq!((few.some, few.count, few.blocked_by.is_none()), (true, None, true));
    let many = suppress::unreachable(40.0, blocked(), 100.0, 5);
    assert_eq!(many.count, Some(40.0));
    assert!(many.blocked_by.unwrap().values().all(|part| part.is_none_or(|part| part == 0.0)));
}

#[test]
fn the_static_report_has_the_figures_of_the_data_and_no_script() {
    let (front, data) = with_files(&["owner"], 5);
    let (html, lines) = (static_page(&data), markdown(&front, &data));
    assert!(!html.contains("<script") && html.contains("Sign-off") && !html.contains('`'));
    // Backticks are around commands alone, which are to be copied.
    let (text, commands) = lines.split_once("## How to reproduce it").unwrap();
    assert!(!text.contains('`') && commands.contains("`sogar check front.json`"), "{lines}");
    // A figure about limits stands with its table; heads of numbers are those of the page.
    assert_eq!(html.matches("<div class=\"beside\">\n<h3>Limits on the gap by").count(), data.gaps.len());
    assert!(!data.gaps.is_empty());
    let affected = data.population.affected;
    for pick in &data.picks {
        let point = &front.points[pick.point];
        let row = format!(
            "| {} | {} | {:.1} % | {:.3} | {:.3} |",
            pick.name,
            pick.point,
            100.0 * (1.0 - point.loss),
            point.cost,
            point.invalidity
        );
        assert!(lines.contains(&row), "{row}\n{lines}");
        for (_, leaf) in point.tree.rules() {
            let Node::Leaf { rows, flipped, .. } = leaf else { continue };
            assert!(lines.contains(&format!("| {rows} | {flipped} |")), "{rows} {flipped}");
        }
        assert!(html.contains(&format!("<td class=\"number\">{:.3}</td>", point.cost)));
    }
    for group in &data.groupings[0].reference.groups {
        let cell = |count: Option<f64>| count.map_or("–".to_owned(), |count| count.to_string());
        let row = format!("| {} | {} | {} |", group.name, cell(group.rows), cell(group.affected));
        assert!(lines.contains(&row), "{row}\n{lines}");
    }
    // Fairness: a figure, and the best summary within each limit on the gap.
    let (_, gaps) = &data.gaps[0];
    assert_eq!(gaps.len(), front.points.len());
    assert_eq!(html.matches("<figure>").count(), 2, "the front, and cost, loss and gap");
    let within = (0..gaps.len()).filter(|&at| gaps[at] <= 0.05);
    let best =
        within.clone().min_by(|&a, &b| front.points[a].invalidity.total_cmp(&front.points[b].invalidity));
    let row = format!("| 0.050 | {} | {} |", within.count(), best.unwrap());
    assert!(lines.contains(&row), "{row}\n{lines}");
    assert_eq!(affected, front.population.affected as f64);
    assert!(page(&data).unwrap().contains("id=\"printed\""));
}
