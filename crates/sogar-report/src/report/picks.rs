//! Named points: where a reader starts.

use sogar_base::error::Result;
use sogar_front::select::{By, select};
use sogar_front::summary::FrontFile;

use super::data::Pick;

/// The default criteria of named points.
const USUAL: [By; 5] =
    [By::Invalidity, By::Knee, By::CostAtMost(0.1), By::LossAtMost(0.1), By::LossAtMost(0.05)];

/// The points of criteria, or of the usual ones if none are given. Usual criteria that choose no point, or only "no change", are
/// left out.
pub fn picks(front: &FrontFile, wanted: &[By]) -> Result<Vec<Pick>> {
    if !wanted.is_empty() {
        return wanted.iter().map(|&by| Ok(pick(by, select(front, by)?))).collect();
    }
    let mut found: Vec<Pick> = Vec::new();
    for by in USUAL {
        let Ok(point) = select(front, by) else { continue };
        let trivial = point == 0 && by != By::Invalidity;
        if !trivial && found.iter().all(|known| known.point != point) {
            found.push(pick(by, point));
        }
    }
    Ok(found)
}

fn pick(by: By, point: usize) -> Pick {
    Pick { by: by.to_string(), name: name(by), point }
}

fn name(by: By) -> String {
    match by {
        By::Invalidity => "Lowest invalidity".to_owned(),
        By::Knee => "Knee".to_owned(),
        By::CostAtMost(limit) => format!("Cost at most {limit}"),
        By::LossAtMost(limit) => format!("Works for at least {} %", percent(1.0 - limit)),
        By::Weight(weight) => format!("Loss weighs {weight} times"),
    }
}

/// A share in percent with as many digits as it needs, at most two.
fn percent(share: f64) -> f64 {
    (share * 1e4).round() / 1e2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_chosen() {
        assert_eq!(name(By::LossAtMost(0.05)), "Works for at least 95 %");
        assert_eq!(name(By::LossAtMost(0.125)), "Works for at least 87.5 %");
        assert_eq!(name(By::CostAtMost(0.1)), "Cost at most 0.1");
    }
}
