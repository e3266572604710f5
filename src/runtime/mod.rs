//! Devices, values, and the registry of packed functions.

mod device;
mod host;
mod registry;
mod value;

pub use device::Device;
pub use registry::{
    Override, PackedError, PackedFunc, Registry, RegistryError, global_func, register_func,
};
pub use value::{Closure, Value, ValueError};
