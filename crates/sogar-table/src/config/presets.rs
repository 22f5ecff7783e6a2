//! Built-in configurations for tables that papers on recourse use.
//!
//! The plain names are for the readable tables, the `paper-` names for the encodings of the published experiments.

use std::path::Path;

use super::Config;
use sogar_base::error::{Error, ErrorKind, Result, suggest};

/// A built-in configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in one line.
    pub description: &'static str,
    /// The file's text.
    pub text: &'static str,
}

macro_rules! preset {
    ($name:literal, $description:literal) => {
        Preset {
            name: $name,
            description: $description,
            text: include_str!(concat!("../../presets/", $name, ".toml")),
        }
    };
}

static PRESETS: [Preset; 8] = [
    preset!("german", "German Credit, readable: who gets a loan"),
    preset!("attrition", "IBM HR Analytics, readable: who stays with the company"),
    preset!("bank", "Bank Marketing, readable: who takes a term deposit"),
    preset!("adult", "Adult, readable: who earns more than 50,000 a year"),
    preset!("paper-german", "German Credit in the one-hot encoding of the published experiments"),
    preset!("paper-attrition", "IBM HR Analytics in the one-hot encoding of the published experiments"),
    preset!("paper-bank", "Bank Marketing in the one-hot encoding of the published experiments"),
    preset!("paper-adult", "Adult with the bins and limits of the published experiments"),
];

/// All presets.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

impl Preset {
    /// The parsed configuration.
    pub fn config(&self) -> Result<Config> {
        Config::parse(self.text, Path::new(&format!("preset {}", self.name)))
    }
}

impl Config {
    /// The preset of that name.
    pub fn preset(name: &str) -> Result<Config> {
        match PRESETS.iter().find(|preset| preset.name == name) {
            Some(preset) => preset.config(),
            None => Err(Error::new(ErrorKind::Usage, format!("there is no preset `{name}`"))
                .help(suggest(name, PRESETS.iter().map(|preset| preset.name)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_reads_and_passes_the_check() {
        for preset in presets() {
            let config = preset.config().unwrap_or_else(|error| panic!("{error}"));
            let notices = config.check(None).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
            assert_eq!(notices, Vec::<String>::new(), "{}", preset.name);
            assert!(config.data.label.is_some() && !config.data.desired.is_empty(), "{}", preset.name);
        }
    }

    #[test]
    fn an_unknown_preset_is_answered_with_the_nearest() {
        let error = Config::preset("germn").unwrap_err();
        assert_eq!(error.to_string(), "there is no preset `germn`");
        assert_eq!(error.remedy(), Some("did you mean `german`?"));
    }
}
