//! Commands as heads of process groups, with pipes that never block us.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{Command, End, FLOOD_FACTOR, Output, ProcessError, Ran, Stream};

/// The pause when there is nothing to read or write.
const PAUSE: Duration = Duration::from_millis(2);
/// Bytes that are read at once: what a pipe holds on Linux.
const CHUNK_BYTES: usize = 1 << 16;

pub(super) fn run(
    command: &Command<'_>,
    heard: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Ran, ProcessError> {
    let (program, arguments) = command.argv.split_first().ok_or(ProcessError::Empty)?;
    let start = |source| ProcessError::Start { program: program.clone(), source };
    let child = std::process::Command::new(program)
        .args(arguments)
        .current_dir(command.folder)
        .env_clear()
        .envs(command.environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(start)?;
    let mut running = Running { child, ended: false };
    let is_late = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        let (done, wait) = mpsc::channel::<()>();
        scope.spawn(|| {
            // Only says that it is late: the thread that waits for the head of the group ends it.
            let wait = wait;
            if wait.recv_timeout(command.timeout) == Err(mpsc::RecvTimeoutError::Timeout) {
                is_late.store(true, Ordering::Relaxed);
            }
        });
        let ran = running.attend(command, &is_late, heard);
        drop(done);
        ran
    });
    ran.map_err(|source| ProcessError::Lost { program: program.clone(), source })
}

/// A child whose group is ended when we let go of it, also when we fail.
struct Running {
    child: Child,
    ended: bool,
}

impl Running {
    fn attend(
        &mut self,
        command: &Command<'_>,
        is_late: &AtomicBool,
        heard: &mut dyn FnMut(Stream, &[u8]),
    ) -> io::Result<Ran> {
        let mut input = Input::new(self.child.stdin.take(), command.input)?;
        let mut out = Pipe::new(self.child.stdout.take(), Stream::Out)?;
        let mut err = Pipe::new(self.child.stderr.take(), Stream::Err)?;
        let max_bytes = command.max_output_bytes;
        let flood = (max_bytes as u64).saturating_mul(FLOOD_FACTOR);
        let end = loop {
            let moved = input.pump() | out.pump(max_bytes, heard)? | err.pump(max_bytes, heard)?;
            if is_late.load(Ordering::Relaxed) {
                break End::TimedOut;
            }
            if out.kept.n_bytes().max(err.kept.n_bytes()) > flood {
                break End::Flooded;
            }
            if let Some(end) = self.look()? {
                break end;
            }
            if !moved {
                std::thread::sleep(PAUSE);
            }
        };
        self.end();
        // What is still in the pipes. A process that left the group may hold them open, so their end is
        // not waited for.
        if matches!(end, End::Code(_) | End::Signal(_)) {
            while out.kept.n_bytes() <= flood && out.pump(max_bytes, heard)? {}
            while err.kept.n_bytes() <= flood && err.pump(max_bytes, heard)? {}
        }
        Ok(Ran { end, out: out.kept, err: err.kept })
    }

    /// Looks whether the head of the group has ended, without giving its id back: until we wait for it,
    /// no other group can have that id.
    fn look(&self) -> io::Result<Option<End>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(Pid::from_child(&self.child)), options)?;
        Ok(status.map(|status| match status.exit_status() {
            Some(code) => End::Code(code),
            None => End::Signal(status.terminating_signal().unwrap_or_default()),
        }))
    }

    fn end(&mut self) {
        if !self.ended {
            self.ended = true;
            // No such group: everything in it ended by itself.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// What goes to the child.
struct Input<'a> {
    pipe: Option<ChildStdin>,
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn new(pipe: Option<ChildStdin>, rest: &'a [u8]) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            set_nonblocking(pipe)?;
        }
        Ok(Self { pipe, rest })
    }

    /// Writes what fits; closes the pipe after the last byte, and when nobody reads it any more.
    fn pump(&mut self) -> bool {
        let Some(pipe) = &mut self.pipe else { return false };
        if self.rest.is_empty() {
            self.pipe = None;
            return true;
        }
        match pipe.write(self.rest) {
            Ok(n) => {
                self.rest = self.rest.get(n..).unwrap_or_default();
                true
            }
            Err(error) if is_for_later(&error) => false,
            Err(_) => {
                self.pipe = None;
                true
            }
        }
    }
}

/// What comes from the child.
struct Pipe<R> {
    end: Option<R>,
    stream: Stream,
    kept: Output,
    buffer: Vec<u8>,
}

impl<R: Read + AsFd> Pipe<R> {
    fn new(pipe: Option<R>, stream: Stream) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            set_nonblocking(pipe)?;
        }
        Ok(Self { end: pipe, stream, kept: Output::default(), buffer: vec![0; CHUNK_BYTES] })
    }

    /// Reads what is there; whether that was something.
    fn pump(&mut self, max_bytes: usize, heard: &mut dyn FnMut(Stream, &[u8])) -> io::Result<bool> {
        let Some(pipe) = &mut self.end else { return Ok(false) };
        match pipe.read(&mut self.buffer) {
            Ok(0) => {
                self.end = None;
                Ok(false)
            }
            Ok(n) => {
                let bytes = self.buffer.get(..n).unwrap_or_default();
                self.kept.take(bytes, max_bytes);
                heard(self.stream, bytes);
                Ok(true)
            }
            Err(error) if is_for_later(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn set_nonblocking(pipe: &impl AsFd) -> io::Result<()> {
    rustix::io::ioctl_fionbio(pipe, true).map_err(io::Error::from)
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
