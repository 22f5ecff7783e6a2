//! A result contains exactly what this program writes: a file is read, written again and compared. So unknown fields, missing
//! fields and fields of another shape are all refused, everywhere in the file.

use serde_json::Value;

/// The first place where a file differs from what this program would write.
pub(super) fn difference(said: &Value, written: &Value) -> Option<String> {
    below(said, written, &mut String::new())
}

fn below(said: &Value, written: &Value, path: &mut String) -> Option<String> {
    let length = path.len();
    match (said, written) {
        (Value::Object(said), Value::Object(written)) => {
            if let Some(missing) = written.keys().find(|key| !said.contains_key(*key)) {
                return Some(format!("`{}` is missing", at(path, missing)));
            }
            for (key, value) in said {
                let Some(known) = written.get(key) else {
                    return Some(format!("`{}` is not a field of a result", at(path, key)));
                };
                *path = at(path, key);
                if let Some(found) = below(value, known, path) {
                    return Some(found);
                }
                path.truncate(length);
            }
            None
        }
        (Value::Array(said), Value::Array(written)) if said.len() == written.len() => {
            for (number, (value, known)) in said.iter().zip(written).enumerate() {
                *path += &format!("[{number}]");
                if let Some(found) = below(value, known, path) {
                    return Some(found);
                }
                path.truncate(length);
            }
            None
        }
        _ if same(said, written) => None,
        _ => Some(format!("`{path}` is not written as a result has it")),
    }
}

fn at(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Equal values; a number may be written with or without a decimal point.
fn same(said: &Value, written: &Value) -> bool {
    match (said, written) {
        (Value::Number(said), Value::Number(written)) if said.is_f64() || written.is_f64() => {
            said.as_f64() == written.as_f64()
        }
        _ => said == written,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_written_so_is_named_with_its_place() {
        let written = json!({"a": [{"b": 1.0, "c": "x"}], "d": 2});
        let told = |said: Value| difference(&said, &written);
        assert_eq!(told(written.clone()), None);
        assert_eq!(told(json!({"a": [{"b": 1, "c": "x"}], "d": 2.0})), None);
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(told(json!({"a": [{"b": 1.0}], "d": 2})), said("`a[0].c` is missing"));
        assert_eq!(
            told(json!({"a": [{"b": 1.0, "c": "x", "e": 0}], "d": 2})),
            said("`a[0].e` is not a field of a result")
        );
        assert_eq!(
            told(json!({"a": {}, "d": 2})),
            said("`a` is not written as a result has it"),
            "another shape"
        );
        assert_eq!(
            told(json!({"a": [{"b": 1.0, "c": "x"}], "d": 3})),
            said("`d` is not written as a result has it")
        );
    }
}
