//! Operators of neural networks (`R.nn.*`).

pub(super) mod activation;
pub(super) mod conv;
pub(super) mod norm;
pub(super) mod pool;
pub(super) mod window;
