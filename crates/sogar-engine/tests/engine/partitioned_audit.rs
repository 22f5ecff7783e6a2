//! A table in parts is audited and evaluated as if it were whole: random problems, cut at random, with and without weights.

#![allow(clippy::unwrap_used, clippy::panic)] // a panic is the report

use sogar::CancelToken;
use sogar::audit::{
    AuditRequest, Holdout, PartitionedAudit, ReachFound, RemoteResults, audit, audit_with,
    columns_for_leader, part, reach_of_part, reach_of_reference,
};
use sogar::evaluate::{HeldOut, PointSums, Population, evaluate, of_sums, sums};
use sogar::pipeline::Prepared;
use sogar::summary::FrontFile;
use sogar::table::{Cells, Column, Table};

use crate::people::{Draw, People, config, solved, weighing};

/// Some rows of a table; `None` for no rows.
fn rows_of(table: &Table, start: usize, stop: usize) -> Option<Table> {
    let columns = table.columns.iter().map(|column| match &column.cells {
        Cells::Numbers(numbers) => Column::numbers(&column.name, numbers[start..stop].to_vec()),
        Cells::Text { codes, levels } => {
            let texts = codes[start..stop].iter().map(|&code| levels.get(code as usize).map(String::as_str));
            Column::text(&column.name, texts)
        }
    });
    (start < stop).then(|| Table::from_columns("people", columns.collect()).unwrap())
}

/// Places to cut at, some of them twice.
fn cuts(draw: &mut Draw, rows: usize) -> Vec<usize> {
    let mut cuts: Vec<usize> = (0..1 + draw.below(4)).map(|_| draw.below(rows as u64 + 1) as usize).collect();
    cuts.extend([0, cuts[0], rows]);
    cuts.sort_unstable();
    cuts
}

/// The audit as it is found from parts, and as many notes about them.
fn in_parts(
    front: &FrontFile,
    prepared: &Prepared,
    reference: &Table,
    whole: &Table,
    request: &AuditRequest,
    draw: &mut Draw,
) -> sogar::Result<String> {
    let names = columns_for_leader(prepared, reference, request)?;
    let columns = whole.columns.iter().filter(|column| names.contains(&column.name)).cloned().collect();
    let table = Table::from_columns("people", columns)?;
    let mut leader = PartitionedAudit::new(front, prepared, reference, &table, &table, request)?;
    let cuts = cuts(draw, whole.rows);
    let parts: Vec<(usize, Option<Table>)> =
        cuts.windows(2).map(|cut| (cut[1] - cut[0], rows_of(whole, cut[0], cut[1]))).collect();
    let mut start = 0;
    for (rows, table) in &parts {
        let places = leader.places(start..start + rows)?;
        let found = table.as_ref().map(|table| part(front, prepared, table, &places)).transpose()?;
        leader.add(*rows, &found.unwrap_or_default())?;
        start += rows;
    }
    if leader.is_searched(prepared) {
        for (_, table) in &parts {
            let found = table.as_ref().map(|table| reach_of_part(prepared, table)).transpose()?;
            leader.add_reach(&found.unwrap_or_default())?;
        }
    }
    let mut reach = ReachFound::default();
    let blocks = self::cuts(draw, prepared.affected().len());
    for block in blocks.windows(2) {
        reach.add(&reach_of_reference(prepared, block[0]..block[1])?, block[1] - block[0])?;
    }
    let found = RemoteResults { holdout: Some(Holdout::Partitioned(Box::new(leader))), reach: Some(reach) };
    let audit = audit_with(front, prepared, reference, found, request, &(), &CancelToken::new())?;
    Ok(serde_json::to_string(&audit).unwrap())
}

#[test]
fn a_table_in_parts_is_audited_as_if_it_were_whole() {
    let mut draw = Draw(23);
    let (mut audits, mut nobody) = (0, 0);
    for number in 0..200 {
        let (people, others) = (People::drawn(&mut draw, 30), People::drawn(&mut draw, 25));
        let (config, threshold) = (config(&mut draw), 2.0 + draw.below(12) as f64);
        let (config, by) =
            if number % 2 == 0 { (config, 1.0) } else { (weighing(config), [1.0, 2.0, 8.0][number % 3]) };
        // Without weights the column is one more feature of some number.
        let (table, mut whole) = (people.weighted(1.0), others.weighted(by));
        if let Some(Cells::Text { levels, .. }) = whole.columns.get_mut(2).map(|column| &mut column.cells) {
            levels[2] = "zone </b>".into(); // nobody has heard of it
        }
        let Some((prepared, front)) = solved(&config, &table, threshold) else { continue };
        let groups = ["member", "region×member", "debt<=5", "region", "income"];
        let request = AuditRequest {
            groups: groups.map(|group| group.parse().unwrap()).to_vec(),
            draws: 10,
            min_group: 2,
            unreachable: number % 4 < 2,
            ..AuditRequest::default()
        };
        let found = in_parts(&front, &prepared, &table, &whole, &request, &mut draw);
        match HeldOut::new(&prepared, &whole) {
            Ok(held_out) => {
                let holdout = Some((&held_out, &whole));
                let expected =
                    audit(&front, &prepared, &table, holdout, &request, &(), &CancelToken::new()).unwrap();
                assert_eq!(found.unwrap(), serde_json::to_string(&expected).unwrap(), "case {number}");
                audits += 1;
            }
            Err(error) => {
                let message = found.unwrap_err().to_string();
                assert!(error.to_string().ends_with(&message), "{error}: {message}");
                nobody += 1;
            }
        }
    }
    assert!(audits > 120 && nobody < 20, "{audits} audits, {nobody} tables in which nobody is turned down");
}

#[test]
fn sums_of_parts_with_the_unit_of_all_weights_are_those_of_the_whole() {
    let mut draw = Draw(5);
    let mut cases = 0;
    while cases < 30 {
        let (people, others) = (People::drawn(&mut draw, 30), People::drawn(&mut draw, 25));
        let (table, whole) = (people.weighted(1.0), others.weighted(8.0));
        let Some((prepared, front)) = solved(&weighing(config(&mut draw)), &table, 8.0) else { continue };
        let Ok(held_out) = HeldOut::new(&prepared, &whole) else { continue };
        cases += 1;
        let mut expected = evaluate(&front, &prepared, &held_out).unwrap();
        let unit = expected.weight.as_ref().unwrap().unit as u32;
        let (mut total, mut affected, mut count) = (vec![Vec::new(); front.points.len()], 0, 0);
        for cut in cuts(&mut draw, whole.rows).windows(2) {
            let Some(table) = rows_of(&whole, cut[0], cut[1]) else { continue };
            let part = HeldOut::part(&prepared, &table, Some(unit)).unwrap();
            let more = sums(&front, &prepared, &part).unwrap();
            for (total, more) in total.iter_mut().zip(more.iter().map(PointSums::numbers)) {
                total.resize(more.len(), 0u128);
                total.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            }
            affected += part.affected().len();
            count += part.table().people_among(part.affected());
        }
        let weight = expected.weight.clone();
        let on = Population { hash: String::new(), rows: whole.rows, affected, people: count, weight };
        expected.hash.clear();
        let total: Vec<PointSums> =
            total.iter().map(|numbers| PointSums::of_numbers(numbers).unwrap()).collect();
        assert_eq!(of_sums(&front, on, &total), expected);
    }
}
