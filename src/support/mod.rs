//! Arenas, side tables and other plain machinery that every room uses.

pub mod arena;
pub mod depth;
#[cfg(feature = "compiler")]
pub mod diag;
pub mod dump;
pub mod files;
#[cfg(test)]
pub(crate) mod generated;
pub mod resident;
pub mod timing;
pub mod tolerance;

pub use arena::{Arena, Id, SideTable};
