//! Features that people cannot change, or that should not decide about them.
//!
//! A word of a name must equal a word of these lists: `page` is not `age`. Words such as `account` turn an age into that of a
//! thing. Where a name says nothing, the categories may: a column of `black`, `hisp` and `other`, or of `female` and `male`.

use super::words;

/// A personal attribute that recourse should not touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Personal {
    /// Whether the name leaves little doubt.
    pub clear: bool,
    /// Why, such as `a person's age`.
    pub reason: &'static str,
}

/// A reason, the words for it, and words beside which they mean something else.
struct Entry {
    reason: &'static str,
    words: &'static [&'static str],
    unless: &'static [&'static str],
}

const CLEAR: &[Entry] = &[
    Entry {
        reason: "a person's age",
        words: &["age", "agep", "ageyears", "agegroup", "ageband", "alter", "edad"],
        unless: &[
            "account",
            "accounts",
            "acct",
            "app",
            "asset",
            "battery",
            "bill",
            "building",
            "business",
            "car",
            "card",
            "claim",
            "company",
            "contract",
            "credit",
            "device",
            "domain",
            "equipment",
            "file",
            "firm",
            "home",
            "house",
            "housing",
            "inventory",
            "invoice",
            "item",
            "loan",
            "machine",
            "membership",
            "model",
            "mortgage",
            "page",
            "phone",
            "policy",
            "post",
            "product",
            "property",
            "roof",
            "site",
            "stock",
            "table",
            "ticket",
            "trade",
            "trades",
            "tree",
            "vehicle",
            "website",
        ],
    },
    Entry {
        reason: "a person's birth",
        words: &[
            "birth",
            "birthday",
            "birthdate",
            "birthyear",
            "dateofbirth",
            "yearofbirth",
            "dob",
            "born",
            "geburt",
            "geburtsdatum",
            "geburtsjahr",
            "geburtsort",
            "naissance",
            "nacimiento",
        ],
        unless: &["rate", "rates"],
    },
    Entry {
        reason: "a person's sex or gender",
        words: &["sex", "gender", "female", "male", "woman", "women", "geschlecht", "sexe", "sexo", "genero"],
        unless: &[],
    },
    Entry {
        reason: "a person's race or ethnic origin",
        words: &[
            "race",
            "racial",
            "rac1p",
            "ethn",
            "ethnic",
            "ethnicity",
            "caste",
            "hispanic",
            "latino",
            "caucasian",
            "rasse",
            "raza",
            "etnia",
            "ethnie",
        ],
        unless: &["car", "distance", "horse", "lap", "laps", "position", "time", "times", "track"],
    },
    Entry {
        reason: "a person's nationality or origin",
        words: &[
            "nationality",
            "citizen",
            "citizenship",
            "nativecountry",
            "nativity",
            "immigrant",
            "immigration",
            "migrant",
            "nationalitat",
            "staatsangehorigkeit",
            "staatsburgerschaft",
            "herkunft",
            "nationalite",
            "nacionalidad",
        ],
        unless: &[],
    },
    Entry {
        reason: "a person's nationality or origin",
        words: &["native"],
        unless: &["ad", "ads", "app", "token"],
    },
    Entry {
        reason: "a person's nationality or origin",
        words: &["foreign", "foreigner"],
        unless: &[
            "amount",
            "asset",
            "assets",
            "currency",
            "exchange",
            "fee",
            "fees",
            "key",
            "trade",
            "transaction",
            "transactions",
        ],
    },
    Entry {
        reason: "a person's religion",
        words: &["religion", "religious", "konfession", "faith"],
        unless: &["good"],
    },
    Entry {
        reason: "a person's disability",
        words: &["disability", "disabled", "handicap", "handicapped", "behinderung", "discapacidad"],
        unless: &["account", "feature"],
    },
    Entry {
        reason: "a person's marital status",
        words: &[
            "marital",
            "maritalstatus",
            "married",
            "marr",
            "marry",
            "marriage",
            "divorced",
            "widowed",
            "spouse",
            "familienstand",
            "matrimonial",
        ],
        unless: &["income"],
    },
    Entry { reason: "veteran status", words: &["veteran"], unless: &[] },
];

/// Pairs of words with a meaning that neither has alone.
const CLEAR_PAIRS: &[(&str, &str, &str)] = &[
    ("family", "status", "a person's marital status"),
    ("civil", "status", "a person's marital status"),
    ("relationship", "status", "a person's marital status"),
    ("estado", "civil", "a person's marital status"),
    ("etat", "civil", "a person's marital status"),
    ("sexual", "orientation", "a person's sexual orientation"),
    ("skin", "color", "a person's race or ethnic origin"),
    ("skin", "colour", "a person's race or ethnic origin"),
    ("mother", "tongue", "a person's nationality or origin"),
];

const PERHAPS: &[Entry] = &[
    Entry {
        reason: "it may come from the parents",
        words: &[
            "mother", "mothers", "father", "fathers", "parent", "parents", "parental", "maternal",
            "paternal", "medu", "fedu", "mjob", "fjob",
        ],
        unless: &["company", "board"],
    },
    Entry {
        reason: "it may be about pregnancy",
        words: &["pregnancies", "pregnancy", "pregnant", "npreg"],
        unless: &[],
    },
    Entry {
        reason: "it may be about a person's family",
        words: &["child", "children", "kids", "dependents", "dependants", "siblings", "kinder"],
        unless: &[],
    },
    Entry {
        reason: "it may count the past, which nobody can undo",
        words: &[
            "prior",
            "priors",
            "previous",
            "past",
            "history",
            "delinquency",
            "delinquencies",
            "delinquent",
            "arrest",
            "arrests",
            "conviction",
            "convictions",
            "offense",
            "offenses",
            "bankruptcy",
            "bankruptcies",
        ],
        unless: &[],
    },
    Entry { reason: "it may be a person's origin", words: &["country", "origin"], unless: &[] },
    Entry { reason: "it may be a person's race", words: ORIGINS, unless: &[] },
];

/// Categories that name a person's race or origin: two of them among a feature's categories leave little doubt.
const ORIGINS: &[&str] = &[
    "african",
    "asian",
    "black",
    "caucasian",
    "hisp",
    "hispan",
    "hispanic",
    "indigenous",
    "latina",
    "latino",
    "white",
];
/// Categories beside which `black` and `white` are colours.
const COLOURS: &[&str] = &[
    "beige", "blue", "brown", "gray", "green", "grey", "orange", "pink", "purple", "red", "silver", "yellow",
];
/// The levels of a column that says whether something is so.
const TRUTHS: &[&str] = &["0", "1", "no", "yes", "false", "true", "n", "y"];
/// Categories that name a person's sex: both of a pair leave little doubt, the letters some.
const SEXES: &[(&str, &str, bool)] = &[("female", "male", true), ("woman", "man", true), ("f", "m", false)];

/// The personal attribute that the name of a feature or its categories (none for numbers) indicate, if any.
///
/// ```
/// use sogar_table::hints::personal;
/// assert!(personal("Sex:Female", &[]).is_some_and(|found| found.clear));
/// assert!(personal("mother_education", &[]).is_some_and(|found| !found.clear));
/// assert!(personal("message", &[]).is_none());
/// assert!(personal("group", &["black".into(), "hisp".into(), "other".into()]).is_some());
/// ```
pub fn personal(name: &str, levels: &[String]) -> Option<Personal> {
    let found = by_name(name);
    found
        .filter(|found| found.clear)
        .or_else(|| by_levels(levels))
        .or_else(|| found.filter(|_| is_race(name, levels)).map(|_| RACE))
        .or(found)
}

const RACE: Personal = Personal { clear: true, reason: "a person's race or ethnic origin" };

/// Whether a feature only says if somebody is `black`, or divides them by sex.
fn is_race(name: &str, levels: &[String]) -> bool {
    let is_in = |list: &[&str], level: &String| list.contains(&level.to_lowercase().as_str());
    let sexes = |level: &String| SEXES.iter().any(|(a, b, clear)| *clear && is_in(&[a, b], level));
    words(name).iter().all(|word| ORIGINS.contains(&word.as_str()))
        && (levels.len() == 2 && levels.iter().all(|level| is_in(TRUTHS, level))
            || levels.iter().filter(|level| sexes(level)).count() == 2)
}

fn by_levels(levels: &[String]) -> Option<Personal> {
    let levels: Vec<Vec<String>> = levels.iter().map(|level| words(level)).collect();
    let names = |wanted: &[&str]| {
        levels.iter().filter(|level| level.iter().any(|word| wanted.contains(&word.as_str()))).count()
    };
    if levels.len() < 30 && names(ORIGINS) >= 2 && names(COLOURS) == 0 {
        return Some(RACE);
    }
    let is = |at: usize, word: &str| levels[at].len() == 1 && levels[at][0] == word;
    let pair =
        |(a, b, _): &&(&str, &str, bool)| levels.len() == 2 && (is(0, a) && is(1, b) || is(0, b) && is(1, a));
    SEXES.iter().find(pair).map(|&(.., clear)| match clear {
        true => Personal { clear, reason: "a person's sex or gender" },
        false => Personal { clear, reason: "it may be a person's sex" },
    })
}

fn by_name(name: &str) -> Option<Personal> {
    let words = words(name);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let whole = words.concat();
    let applies = |entry: &&Entry| {
        entry.words.iter().any(|word| has(word) || *word == whole)
            && !entry.unless.iter().any(|word| has(word))
    };
    if let Some(entry) = CLEAR.iter().find(applies) {
        return Some(Personal { clear: true, reason: entry.reason });
    }
    if let Some((.., reason)) = CLEAR_PAIRS.iter().find(|(first, second, _)| has(first) && has(second)) {
        return Some(Personal { clear: true, reason });
    }
    if whole == "relationship" {
        return Some(Personal { clear: true, reason: "a person's marital status" });
    }
    PERHAPS.iter().find(applies).map(|entry| Personal { clear: false, reason: entry.reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn personal_features_are_recognised_however_they_are_written() {
        for name in [
            "age",
            "AGE",
            "Age_Years",
            "personAge",
            "age_cat",
            "Sex:Female",
            "sex_male",
            "CODE_GENDER",
            "is_female",
            "RAC1P",
            "race",
            "native-country",
            "foreign_worker",
            "MaritalStatus",
            "maritalstatus",
            "NAME_FAMILY_STATUS",
            "relationship",
            "DAYS_BIRTH",
            "date of birth",
            "DOB",
            "Geschlecht",
            "Alter",
            "Nationalität",
            "Familienstand",
            "âge",
            "sexe",
            "état civil",
            "edad",
            "Género",
            "nacionalidad",
            "personal_status_sex",
            "religion",
            "disabled",
            "MARRIAGE",
        ] {
            assert!(
                personal(name, &[]).is_some_and(|found| found.clear),
                "{name}: {:?}",
                personal(name, &[])
            );
        }
    }

    #[test]
    fn words_that_only_look_alike_are_left_alone() {
        for name in [
            "page",
            "message",
            "usage",
            "average",
            "percentage",
            "language",
            "stage",
            "essex",
            "mortgage",
            "wage",
            "image",
            "account_age",
            "HouseAge",
            "vehicle age",
            "AverageMInFile",
            "foreign_exchange",
            "RelationshipSatisfaction",
            "race_time",
            "income",
            "hours-per-week",
            "trace",
            "brace",
            "genre",
            "unisex2x",
            "orientation",
            "birth_rate",
        ] {
            assert_eq!(personal(name, &[]), None, "{name}");
        }
    }

    #[test]
    fn weaker_hints_are_distinguished() {
        for name in [
            "mother_education",
            "Medu",
            "Pregnancies",
            "priors_count",
            "credit_history",
            "CNT_CHILDREN",
            "country",
            "white",
        ] {
            assert!(
                personal(name, &[]).is_some_and(|found| !found.clear),
                "{name}: {:?}",
                personal(name, &[])
            );
        }
    }

    #[test]
    fn categories_tell_what_a_name_does_not() {
        let found = |levels: &[&str]| {
            let levels: Vec<String> = levels.iter().map(ToString::to_string).collect();
            personal("group", &levels).map(|found| found.clear)
        };
        assert_eq!(found(&["black", "hisp", "other"]), Some(true));
        assert_eq!(found(&["African-American", "Caucasian", "Other"]), Some(true));
        assert_eq!(found(&["Female", "Male"]), Some(true));
        assert_eq!(found(&["M", "F"]), Some(false));
        for levels in [&["0", "1"][..], &["no", "yes"], &["(other)", "female", "male"]] {
            let levels: Vec<String> = levels.iter().map(ToString::to_string).collect();
            assert!(personal("black", &levels).is_some_and(|found| found.clear), "{levels:?}");
            assert!(personal("black_box", &levels).is_none_or(|found| !found.clear), "{levels:?}");
        }
        for plain in [
            &["red", "white"][..],
            &["no", "yes"],
            &["female", "male", "company"],
            &["black", "blue", "white"],
            &[],
        ] {
            assert_eq!(found(plain), None, "{plain:?}");
        }
    }
}
