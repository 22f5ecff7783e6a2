//! Amounts of memory as people write them.

use super::{ActionBudget, Agree};
use sogar_base::error::{Error, ErrorKind, Result};

const UNITS: &[(&str, f64)] = &[
    ("", 1.0),
    ("b", 1.0),
    ("k", 1e3),
    ("kb", 1e3),
    ("kib", 1024.0),
    ("m", 1e6),
    ("mb", 1e6),
    ("mib", 1_048_576.0),
    ("g", 1e9),
    ("gb", 1e9),
    ("gib", 1_073_741_824.0),
    ("t", 1e12),
    ("tb", 1e12),
    ("tib", 1_099_511_627_776.0),
];

/// Less than this cannot hold any run; such a limit is a mistake.
const LEAST: f64 = 1e6;

/// Reads an amount of memory: a number with `KB`, `MB`, `GB`, `TB` (powers of 1000) or `KiB` … (powers of 1024).
///
/// ```
/// use sogar_table::config::parse_bytes;
/// assert_eq!(parse_bytes("4GB")?, 4_000_000_000);
/// assert_eq!(parse_bytes("1.5 GiB")?, 1_610_612_736);
/// # Ok::<(), sogar_base::Error>(())
/// ```
pub fn parse_bytes(text: &str) -> Result<u64> {
    let fault = |message: String| {
        Error::new(ErrorKind::Config, message)
            .help("write an amount such as \"4GB\", \"512MB\" or \"1.5GiB\"")
    };
    let text = text.trim();
    let unit_start = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_start);
    let unit = unit.trim().to_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| factor);
    let (Ok(number), Some(factor)) = (number.trim().parse::<f64>(), factor) else {
        return Err(fault(format!("`{text}` is not an amount of memory")));
    };
    let bytes = number * factor;
    if !(LEAST..1e18).contains(&bytes) {
        return Err(fault(format!("`{text}` is no sensible amount of memory")));
    }
    Ok(bytes.round() as u64)
}

impl Agree {
    /// How many of this number of models must accept.
    pub fn of(&self, models: usize) -> Result<usize> {
        let fault = |message: String| {
            Error::new(ErrorKind::Config, message)
                .help("use a number from 1 to the number of models, or \"all\"")
        };
        match self {
            Agree::Named(name) if name == "all" => Ok(models),
            Agree::Named(name) => Err(fault(format!("model.agree = {name:?} is no number of models"))),
            Agree::Count(0) => Err(fault("model.agree = 0, but it must be at least 1".into())),
            Agree::Count(count) if *count as usize > models => {
                let those = if models == 1 {
                    "there is only one model".into()
                } else {
                    format!("there are only {models} models")
                };
                Err(fault(format!("model.agree = {count}, but {those}")))
            }
            Agree::Count(count) => Ok(*count as usize),
        }
    }
}

impl ActionBudget {
    /// The limit of actions; `None`: no limit.
    pub fn limit(&self) -> Result<Option<u64>> {
        match self {
            ActionBudget::Count(count @ 1..) => Ok(Some(*count)),
            ActionBudget::Named(name) if name == "all" => Ok(None),
            other => {
                let shown = match other {
                    ActionBudget::Count(count) => count.to_string(),
                    ActionBudget::Named(name) => format!("{name:?}"),
                };
                let message =
                    format!("limits.actions = {shown}, but it must be a number of actions or \"all\"");
                Err(Error::new(ErrorKind::Config, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read() {
        for (text, bytes) in [
            ("4GB", 4_000_000_000),
            ("512mb", 512_000_000),
            (" 2 GiB ", 2_147_483_648),
            ("2000000", 2_000_000),
        ] {
            assert_eq!(parse_bytes(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "GB", "-4GB", "4 potatoes", "4", "1e30TB", "nanGB", "infGB", "4GB4"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
}
