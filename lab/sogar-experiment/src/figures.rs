//! Figures of the results page, from the curves that cells of the first fold keep: the front with all methods on it, the front on
//! held-out rows, groups along the front, and what shorter searches find.

use std::sync::Arc;

use sogar::plot::{Curve, Look, Mark, curves_svg, lines_svg};

use super::inputs::DATA_SETS;
use super::name::{Name, Setting};
use super::protocol::Protocol;
use super::result::CellResult;
use super::store::Store;
use super::{PATIENCE, Request};
use sogar_baselines::methods::{Method, MethodKind, methods};

/// A figure with the name of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Without a folder, e.g. `front-german.svg`.
    pub file: String,
    /// The content.
    pub svg: String,
}

/// Every figure that the stored cells of a protocol allow, with LightGBM.
pub fn figures(store: &Store, protocol: &Arc<Protocol>) -> Vec<Figure> {
    let mut figures = Vec::new();
    for data in DATA_SETS {
        let of = Of { store, protocol, data };
        let drawn = [
            ("front", of.front()),
            ("generalization", of.generalization()),
            ("disparity", of.disparity()),
            ("anytime", of.anytime()),
        ];
        figures.extend(
            drawn
                .into_iter()
                .filter_map(|(kind, svg)| svg.map(|svg| Figure { file: format!("{kind}-{data}.svg"), svg })),
        );
    }
    figures
}

/// The first fold of a data set under a protocol.
struct Of<'a> {
    store: &'a Store,
    protocol: &'a Arc<Protocol>,
    data: &'static str,
}

impl Of<'_> {
    fn results(
        &self,
        name: Name,
        chosen: Vec<&'static Method>,
    ) -> Vec<(&'static Method, Setting, &CellResult)> {
        let request = Request {
            name,
            protocols: vec![Arc::clone(self.protocol)],
            data: vec![self.data],
            kinds: vec!["lightgbm"],
            folds: vec![1],
            methods: chosen,
            patience: PATIENCE,
            time_limit: None,
            quick: false,
            seed: 0,
        };
        let cells = request.cells();
        cells
            .into_iter()
            .filter_map(|cell| {
                let found =
                    if name == Name::Timeouts { self.store.get(&cell) } else { self.store.best(&cell) };
                found.map(|result| (cell.method, cell.setting, result))
            })
            .collect()
    }

    fn title(&self, what: &str) -> String {
        let mut data = self.data.to_owned();
        data[..1].make_ascii_uppercase();
        format!("{data}, LightGBM, fold 1: {what}")
    }

    /// The complete front of sogar.
    fn sogar(&self) -> Option<CellResult> {
        let sogar: Vec<&'static Method> = methods().iter().filter(|method| method.name == "sogar").collect();
        let (_, _, result) = self.results(Name::Table1, sogar).into_iter().next()?;
        (!result.front.is_empty()).then(|| result.clone())
    }

    /// The front with all methods on it; individual search has a star.
    fn front(&self) -> Option<String> {
        let front = self.sogar()?;
        let usual = methods().iter().filter(|method| method.usual && method.name != "sogar").collect();
        let marks = self.results(Name::Table1, usual).into_iter().filter_map(|(method, _, result)| {
            let train = result.train?;
            let star = if method.kind == MethodKind::Individual { "*" } else { "" };
            Some(Mark { name: format!("{}{star}", method.title), cost: train.cost, loss: train.loss() })
        });
        let look = Look { title: Some(self.title("all methods")), marks: marks.collect(), ..Look::default() };
        let points = front.front.iter().map(|point| (point[0], point[1])).collect();
        Some(curves_svg(&[Curve { name: "sogar's front".into(), points, dots: false }], &look))
    }

    fn generalization(&self) -> Option<String> {
        let front = self.sogar()?;
        let curve = |name: &str, places: [usize; 2], dots| Curve {
            name: name.into(),
            points: front.front.iter().map(|point| (point[places[0]], point[places[1]])).collect(),
            dots,
        };
        let look = Look { title: Some(self.title("held-out rows")), ..Look::default() };
        Some(curves_svg(&[curve("train rows", [0, 1], false), curve("held-out rows", [2, 3], true)], &look))
    }

    /// The invalidity of two groups over that of everyone.
    fn disparity(&self) -> Option<String> {
        let front = self.sogar()?;
        let groups: Vec<(&str, &[f64])> = front
            .audit
            .iter()
            .filter(|group| group.table == "train")
            .filter_map(|group| {
                let invalidity = group.measures.iter().find(|measure| measure.measure == "invalidity")?;
                (invalidity.curve.len() == front.front.len())
                    .then_some((group.group.as_str(), &invalidity.curve[..]))
            })
            .collect();
        if groups.len() < 2 {
            return None;
        }
        let curve = |(name, values): &(&str, &[f64])| Curve {
            name: (*name).to_owned(),
            points: front.front.iter().zip(*values).map(|(point, &value)| (point[0], value)).collect(),
            dots: false,
        };
        let curves: Vec<Curve> = groups.iter().map(curve).collect();
        let axes = ("mean cost over all people", "invalidity of the group");
        Some(lines_svg(&self.title("groups"), axes, &curves))
    }

    fn anytime(&self) -> Option<String> {
        let sogar: Vec<&'static Method> = methods().iter().filter(|method| method.name == "sogar").collect();
        let curves: Vec<Curve> = self
            .results(Name::Timeouts, sogar)
            .into_iter()
            .filter(|(_, _, result)| !result.front.is_empty())
            .map(|(_, setting, result)| Curve {
                name: if setting.label == "none" { "no limit".into() } else { setting.label },
                points: result.front.iter().map(|point| (point[0], point[1])).collect(),
                dots: false,
            })
            .collect();
        if curves.len() < 2 {
            return None;
        }
        let look = Look { title: Some(self.title("shorter searches")), ..Look::default() };
        Some(curves_svg(&curves, &look))
    }
}
