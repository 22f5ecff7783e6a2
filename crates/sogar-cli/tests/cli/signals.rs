//! Runs that go on while a test does, and signals to them.
#![cfg(unix)]

use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::folder::Folder;

/// A run that goes on while the test does.
pub fn start(folder: &Folder, args: &[&str]) -> Child {
    started(folder.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// The same run when there is something to interrupt.
pub fn started(child: Child) -> Child {
    let started = Instant::now();
    while !catches_interrupts(&child) && started.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(20));
    }
    sleep(Duration::from_millis(500)); // so that there is something to interrupt
    child
}

/// Whether a run has come to the point where Ctrl-C does not just end it, as Linux tells. Elsewhere a while is waited.
fn catches_interrupts(child: &Child) -> bool {
    const INTERRUPT: u64 = 1 << 1;
    let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", child.id())) else {
        sleep(Duration::from_millis(1500));
        return true;
    };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & INTERRUPT != 0)
}

/// One Ctrl-C.
pub fn interrupt(child: &Child) {
    signal(child, "-INT");
}

/// A signal by its name.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}
