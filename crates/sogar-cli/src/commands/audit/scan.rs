//! A scan for subgroups as text: the ranked list, and what held-out people say.

use sogar::audit::{Scan, Subgroup};
use sogar::describe::grouped;
use sogar::markup::visible;

use super::text::{p_value, strings, table};
use crate::output::{Text, heading};

pub fn of(scan: &Scan) -> Text {
    let mut text = heading(&format!(
        "Subgroups of {} that fare worst: {} at point {}",
        visible(&scan.shown.join(", ")),
        scan.measure,
        scan.point
    ));
    if !scan.varies {
        return text + "  everyone has the same value, so there is nothing to find\n";
    }
    if scan.found.is_empty() {
        return text
            + &format!("  no subgroup has {} affected people or more and is worse off\n", scan.min_group);
    }
    let confirmed = scan.found.iter().any(|subgroup| subgroup.holdout.is_some());
    let shuffled = scan.permutations > 0;
    let mut head = strings(["n", "mean", "others", "gap", "z"]);
    if shuffled {
        head.push("p".to_owned());
    }
    if confirmed {
        head.extend(strings(["held-out n", "gap", "interval", "p (Holm)", "confirmed"]));
    }
    head.push("subgroup".to_owned());
    let last = head.len() - 1;
    let mut rows = vec![head];
    rows.extend(scan.found.iter().map(|subgroup| row(subgroup, shuffled, confirmed)));
    text += table(&rows, &[last]);
    let p = match shuffled {
        true => format!(
            "p: the share of {} shuffles whose worst-off subgroup is at least as bad, so it allows for the search.",
            grouped(scan.permutations)
        ),
        false => "Without shuffles there is no p: among so many, some are bad by chance.".to_owned(),
    };
    let (evaluated, terms) = (grouped(scan.evaluated as usize), scan.max_terms);
    text + &format!("  {evaluated} subgroups of up to {terms} conditions were evaluated. {p}\n")
}

fn row(subgroup: &Subgroup, shuffled: bool, confirmed: bool) -> Vec<String> {
    let mut row = vec![
        grouped(subgroup.affected),
        format!("{:.3}", subgroup.value),
        format!("{:.3}", subgroup.others),
        format!("{:+.3}", subgroup.gap),
        format!("{:.2}", subgroup.z),
    ];
    if shuffled {
        row.push(p_value(subgroup.p));
    }
    if confirmed {
        let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:+.3}"));
        let held = subgroup.holdout.as_ref();
        let ends = held.and_then(|held| held.low.zip(held.high));
        row.extend([
            held.map_or("–".to_owned(), |held| grouped(held.affected)),
            number(held.and_then(|held| held.gap)),
            ends.map_or("–".to_owned(), |(low, high)| format!("[{low:+.3}, {high:+.3}]")),
            held.and_then(|held| held.p).map_or("–".to_owned(), p_value),
            (if held.is_some_and(|held| held.confirmed) { "yes" } else { "no" }).to_owned(),
        ]);
    }
    row.push(visible(&subgroup.shown.join(" and ")));
    row
}
