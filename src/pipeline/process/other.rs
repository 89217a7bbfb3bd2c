//! Where processes have no groups: a command cannot be ended with all that it started, so none is run.

use super::{Command, ProcessError, Ran, Stream};

pub(super) fn run(
    command: &Command<'_>,
    _: &mut dyn FnMut(Stream, &[u8]),
) -> Result<Ran, ProcessError> {
    let program = command.argv.first().ok_or(ProcessError::Empty)?.clone();
    Err(ProcessError::Start { program, source: std::io::ErrorKind::Unsupported.into() })
}
