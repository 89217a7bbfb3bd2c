//! What a file of a recording is, and whether anything was recorded.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What kind of recording a file is, by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recording {
    /// ISO base media: `ftyp`, and media data.
    Mp4,
    /// Matroska of the kind `webm`, with a cluster.
    Webm,
    /// GIF with an image.
    Gif,
    /// A terminal cast of version 2 with output.
    AsciicastV2,
    /// A terminal cast of version 3 with output.
    AsciicastV3,
}

/// Why a file is no recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordingFault {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is none of the formats that count, whatever its name says.
    #[error("it is neither mp4, webm, gif nor a terminal cast")]
    UnknownFormat,
    /// The format is right, but nothing was recorded.
    #[error("it has a header and no recording")]
    NothingRecorded,
    /// A line of a cast cannot be read.
    #[error("line {line} of the cast is no event")]
    BadEvent {
        /// Counted from 1.
        line: usize,
    },
}

/// Reads which recording some bytes are.
///
/// # Errors
/// [`RecordingFault`], when they are none, or hold no more than a header.
pub fn recording(bytes: &[u8]) -> Result<Recording, RecordingFault> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(RecordingFault::Empty);
    }
    let has = |is_there: bool, recording| {
        if is_there { Ok(recording) } else { Err(RecordingFault::NothingRecorded) }
    };
    if bytes.get(4..8) == Some(b"ftyp") {
        return has(has_media(bytes), Recording::Mp4);
    }
    if bytes.starts_with(&[0x1a, 0x45, 0xdf, 0xa3]) {
        let head = bytes.get(..64.min(bytes.len())).unwrap_or_default();
        return if memchr::memmem::find(head, b"webm").is_none() {
            Err(RecordingFault::UnknownFormat)
        } else {
            let cluster = memchr::memmem::find(bytes, &[0x1f, 0x43, 0xb6, 0x75]);
            // Something has to follow the name of the cluster.
            has(cluster.is_some_and(|at| bytes.len() > at + 8), Recording::Webm)
        };
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        return has(has_image(bytes), Recording::Gif);
    }
    cast(bytes)
}

/// Whether one of the boxes of a file holds media data.
fn has_media(bytes: &[u8]) -> bool {
    let mut at = 0_usize;
    // Each box has its length and its kind; lengths that lead nowhere end the file.
    while let Some(head) = bytes.get(at..at.saturating_add(8)) {
        let (length, kind) = head.split_at(4);
        let length = length.iter().fold(0_u64, |n, &b| n << 8 | u64::from(b));
        let (length, header) = match length {
            // To the end of the file.
            0 => ((bytes.len() - at) as u64, 8),
            1 => {
                let long = bytes.get(at + 8..at + 16).unwrap_or_default();
                (long.iter().fold(0_u64, |n, &b| n << 8 | u64::from(b)), 16)
            }
            length => (length, 8),
        };
        if length < header {
            return false;
        }
        if (kind == b"mdat" || kind == b"moof") && length > header {
            return bytes.len() - at > usize::try_from(header).unwrap_or(usize::MAX);
        }
        let Some(next) = usize::try_from(length).ok().and_then(|n| at.checked_add(n)) else {
            return false;
        };
        at = next;
    }
    false
}

/// Whether a GIF has an image: a descriptor after the header, the colours and the extensions.
fn has_image(bytes: &[u8]) -> bool {
    let Some(&flags) = bytes.get(10) else { return false };
    let colours = if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let mut at = 13 + colours;
    while let Some(&block) = bytes.get(at) {
        match block {
            // Ten bytes of descriptor, and some of an image behind it.
            0x2c => return bytes.len() > at + 11,
            0x21 => {
                at += 2;
                // Parts of an extension, each with its length, the last with none.
                while let Some(&length) = bytes.get(at) {
                    at += usize::from(length) + 1;
                    if length == 0 {
                        break;
                    }
                }
            }
            _ => return false,
        }
    }
    false
}

/// A terminal cast: a header, then an event a line.
fn cast(bytes: &[u8]) -> Result<Recording, RecordingFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| RecordingFault::UnknownFormat)?;
    let mut lines = text.lines().enumerate();
    let header: Value = lines
        .next()
        .and_then(|(_, line)| serde_json::from_str(line).ok())
        .ok_or(RecordingFault::UnknownFormat)?;
    let size = |of: &Value, width: &str, height: &str| {
        let positive = |key: &str| of.get(key).and_then(Value::as_u64).is_some_and(|n| n > 0);
        positive(width) && positive(height)
    };
    let kind = match header.get("version").and_then(Value::as_u64) {
        Some(2) if size(&header, "width", "height") => Recording::AsciicastV2,
        Some(3) if header.get("term").is_some_and(|term| size(term, "cols", "rows")) => {
            Recording::AsciicastV3
        }
        _ => return Err(RecordingFault::UnknownFormat),
    };
    let mut is_shown = false;
    for (line_idx, line) in lines {
        // Version 3 has comments.
        if line.trim().is_empty() || line.starts_with('#') && kind == Recording::AsciicastV3 {
            continue;
        }
        let event: Result<(f64, String, Value), _> = serde_json::from_str(line);
        let Ok((time, code, what)) = event else {
            return Err(RecordingFault::BadEvent { line: line_idx + 1 });
        };
        if time < 0.0 {
            return Err(RecordingFault::BadEvent { line: line_idx + 1 });
        }
        let shown = what.as_str().is_some_and(|text| !text.trim().is_empty());
        is_shown |= code == "o" && shown;
    }
    if is_shown { Ok(kind) } else { Err(RecordingFault::NothingRecorded) }
}
