//! `weftile demo`.

mod silhouettes;
