//! The verdict in plain words: what a reader should know first.

use sogar_front::describe::{grouped, grouping_title};
use sogar_front::fairness::FairnessRef;
use sogar_front::select::{By, select};
use sogar_front::summary::{FrontFile, Status};

use super::data::{Data, GroupingData, Statement};

/// A headline, and further sentences.
pub fn verdict(front: &FrontFile, data: &Data) -> (String, Vec<Statement>) {
    let mut statements = Vec::new();
    let mut say = |about: &'static str, text: String| statements.push(Statement { about, text });
    if let Some(text) = best(front) {
        say("best", text);
    }
    let (about, text) = search(front);
    say(about, text);
    for grouping in &data.groupings {
        let (about, text) = groups(grouping);
        say(about, text);
    }
    if let Some(unreachable) = &data.unreachable {
        say("reach", reach(unreachable.count, front.people().count(front.people().affected), data.min_n));
    }
    if let Some(holdout) = &data.holdout {
        say(
            "holdout",
            format!(
                "On {} held-out people whom the model turns down, a summary’s cost and loss lie {:.3} away from these figures on \
                 average.",
                grouped(holdout.affected),
                holdout.mean_distance
            ),
        );
    }
    (headline(front), statements)
}

fn headline(front: &FrontFile) -> String {
    let people = front.people();
    let most = front.points.last().map_or(0.0, |point| 1.0 - point.loss);
    let (affected, rows) = (people.text(people.affected), people.text(people.all));
    let name = |class: &String| front.config.model.outcomes.get(class).unwrap_or(class).clone();
    let desired: Vec<String> =
        front.population.desired.iter().map(|class| format!("“{}”", name(class))).collect();
    let begin =
        format!("People hope for {}. {affected} of {rows} people are turned down", desired.join(" or "));
    match most {
        0.0 => format!("{begin}, and no shared advice helps any of them."),
        1.0 => format!("{begin}. Shared advice could change that for all of them."),
        most => format!("{begin}. Shared advice could change that for up to {} of them.", share(most)),
    }
}

fn best(front: &FrontFile) -> Option<String> {
    let point = &front.points[select(front, By::Invalidity).ok()?];
    if point.cost_sum == 0 && point.leaves == 1 {
        return Some("By the sum of cost and loss, no advice is better than none.".to_owned());
    }
    let groups = match point.leaves {
        1 => "one piece of advice for everybody".to_owned(),
        more => format!("advice for {more} groups"),
    };
    Some(format!(
        "The best balance is a summary with {groups}: it works for {} of the people turned down, at a mean cost of {:.3}.",
        share(1.0 - point.loss),
        point.cost
    ))
}

fn search(front: &FrontFile) -> (&'static str, String) {
    let count = grouped(front.points.len());
    if let (Some(fairness), false) = (&front.fairness, front.status.is_early()) {
        return ("search", by_group(fairness, front, &count));
    }
    match (front.status, front.certified_gap()) {
        (Status::Complete, _) if front.points.len() == 1 => {
            ("search", "The search was exhausted: within the limits there is no other trade-off.".to_owned())
        }
        (Status::Complete, _) => (
            "search",
            format!(
                "The search was exhausted: these {count} summaries are all that no other summary beats on both cost and success."
            ),
        ),
        (Status::CompleteOnSample, _) => (
            "search warn",
            format!(
                "The search was exhausted on a sample of {} people. Its {count} summaries were evaluated on everybody, but better \
                 ones may exist.",
                grouped(front.sample.as_ref().map_or(0, |sample| sample.rows))
            ),
        ),
        (_, Some(gap)) => (
            "search warn",
            format!(
                "The search was stopped early. Its {count} summaries are valid, but better ones may exist: at most {} of the best \
                 possible trade-off is missing.",
                share(gap)
            ),
        ),
        (_, None) => (
            "search warn",
            format!(
                "The search was stopped early. Its {count} summaries are valid, but better ones may exist."
            ),
        ),
    }
}

/// The request to a search that distinguished groups.
fn by_group(fairness: &FairnessRef, front: &FrontFile, count: &str) -> String {
    let accuracy = match front.status {
        Status::CompleteWithinEpsilon => format!(" to within {}", share(fairness.epsilon)),
        _ => String::new(),
    };
    let chosen = match (&front.config.fairness.max_gap, fairness.least_limit_text()) {
        (Some(limit), Some(least)) => {
            format!("Only doing nothing meets the limit on the gap ({}); {least}.", clipped(limit))
        }
        (Some(limit), None) => format!(
            "These {count} are the trade-off of cost and success within the limit on the gap ({}).",
            clipped(limit)
        ),
        (None, _) => {
            format!("These {count} are the trade-off of cost and the success of the group that is worst off.")
        }
    };
    format!(
        "The search was exhausted{accuracy}: {} summaries are beaten by no other in cost and in the success of every group of {}. {chosen}",
        grouped(fairness.front.len()),
        clipped(&grouping_title(front, &fairness.grouping))
    )
}

/// The group that is clearly worst off on the whole front, if there is one.
fn groups(grouping: &GroupingData) -> (&'static str, String) {
    let name = clipped(&grouping.shown);
    let stated = || {
        grouping
            .reference
            .groups
            .iter()
            .filter_map(|group| group.measures.as_ref().map(|measures| (group, &measures.invalidity)))
    };
    if stated().count() < 2 {
        return ("groups", format!("By {name}, too few people were turned down to compare groups."));
    }
    let worst = stated()
        .filter(|(_, measure)| measure.mean_gap_low > 0.0)
        .max_by(|(_, a), (_, b)| a.mean_gap.total_cmp(&b.mean_gap));
    match worst {
        Some((group, measure)) => (
            "groups warn",
            format!(
                "By {name}, advice serves “{}” worst: averaged over the whole front its invalidity is {:.3} above everyone else’s \
                 (95 % interval {:.3} to {:.3}), and it is higher on {} of the summaries.",
                clipped(&group.name),
                measure.mean_gap,
                measure.mean_gap_low,
                measure.mean_gap_high,
                share(measure.share_worse)
            ),
        ),
        None => ("groups", format!("By {name}, no group fares clearly worse over the front as a whole.")),
    }
}

fn reach(unreachable: Option<f64>, affected: f64, min_n: usize) -> String {
    match unreachable {
        Some(0.0) => {
            "Nobody is out of reach: for each person turned down, some admissible change works.".to_owned()
        }
        None => format!(
            "Some of the {} people turned down can’t be helped by any admissible change; they, or the others, are fewer than {min_n}.",
            grouped(affected)
        ),
        Some(more) => format!(
            "{} people ({} of those turned down) can’t be helped by any admissible change.",
            grouped(more),
            share(more / affected)
        ),
    }
}

fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A long name, shortened.
fn clipped(name: &str) -> String {
    if name.chars().count() <= 60 { name.to_owned() } else { name.chars().take(59).chain(['…']).collect() }
}
