//! A click as a change of the configuration: a path, as in `sogar.toml`, and the value that it gets.
//!
//! The configuration's own reader checks the result, so the page can set what the file can, and nothing else.

use serde::Deserialize;
use serde_json::{Map, Value};
use sogar::config::Config;
use sogar::{Error, ErrorKind, Result};

/// Settings that change together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// What the history calls it.
    pub label: String,
    /// The settings.
    pub set: Vec<Setting>,
    /// Whether a search follows at once.
    #[serde(default)]
    pub solve: bool,
}

/// One setting.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// Its new value; null takes it out.
    pub value: Value,
}

/// Settings of a feature that contradict its protection, or say less. Protecting the feature removes them.
const OF_CHANGES: [&str; 8] =
    ["direction", "range", "steps", "targets", "forbid", "edits", "immutable", "split"];

/// Settings that would start programs or name files: only the command line may.
const COMMAND_LINE: [[&str; 2]; 2] = [["model", "command"], ["cost", "table"]];

impl Change {
    /// The configuration after this change.
    pub fn apply(&self, config: &Config) -> Result<Config> {
        let mut json = serde_json::to_value(config).map_err(|cause| fault(cause.to_string()))?;
        for setting in &self.set {
            if COMMAND_LINE.iter().any(|path| setting.path.iter().take(2).eq(path.iter())) {
                return Err(fault(format!(
                    "`{}` can only be set on the command line",
                    setting.path.join(".")
                )));
            }
            place(&mut json, &setting.path, &setting.value)?;
            if let [features, name, key] = &setting.path[..]
                && (features.as_str(), key.as_str(), &setting.value)
                    == ("features", "protected", &Value::Bool(true))
                && let Some(feature) = json[features][name].as_object_mut()
            {
                OF_CHANGES.iter().for_each(|&key| drop(feature.remove(key)));
            }
        }
        let changed = Config::from_json(&json.to_string())?;
        changed.check(None)?;
        Ok(changed)
    }
}

fn fault(message: String) -> Error {
    Error::new(ErrorKind::Config, message)
}

/// Puts a value at a path; objects on the way are made. An object that becomes empty goes, as in a file that never had it.
fn place(json: &mut Value, path: &[String], value: &Value) -> Result<()> {
    let Some((key, rest)) = path.split_first() else {
        return Err(fault("a setting has no name".to_owned()));
    };
    if json.is_null() {
        *json = Value::Object(Map::new());
    }
    let Value::Object(map) = json else {
        return Err(fault(format!("`{key}` is not a group of settings")));
    };
    if rest.is_empty() {
        if value.is_null() {
            map.remove(key);
        } else {
            map.insert(key.clone(), value.clone());
        }
        return Ok(());
    }
    let inner = map.entry(key.clone()).or_insert(Value::Null);
    place(inner, rest, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn change(path: &[&str], value: Value) -> Change {
        let path = path.iter().map(|&key| key.to_owned()).collect();
        Change { label: String::new(), set: vec![Setting { path, value }], solve: false }
    }

    #[test]
    fn a_change_is_what_the_file_says() {
        let mut config = Config::default();
        for (path, value) in [
            (&["features", "a.b", "immutable"][..], json!(true)),
            (&["features", "a.b", "range"], json!([0, 5])),
            (&["limits", "max_depth"], json!(2)),
            (&["data", "desired"], json!(["good"])),
            (&["rules"], json!(["x <= y"])),
        ] {
            config = change(path, value).apply(&config).unwrap();
        }
        let text = toml::to_string(&config).unwrap();
        for line in ["[features.\"a.b\"]", "immutable = true", "range = [0.0, 5.0]", "max_depth = 2"] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let without = change(&["features", "a.b", "immutable"], Value::Null).apply(&config).unwrap();
        assert_eq!(without.features["a.b"].immutable, None);
        let protected = change(&["features", "a.b", "protected"], json!(true)).apply(&config).unwrap();
        let feature = &protected.features["a.b"];
        assert!(feature.protected == Some(true) && feature.range.is_none() && feature.immutable.is_none());
    }

    #[test]
    fn what_the_file_may_not_say_is_refused() {
        let config = Config::default();
        for (path, value, said) in [
            (&["limits", "max_dept"][..], json!(2), "unknown key `max_dept`"),
            (&["limits", "max_depth"], json!(99), "limits.max_depth = 99"),
            (&["limits", "max_depth", "x"], json!(1), "invalid type"),
            (&["features", "a", "weight"], json!(-1), "weight"),
            (&["model", "command"], json!("rm -rf /"), "only be set on the command line"),
            (&["cost", "table"], json!("/etc/passwd"), "only be set on the command line"),
            (&[], json!(1), "no name"),
        ] {
            let error = change(path, value).apply(&config).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
