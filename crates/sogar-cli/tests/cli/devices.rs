//! `--device` and `sogar devices`, in builds with and without the cargo feature `gpu`.

use crate::folder::{Folder, assert_transcript};

/// A front without the block `run`, as it stands in the file.
fn bytes_but_run(folder: &Folder, name: &str) -> String {
    let text = folder.read(name);
    let (front, _) = text.rsplit_once(",\"run\":{").unwrap();
    front.to_owned()
}

#[test]
fn the_cpu_is_always_listed() {
    let folder = Folder::new();
    let run = folder.sogar(&["devices"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.starts_with("cpu "), "{run}");
    assert_eq!(cfg!(feature = "gpu"), !run.stdout.contains("--features gpu"), "{run}");
    let list = folder.sogar(&["devices", "--json"]).json();
    assert_eq!(list["gpu_built_in"], cfg!(feature = "gpu"));
    assert_eq!(list["devices"][0]["device"], "cpu");
}

#[test]
fn a_device_that_is_none() {
    assert_transcript!(Folder::new().solve(&["--device", "cuda"]));
}

#[test]
fn the_cpu_can_be_requested() {
    let folder = Folder::new();
    let run = folder.solve(&["--device", "cpu", "-o", "new.json", "--quiet"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(folder.json("new.json")["run"]["device"], "cpu");
    assert_eq!(folder.json("new.json")["config"]["limits"]["device"], serde_json::Value::Null);
}

#[cfg(not(feature = "gpu"))]
#[test]
fn a_build_without_gpus_warns_and_goes_on() {
    let folder = Folder::new();
    folder.solve(&["--device", "cpu", "-o", "cpu.json", "--quiet"]);
    let run = folder.solve(&["--device", "gpu", "-o", "gpu.json", "--quiet"]);
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(run.stderr.matches("warning:").count(), 1, "{run}");
    assert!(run.stderr.contains("no GPU support"), "{run}");
    assert_eq!(bytes_but_run(&folder, "gpu.json"), bytes_but_run(&folder, "cpu.json"));
}

#[cfg(feature = "gpu")]
mod with_gpu {
    #![allow(clippy::print_stderr)] // a skipped test says so

    use super::*;

    fn there_is_one() -> bool {
        let list = Folder::new().sogar(&["devices", "--json"]).json();
        let found = list["devices"].as_array().unwrap().len() > 1;
        if !found {
            sogar_testing::skipped(
                "gpu",
                "no GPU was found; scripts/lavapipe.sh installs a software adapter",
            );
        }
        found
    }

    #[test]
    fn the_german_front_has_the_same_bytes() {
        if !there_is_one() {
            return;
        }
        let folder = Folder::german();
        // All 90,745 actions at one split, and those of two edits at up to three: a software adapter is slow.
        for limits in [["--max-depth", "1", "--max-edits", "3"], ["--max-depth", "2", "--max-edits", "2"]] {
            for device in ["cpu", "gpu:0"] {
                let run = folder.solve(&[&["--device", device, "-o", device], &limits[..]].concat());
                assert_eq!(run.code, 0, "{run}");
                assert!(!run.stderr.contains("warning:"), "{run}");
            }
            assert!(folder.json("gpu:0")["run"]["device"].as_str().unwrap().starts_with("gpu:0 ("));
            assert_eq!(bytes_but_run(&folder, "gpu:0"), bytes_but_run(&folder, "cpu"), "{limits:?}");
        }
    }

    #[test]
    fn whatever_goes_wrong_the_run_ends_well_with_one_warning() {
        if !there_is_one() {
            return;
        }
        let folder = Folder::new();
        assert_eq!(folder.solve(&["--device", "cpu", "-o", "cpu.json", "-q"]).code, 0);
        for (fault, words) in [
            ("no-adapter", "no GPU was found"),
            ("too-small", "the GPU is too small"),
            ("shader", "could not be compiled"),
            ("out-of-memory", "ran out of memory"),
            ("lost", "the GPU was lost"),
            ("lost:3", "the GPU was lost"),
            ("wrong", "other numbers than the CPU"),
        ] {
            let args = [&crate::folder::SOLVE[..], &["--device", "gpu", "-o", "gpu.json", "-q"]].concat();
            let output = folder.command(&args).env("SOGAR_GPU_FAULT", fault).output().unwrap();
            let run = crate::folder::Run::new(&args, output);
            assert_eq!(run.code, 0, "{fault}: {run}");
            assert_eq!(run.stderr.matches("warning:").count(), 1, "{fault}: {run}");
            assert!(run.stderr.contains(words), "{fault}: {run}");
            assert_eq!(folder.json("gpu.json")["status"], "complete");
            assert_eq!(bytes_but_run(&folder, "gpu.json"), bytes_but_run(&folder, "cpu.json"), "{fault}");
        }
        let run = folder.solve(&["--device", "gpu:99", "-o", "gpu.json", "-q"]);
        assert_eq!((run.code, run.stderr.matches("warning:").count()), (0, 1), "{run}");
        assert!(run.stderr.contains("no GPU number 99"), "{run}");
    }

    #[test]
    fn a_software_adapter_is_never_chosen_by_itself() {
        let folder = Folder::new();
        let run = folder.solve(&["--device", "auto", "-o", "new.json"]);
        assert_eq!(run.code, 0, "{run}");
        assert_eq!(folder.json("new.json")["run"]["device"], "cpu");
        assert!(!run.stderr.contains("GPU"), "{run}");
    }
}
