//! A results page: text with blocks that are made from stored cells.
//!
//! A block begins with a line such as `<!-- cells: overview protocol=paper folds=3-10 -->` and ends with `<!-- end -->`; what is
//! between them is written anew. Figures are files in a folder beside the page.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sogar::error::{Error, ErrorKind, Result, suggest};
use sogar::files::{read_bytes, write_atomically};

use super::claims::claims;
use super::figures::figures;
use super::inputs::{DATA_SETS, KINDS, data_sets, folds, kinds};
use super::name::Name;
use super::protocol::Protocol;
use super::store::Store;
use super::{PATIENCE, Request, Tables};
use sogar_baselines::methods::choose;

const BEGIN: &str = "<!-- cells: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";

/// The folder of figures beside a page.
const FIGURES: &str = "figures";

/// What a block can show.
const VIEWS: [&str; 13] = [
    "overview",
    "methods",
    "settings",
    "distances",
    "groups",
    "operating-points",
    "variants",
    "candidates",
    "coverage",
    "missing",
    "choices",
    "protocols",
    "claims",
];

/// A page.
pub struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    /// Reads a page.
    pub fn read(path: &Path) -> Result<Page> {
        let text = String::from_utf8_lossy(&read_bytes(path)?).into_owned();
        Ok(Page { path: path.to_path_buf(), text })
    }

    /// The page as it stands.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The page with its blocks made from these cells.
    pub fn made(&self, store: &Store, protocols: &[Arc<Protocol>]) -> Result<String> {
        let mut made = String::new();
        let mut lines = self.text.split_inclusive('\n').enumerate();
        while let Some((number, line)) = lines.next() {
            made += line;
            let Some(words) = line.trim_end().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(CLOSE))
            else {
                continue;
            };
            let place = |error: Error| error.file(&self.path).row(number + 1);
            let block = Block::parse(words).and_then(|block| block.text(store, protocols)).map_err(place)?;
            made += &format!("\n{}\n\n", block.trim());
            let end = lines.find(|(_, line)| line.trim_end() == END);
            let Some((_, end)) = end else {
                return Err(place(
                    Error::new(ErrorKind::Usage, "a block does not end")
                        .help(format!("close it with a line `{END}`")),
                ));
            };
            made += end;
        }
        Ok(made)
    }

    /// Paths and contents of the page's figures.
    pub fn figures(&self, store: &Store, protocols: &[Arc<Protocol>]) -> Vec<(PathBuf, String)> {
        let folder = self.path.parent().unwrap_or(Path::new("")).join(FIGURES);
        let paper = protocols.iter().filter(|protocol| protocol.name == "paper");
        paper
            .flat_map(|paper| figures(store, paper))
            .map(|figure| (folder.join(figure.file), figure.svg))
            .collect()
    }

    /// Writes page and figures; returns what was written.
    pub fn write(&self, store: &Store, protocols: &[Arc<Protocol>]) -> Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        let page = (self.path.clone(), self.made(store, protocols)?);
        for (path, text) in [page].into_iter().chain(self.figures(store, protocols)) {
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder)
                    .map_err(|cause| Error::new(ErrorKind::Output, cause.to_string()).file(folder))?;
            }
            write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
            written.push(path);
        }
        Ok(written)
    }
}

/// A block's words.
struct Block<'a> {
    view: &'a str,
    options: Vec<(&'a str, &'a str)>,
}

impl<'a> Block<'a> {
    fn parse(words: &'a str) -> Result<Block<'a>> {
        let mut words = words.split_whitespace();
        let view = words.next().unwrap_or("");
        if !VIEWS.contains(&view) {
            return Err(Error::new(ErrorKind::Usage, format!("there is no block `{view}`"))
                .help(suggest(view, VIEWS)));
        }
        const KNOWN: [&str; 6] = ["experiment", "protocol", "folds", "data", "models", "methods"];
        let option = |word: &'a str| {
            let option = word.split_once('=').filter(|(name, _)| KNOWN.contains(name));
            option.ok_or_else(|| {
                Error::new(ErrorKind::Usage, format!("`{word}` says nothing"))
                    .help(format!("options are {}, written NAME=VALUE", KNOWN.join(", ")))
            })
        };
        Ok(Block { view, options: words.map(option).collect::<Result<_>>()? })
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.options.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn list(&self, name: &str) -> Vec<String> {
        self.get(name).map_or(Vec::new(), |text| text.split(',').map(str::to_owned).collect())
    }

    fn name(&self) -> Result<Name> {
        let usual = match self.view {
            "distances" => "generalization",
            "groups" | "operating-points" => "audit",
            "variants" => "hypotheses",
            "candidates" => "choice",
            _ => "table1",
        };
        let found = Name::parse(self.get("experiment").unwrap_or(usual))?;
        found.first().copied().ok_or_else(|| Error::new(ErrorKind::Usage, "no experiment is named"))
    }

    fn protocols(&self, protocols: &[Arc<Protocol>]) -> Result<Vec<Arc<Protocol>>> {
        let mut chosen = self.list("protocol");
        if chosen.is_empty() {
            chosen.push("paper".to_owned());
        }
        let mut found = Vec::new();
        for name in &chosen {
            match name.as_str() {
                "variants" => {
                    found.extend(protocols.iter().filter(|protocol| protocol.base.is_some()).cloned())
                }
                "candidates" => found.extend(protocols.iter().filter(|protocol| protocol.candidate).cloned()),
                name => match protocols.iter().find(|protocol| protocol.name == name) {
                    Some(protocol) => found.push(Arc::clone(protocol)),
                    None => {
                        let known = protocols.iter().map(|protocol| protocol.name.as_str());
                        return Err(Error::new(ErrorKind::Usage, format!("there is no protocol `{name}`"))
                            .help(suggest(name, known)));
                    }
                },
            }
        }
        Ok(found)
    }

    fn tables(&self, store: &Store, protocols: &[Arc<Protocol>]) -> Result<Tables> {
        let or_all = |name: &str, all: &[&'static str], read: fn(&[String]) -> Result<Vec<&'static str>>| {
            let given = self.list(name);
            if given.is_empty() { Ok(all.to_vec()) } else { read(&given) }
        };
        let methods = self.list("methods");
        let request = Request {
            name: self.name()?,
            protocols: self.protocols(protocols)?,
            data: or_all("data", &DATA_SETS, data_sets)?,
            kinds: or_all("models", &KINDS.map(|(kind, _)| kind), kinds)?,
            folds: folds(self.get("folds").unwrap_or("1-10"))?,
            methods: if methods.is_empty() { choose(&["all"])? } else { choose(&methods)? },
            patience: PATIENCE,
            time_limit: None,
            quick: false,
            seed: 0,
        };
        Ok(Tables::new(request.name, &request.cells(), store))
    }

    fn text(&self, store: &Store, protocols: &[Arc<Protocol>]) -> Result<String> {
        let tables = || self.tables(store, protocols);
        Ok(match self.view {
            "overview" => {
                let tables = tables()?;
                let verdicts: String =
                    tables.verdicts().iter().map(|verdict| format!("- {verdict}\n")).collect();
                tables.overviews() + &verdicts
            }
            "methods" => tables()?.methods(),
            "settings" => {
                let tables = tables()?;
                let verdicts: String =
                    tables.verdicts().iter().map(|verdict| format!("- {verdict}\n")).collect();
                format!("{}\n{verdicts}", tables.settings())
            }
            "distances" => tables()?.distances(),
            "groups" => tables()?.groups(),
            "operating-points" => tables()?.operating_points(),
            "variants" => tables()?.variants_of("paper"),
            "candidates" => tables()?.candidates_for("paper"),
            "coverage" => tables()?.coverage(),
            "missing" => {
                let missing = tables()?.missing();
                if missing.is_empty() { "Nothing was cut short.".to_owned() } else { missing }
            }
            "choices" => choices(&self.protocols(protocols)?),
            "protocols" => listed(protocols),
            _ => claims(store, protocols)?,
        })
    }
}

/// The choices of protocols with their sources.
fn choices(protocols: &[Arc<Protocol>]) -> String {
    let mut text = String::from("| choice | source | reason |\n|---|---|---|\n");
    for choice in protocols.iter().flat_map(|protocol| &protocol.choices) {
        let cell = |text: &str| text.replace('|', "\\|");
        text += &format!("| {} | {} | {} |\n", cell(&choice.what), choice.source.name(), cell(&choice.why));
    }
    text
}

/// All protocols in a line each.
fn listed(protocols: &[Arc<Protocol>]) -> String {
    let mut text = String::from("| protocol | what it is | source of the change |\n|---|---|---|\n");
    for protocol in protocols {
        let source = match (&protocol.base, protocol.choices.first()) {
            (Some(_), Some(choice)) => format!("{}: {}", choice.source.name(), choice.why),
            _ => "–".to_owned(),
        };
        text += &format!("| `{}` | {} | {} |\n", protocol.name, protocol.title, source.replace('|', "\\|"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cell, paper, result};
    use super::*;

    fn page(text: &str) -> Page {
        Page { path: "page.md".into(), text: text.to_owned() }
    }

    fn made(text: &str) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        store.keep(&cell("sogar", 1, ""), result("sogar", 1, 0.1, 0.02)).unwrap();
        page(text).made(&store, &[Arc::new(paper())])
    }

    #[test]
    fn blocks_are_written_anew_and_the_rest_stays() {
        let text = "# Title\n<!-- cells: overview folds=1 data=german models=lightgbm -->\nold\n<!-- end -->\nmore\n";
        let new = made(text).unwrap();
        assert!(
            new.starts_with("# Title\n<!-- cells: overview ") && new.ends_with("<!-- end -->\nmore\n"),
            "{new}"
        );
        assert!(new.contains("| sogar | **0.120** (**0.220**) |") && !new.contains("\nold\n"), "{new}");
        assert_eq!(made(&new).unwrap(), new);
    }

    #[test]
    fn a_block_that_makes_no_sense_is_named_with_its_line() {
        for (text, wanted) in [
            ("<!-- cells: overvew -->\n<!-- end -->\n", "there is no block"),
            ("\n<!-- cells: overview fold=1 -->\n<!-- end -->\n", "`fold=1` says nothing"),
            ("<!-- cells: overview protocol=papr -->\n<!-- end -->\n", "there is no protocol"),
            ("<!-- cells: claims -->\n", "does not end"),
        ] {
            let error = made(text).unwrap_err();
            assert!(error.to_string().contains(wanted), "{error}");
        }
    }

    #[test]
    fn every_view_is_made_from_few_cells() {
        for view in VIEWS {
            let text = format!("<!-- cells: {view} -->\n<!-- end -->\n");
            assert!(made(&text).unwrap().len() > text.len(), "{view}");
        }
    }
}
