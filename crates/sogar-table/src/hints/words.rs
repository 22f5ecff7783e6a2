//! The words of a column's name.

/// The words of a name such as `native-country`, `MaritalStatus`, `Sex:Female` or `âge2`, in lower case and without accents.
///
/// ```
/// use sogar_table::hints::words;
/// assert_eq!(words("MaritalStatus"), ["marital", "status"]);
/// assert_eq!(words("Sex:Female"), ["sex", "female"]);
/// assert_eq!(words("percentage"), ["percentage"]);
/// ```
pub fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> =
        name.chars().filter(|letter| !('\u{300}'..='\u{36f}').contains(letter)).collect();
    let mut words = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map_or(' ', |at| letters[at]);
        let after = letters.get(at + 1).copied().unwrap_or(' ');
        let begins = (letter.is_uppercase() && before.is_lowercase())
            || (letter.is_uppercase() && before.is_uppercase() && after.is_lowercase())
            || (letter.is_alphabetic() && before.is_numeric())
            || (letter.is_numeric() && before.is_alphabetic());
        if !letter.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            letter.to_lowercase().for_each(|letter| word.push_str(plain(letter, &mut [0; 4])));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a category only says that nobody knows: an action that leads to it would be no advice.
///
/// ```
/// use sogar_table::hints::says_nothing;
/// assert!(says_nothing("Unknown") && says_nothing("not_known") && says_nothing("?"));
/// assert!(!says_nothing("unknown account") && !says_nothing("none") && !says_nothing("other"));
/// ```
pub fn says_nothing(level: &str) -> bool {
    const NOTHING: &[&str] = &[
        "unknown",
        "unk",
        "unspecified",
        "undisclosed",
        "missing",
        "na",
        "n a",
        "nan",
        "null",
        "not known",
        "not available",
        "not specified",
        "not stated",
        "no answer",
        "refused",
    ];
    level.trim() == "?" || NOTHING.contains(&words(level).join(" ").as_str())
}

/// A lower-case letter without its accent.
fn plain(letter: char, room: &mut [u8; 4]) -> &str {
    match letter {
        'à'..='å' => "a",
        'ç' => "c",
        'è'..='ë' => "e",
        'ì'..='ï' => "i",
        'ñ' => "n",
        'ò'..='ö' => "o",
        'ù'..='ü' => "u",
        'ß' => "ss",
        other => other.encode_utf8(room),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        for (name, expected) in [
            ("native-country", "native country"),
            ("status_sex", "status sex"),
            ("AGE", "age"),
            ("mortgage", "mortgage"),
            ("HTTPAge", "http age"),
            ("personAge", "person age"),
            ("age2", "age 2"),
            ("Unnamed: 0", "unnamed 0"),
            ("Nationalität", "nationalitat"),
            ("Nationalita\u{308}t", "nationalitat"),
            ("Género", "genero"),
            ("年齢", "年齢"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }
}
