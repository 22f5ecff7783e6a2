//! A folder with the small problem, and transcripts of what the binary says in it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const FIXTURES: [(&str, &str); 5] = [
    ("people.csv", include_str!("../fixtures/people.csv")),
    ("others.csv", include_str!("../fixtures/others.csv")),
    ("model.txt", include_str!("../fixtures/model.txt")),
    ("sogar.toml", include_str!("../fixtures/sogar.toml")),
    ("front.json", include_str!("../fixtures/front.json")),
];

/// The flags that solve the small problem.
pub const SOLVE: [&str; 6] = ["solve", "people.csv", "--model", "model.txt", "--config", "sogar.toml"];

/// A temporary folder with the small problem's files.
pub struct Folder(TempDir);

/// A finished run of the binary.
pub struct Run {
    /// The exit code; -1 if a signal ended it.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it said beside.
    pub stderr: String,
    command: String,
}

impl Folder {
    /// The fixtures in a new folder.
    pub fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, text) in FIXTURES {
            folder.write(name, text);
        }
        folder
    }

    /// The table and the model of the German example in a new folder, with a configuration of 90,745 actions: long runs.
    pub fn german() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("people.csv", include_str!("../../../../examples/german/german.csv"));
        folder.write("model.txt", include_str!("../../../../examples/german/model.txt"));
        folder.write("sogar.toml", include_str!("../fixtures/german.toml"));
        folder
    }

    /// Writes `name`: the lines of `people.csv`, each as `line` writes it from its row number (0 is the header).
    pub fn write_people(&self, name: &str, line: impl Fn(usize, &str) -> String) {
        let people = self.read("people.csv");
        let lines = people.lines().enumerate().map(|(row, text)| line(row, text) + "\n");
        self.write(name, lines.collect::<String>());
    }

    /// Where a file of that name is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// A file as JSON.
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Writes a file that is another one with every `old` replaced, of which there must be one at least.
    pub fn replace(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert!(text.contains(old), "{name} has no `{old}`");
        self.write(name, text.replace(old, new));
    }

    /// The names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The binary in this folder, ready to be started.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(crate::BINARY);
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("NO_COLOR", "1").env_remove("COLUMNS").env_remove("SOGAR_CACHE");
        command
    }

    /// Runs the binary to its end.
    pub fn sogar(&self, args: &[&str]) -> Run {
        Run::new(args, self.command(args).output().unwrap())
    }

    /// Solves the small problem with further flags.
    pub fn solve(&self, flags: &[&str]) -> Run {
        self.sogar(&[&SOLVE[..], flags].concat())
    }
}

impl Run {
    /// What is to be said of a finished process.
    pub fn new(args: &[&str], output: Output) -> Run {
        let word = |text: &&str| {
            if text.contains([' ', '<', '"']) { format!("'{text}'") } else { (*text).to_owned() }
        };
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            command: args.iter().map(word).collect::<Vec<_>>().join(" "),
        }
    }

    /// The printed JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

/// The transcript: command, exit code, both streams.
impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = Path::new(crate::BINARY).file_stem().unwrap_or_default();
        writeln!(f, "$ {} {}", program.display(), self.command)?;
        writeln!(f, "exit code {}", self.code)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(f, "--- {name}\n{text}")?;
            }
        }
        Ok(())
    }
}

/// Compares a transcript with the one on file. Times, versions and the solver's work may differ.
macro_rules! assert_transcript {
    ($run:expr) => {
        insta::with_settings!({
            omit_expression => true,
            prepend_module_to_snapshot => true,
            filters => [
                (r"\b\d+\.\d+ s\b", "[TIME]"),
                (r"[\d,]+ leaf sets", "[NUMBER] leaf sets"),
                (r"sogar \d+\.\d+\.\d+", "sogar [VERSION]"),
            ],
        }, { insta::assert_snapshot!($run.to_string()) });
    };
}
pub(crate) use assert_transcript;
