//! The price of equal treatment: what it costs that protected features divide nobody.
//!
//! Two fronts of the same people, model and steps, one of which protects features that the other's trees may split on. The *blind* front's trees are
//! among those of the *sighted* one, so it is never better; how much worse it is, is the price.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::settings::{self, Setting};
use super::stairs::{self, AtCost};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::select::{By, select};
use sogar_front::summary::FrontFile;

/// What it costs that protected features divide nobody.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PriceOfEqualTreatment {
    /// The features that only the blind front protects.
    pub features: Vec<String>,
    /// Which front is the blind one: `a` or `b`.
    pub blind: &'static str,
    /// The blind front's lowest invalidity minus the sighted one's.
    pub invalidity: f64,
    /// Mean over all costs of the blind front's loss minus the sighted one's at the same cost.
    pub loss: f64,
    /// The cost at which that difference is largest: `a` is the loss of the sighted front, `b` that of the blind one.
    pub largest: AtCost,
    /// Share of the costs at which it is above 0.
    pub share: f64,
}

impl PriceOfEqualTreatment {
    /// In words.
    pub fn text(&self) -> String {
        let features: Vec<String> = self.features.iter().map(|name| format!("“{name}”")).collect();
        let features = features.join(", ");
        if self.share == 0.0 {
            return format!(
                "Equal treatment costs nothing here: without {features}, every trade-off is as good as with it."
            );
        }
        format!(
            "The price of equal treatment: because nobody is divided by {features}, advice fails {:.2} percentage points more people at the same \
             mean cost, on average; most at a cost of {:.3} ({:.1} instead of {:.1} %). The lowest invalidity rises by {:.4}.",
            100.0 * self.loss,
            self.largest.cost,
            100.0 * self.largest.b,
            100.0 * self.largest.a,
            self.invalidity
        )
    }
}

/// The price, if one of the fronts is blind to what the other sees and nothing else differs; otherwise why it is unknown.
pub fn price_of_equal_treatment(a: &FrontFile, b: &FrontFile) -> Result<PriceOfEqualTreatment> {
    let fault = |why: String| {
        Error::new(
            ErrorKind::Usage,
            format!("these two fronts do not show the price of equal treatment: {why}"),
        )
        .help("solve the same table and model twice, with and without --protected, all else equal")
    };
    if a.table.hash != b.table.hash || a.model.hash != b.model.hash {
        return Err(fault("their tables or models differ".into()));
    }
    if a.status.is_early() || b.status.is_early() || a.sample.is_some() || b.sample.is_some() {
        return Err(fault("one of them is not complete".into()));
    }
    let settings = settings::differences(&a.config, &b.config);
    let mut protected: [Vec<String>; 2] = Default::default();
    for Setting { key, a, b } in &settings {
        let feature = key.strip_prefix("features.").and_then(|key| key.strip_suffix(".protected"));
        match (feature, a == &Json::Bool(true), b == &Json::Bool(true)) {
            (Some(feature), true, false) => protected[0].push(feature.to_owned()),
            (Some(feature), false, true) => protected[1].push(feature.to_owned()),
            _ => {}
        }
    }
    let (blind, features) = match &protected {
        [one, other] if other.is_empty() && !one.is_empty() => ("a", one.clone()),
        [one, other] if one.is_empty() && !other.is_empty() => ("b", other.clone()),
        _ => return Err(fault("not one of them alone protects features that the other does not".into())),
    };
    let about = |setting: &&Setting| {
        let of_features = features.iter().any(|name| setting.key.starts_with(&format!("features.{name}.")));
        !(of_features && ["protected", "immutable", "split"].iter().any(|end| setting.key.ends_with(end)))
    };
    if let Some(other) = settings.iter().find(about) {
        return Err(fault(format!("`{}` differs too", other.key)));
    }
    let (blind_front, sighted) = if blind == "a" { (a, b) } else { (b, a) };
    let lowest = |front: &FrontFile| select(front, By::Invalidity).map(|at| front.points[at].invalidity);
    let compared = stairs::compare(sighted, blind_front);
    Ok(PriceOfEqualTreatment {
        features,
        blind,
        invalidity: lowest(blind_front)? - lowest(sighted)?,
        loss: compared.mean_difference,
        largest: stairs::largest(sighted, blind_front),
        share: compared.a_lower,
    })
}
