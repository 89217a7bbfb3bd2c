//! Terminal casts (asciicast, version 2), as our own runner sees a terminal: commands, and what they
//! write.

use std::time::Duration;

use serde_json::json;

/// Columns and rows that a player shows.
const SIZE: (u32, u32) = (100, 30);

/// A cast that is being recorded.
#[derive(Debug, Clone)]
pub struct Cast {
    text: String,
    /// Bytes at the end of the last piece that are the start of a character.
    rest: Vec<u8>,
}

impl Cast {
    /// Begins a cast at this time since 1970.
    pub fn begin(title: &str, at: Duration) -> Self {
        let (width, height) = SIZE;
        let header = json!({
            "version": 2, "width": width, "height": height,
            "timestamp": at.as_secs(), "title": title,
        });
        Self { text: format!("{header}\n"), rest: Vec::new() }
    }

    /// Shows some output, so long after the beginning. Pieces may end within a character.
    pub fn show(&mut self, after: Duration, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            // The start of a character that is still to come.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let later = self.rest.split_off(whole);
        let piece = std::mem::replace(&mut self.rest, later);
        self.event(after, &piece);
    }

    /// Returns the cast as a file.
    pub fn finish(mut self, after: Duration) -> String {
        let rest = std::mem::take(&mut self.rest);
        self.event(after, &rest);
        self.text
    }

    fn event(&mut self, after: Duration, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        // A terminal goes back to the start of a line only when told to.
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\n', "\r\n");
        let event = json!([after.as_secs_f64(), "o", text]);
        self.text.extend([format!("{event}\n")]);
    }
}
