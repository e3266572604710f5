//! `weftile demo`.

mod dataset;
mod silhouettes;
