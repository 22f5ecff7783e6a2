//! The differences between two configurations, key by key as in `sogar.toml`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use sogar_table::config::Config;

/// A setting that differs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// The key, such as `limits.max_depth`.
    pub key: String,
    /// Its value in the first configuration; null if it is not set.
    pub a: Json,
    /// Its value in the second.
    pub b: Json,
}

pub(super) fn differences(a: &Config, b: &Config) -> Vec<Setting> {
    let json = |config: &Config| serde_json::to_value(config).unwrap_or(Json::Null);
    let mut found = Vec::new();
    walk(String::new(), &json(a), &json(b), &mut found);
    found
}

fn walk(key: String, a: &Json, b: &Json, found: &mut Vec<Setting>) {
    if a == b {
        return;
    }
    let empty = serde_json::Map::new();
    let inner = |json: &Json| matches!(json, Json::Object(_));
    if (inner(a) && (inner(b) || b.is_null())) || (inner(b) && a.is_null()) {
        let (one, other) = (a.as_object().unwrap_or(&empty), b.as_object().unwrap_or(&empty));
        let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            walk(key, one.get(name).unwrap_or(&Json::Null), other.get(name).unwrap_or(&Json::Null), found);
        }
        return;
    }
    found.push(Setting { key, a: a.clone(), b: b.clone() });
}
