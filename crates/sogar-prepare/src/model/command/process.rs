//! One run of a command: passes all of its input, collects all of its output, within a time limit.
//!
//! Separate threads write the input and read both outputs, so no pipe can fill up while another is waited for. The command leads
//! a process group, and everything that ends the run early (time, too much output, an error) ends the whole group; [`end_all`]
//! does so for every run when the program is about to exit.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sogar_base::error::{Error, ErrorKind, Result, suggest};

/// How much of the end of standard error is kept.
const LAST_WORDS: usize = 4096;
/// Lines of it that messages show.
const SHOWN_LINES: usize = 6;

/// Process groups of the commands that are running.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn running<T>(change: impl FnOnce(&mut Vec<u32>) -> T) -> T {
    change(&mut RUNNING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Ends every running command and its child processes. For a program that exits at once.
pub fn end_all() {
    running(|groups| groups.drain(..).for_each(end_group));
}

#[cfg(unix)]
fn end_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // It may have ended already.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn end_group(_: u32) {}

/// A started command that is ended on drop, unless it has exited.
struct Running {
    child: Child,
    exited: bool,
}

impl Running {
    /// Waits for the exit status until `deadline`.
    fn exit(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = self.child.try_wait()? {
                self.exited = true;
                running(|groups| groups.retain(|&group| group != self.child.id()));
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.exited {
            // Before the wait, because afterwards another process may have this number.
            end_group(self.child.id());
            let _ = self.child.kill();
            let _ = self.child.wait();
            running(|groups| groups.retain(|&group| group != self.child.id()));
        }
    }
}

/// Runs the command on `input` and returns its output, at most `most` bytes.
pub(super) fn ask(words: &[String], input: Vec<u8>, most: u64, timeout: Duration) -> Result<Vec<u8>> {
    let deadline = Instant::now() + timeout;
    let mut running = start(words)?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (running.child.stdin.take(), running.child.stdout.take(), running.child.stderr.take())
    else {
        return Err(fault("the command's streams could not be opened"));
    };
    // A command that stops reading early may still answer correctly; its answers show whether it did.
    let mut stdin = stdin;
    let _writing = in_thread(move || {
        let _ = stdin.write_all(&input);
    })?;
    let words_left = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&words_left);
    let listening = in_thread(move || keep_last(stderr, &kept))?;
    let reading = in_thread(move || {
        let mut output = Vec::new();
        stdout.take(most.saturating_add(1)).read_to_end(&mut output).map(|_| output)
    })?;
    let last_words = || {
        // Its last output may still be in the pipe.
        let _ = listening.recv_timeout(Duration::from_millis(200));
        said(&words_left.lock().unwrap_or_else(PoisonError::into_inner))
    };

    let output = match reading.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(output) => {
            output.map_err(|cause| fault(format!("the command's answers can't be read: {cause}")))?
        }
        Err(RecvTimeoutError::Timeout) => return Err(too_slow(timeout, &last_words())),
        Err(RecvTimeoutError::Disconnected) => return Err(fault("the command's answers can't be read")),
    };
    if output.len() as u64 > most {
        let message = format!("the command printed more than {most} bytes and was ended");
        return Err(
            fault(message).help("it must print one answer a row on standard output, and nothing else")
        );
    }
    let status = running.exit(deadline).map_err(|cause| fault(format!("the command was lost: {cause}")))?;
    match status {
        None => Err(too_slow(timeout, &last_words())),
        Some(status) if status.success() => Ok(output),
        Some(status) => {
            let message = format!("the command {}{}", ending(status), last_words());
            Err(fault(message).help("it must exit with 0; try it on a few rows by hand"))
        }
    }
}

fn fault(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Model, message)
}

fn start(words: &[String]) -> Result<Running> {
    let Some((program, arguments)) = words.split_first() else { return Err(fault("the command is empty")) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn().map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => fault(format!("there is no command `{program}`")).help(not_found(program)),
        io::ErrorKind::PermissionDenied => fault(format!("`{program}` can't be executed: no permission"))
            .help("is it a program, and executable?"),
        _ => fault(format!("`{program}` can't be started: {cause}")),
    })?;
    running(|groups| groups.push(child.id()));
    Ok(Running { child, exited: false })
}

/// What the user may have meant by a missing program.
fn not_found(program: &str) -> String {
    let usual = ["python3", "python", "Rscript", "julia", "node", "java", "sh", "bash"];
    let nearest = suggest(program, usual);
    if nearest.ends_with('?') { nearest } else { "give its full path, or check the PATH".to_owned() }
}

/// Runs `work` in its own thread. The result comes through a channel instead of a join: a thread that reads from a pipe ends when
/// the last process that holds the pipe does, and that process may have left the group.
fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<Receiver<T>> {
    let (sender, receiver) = channel();
    thread::Builder::new()
        .spawn(move || {
            let _ = sender.send(work());
        })
        .map_err(|cause| fault(format!("a thread could not be started: {cause}")))?;
    Ok(receiver)
}

/// Reads to the end and keeps the last bytes.
fn keep_last(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut block = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut block) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&block[..count]);
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
}

/// The last lines of standard error for a message.
fn said(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    if lines.iter().all(|line| line.trim().is_empty()) {
        return ", without a word on standard error".to_owned();
    }
    let last = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
    format!("; its last words:\n  {}", last.join("\n  "))
}

fn too_slow(timeout: Duration, last_words: &str) -> Error {
    fault(format!("the command did not answer within {} s and was ended{last_words}", timeout.as_secs_f64()))
        .help("allow it more time with --model-timeout, or give it fewer rows at a time with --model-batch")
}

/// How a process ended.
fn ending(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was ended by signal {signal}");
    }
    status.code().map_or_else(|| "failed".to_owned(), |code| format!("failed with exit code {code}"))
}
