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
    #[serde(default)]
    pub value: Value,
    /// Instead: what a list gets more. The list may have changed since the page showed it.
    #[serde(default)]
    pub add: Option<Value>,
    /// Instead: what a list no longer has; of an object, some of its keys.
    #[serde(default)]
    pub remove: Option<Value>,
    /// All that a list can have, in order, if no list means all of it.
    #[serde(default)]
    pub of: Vec<Value>,
}

impl Setting {
    /// The value after this setting, where there is `now`.
    fn value(&self, now: Option<&Value>) -> Value {
        if self.add.is_none() && self.remove.is_none() {
            return self.value.clone();
        }
        let mut list = now.and_then(Value::as_array).unwrap_or(&self.of).clone();
        if let Some(more) = self.add.as_ref().filter(|more| !list.contains(more)) {
            list.push(more.clone());
        }
        if let Some(less) = &self.remove {
            list.retain(|one| !matches(one, less));
        }
        list.sort_by_key(|one| self.of.iter().position(|other| other == one));
        let nothing = if self.of.is_empty() { list.is_empty() } else { list == self.of };
        if nothing { Value::Null } else { Value::Array(list) }
    }
}

/// Whether a member of a list is the one that is meant.
fn matches(one: &Value, meant: &Value) -> bool {
    match (one, meant) {
        (Value::Object(one), Value::Object(meant)) => {
            meant.iter().all(|(key, value)| one.get(key) == Some(value))
        }
        _ => one == meant,
    }
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
            let now = setting.path.iter().try_fold(&json, |json, key| json.get(key));
            let value = setting.value(now);
            place(&mut json, &setting.path, &value)?;
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
        let setting = json!({ "path": path, "value": value });
        Change { label: String::new(), set: vec![serde_json::from_value(setting).unwrap()], solve: false }
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
    fn a_list_changes_by_one_member_whatever_it_has_become() {
        let mut config = Config::default();
        let mut after = |setting: Value| {
            let change: Change = serde_json::from_value(json!({ "label": "", "set": [setting] })).unwrap();
            config = change.apply(&config).unwrap();
            serde_json::to_value(&config).unwrap()
        };
        let path = json!(["rules"]);
        after(json!({ "path": path, "add": "x <= y" }));
        let json = after(json!({ "path": path, "add": "y <= z" }));
        assert_eq!(
            json["rules"],
            json!(["x <= y", "y <= z"]),
            "the second one was clicked before the first was shown"
        );
        after(json!({ "path": path, "remove": "x <= y" }));
        let json = after(json!({ "path": path, "remove": "y <= z" }));
        assert!(json.get("rules").is_none_or(|rules| rules == &json!([])));
        let (path, of) = (json!(["features", "a", "targets"]), json!(["low", "middle", "high"]));
        after(json!({ "path": path, "remove": "low", "of": of }));
        let json = after(json!({ "path": path, "remove": "high", "of": of }));
        assert_eq!(json["features"]["a"]["targets"], json!(["middle"]), "no list means all of them");
        let last: Setting =
            serde_json::from_value(json!({ "path": path, "remove": "middle", "of": of })).unwrap();
        assert_eq!(last.value(Some(&json!(["middle"]))), json!([]), "none of them is not all of them");
        let json = after(json!({ "path": path, "add": "low", "of": of }));
        assert_eq!(json["features"]["a"]["targets"], json!(["low", "middle"]), "in their order");
        let json = after(json!({ "path": path, "add": "high", "of": of }));
        assert!(json["features"]["a"]["targets"].is_null(), "all of them is no list");
        let path = json!(["links"]);
        after(json!({ "path": path, "add": { "from": "a", "to": "b", "factor": 2 } }));
        let json = after(json!({ "path": path, "remove": { "from": "a", "to": "b" } }));
        assert!(json.get("links").is_none_or(|links| links == &json!([])));
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
