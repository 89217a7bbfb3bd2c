//! Built without `live-model`: there is no HTTP to drive a browser with.

use std::path::Path;

use super::{Page, Watched};
use crate::pipeline::storyboard::perform::Bench;

pub(super) fn watch(
    _: &Page,
    _: &str,
    _: &Path,
    _: &Path,
    _: &Path,
    _: &Bench<'_>,
) -> Result<Watched, String> {
    Err("this psos was built without `live-model`, so it cannot drive a browser".to_owned())
}
