//! The fence around the open loop: a transcript that grows with every turn is only for a model whose
//! provider keeps its prefix.

use super::{Capability, Model, ModelError, Reply, Request};
use crate::fault::Fault;

/// A model that may be driven in an open loop, in which each call repeats all calls before it.
///
/// There is no way to one but [`OpenLoop::enter`]: without a prefix cache the cost of such a loop grows
/// with the square of its turns, which is what the pipeline is there to avoid.
#[derive(Debug)]
pub struct OpenLoop<'m> {
    model: &'m mut dyn Model,
}

/// A model that may not have the open loop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{model}` has no prompt cache, so it is never given the open loop; use the pipeline")]
pub struct Fenced {
    /// The name of the model.
    pub model: String,
}

impl Fenced {
    /// Whose fault it is: who asked for the loop.
    pub fn fault(&self) -> Fault {
        Fault::Usage
    }
}

impl<'m> OpenLoop<'m> {
    /// Lets a model in, if its provider keeps prefixes.
    ///
    /// # Errors
    /// [`Fenced`], if it does not.
    pub fn enter(model: &'m mut dyn Model) -> Result<Self, Fenced> {
        if !model.capability().prompt_cache {
            return Err(Fenced { model: model.name().to_owned() });
        }
        Ok(Self { model })
    }

    /// What the model can do.
    pub fn capability(&self) -> &Capability {
        self.model.capability()
    }

    /// Asks it once more.
    ///
    /// # Errors
    /// Those of [`Model::complete`].
    pub fn complete(&mut self, request: &Request) -> Result<Reply, ModelError> {
        self.model.complete(request)
    }
}
