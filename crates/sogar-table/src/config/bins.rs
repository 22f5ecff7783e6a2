//! The values of `bins`.

use super::Bins;
use sogar_base::error::{Error, ErrorKind, Result};

/// Limit of bins: more are useless and make the search endless.
const MOST_BINS: u32 = 1000;

/// A parsed setting of `bins`.
#[derive(Debug, Clone, PartialEq)]
pub enum BinRule {
    /// This many bins of equal width.
    EqualWidth(u32),
    /// The number of bins by Freedman and Diaconis.
    Auto,
    /// This many bins with equally many rows; only for splits.
    Quantile(u32),
    /// An edge behind every distinct value except the largest; only for splits.
    All,
    /// Inner edges; only for splits.
    Edges(Vec<f64>),
}

impl Bins {
    /// The parsed setting, or its error.
    pub fn rule(&self) -> Result<BinRule> {
        let fault = |message: String| {
            Error::new(ErrorKind::Config, message)
                .help("write a number of bins, \"auto\", \"all\", \"quantile:B\" or a list of edges")
        };
        let count = |count: u32, least: u32| {
            if (least..=MOST_BINS).contains(&count) {
                Ok(count)
            } else {
                Err(fault(format!("{count} bins: from {least} to {MOST_BINS} are possible")))
            }
        };
        match self {
            Bins::Count(bins) => Ok(BinRule::EqualWidth(count(*bins, 1)?)),
            Bins::Named(name) if name == "auto" => Ok(BinRule::Auto),
            Bins::Named(name) if name == "all" => Ok(BinRule::All),
            Bins::Named(name) => match name.strip_prefix("quantile:").map(|bins| bins.trim().parse()) {
                Some(Ok(bins)) => Ok(BinRule::Quantile(count(bins, 2)?)),
                _ => Err(fault(format!("bins = \"{name}\" is not understood"))),
            },
            Bins::Edges(edges) if edges.is_empty() => Err(fault("a list of edges without an edge".into())),
            Bins::Edges(edges) if edges.iter().any(|edge| !edge.is_finite()) => {
                Err(fault("edges must be finite numbers".into()))
            }
            Bins::Edges(edges) if edges.windows(2).any(|pair| pair[0] >= pair[1]) => {
                Err(fault("edges must ascend".into()))
            }
            Bins::Edges(edges) if edges.len() >= MOST_BINS as usize => {
                Err(fault(format!("{} edges: at most {} are possible", edges.len(), MOST_BINS - 1)))
            }
            Bins::Edges(edges) => Ok(BinRule::Edges(edges.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_understood() {
        let named = |name: &str| Bins::Named(name.into()).rule().unwrap();
        assert_eq!(Bins::default().rule().unwrap(), BinRule::EqualWidth(10));
        assert_eq!(named("auto"), BinRule::Auto);
        assert_eq!(named("all"), BinRule::All);
        assert_eq!(named("quantile:4"), BinRule::Quantile(4));
        assert_eq!(Bins::Edges(vec![1.0, 2.0]).rule().unwrap(), BinRule::Edges(vec![1.0, 2.0]));
    }

    #[test]
    fn nonsense_is_refused() {
        for bins in [
            Bins::Count(0),
            Bins::Count(100_000),
            Bins::Named("quantile".into()),
            Bins::Named("quantile:1".into()),
            Bins::Named("quantile:-3".into()),
            Bins::Named("Auto".into()),
            Bins::Edges(vec![]),
            Bins::Edges(vec![2.0, 1.0]),
            Bins::Edges(vec![1.0, f64::NAN]),
        ] {
            assert!(bins.rule().is_err(), "{bins:?}");
        }
    }
}
