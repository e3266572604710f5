//! Operators of neural networks (`R.nn.*`).

pub(super) mod activation;
pub(super) mod attention;
pub(super) mod conv;
pub(super) mod loss;
pub(super) mod norm;
pub(super) mod pool;
pub(super) mod recurrent;
pub(super) mod spatial;
pub(super) mod window;

pub(crate) use attention::attention_has_blocks;
pub(crate) use conv::{windows_of_one_group, windows_of_transposed};
pub(crate) use window::Window;
