//! A guarantee in words.

use sogar_base::error::{Error, ErrorKind};
use sogar_front::describe::grouped;
use sogar_front::summary::FrontFile;

use super::{Group, GuaranteeRequest, Guaranteed, Measure};

/// What every guarantee assumes.
pub(super) const ASSUMES: &str = "The guarantee is about people whom this model turns down and who are drawn like the calibration rows. It assumes that \
     neither the search nor the training of the model saw these rows, and that limit, confidence and groups were fixed before anybody \
     looked at them.";

fn percent(share: f64) -> String {
    let text = format!("{:.2}", 100.0 * share);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The result in sentences.
pub(super) fn sentences(found: &Guaranteed) -> String {
    let mut text = format!(
        "With {} confidence, {} among future people.\n",
        percent(found.confidence),
        found.guarantee.replace("<=", " is at most "),
    );
    text += &format!(
        "{} of {} calibration people are turned down. ",
        grouped(found.affected),
        grouped(found.rows)
    );
    let passed = if found.passed == 1 {
        "1 point passed"
    } else {
        &format!("{} points passed", grouped(found.passed))
    };
    text += &match (found.failed, found.failed_p_value) {
        (Some(failed), Some(p)) => format!("{passed} the test; point {failed} did not (p = {p:.3}).\n"),
        _ => format!("{passed} the test, all that there are.\n"),
    };
    for group in &found.groups {
        let name = group.shown.as_deref().unwrap_or("Everybody");
        text += &format!(
            "  {name}: {} of {} calibration people (p = {:.2e})\n",
            if found.guarantee.starts_with("loss") {
                format!("it does not work for {:.1} %", 100.0 * group.value)
            } else {
                format!("mean cost {:.3}", group.value)
            },
            grouped(group.affected),
            group.p_value
        );
    }
    text += &found.assumes;
    text += "\n";
    text
}

/// The error if no point passes: why, and how many people would be needed.
pub(super) fn nothing(
    front: &FrontFile,
    request: &GuaranteeRequest,
    groups: &[Group],
    counts: &[u64],
    failed: Option<(usize, f64)>,
    people_needed: impl Fn(f64) -> Option<u64>,
) -> Error {
    let guarantee = request.guarantee;
    let points = &front.points;
    let (first, p) = failed.unwrap_or((points.len() - 1, 1.0));
    let fitted = guarantee.of(&points[first]);
    let message = format!(
        "no summary can be guaranteed to have {guarantee} with {} confidence",
        percent(request.confidence)
    );
    let error = Error::new(ErrorKind::Population, message);
    if fitted >= guarantee.limit {
        let name = if guarantee.measure == Measure::Loss { "loss" } else { "cost" };
        return error.help(format!(
            "even on the fitted table, the lowest {name} is {fitted:.4}; choose a higher limit"
        ));
    }
    let least = people_needed(0.0).unwrap_or(1);
    let smallest = groups.iter().zip(counts).min_by_key(|(_, count)| **count);
    if let Some((group, &count)) = smallest.filter(|(_, count)| **count < least) {
        let who = group.shown.as_ref().map_or(String::new(), |shown| format!(" of {shown}"));
        return error.help(format!(
            "the table has {} affected people{who}; at least {} are needed even if advice never fails",
            grouped(count),
            grouped(least)
        ));
    }
    let each = if request.groups.is_empty() { "" } else { " in each group" };
    let needed = people_needed(fitted).map(|people| {
        format!(
            "; about {} affected people{each} would be needed if its fitted value holds for them",
            grouped(people)
        )
    });
    error.help(format!(
        "point {first}, with the lowest fitted value ({fitted:.4}), did not pass (p = {p:.3}){}",
        needed.unwrap_or_default()
    ))
}
