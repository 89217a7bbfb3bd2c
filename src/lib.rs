//! psos: an embedded recall engine and tier ontology for AI agents.

pub mod clock;
pub mod fault;
pub mod record;
pub mod text;
