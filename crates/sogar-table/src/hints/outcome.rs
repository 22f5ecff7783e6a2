//! The outcome that people hope for, as far as names tell: `approved` is good, `default` is not, `1` says nothing.

use super::words;

/// Words of class names that are good in every table.
const GOOD: &[&str] = &[
    "accept",
    "accepted",
    "admit",
    "admitted",
    "approve",
    "approved",
    "eligible",
    "good",
    "grant",
    "granted",
    "hire",
    "hired",
    "paid",
    "pass",
    "passed",
    "qualified",
    "repaid",
    "success",
    "successful",
    "survived",
];
/// Words that negate a good one, or that are bad.
const BAD: &[&str] = &[
    "bad", "declined", "denied", "fail", "failed", "never", "no", "non", "not", "partly", "rejected", "un",
    "un-", "unpaid",
];
/// Words of label names for something undesirable.
const EVENTS: &[&str] = &[
    "accident",
    "arrest",
    "arrested",
    "attrition",
    "bad",
    "bankrupt",
    "bankruptcies",
    "bankruptcy",
    "cancer",
    "charged",
    "chargeoff",
    "churn",
    "churned",
    "complication",
    "complications",
    "crime",
    "dead",
    "death",
    "deceased",
    "declined",
    "default",
    "defaulted",
    "delinq",
    "delinquency",
    "delinquent",
    "denial",
    "denied",
    "deny",
    "depression",
    "diabetes",
    "diabetic",
    "died",
    "dies",
    "disease",
    "dlqin",
    "dropout",
    "dropped",
    "exited",
    "fail",
    "failed",
    "failure",
    "foreclosure",
    "fraud",
    "hospitalized",
    "hypertension",
    "ill",
    "illness",
    "infected",
    "infection",
    "injury",
    "late",
    "malignant",
    "mortality",
    "obese",
    "obesity",
    "offend",
    "overdue",
    "penalty",
    "quit",
    "readmission",
    "readmitted",
    "rearrest",
    "recid",
    "recidivate",
    "recidivism",
    "recidivist",
    "refusal",
    "refuse",
    "refused",
    "reject",
    "rejected",
    "rejection",
    "relapse",
    "reoffend",
    "reoffended",
    "risk",
    "sepsis",
    "sick",
    "stroke",
    "suicide",
    "tumor",
    "tumour",
    "turnover",
    "unpaid",
    "violation",
];
/// Common names of columns with the true outcome, the most reliable first.
const LABELS: &[&str] = &[
    "label",
    "labels",
    "target",
    "class",
    "outcome",
    "y",
    "income",
    "credit",
    "attrition",
    "approved",
    "subscribe",
    "churn",
    "default",
    "response",
    "decision",
];

/// Whether a column of this name often holds the true outcome.
pub fn is_label_name(name: &str) -> bool {
    label_rank(name).is_some()
}

/// The rank of a name among those of columns with the true outcome, 0 being the most reliable; `None` if it is not one.
pub fn label_rank(name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    LABELS.iter().position(|label| *label == name)
}

/// Whether the name of a label stands for something undesirable, such as `default` or `HeartDisease`.
pub fn is_bad_event(label: &str) -> bool {
    words(label).iter().any(|word| EVENTS.contains(&word.as_str()))
}

/// Whether classes are named by words, not by numbers or `false` and `true`.
pub fn is_text(names: &[String]) -> bool {
    names.iter().any(|name| name.parse::<f64>().is_err() && !is_truth(name))
}

fn is_truth(name: &str) -> bool {
    name.eq_ignore_ascii_case("true") || name.eq_ignore_ascii_case("false")
}

/// The one class that people hope for, if names leave no doubt: exactly one of them is good, as `approved`; or the label's name is,
/// as in `approved`, and one class says that it is so, as `yes` and 1 do.
///
/// ```
/// use sogar_table::hints::good_class;
/// let names = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
/// assert_eq!(good_class(&names("approved", "rejected"), None), Some(0));
/// assert_eq!(good_class(&names("0", "1"), None), None);
/// assert_eq!(good_class(&names("No", "Yes"), Some("approved")), Some(1));
/// assert_eq!(good_class(&names("No", "Yes"), Some("type")), None);
/// ```
pub fn good_class(names: &[String], label: Option<&str>) -> Option<usize> {
    let good: Vec<usize> = (0..names.len()).filter(|&class| looks_good(&names[class])).collect();
    match good[..] {
        [class] => Some(class),
        [] if names.len() == 2 && label.is_some_and(|label| looks_good(label) && !is_bad_event(label)) => {
            names.iter().position(|name| says_so(name))
        }
        _ => None,
    }
}

/// The class of two that is assumed to be hoped for until the user says it: the second, unless it says that something
/// undesirable happened, as 1 does of `default`.
pub fn assumed_class(names: &[String], label: Option<&str>) -> usize {
    usize::from(!(label.is_some_and(is_bad_event) && names.get(1).is_some_and(|name| says_so(name))))
}

/// Whether a class says that what the label's name stands for is so.
fn says_so(name: &str) -> bool {
    name.parse() == Ok(1.0) || ["true", "yes", "y"].iter().any(|word| name.eq_ignore_ascii_case(word))
}

fn looks_good(name: &str) -> bool {
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    has(GOOD) && !has(BAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_good_name_decides_and_nothing_else_does() {
        let good = |names: &[&str], label: Option<&str>| {
            good_class(&names.iter().map(ToString::to_string).collect::<Vec<_>>(), label)
        };
        assert_eq!(good(&["bad", "good"], None), Some(1));
        assert_eq!(good(&["Approved", "Rejected"], None), Some(0));
        assert_eq!(good(&["no", "yes"], Some("loan_approved")), Some(1));
        assert_eq!(good(&["no", "yes"], None), None, "yes to what?");
        for label in ["churn", "deny", "type", "y"] {
            assert_eq!(good(&["No", "Yes"], Some(label)), None, "{label}");
        }
        assert_eq!(good(&["not approved", "loan approved"], None), Some(1));
        assert_eq!(good(&["Charged Off", "Fully Paid"], Some("loan_status")), Some(1));
        assert_eq!(good(&["accepted", "good"], None), None, "two that look good");
        assert_eq!(good(&["<=50K", ">50K"], Some("income")), None);
        assert_eq!(good(&["False", "True"], None), None);
        assert_eq!(good(&["0", "1"], Some("approved")), Some(1));
        assert_eq!(good(&["1", "2"], Some("credit")), None);
        assert_eq!(good(&["0", "1"], Some("default")), None);
        assert_eq!(good(&["low", "medium", "good"], None), Some(2));
    }

    #[test]
    fn nobody_is_assumed_to_hope_for_a_default_or_a_disease() {
        let assumed = |names: [&str; 2], label| assumed_class(&names.map(str::to_owned), label);
        assert_eq!(assumed(["0", "1"], Some("target")), 1);
        assert_eq!(assumed(["0", "1"], None), 1);
        assert_eq!(assumed(["0", "1"], Some("heart_disease")), 0);
        assert_eq!(assumed(["False", "True"], Some("default")), 0);
        assert_eq!(assumed(["1", "2"], Some("default")), 1, "2 may be no");
    }

    #[test]
    fn events_and_labels_are_known_by_name() {
        assert!(is_bad_event("default.payment.next.month") && is_bad_event("HeartDisease"));
        assert!(is_bad_event("SeriousDlqin2yrs") && !is_bad_event("income"));
        assert!(is_label_name("Target") && !is_label_name("target_age"));
        assert!(label_rank("y") < label_rank("default"), "bank tables have both");
        assert!(is_text(&["a".into(), "1".into()]) && !is_text(&["False".into(), "True".into()]));
    }
}
