//! The list of methods by name: what `--methods` takes, for comparisons and experiments alike.

use sogar::error::{Error, ErrorKind, Result, suggest};

use crate::ares::Ares;
use crate::cet::Cet;
use crate::contract::Baseline;
use crate::glance::Glance;
use crate::globe_ce::GlobeCe;
use crate::tcrex::TCrex;

/// A method that can be asked for by its name.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// The name on command lines and in files, e.g. `t-crex-0.9`.
    pub name: &'static str,
    /// The name in print, e.g. `T-CREx 0.9`.
    pub title: &'static str,
    /// What it learns, in a line.
    pub about: &'static str,
    /// Grows whenever the method's results change, so that results that were kept are not mistaken for new ones.
    pub revision: u32,
    /// The method with its authors' settings; `None`: sogar itself.
    make: Option<fn() -> Box<dyn Baseline>>,
}

static METHODS: &[Method] = &[
    Method {
        name: "sogar",
        title: "SOGAR",
        about: "the front's summary with the lowest invalidity: a tree with one action a leaf",
        revision: 1,
        make: None,
    },
    Method {
        name: "cet",
        title: "CET",
        about: "a tree found by annealing, with one action a leaf",
        revision: 1,
        make: Some(|| Box::new(Cet::default())),
    },
    Method {
        name: "ares",
        title: "AReS",
        about: "eight rules from frequent itemsets, and a default",
        revision: 1,
        make: Some(|| Box::new(Ares::default())),
    },
    Method {
        name: "globe-ce",
        title: "GLOBE-CE",
        about: "one direction for everybody, each as far along it as they need",
        revision: 1,
        make: Some(|| Box::new(GlobeCe::default())),
    },
    Method {
        name: "glance",
        title: "GLANCE",
        about: "ten actions of merged clusters; everybody takes the nearest one that works for them",
        revision: 1,
        make: Some(|| Box::new(Glance::default())),
    },
    Method {
        name: "glance-cluster",
        title: "GLANCE by cluster",
        about: "the same ten actions; everybody takes the one of their cluster",
        revision: 1,
        make: Some(|| Box::new(Glance::by_cluster())),
    },
    Method {
        name: "t-crex-0.9",
        title: "T-CREx 0.9",
        about: "regions of a surrogate tree in which 90 % are accepted",
        revision: 1,
        make: Some(|| Box::new(TCrex::with_purity(0.9))),
    },
    Method {
        name: "t-crex-0.99",
        title: "T-CREx 0.99",
        about: "regions of a surrogate tree in which 99 % are accepted",
        revision: 1,
        make: Some(|| Box::new(TCrex::with_purity(0.99))),
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

    /// The method of that name.
    pub fn named(name: &str) -> Result<&'static Method> {
        METHODS.iter().find(|method| method.name == name).ok_or_else(|| {
            let known = METHODS.iter().map(|method| method.name).chain(["all"]);
            Error::new(ErrorKind::Usage, format!("there is no method `{name}`")).help(suggest(name, known))
        })
    }
}

/// Methods by their names, in the order of [`methods`] and each once; `all` stands for every one.
pub fn choose<S: AsRef<str>>(names: &[S]) -> Result<Vec<&'static Method>> {
    let mut chosen = Vec::new();
    for name in names.iter().map(|name| name.as_ref().trim()) {
        match name {
            "all" => chosen.extend(METHODS.iter().map(|method| method.name)),
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
        assert_eq!(choose(&["all"]).unwrap().len(), methods().len());
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
