//! The list of methods by name: the values of `--methods`, for comparisons and experiments alike.

use sogar::error::{Error, ErrorKind, Result, suggest};

use crate::ares::{Ares, ObjectiveWeights};
use crate::cet::Cet;
use crate::contract::Baseline;
use crate::glance::Glance;
use crate::globe_ce::{GlobeCe, Magnitude};
use crate::tcrex::TCrex;

/// A method with a name.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// The name on command lines and in files, e.g. `t-crex-0.9`.
    pub name: &'static str,
    /// The name in print, e.g. `T-CREx 0.9`.
    pub title: &'static str,
    /// What it learns, in a line.
    pub about: &'static str,
    /// Whether its advice can be given to people before their outcome is known.
    pub kind: MethodKind,
    /// Whether `all` includes it. The others are readings of a method that only an evaluation needs (`readings`).
    pub usual: bool,
    /// The only data set that its settings are meant for.
    pub only: Option<&'static str>,
    /// Increases whenever the method's results change, so that stored results are not mistaken for new ones.
    pub revision: u32,
    /// The method with its settings; `None`: sogar itself.
    make: Option<fn() -> Box<dyn Baseline>>,
}

/// What a method's proposals are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MethodKind {
    /// Advice that is fixed before anyone's outcome is known.
    Summary,
    /// A search for each person: it queries the model about them before it proposes anything.
    Individual,
}

impl MethodKind {
    /// Its name in tables.
    pub fn title(self) -> &'static str {
        match self {
            MethodKind::Summary => "summaries",
            MethodKind::Individual => "individual search",
        }
    }
}

/// The weights of AReS that the authors of CET fixed for a data set with LightGBM; they did so for no other classifier here.
fn fixed_ares(incorrectness: f64, cost: f64) -> Box<dyn Baseline> {
    let weights = ObjectiveWeights::Fixed { incorrectness, coverage: 1.0, cost };
    Box::new(Ares { weights, ..Ares::default() })
}

const USUAL: Method = Method {
    name: "",
    title: "",
    about: "",
    kind: MethodKind::Summary,
    usual: true,
    only: None,
    revision: 1,
    make: None,
};

static METHODS: &[Method] = &[
    Method {
        name: "sogar",
        title: "SOGAR",
        about: "the front's summary with the lowest invalidity: a tree with one action a leaf",
        ..USUAL
    },
    Method {
        name: "cet",
        title: "CET",
        about: "a tree found by annealing, with one action a leaf",
        make: Some(|| Box::new(Cet::default())),
        ..USUAL
    },
    Method {
        name: "cet-exact",
        title: "CET-exact",
        about: "the same with the model itself in place of linear surrogates: stronger than published",
        usual: false,
        make: Some(|| Box::new(Cet::exact())),
        ..USUAL
    },
    Method {
        name: "ares",
        title: "AReS",
        about: "eight rules from frequent itemsets, and a default; weights tuned on a grid",
        make: Some(|| Box::new(Ares::default())),
        ..USUAL
    },
    Method {
        name: "ares-german",
        title: "AReS, fixed weights",
        about: "the same with the weights that the CET authors fixed for German and LightGBM",
        usual: false,
        only: Some("german"),
        make: Some(|| fixed_ares(10.0, 10.0)),
        ..USUAL
    },
    Method {
        name: "ares-attrition",
        title: "AReS, fixed weights",
        about: "the same with the weights that the CET authors fixed for Attrition and LightGBM",
        usual: false,
        only: Some("attrition"),
        make: Some(|| fixed_ares(1.0, 0.01)),
        ..USUAL
    },
    Method {
        name: "globe-ce-common",
        title: "GLOBE-CE common",
        about: "one direction over all features and one magnitude for everybody",
        make: Some(|| Box::new(GlobeCe::library().with_reach(Magnitude::Common))),
        ..USUAL
    },
    Method {
        name: "globe-ce-common-best",
        title: "GLOBE-CE common, best",
        about: "the same with the common magnitude of the lowest invalidity",
        usual: false,
        make: Some(|| Box::new(GlobeCe::library().with_reach(Magnitude::BestCommon))),
        ..USUAL
    },
    Method {
        name: "globe-ce-common-german",
        title: "GLOBE-CE common, German",
        about: "one magnitude for everybody, with the settings of the authors' German tutorial",
        usual: false,
        only: Some("german"),
        make: Some(|| Box::new(GlobeCe::german().with_reach(Magnitude::Common))),
        ..USUAL
    },
    Method {
        name: "glance-cluster",
        title: "GLANCE by cluster",
        about: "ten actions of merged clusters; everybody takes the one of their cluster",
        make: Some(|| Box::new(Glance::by_cluster())),
        ..USUAL
    },
    Method {
        name: "t-crex-0.9",
        title: "T-CREx 0.9",
        about: "regions of a surrogate tree in which 90 % are accepted",
        make: Some(|| Box::new(TCrex::with_purity(0.9))),
        ..USUAL
    },
    Method {
        name: "t-crex-0.99",
        title: "T-CREx 0.99",
        about: "regions of a surrogate tree in which 99 % are accepted",
        make: Some(|| Box::new(TCrex::with_purity(0.99))),
        ..USUAL
    },
    Method {
        name: "globe-ce",
        title: "GLOBE-CE",
        about: "one direction for everybody, each as far along it as they need; two features",
        kind: MethodKind::Individual,
        make: Some(|| Box::new(GlobeCe::default())),
        ..USUAL
    },
    Method {
        name: "globe-ce-all",
        title: "GLOBE-CE, all features",
        about: "the same with the defaults of the authors' library: directions over all features",
        kind: MethodKind::Individual,
        usual: false,
        make: Some(|| Box::new(GlobeCe::library())),
        ..USUAL
    },
    Method {
        name: "globe-ce-german",
        title: "GLOBE-CE, German",
        about: "the same with the settings of the authors' German tutorial",
        kind: MethodKind::Individual,
        usual: false,
        only: Some("german"),
        make: Some(|| Box::new(GlobeCe::german())),
        ..USUAL
    },
    Method {
        name: "glance",
        title: "GLANCE",
        about: "ten actions of merged clusters; everybody takes the nearest one that works for them",
        kind: MethodKind::Individual,
        make: Some(|| Box::new(Glance::default())),
        ..USUAL
    },
];

/// All methods, sogar first.
pub fn methods() -> &'static [Method] {
    METHODS
}

impl Method {
    /// The competing method; `None`: this is sogar itself.
    pub fn baseline(&self) -> Option<Box<dyn Baseline>> {
        self.make.map(|make| make())
    }

    /// The name under which the paper reports the method, whatever its settings there were; `None`: it does not.
    pub fn published(&self) -> Option<&'static str> {
        match self.name {
            "cet-exact" | "glance-cluster" => None,
            name if name.starts_with("ares") => Some("ares"),
            name if name.starts_with("globe-ce") => Some("globe-ce"),
            name => Some(name),
        }
    }

    /// The method of that name.
    pub fn named(name: &str) -> Result<&'static Method> {
        METHODS.iter().find(|method| method.name == name).ok_or_else(|| {
            let known = METHODS.iter().map(|method| method.name).chain(["all", "readings"]);
            Error::new(ErrorKind::Usage, format!("there is no method `{name}`")).help(suggest(name, known))
        })
    }
}

/// Methods by their names, in the order of [`methods`] and each once; `all` stands for the usual ones, `readings` for every one.
pub fn choose<S: AsRef<str>>(names: &[S]) -> Result<Vec<&'static Method>> {
    let mut chosen = Vec::new();
    for name in names.iter().map(|name| name.as_ref().trim()) {
        match name {
            "all" => chosen.extend(METHODS.iter().filter(|method| method.usual).map(|method| method.name)),
            "readings" => chosen.extend(METHODS.iter().map(|method| method.name)),
            name => chosen.push(Method::named(name)?.name),
        }
    }
    let methods: Vec<&Method> = METHODS.iter().filter(|method| chosen.contains(&method.name)).collect();
    if methods.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "no method is named").help("say `all`, or e.g. `sogar,cet`"));
    }
    Ok(methods)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_by_name_and_kept_in_order() {
        let names = |chosen: Vec<&Method>| chosen.iter().map(|method| method.name).collect::<Vec<_>>();
        assert_eq!(names(choose(&["t-crex-0.99", "sogar", "sogar"]).unwrap()), ["sogar", "t-crex-0.99"]);
        assert_eq!(choose(&["readings"]).unwrap().len(), methods().len());
        assert_eq!(
            names(choose(&["all"]).unwrap()),
            [
                "sogar",
                "cet",
                "ares",
                "globe-ce-common",
                "glance-cluster",
                "t-crex-0.9",
                "t-crex-0.99",
                "globe-ce",
                "glance"
            ]
        );
        assert!(choose(&[] as &[&str]).is_err());
        for method in methods().iter().filter(|method| method.name != "sogar") {
            assert!(method.baseline().is_some(), "{}", method.name);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = choose(&["t-crx-0.9"]).unwrap_err();
        assert_eq!(error.to_string(), "there is no method `t-crx-0.9`");
        assert_eq!(error.remedy(), Some("did you mean `t-crex-0.9`?"));
    }
}
