//! Which problems are measured: presets, the folders of their tables and models, and depths.

use std::path::{Path, PathBuf};

/// The problems of the published protocol, then the readable ones.
pub const PRESETS: [&str; 8] =
    ["paper-german", "paper-attrition", "paper-bank", "paper-adult", "german", "attrition", "bank", "adult"];

/// Presets whose depth 4 is complete within seconds.
const DEPTH_4: [&str; 2] = ["paper-german", "german"];

/// Where scripts/paper_models.py put the table and the model of a preset.
pub fn folder(preset: &str, paper: &Path) -> PathBuf {
    let name = match preset.strip_prefix("paper-") {
        Some(name) => name.to_owned(),
        None => format!("readable-{preset}"),
    };
    paper.join(name).join("fold1")
}

/// Presets and depths in the order in which they are measured. Unless depths are given these are 2 and 3, and 4 for the small
/// problems; with a time limit 4 for all of them.
pub fn plan(presets: &[String], depths: &[u32], quick: bool, time_limit: bool) -> Vec<(String, u32)> {
    let default: &[u32] = if quick { &[2] } else { &[2, 3, 4] };
    let all = if depths.is_empty() { default } else { depths };
    let wanted =
        |preset: &str, depth: u32| !depths.is_empty() || depth < 4 || time_limit || DEPTH_4.contains(&preset);
    all.iter()
        .flat_map(|&depth| presets.iter().map(move |preset| (preset.clone(), depth)))
        .filter(|(preset, depth)| wanted(preset, *depth))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(depths: &[u32], quick: bool, time_limit: bool) -> Vec<(String, u32)> {
        let presets = ["paper-german", "adult"].map(str::to_owned);
        plan(&presets, depths, quick, time_limit)
    }

    #[test]
    fn depth_four_is_for_small_problems_unless_there_is_a_time_limit() {
        let problem = |name: &str, depth| (name.to_owned(), depth);
        let small = [problem("paper-german", 4)];
        assert_eq!(planned(&[], false, false)[4..], small);
        assert_eq!(planned(&[], false, true)[4..], [small[0].clone(), problem("adult", 4)]);
        assert_eq!(planned(&[], true, false), [problem("paper-german", 2), problem("adult", 2)]);
        assert_eq!(planned(&[4], true, false), [small[0].clone(), problem("adult", 4)]);
    }

    #[test]
    fn every_preset_exists_and_has_a_folder_of_its_own() {
        let mut folders: Vec<PathBuf> = PRESETS.iter().map(|name| folder(name, Path::new("paper"))).collect();
        assert_eq!(folders[0], Path::new("paper/german/fold1"));
        assert_eq!(folders[4], Path::new("paper/readable-german/fold1"));
        folders.dedup();
        assert_eq!(folders.len(), 8);
        for name in PRESETS {
            assert!(sogar::config::Config::preset(name).is_ok(), "{name}");
        }
    }
}
