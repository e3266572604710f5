//! Passes over modules and graph functions.
//!
//! A [`Pass`] has a name and takes a module to a module; [`PASSES`] lists them, pipelines pick from it by name. What needs more
//! than a module and its target is a function of its own, as [`bind_params`].

mod bind_params;
mod error;
mod legalize_ops;
mod pass;
mod remove_unused_functions;
mod specialize;

pub use bind_params::bind_params;
pub use error::PassError;
pub use pass::{Cx, PASSES, Pass, pass};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Module;
    use crate::kernel::{GpuTarget, Target};

    /// The module after passes.
    pub(super) fn run_passes(module: &Module, names: &[&str]) -> Module {
        let cx = Cx::new(module, &Target::Gpu(GpuTarget::default()));
        names.iter().fold(module.clone(), |module, name| {
            let pass = pass(name).expect("a pass with this name");
            (pass.run)(&module, &cx).expect("it applies")
        })
    }

    #[test]
    fn passes_stand_in_the_order_of_their_names() {
        assert!(PASSES.is_sorted_by(|a, b| a.name < b.name));
    }
}
