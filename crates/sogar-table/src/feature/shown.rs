//! How a feature is called in sentences: its `display` and `unit` from the configuration.

use serde::{Deserialize, Serialize};

use super::Feature;
use crate::config::FeatureConfig;
use sogar_base::markup::visible;

/// The words of a feature.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Shown {
    /// Its name in sentences, such as `monthly income`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// The unit behind its numbers, such as `€`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl FeatureConfig {
    /// The words that the configuration has for the feature.
    pub fn shown(&self) -> Shown {
        Shown { display: self.display.clone(), unit: self.unit.clone() }
    }
}

impl Feature {
    /// The name in a sentence for people who know the table: the display name, or the column's name between backticks.
    pub fn title(&self) -> String {
        match &self.shown.display {
            Some(display) => visible(display),
            None => format!("`{}`", self.name),
        }
    }

    /// The name for people who do not know the table: the display name, or the words of the column's name.
    pub fn plain_name(&self) -> String {
        self.shown.display.clone().unwrap_or_else(|| words_of(&self.name))
    }

    /// An amount with its unit.
    pub fn with_unit(&self, amount: String) -> String {
        match &self.shown.unit {
            Some(unit) if self.is_numeric() => format!("{amount} {}", visible(unit)),
            _ => amount,
        }
    }
}

/// The words of a column's name: `MonthlyIncome` and `monthly_income` are `monthly income`.
fn words_of(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut last = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let starts_word = letter.is_uppercase()
            && (last.is_lowercase()
                || (last.is_uppercase() && letters.peek().is_some_and(|next| next.is_lowercase())));
        if starts_word {
            words.push(' ');
        }
        match letter {
            '_' | '.' | '-' if letters.peek().is_some() && last != ' ' => words.push(' '),
            // Abbreviations keep their capital letters.
            letter
                if letter.is_uppercase()
                    && !letters.peek().is_some_and(|next| next.is_uppercase())
                    && (starts_word || !last.is_uppercase()) =>
            {
                words.extend(letter.to_lowercase());
            }
            letter => words.push(letter),
        }
        last = letter;
    }
    if words.trim().is_empty() {
        name.to_owned()
    } else {
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::words_of;

    #[test]
    fn names_of_columns_become_words() {
        for (name, words) in [
            ("monthly_income", "monthly income"),
            ("MonthlyIncome", "monthly income"),
            ("present_employment", "present employment"),
            ("emp.var.rate", "emp var rate"),
            ("education-num", "education num"),
            ("HRScore", "HR score"),
            ("BMI", "BMI"),
            ("_x", "_x"),
            ("__", "__"),
            ("alter", "alter"),
            ("nr.employed", "nr employed"),
        ] {
            assert_eq!(words_of(name), words);
        }
    }
}
