//! Built without `live-model`: says so.

use super::HttpOptions;
use crate::clock::{Clock, Sleeper};
use crate::pipeline::model::{Model, ModelError, ModelErrorKind};

pub(super) fn connect(
    options: HttpOptions,
    _: Box<dyn Clock>,
    _: Box<dyn Sleeper>,
) -> Result<Box<dyn Model>, ModelError> {
    let message = format!(
        "this psos was built without `live-model`, so it cannot ask `{}`; use a model of another kind",
        options.name
    );
    Err(ModelError::new(ModelErrorKind::Provider, message))
}
