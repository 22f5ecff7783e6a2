//! Rules such as `years_in_role <= years_at_company` (SPEC §5): if a row satisfies a rule and an action would break it, the
//! action counts as not flipping that row.

use crate::feature::{Feature, feature_index};
use sogar_base::error::{Error, ErrorKind, Result, suggest};

/// A comparison of two features, or of a feature and a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    left: Side,
    relation: Relation,
    right: Side,
    /// Special codes of its features. A code is not an amount, so no rule holds for it.
    codes: Vec<(usize, Vec<f64>)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Feature(usize),
    Value(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    AtMost,
    Below,
    AtLeast,
    Above,
    Equal,
    Different,
}

/// Longest spellings first, so that `<=` is not read as `<`.
const RELATIONS: [(&str, Relation); 7] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("!=", Relation::Different),
    ("<", Relation::Below),
    (">", Relation::Above),
    ("=", Relation::Equal),
];

impl Rule {
    /// Parses `left relation right`; each side is a feature's name or a value (a number, or a level of the other side's feature).
    pub fn parse(text: &str, features: &[Feature]) -> Result<Rule> {
        let bad = |message: String| {
            Error::new(ErrorKind::Config, format!("rule `{text}`: {message}")).help(
                "a rule compares two features, or a feature and a value: `years_in_role <= years_at_company`",
            )
        };
        // The leftmost relation sign that leaves a known feature on at least one side.
        let mut problem = None;
        for (at, _) in text.char_indices() {
            let Some((sign, relation)) = RELATIONS.iter().find(|(sign, _)| text[at..].starts_with(sign))
            else {
                continue;
            };
            let (left, right) = (text[..at].trim(), text[at + sign.len()..].trim());
            match (side(left, right, features), side(right, left, features)) {
                (Ok(left), Ok(right)) if !matches!((left, right), (Side::Value(_), Side::Value(_))) => {
                    let rule = Rule { left, relation: *relation, right, codes: Vec::new() };
                    let coded = rule.features().map(|feature| (feature, features[feature].codes.clone()));
                    let codes = coded.filter(|(_, codes)| !codes.is_empty()).collect();
                    return Ok(Rule { codes, ..rule });
                }
                (Err(error), _) | (_, Err(error)) => problem = problem.or(Some(error)),
                _ => {}
            }
        }
        Err(match problem {
            Some(error) => {
                let help = error.remedy().unwrap_or_default().to_owned();
                bad(error.to_string()).help(help)
            }
            None => bad("no comparison of a feature".into()),
        })
    }

    fn holds(&self, value: impl Fn(usize) -> f64) -> bool {
        let get = |side: Side| match side {
            Side::Feature(feature) => value(feature),
            Side::Value(value) => value,
        };
        if self.codes.iter().any(|(feature, codes)| codes.contains(&value(*feature))) {
            return false;
        }
        let (left, right) = (get(self.left), get(self.right));
        match self.relation {
            Relation::AtMost => left <= right,
            Relation::Below => left < right,
            Relation::AtLeast => left >= right,
            Relation::Above => left > right,
            Relation::Equal => left == right,
            Relation::Different => left != right,
        }
    }

    /// The features of the rule.
    pub fn features(&self) -> impl Iterator<Item = usize> {
        [self.left, self.right].into_iter().filter_map(|side| match side {
            Side::Feature(feature) => Some(feature),
            Side::Value(_) => None,
        })
    }

    /// Whether a row satisfies the rule.
    pub fn holds_for(&self, row: &[f64]) -> bool {
        self.holds(|feature| row[feature])
    }

    /// Whether a row satisfies the rule and its edited version does not.
    pub fn broken_by(&self, before: &[f64], after: &[f64]) -> bool {
        self.holds(|feature| before[feature]) && !self.holds(|feature| after[feature])
    }
}

fn side(text: &str, other: &str, features: &[Feature]) -> Result<Side> {
    let name = text.trim_matches('`');
    if let Some(feature) = features.iter().position(|feature| feature.name == name) {
        return Ok(Side::Feature(feature));
    }
    let other = features.iter().find(|feature| feature.name == other.trim_matches('`'));
    if let Some(level) = other.and_then(|feature| feature.level_index(name)) {
        return Ok(Side::Value(level as f64));
    }
    match name.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Side::Value(value)),
        _ => match other.filter(|feature| !feature.levels().is_empty()) {
            Some(feature) => {
                let message = format!("`{name}` is neither a feature nor a value of `{}`", feature.name);
                let known = features.iter().map(|feature| &feature.name).chain(feature.levels());
                Err(Error::new(ErrorKind::Config, message).help(suggest(name, known.map(String::as_str))))
            }
            None => feature_index(features, name).map(Side::Feature),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::Kind;

    fn features() -> Vec<Feature> {
        let levels = ["low", "<= middle", "high"].map(String::from).to_vec();
        vec![
            Feature::new("role", Kind::Integer),
            Feature::new("company", Kind::Integer),
            Feature::new("rank", Kind::Ordinal { levels }),
        ]
    }

    fn rule(text: &str) -> Rule {
        Rule::parse(text, &features()).unwrap()
    }

    #[test]
    fn every_relation_is_read() {
        for (text, holds) in [
            ("role <= company", [true, true, false]),
            ("role < company", [true, false, false]),
            ("role >= company", [false, true, true]),
            ("role>company", [false, false, true]),
            ("`role` = `company`", [false, true, false]),
            ("role == company", [false, true, false]),
            ("role != company", [true, false, true]),
        ] {
            for (value, expected) in [1.0, 2.0, 3.0].into_iter().zip(holds) {
                assert_eq!(
                    rule(text).holds(|feature| [value, 2.0, 0.0][feature]),
                    expected,
                    "{text}, {value}"
                );
            }
        }
    }

    #[test]
    fn a_side_may_be_a_number_or_a_level() {
        assert!(rule("role <= 3").holds(|_| 3.0));
        assert!(rule("3 > role").holds(|_| 2.0));
        assert!(rule("rank >= high").holds(|_| 2.0) && !rule("rank >= high").holds(|_| 1.0));
        assert!(rule("rank = <= middle").holds(|_| 1.0), "a level may contain a relation sign");
    }

    #[test]
    fn spaces_of_a_level_stand_between_backticks() {
        let mut features = features();
        features[2].kind = Kind::Ordinal { levels: [" low", "high"].map(String::from).to_vec() };
        assert!(Rule::parse("rank = ` low`", &features).unwrap().holds(|_| 0.0));
        let error = Rule::parse("rank = low", &features).unwrap_err();
        assert!(error.to_string().contains("`low` is neither a feature nor a value of `rank`"), "{error}");
        assert!(error.remedy().unwrap().contains("trim = true"), "{error:?}");
    }

    #[test]
    fn only_what_held_before_can_be_broken() {
        let rule = rule("role <= company");
        assert!(rule.broken_by(&[1.0, 2.0, 0.0], &[3.0, 2.0, 0.0]));
        assert!(!rule.broken_by(&[3.0, 2.0, 0.0], &[4.0, 2.0, 0.0]), "it did not hold before");
        assert!(!rule.broken_by(&[1.0, 2.0, 0.0], &[2.0, 2.0, 0.0]));
    }

    #[test]
    fn rules_that_compare_nothing_are_refused() {
        for (text, help) in [
            ("rol <= company", "did you mean `role`?"),
            ("role", "a rule compares"),
            ("1 < 2", "a rule compares"),
        ] {
            let error = Rule::parse(text, &features()).unwrap_err();
            assert!(error.to_string().contains(text) && error.remedy().unwrap().contains(help), "{error:?}");
        }
    }
}
