//! Any text is an error or a configuration that can be checked: `sogar.toml`.
// seeds: crates/sogar-table/presets/*.toml

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use sogar::config::Config;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(config) = Config::parse(text, Path::new("sogar.toml"))
    {
        let _ = config.check(None);
        let _ = config.read_options();
    }
});
