//! Choosing a point of a front.

use std::fmt;
use std::str::FromStr;

use crate::summary::{FrontFile, PointRef};
use sogar_base::error::{Error, ErrorKind, Result};

/// The criterion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum By {
    /// The lowest sum of mean cost and loss.
    Invalidity,
    /// The point furthest below the line between the front's ends, both objectives scaled to the front.
    Knee,
    /// The lowest loss with at most this mean cost.
    CostAtMost(f64),
    /// The lowest cost with at most this loss.
    LossAtMost(f64),
    /// The lowest `cost + weight · loss`.
    Weight(f64),
}

impl FromStr for By {
    type Err = Error;

    fn from_str(text: &str) -> Result<By> {
        let compact: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        let by = match compact.as_str() {
            "invalidity" => Some(By::Invalidity),
            "knee" => Some(By::Knee),
            other => None
                .or_else(|| other.strip_prefix("cost<=").and_then(number).map(By::CostAtMost))
                .or_else(|| other.strip_prefix("loss<=").and_then(number).map(By::LossAtMost))
                .or_else(|| other.strip_prefix("weight=").and_then(number).map(By::Weight)),
        };
        by.ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("`{text}` is not a way to choose a point"))
                .help("use invalidity, knee, \"cost<=0.2\", \"loss<=0.1\" or weight=2")
        })
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Invalidity => f.write_str("invalidity"),
            By::Knee => f.write_str("knee"),
            By::CostAtMost(limit) => write!(f, "cost<={limit}"),
            By::LossAtMost(limit) => write!(f, "loss<={limit}"),
            By::Weight(weight) => write!(f, "weight={weight}"),
        }
    }
}

/// The position of the chosen point; on ties the one with the lower cost.
pub fn select(front: &FrontFile, by: By) -> Result<usize> {
    let points = &front.points;
    let lowest = |score: &dyn Fn(&PointRef) -> f64| {
        (0..points.len()).min_by(|&a, &b| score(&points[a]).total_cmp(&score(&points[b])))
    };
    let chosen = match by {
        By::Invalidity => lowest_invalidity(front),
        By::Weight(weight) => lowest(&|point| point.cost + weight * point.loss),
        By::CostAtMost(limit) => (0..points.len()).rev().find(|&i| points[i].cost <= limit),
        By::LossAtMost(limit) => (0..points.len()).find(|&i| points[i].loss <= limit),
        By::Knee => {
            let (first, last) = (&points[0], &points[points.len() - 1]);
            let width = (last.cost - first.cost).max(f64::MIN_POSITIVE);
            let height = (first.loss - last.loss).max(f64::MIN_POSITIVE);
            lowest(&|point| (point.cost - first.cost) / width + (point.loss - last.loss) / height)
        }
    };
    chosen.ok_or_else(|| {
        let last = &points[points.len() - 1];
        Error::new(ErrorKind::Usage, format!("no summary has {by}")).help(format!(
            "the lowest loss on this front is {:.4}, at a mean cost of {:.4}",
            last.loss, last.cost
        ))
    })
}

/// Compares integers, so that rounding of means cannot decide.
fn lowest_invalidity(front: &FrontFile) -> Option<usize> {
    let unit = u128::from(front.cost.unit);
    let key = |point: &PointRef| u128::from(point.cost_sum) + u128::from(point.loss_count) * unit;
    (0..front.points.len()).min_by_key(|&i| key(&front.points[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_read_and_written_alike() {
        for text in ["invalidity", "knee", "cost<=0.2", "loss<=0.1", "weight=2"] {
            assert_eq!(text.parse::<By>().unwrap().to_string(), text);
        }
        assert_eq!(" cost <= 0.25 ".parse::<By>().unwrap(), By::CostAtMost(0.25));
        for text in ["", "cost", "cost<0.2", "loss<=-1", "weight=nan", "price<=3"] {
            assert!(text.parse::<By>().is_err(), "{text}");
        }
    }
}
