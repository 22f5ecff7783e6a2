//! A user's own costs: a CSV with the columns `feature`, `from`, `to`, `cost`.
//!
//! `from` and `to` are values as the table writes them, or `*` for any value. The most specific row counts: both values, then `from` alone,
//! then `to` alone, then `*` to `*`. A change that no row covers is an error, not a free change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::feature::{Feature, feature_index};
use crate::files::read_bytes;

#[derive(Debug)]
pub(super) struct UserTable {
    path: PathBuf,
    features: Vec<Feature>,
    costs: BTreeMap<(usize, String, String), f64>,
}

const ANY: &str = "*";

impl UserTable {
    pub fn read(path: &Path, features: &[Feature]) -> Result<UserTable> {
        let bytes = read_bytes(path)?;
        let bad = |line: usize, message: String| Error::new(ErrorKind::Config, message).file(path).row(line);
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes.as_slice());
        let header = reader.headers().map_err(|error| bad(1, error.to_string()))?.clone();
        let position = |name: &str| {
            header.iter().position(|known| known == name).ok_or_else(|| {
                bad(1, format!("no column `{name}`"))
                    .help("a cost table has the columns feature, from, to, cost")
            })
        };
        let columns = [position("feature")?, position("from")?, position("to")?, position("cost")?];
        let mut costs = BTreeMap::new();
        for (number, record) in reader.records().enumerate() {
            let line = number + 2;
            let record = record.map_err(|error| bad(line, error.to_string()))?;
            let [name, from, to, cost] = columns.map(|column| record.get(column).unwrap_or_default());
            let feature = feature_index(features, name).map_err(|error| error.file(path).row(line))?;
            let cost: f64 = match cost.parse() {
                Ok(cost) if (0.0..=4294.0).contains(&cost) => cost,
                _ => return Err(bad(line, format!("`{cost}` is not a cost between 0 and 4294"))),
            };
            for value in [from, to] {
                let description = &features[feature];
                let known = value == ANY
                    || description.level_index(value).is_some()
                    || (description.is_numeric() && value.parse::<f64>().is_ok());
                if !known {
                    return Err(bad(line, format!("`{value}` is not a value of `{name}`"))
                        .help("use * for any value"));
                }
            }
            if costs.insert((feature, from.to_owned(), to.to_owned()), cost).is_some() {
                return Err(bad(line, format!("the change of `{name}` from {from} to {to} is listed twice")));
            }
        }
        Ok(UserTable { path: path.to_owned(), features: features.to_vec(), costs })
    }

    pub fn cost(&self, feature: usize, from: f64, to: f64) -> Result<f64> {
        let description = &self.features[feature];
        let (from, to) = (description.value_text(from), description.value_text(to));
        let keys = [(from.as_str(), to.as_str()), (from.as_str(), ANY), (ANY, to.as_str()), (ANY, ANY)];
        keys.iter()
            .find_map(|(from, to)| self.costs.get(&(feature, (*from).to_owned(), (*to).to_owned())).copied())
            .ok_or_else(|| {
                let message = format!("no cost for changing `{}` from {from} to {to}", description.name);
                Error::new(ErrorKind::Config, message).file(&self.path).help(format!(
                    "add the row `{},*,*,<cost>` or make the feature immutable",
                    description.name
                ))
            })
    }
}
