//! Default rules: analyse a loop program, then call the same public primitives that a user has, so that what they did can be
//! printed and replayed.

pub mod pattern;
