//! What a pass is, and how it is found by its name.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::context::Cx;
use super::{Options, PASSES, PassError};
use crate::ir::graph::AttrSpec;
use crate::ir::{Attrs, Module};

/// What a pass does: the module that it makes of one that is well formed.
type Run = dyn Fn(&Module, &Cx) -> Result<Module, PassError> + Send + Sync;

/// A pass over modules, with its options. Pipelines are lists of them.
#[derive(Clone)]
pub struct Pass {
    name: Cow<'static, str>,
    opt_level: u8,
    run: Arc<Run>,
}

impl Pass {
    /// A pass of one's own, which runs where the optimisation level is at least `opt_level`.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        opt_level: u8,
        run: impl Fn(&Module, &Cx) -> Result<Module, PassError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            opt_level,
            run: Arc::new(run),
        }
    }

    /// Its name, as in dumps, timings and file tests.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The least optimisation level at which it runs.
    pub fn opt_level(&self) -> u8 {
        self.opt_level
    }

    /// Applies it, whatever the optimisation level is.
    ///
    /// # Errors
    /// Those of the pass.
    pub(super) fn apply(&self, module: &Module, cx: &Cx) -> Result<Module, PassError> {
        (self.run)(module, cx)
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A row of [`PASSES`].
pub struct PassDef {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// The least optimisation level at which it runs.
    pub opt_level: u8,
    /// The options that it takes.
    pub options: &'static [AttrSpec],
    pub(super) run: fn(&Module, &Cx, &Options) -> Result<Module, PassError>,
}

/// The pass with this name, with its options as they are where nobody gives them. TVM's names find the same passes: `FuseOps`
/// is `fuse_ops`.
///
/// # Errors
/// If there is no such pass, or it has an option that must be given.
pub fn pass(name: &str) -> Result<Pass, PassError> {
    pass_with(name, Attrs::new())
}

/// The pass with this name and these options.
///
/// # Errors
/// If there is no such pass, or it does not take these options.
pub fn pass_with(name: &str, options: Attrs) -> Result<Pass, PassError> {
    let Some(def) = PASSES.iter().find(|def| same_name(def.name, name)) else {
        return Err(PassError::UnknownPass {
            name: name.to_owned(),
        });
    };
    let options = Options::new(def.name, def.options, options)?;
    let run = def.run;
    Ok(Pass::new(def.name, def.opt_level, move |module, cx| {
        run(module, cx, &options)
    }))
}

fn same_name(a: &str, b: &str) -> bool {
    let letters = |name: &str| -> Vec<u8> {
        let letters = name.bytes().filter(|&c| c != b'_');
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    letters(a) == letters(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::AttrValue;

    #[test]
    fn names_and_options_are_checked() {
        assert_eq!(
            pass("LegalizeOps").expect("there is").name(),
            "legalize_ops"
        );
        let message = |name, options| pass_with(name, options).expect_err("wrong").to_string();
        assert_eq!(message("fuse", Attrs::new()), "there is no pass `fuse`");
        let options = Attrs::from_iter([("x".to_owned(), AttrValue::Int(1))]);
        assert_eq!(
            message("specialize", options),
            "pass `specialize`: there is no `x`, only nothing"
        );
    }
}
