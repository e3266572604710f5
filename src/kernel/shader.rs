//! A kernel as WGSL: what the code generator writes, artifacts store and the runtime dispatches.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Access;

/// How the scalars of a kernel reach its shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ScalarPassing {
    /// There are none.
    None,
    /// As immediates (push constants).
    Immediates,
    /// In a uniform buffer at this binding of group 0.
    Uniform {
        /// The binding.
        binding: u32,
    },
}

/// A compute shader.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shader {
    /// The WGSL text.
    pub text: String,
    /// Name of the entry point.
    pub entry: String,
    /// How it takes its scalars, four bytes each: those of the kernel in order, as `i32`, `u32` or `f32` after the type of
    /// their variables; then, if it is folded, the three extents of the true grid, as `u32`.
    pub passing: ScalarPassing,
    /// Whether it must be dispatched with [`folded_grid`](super::folded_grid).
    pub folded: bool,
    /// Whether the text is a translation of the kernel, so that bounds shown of the kernel hold for the text. A file may have any text for a kernel.
    pub is_translation: bool,
}

/// How the text of a shader declares a storage buffer, up to its name.
pub fn declared(binding: u32, access: Access) -> String {
    let mode = match access {
        Access::Read => "read",
        Access::Write | Access::ReadWrite => "read_write",
    };
    format!("@group(0) @binding({binding}) var<storage, {mode}> ")
}

/// The text of a shader that declares these of its `read` bindings `read_write`: WebGPU refuses a buffer that a dispatch binds
/// both ways, also where the parts that are bound have nothing in common.
pub fn with_shared<'t>(text: &'t str, shared: &[u32]) -> Cow<'t, str> {
    shared.iter().fold(Cow::Borrowed(text), |text, &binding| {
        let read = declared(binding, Access::Read);
        let both = declared(binding, Access::ReadWrite);
        Cow::Owned(text.replacen(&read, &both, 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shared_bindings_change() {
        let text: String = [(0, "x"), (1, "y"), (11, "z")]
            .map(|(binding, name)| {
                format!("{}{name}: array<f32>;\n", declared(binding, Access::Read))
            })
            .concat();
        let modes = |shared: &[u32]| {
            let text = with_shared(&text, shared);
            let modes = text.lines().map(|line| line.contains("read_write"));
            modes.collect::<Vec<bool>>()
        };
        assert_eq!(modes(&[]), [false; 3]);
        assert_eq!(modes(&[1]), [false, true, false]);
        assert_eq!(modes(&[0, 11]), [true, false, true]);
    }
}
