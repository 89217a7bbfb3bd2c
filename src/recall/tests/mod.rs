//! Claims about recall as a whole, and about its parts in modules of their own.

mod disclose;
mod render;
