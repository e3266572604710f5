//! Layer 5: passes over modules and graph functions.

mod bind_params;
mod error;
mod specialize;

pub use bind_params::bind_params;
pub use error::PassError;
pub use specialize::specialize;
