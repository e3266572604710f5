//! Errors about a loop program that say where in it.

use std::fmt::Display;

use super::Place;

/// An error that points at loops and blocks of a loop program.
pub trait Located: Display {
    /// The loops and blocks, the most telling first; none if it is about the whole function.
    fn places(&self) -> &[Place];
}
