//! Opening a file that somebody else named, and nothing else than that: no way out of the tree, no
//! link, no pipe, no device, no more bytes than we want.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::{Doubt, MAX_FILE_BYTES, Refutation};

/// Why a file was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    Wrong(Refutation),
    Unclear(Doubt),
}

/// Folders that are about the tree and not of it. A citation of our own records would let a model
/// quote itself.
const NOT_CONTENT: [&str; 2] = [".psos", ".git"];

/// Returns a path from the root as the tree would write it, or why it is none.
///
/// This looks at the text alone; what is behind the names, [`read`] finds out.
pub(super) fn place(file: &str) -> Result<PathBuf, Refutation> {
    let file = file.strip_prefix("./").unwrap_or(file);
    // A backslash separates folders on some systems, and a colon names a drive or a stream.
    let is_foreign = |c: char| c == '\\' || c == ':' || c.is_control();
    if file.is_empty() || file.contains(is_foreign) {
        return Err(Refutation::OutsideRoot);
    }
    let is_wrong = |name: &str| {
        // Some systems drop dots and spaces at the end of a name.
        name.is_empty()
            || name.ends_with(['.', ' '])
            || NOT_CONTENT.iter().any(|folder| folder.eq_ignore_ascii_case(name))
    };
    if file.split('/').any(is_wrong) {
        return Err(Refutation::OutsideRoot);
    }
    Ok(PathBuf::from(file))
}

/// Reads a file of the tree, whose root is without links.
pub(super) fn read(root: &Path, file: &str) -> Result<Vec<u8>, Refused> {
    let path = root.join(place(file).map_err(Refused::Wrong)?);
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) => return Err(missing(&error)),
    };
    // Links, another case, another normal form of Unicode: all of them lead to a file of another name.
    // Components are compared as text: `Path` would take `a/./b` and `a/b` for equal.
    if real.as_os_str() != path.as_os_str() {
        return Err(Refused::Wrong(Refutation::OutsideRoot));
    }
    let about = fs::symlink_metadata(&path).map_err(|error| missing(&error))?;
    if !about.is_file() {
        return Err(Refused::Wrong(Refutation::NotAFile));
    }
    let file = open(&path).map_err(|error| missing(&error))?;
    // What was opened, should the name have been given to something else in between.
    let about = file.metadata().map_err(|error| missing(&error))?;
    if !about.is_file() {
        return Err(Refused::Wrong(Refutation::NotAFile));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| missing(&error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(Refused::Unclear(Doubt::FileTooLong));
    }
    Ok(bytes)
}

/// The text of a file without its byte order mark; `None` for what is not UTF-8, or holds zeros.
pub(super) fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then(|| text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn missing(error: &std::io::Error) -> Refused {
    match error.kind() {
        // A component that is a file counts as well.
        ErrorKind::NotFound | ErrorKind::InvalidFilename | ErrorKind::NotADirectory => {
            Refused::Wrong(Refutation::MissingFile)
        }
        ErrorKind::PermissionDenied => Refused::Unclear(Doubt::Unreadable),
        _ => Refused::Wrong(Refutation::OutsideRoot),
    }
}

#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    // A pipe that took the file's place would hold us without `NONBLOCK`.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).open(path)
}
