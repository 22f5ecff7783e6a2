//! Features that nobody can be asked to change, or should be judged by.
//!
//! A word of a name has to be equal to one of these lists: `page` is not `age`. Words such as `account` turn an age into one of a thing.

use super::words;

/// What a feature says of a person that advice should keep away from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Personal {
    /// Whether the name leaves little doubt.
    pub clear: bool,
    /// Why, such as `a person's age`.
    pub reason: &'static str,
}

/// A reason, the words that give it away, and words beside which they mean something else.
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

/// Pairs of words that say together what neither says alone.
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
        words: &["pregnancies", "pregnancy", "pregnant"],
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
    Entry { reason: "it may be a person's race", words: &["white", "black", "asian"], unless: &[] },
];

/// What the name of a feature says of a person, if anything.
///
/// ```
/// use sogar_table::hints::personal;
/// assert!(personal("Sex:Female").is_some_and(|found| found.clear));
/// assert!(personal("mother_education").is_some_and(|found| !found.clear));
/// assert!(personal("message").is_none());
/// ```
pub fn personal(name: &str) -> Option<Personal> {
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
            assert!(personal(name).is_some_and(|found| found.clear), "{name}: {:?}", personal(name));
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
            assert_eq!(personal(name), None, "{name}");
        }
    }

    #[test]
    fn weaker_hints_are_told_apart() {
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
            assert!(personal(name).is_some_and(|found| !found.clear), "{name}: {:?}", personal(name));
        }
    }
}
