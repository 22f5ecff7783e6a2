//! The flag tables of docs/CLI.md, generated from the definitions.
//!
//! A block of that file begins with `<!-- flags: solve -->` and ends with `<!-- end -->`. A test compares the text between them.

use std::fmt::Write;

use clap::{Arg, ArgAction, Command};

const BEGIN: &str = "<!-- flags: ";
const END: &str = "<!-- end -->";

/// A command's own flags as a Markdown table, without those of every command and those under `settings`.
pub fn flag_table(command: &Command, settings: bool) -> String {
    let mut text = String::from("| flag | default | |\n|---|---|---|\n");
    for arg in command.get_arguments().filter(|arg| is_own(arg, settings)) {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let (help, default) = with_default(arg, &help);
        let default = if default.is_empty() { default } else { format!(" {default}") };
        let short = arg.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
        let long = arg.get_long().unwrap_or_default();
        let values: String = match arg.get_action().takes_values() {
            true => arg.get_value_names().unwrap_or_default().iter().map(|name| format!(" {name}")).collect(),
            false => String::new(),
        };
        let again = if matches!(arg.get_action(), ArgAction::Append) { " …" } else { "" };
        let _ =
            writeln!(text, "| {short}`--{long}{values}`{again} |{default} | {} |", help.replace('|', "\\|"));
    }
    text
}

fn is_own(arg: &Arg, settings: bool) -> bool {
    let general = ["help", "version", "json", "quiet", "verbose"].contains(&arg.get_id().as_str());
    let setting = arg.get_help_heading() == Some("Settings") || arg.get_help_heading() == Some("Model");
    !general && !arg.is_positional() && !arg.is_hide_set() && (settings || !setting)
}

/// The help without its default, and the default.
fn with_default(arg: &Arg, help: &str) -> (String, String) {
    let help = help.replace("; may be repeated", "");
    if let Some((before, rest)) = help.split_once(" [default: ")
        && let Some((default, after)) = rest.split_once(']')
    {
        return (format!("{before}{after}"), default.to_owned());
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    let shown = arg.get_action().takes_values().then(|| defaults.join(", "));
    (help, shown.unwrap_or_default())
}

/// A page with regenerated blocks; `find` returns the commands and whether their settings are shown.
pub fn with_flag_tables(page: &str, find: impl Fn(&str) -> Option<(Command, bool)>) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, block)) = rest.split_once(BEGIN) {
        let _ = write!(text, "{before}{BEGIN}");
        let Some((name, behind)) = block.split_once(" -->") else {
            rest = block;
            continue;
        };
        let _ = write!(text, "{name} -->");
        rest = behind;
        if let (Some((command, settings)), Some((_, after))) = (find(name), behind.split_once(END)) {
            let _ = write!(text, "\n{}{END}", flag_table(&command, settings));
            rest = after;
        }
    }
    text + rest
}

/// A subcommand by its name, such as `config init`.
pub fn subcommand(root: &Command, name: &str) -> Option<Command> {
    name.split(' ').try_fold(root, |command, part| command.find_subcommand(part)).cloned()
}

/// Compares the flag tables of docs/CLI.md with the definitions and returns the page. A difference is an error, unless
/// `UPDATE_DOCS` is set: then it rewrites the page.
pub fn compare_with_page(
    find: impl Fn(&str) -> Option<(Command, bool)>,
) -> std::result::Result<String, Box<dyn std::error::Error>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/CLI.md");
    let page = std::fs::read_to_string(path)?;
    let now = with_flag_tables(&page, find);
    if page != now {
        if std::env::var_os("UPDATE_DOCS").is_none() {
            return Err("UPDATE_DOCS=1 make rust-test rewrites the flag tables of docs/CLI.md".into());
        }
        std::fs::write(path, &now)?;
    }
    Ok(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_flags_are_the_defined_ones() {
        let root = crate::args::command();
        // The flags of `solve` are listed once.
        let find = |name: &str| subcommand(&root, name).map(|command| (command, name == "solve"));
        let page = compare_with_page(find).unwrap();
        for name in ["solve", "evaluate", "audit", "explain", "report", "studio", "check", "config init"] {
            assert!(page.contains(&format!("{BEGIN}{name} -->")), "{name} has no table");
        }
    }
}
