//! A row of weight w is w equal rows: 500 random problems with weights, each against the same one with rows repeated, from the table
//! to the front, the held-out people, the audit and the report.

#![allow(clippy::unwrap_used, clippy::panic)] // a panic is the report

use serde_json::Value;
use sogar::CancelToken;
use sogar::audit::{AuditRequest, audit};
use sogar::config::{Bins, CostKind};
use sogar::evaluate::{HeldOut, evaluate};
use sogar::pipeline::Prepared;
use sogar::report::{Opened, ReportRequest, gather};
use sogar::summary::FrontFile;
use sogar::table::Table;

use crate::people::{Draw, People, config, solved, weighing};

/// Whether two values are the same up to rounding of sums in another order.
fn same(what: &str, one: &Value, other: &Value) {
    match (one, other) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).for_each(|(a, b)| same(what, a, b));
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter().for_each(|(key, a)| same(&format!("{what}.{key}"), a, &b[key]));
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{what}: {a} and {b}");
        }
        _ => assert_eq!(one, other, "{what}"),
    }
}

fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// What has to be the same of two fronts: everything but the table, who is in it, and the run.
fn essence(front: &FrontFile) -> Value {
    let mut said = json(front);
    let fields = said.as_object_mut().unwrap();
    for key in ["config", "table", "population", "weight", "run"] {
        fields.remove(key);
    }
    for action in fields["actions"].as_array_mut().unwrap() {
        action.as_object_mut().unwrap().remove("flips");
    }
    if let Some(holdout) = fields.get_mut("holdout").and_then(Value::as_object_mut) {
        for key in ["hash", "rows", "affected", "weight"] {
            holdout.remove(key);
        }
    }
    said
}

fn audited(front: &FrontFile, prepared: &Prepared, table: &Table, other: (&HeldOut, &Table)) -> Value {
    let groups = ["member", "region×member", "debt<=5"].map(|group| group.parse().unwrap()).to_vec();
    let request =
        AuditRequest { groups, draws: 15, min_group: 2, unreachable: true, ..AuditRequest::default() };
    json(audit(front, prepared, table, Some(other), &request, &(), &CancelToken::new()).unwrap())
}

fn reported(front: &FrontFile, prepared: &Prepared, table: &Table) -> Value {
    let request = ReportRequest {
        groups: vec!["region".parse().unwrap()],
        draws: 5,
        min_n: 3,
        ..ReportRequest::default()
    };
    let opened = Opened { prepared, reference: table, holdout: None };
    let data = gather(front, Some(opened), &request, &(), &CancelToken::new()).unwrap();
    let said = json(&data);
    let keys = [
        "headline",
        "verdict",
        "nodes",
        "points",
        "picks",
        "individual",
        "groupings",
        "compositions",
        "unreachable",
    ];
    json(keys.map(|key| said[key].clone()))
}

#[test]
fn weights_are_repeated_rows() {
    let mut draw = Draw(7);
    let (mut cases, mut audits) = (0, 0);
    for number in 0.. {
        if cases == 500 {
            break;
        }
        assert!(number < 2000, "too few of the random tables are problems");
        let rows = 12 + draw.below(24);
        let (people, others) = (People::drawn(&mut draw, rows), People::drawn(&mut draw, 15));
        let (config, threshold) = (config(&mut draw), 2.0 + draw.below(12) as f64);
        let (table, repeated) = (people.weighted(1.0), people.repeated());
        let (Some((weighted, mut one)), Some((plain, mut other))) =
            (solved(&weighing(config.clone()), &table, threshold), solved(&config, &repeated, threshold))
        else {
            continue;
        };
        cases += 1;
        let (there, there_repeated) = (others.weighted(1.0), others.repeated());
        let held_out = (HeldOut::new(&weighted, &there), HeldOut::new(&plain, &there_repeated));
        if let (Ok(a), Ok(b)) = held_out {
            audits += 1;
            one.holdout = Some(evaluate(&one, &weighted, &a).unwrap());
            other.holdout = Some(evaluate(&other, &plain, &b).unwrap());
            same(
                "audit",
                &audited(&one, &weighted, &table, (&a, &there)),
                &audited(&other, &plain, &repeated, (&b, &there_repeated)),
            );
        }
        same("front", &essence(&one), &essence(&other));
        if number % 5 == 0 {
            same("report", &reported(&one, &weighted, &table), &reported(&other, &plain, &repeated));
        }
        // The file is read back as it was written.
        assert_eq!(FrontFile::parse(&serde_json::to_vec(&one).unwrap()).unwrap(), one);
    }
    assert!(audits > 300, "{audits} of the tables were audited");
}

#[test]
fn halves_of_people_are_people_with_smaller_leaves() {
    let mut draw = Draw(11);
    let mut cases = 0;
    while cases < 40 {
        let people = People::drawn(&mut draw, 40);
        let (mut config, threshold) = (weighing(config(&mut draw)), 8.0);
        config.bins = Bins::Count(4); // what follows from how many people there are is not the same with half of them
        config.cost.kind = if cases % 2 == 0 { CostKind::Mps } else { CostKind::L1 };
        config.limits.min_leaf = Some(6);
        let whole = solved(&config, &people.weighted(1.0), threshold);
        config.limits.min_leaf = Some(3);
        let half = solved(&config, &people.weighted(2.0), threshold);
        let (Some((_, whole)), Some((prepared, half))) = (whole, half) else { continue };
        cases += 1;
        let (a, b) = (whole.weight.as_ref().unwrap(), half.weight.as_ref().unwrap());
        assert_eq!((a.unit, b.unit, a.total * 5, a.affected * 5), (1, 10, b.total, b.affected));
        assert_eq!(prepared.min_leaf(), 30);
        assert_eq!((whole.points.len(), &whole.splits), (half.points.len(), &half.splits));
        for (one, other) in whole.points.iter().zip(&half.points) {
            assert!((one.cost - other.cost).abs() < 1e-12 && (one.loss - other.loss).abs() < 1e-12);
            assert_eq!(one.loss_count * 5, other.loss_count);
        }
    }
}

#[test]
fn without_weights_nothing_is_said_of_them() {
    let mut draw = Draw(3);
    let people = People::drawn(&mut draw, 40);
    let mut ones = People { rows: people.rows.clone() };
    ones.rows.iter_mut().for_each(|row| row.4 = 1);
    let (config, table) = (config(&mut draw), ones.repeated());
    let (_, plain) = solved(&config, &table, 8.0).unwrap();
    let (_, weighted) = solved(&weighing(config), &ones.weighted(1.0), 8.0).unwrap();
    let (plain_text, weighted_text) = (json(&plain).to_string(), json(&weighted).to_string());
    assert!(!plain_text.contains("weight") && weighted_text.contains("\"weight\":{"));
    same("front", &essence(&plain), &essence(&weighted));
}
