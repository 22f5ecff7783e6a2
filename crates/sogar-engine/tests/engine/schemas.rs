//! The shipped JSON Schemas are those of the types.

#![allow(clippy::unwrap_used)] // a panic is the report

use sogar::audit::Audit;
use sogar::config::Config;
use sogar::diff::Diff;
use sogar::explain::Explanation;
use sogar::summary::FrontFile;

#[test]
fn the_shipped_schemas_are_up_to_date() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas");
    for (name, command, schema) in [
        ("sogar.toml", "config", Config::schema()),
        ("front.json", "front", FrontFile::schema()),
        ("audit.json", "audit", Audit::schema()),
        ("explanation.json", "explanation", Explanation::schema()),
        ("diff.json", "diff", Diff::schema()),
    ] {
        let path = format!("{folder}/{name}.schema.json");
        let shipped: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert!(shipped == schema, "write {name}.schema.json anew: `sogar schema {command}`");
    }
}
