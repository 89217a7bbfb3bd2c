//! Scenes in a browser: a headless Chromium, driven through `WebDriver`, whose screenshots `ffmpeg` joins
//! into a video. Where one of the three is missing, the scene says so; it never passes without them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::perform::Bench;
use crate::pipeline::deliverable::{Recording, recording};
use crate::pipeline::process::{self, Command, End, find_program};

#[cfg(not(feature = "live-model"))]
mod disabled;
#[cfg(feature = "live-model")]
mod enabled;

#[cfg(not(feature = "live-model"))]
use disabled as browser;
#[cfg(feature = "live-model")]
use enabled as browser;

/// Names under which distributions install the browser, its driver and the encoder.
const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const DRIVERS: [&str; 2] = ["chromedriver", "chromium.chromedriver"];
const ENCODER: &str = "ffmpeg";
/// The time that a scene in a browser may take in all.
const SCENE_TIME: Duration = Duration::from_mins(2);

/// What is done in a browser, instead of commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// An address, or one of the inputs.
    pub open: String,
    /// What is done there, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
}

/// One thing that is done on a page. Elements are named by CSS selectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Clicks an element.
    Click(String),
    /// Writes into an element.
    Write {
        /// The element.
        into: String,
        /// What is written.
        text: String,
    },
    /// Waits until there is such an element.
    Await(String),
}

/// What was seen in a browser.
pub(super) struct Watched {
    /// The text of the page in the end.
    pub(super) text: String,
    /// What could not be done, which is the page's fault.
    pub(super) differences: Vec<String>,
    /// The screenshots, in order.
    pub(super) frames: Vec<Vec<u8>>,
}

/// The programs that a scene in a browser needs.
struct Programs {
    browser: PathBuf,
    driver: PathBuf,
    encoder: PathBuf,
}

/// Plays a page. The error says what the machine lacks or did.
pub(super) fn play(
    page: &Page,
    inputs: &[String],
    folder: &Path,
    bench: &Bench<'_>,
) -> Result<(Watched, Vec<u8>), String> {
    let programs = find(bench)?;
    let address = address(page, inputs, folder)?;
    let watched =
        browser::watch(page, &address, &programs.browser, &programs.driver, folder, bench)?;
    let video = join(&watched.frames, &programs.encoder, folder, bench)?;
    Ok((watched, video))
}

fn find(bench: &Bench<'_>) -> Result<Programs, String> {
    let any = |names: &[&str], what: &str| {
        let found = names.iter().find_map(|name| find_program(name, bench.tree, bench.environment));
        found.ok_or_else(|| format!("no {what} is installed ({})", names.join(", ")))
    };
    Ok(Programs {
        browser: any(&BROWSERS, "browser")?,
        driver: any(&DRIVERS, "driver of a browser")?,
        encoder: any(&[ENCODER], "encoder of videos")?,
    })
}

/// The address of a page: its own, or that of its copy in the folder of the scene.
fn address(page: &Page, inputs: &[String], folder: &Path) -> Result<String, String> {
    if page.open.starts_with("http://") || page.open.starts_with("https://") {
        return Ok(page.open.clone());
    }
    if !inputs.contains(&page.open) {
        return Err(format!("`{}` is neither an address nor one of the inputs", page.open));
    }
    let path = folder.canonicalize().map_err(|error| error.to_string())?.join(&page.open);
    let mut address = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.extend([format!("%{byte:02X}")]);
        }
    }
    Ok(address)
}

/// Joins screenshots into a video, a second each.
fn join(
    frames: &[Vec<u8>],
    encoder: &Path,
    folder: &Path,
    bench: &Bench<'_>,
) -> Result<Vec<u8>, String> {
    let write = |name: String, bytes: &[u8]| {
        fs::write(folder.join(&name), bytes)
            .map_err(|error| format!("cannot write {name}: {error}"))
    };
    for (frame_idx, frame) in frames.iter().enumerate() {
        write(format!("frame-{:03}.png", frame_idx + 1), frame)?;
    }
    // The encoder for MPEG-4 is part of every build; others are not.
    let words =
        "-y -loglevel error -framerate 1 -i frame-%03d.png -c:v mpeg4 -pix_fmt yuv420p video.mp4";
    let mut argv = vec![encoder.to_string_lossy().into_owned()];
    argv.extend(words.split(' ').map(str::to_owned));
    let command = Command {
        argv: &argv,
        folder,
        environment: bench.environment,
        input: b"",
        timeout: SCENE_TIME,
        max_output_bytes: bench.max_output_bytes,
    };
    let ran = process::run(&command, &mut |_, _| ()).map_err(|error| error.to_string())?;
    if ran.end != End::Code(0) {
        return Err(format!("the encoder failed ({}): {}", ran.end, ran.err.text().trim()));
    }
    let video = fs::read(folder.join("video.mp4")).map_err(|error| error.to_string())?;
    match recording(&video) {
        Ok(Recording::Mp4) => Ok(video),
        Ok(other) => Err(format!("the encoder wrote {other:?}")),
        Err(fault) => Err(format!("the encoder wrote no video: {fault}")),
    }
}

#[cfg(test)]
#[cfg(all(unix, feature = "live-model"))]
mod tests;
