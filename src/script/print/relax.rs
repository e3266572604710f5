//! Prints the graph dialect (`R`).

use super::PrintOptions;
use super::writer::Writer;
use crate::ir::{Module, graph};
use crate::tensor::Tensor;

/// The tensors that the printed functions refer to, in order.
#[derive(Debug, Default)]
pub(super) struct Constants(Vec<Tensor>);

/// Attributes and devices of the module.
pub(super) fn module_header(_out: &mut Writer, _module: &Module) {}

/// A graph function.
pub(super) fn print(
    out: &mut Writer,
    func: &graph::Function,
    _module: &Module,
    _constants: &mut Constants,
) {
    out.line(format!("# {}", func.name));
}

/// The constants as a statement above the module, if they are to be shown.
pub(super) fn metadata(constants: &Constants, _options: &PrintOptions) -> String {
    constants.0.iter().map(|_| String::new()).collect()
}

/// What is said below the module if the constants are not shown.
pub(super) fn trailer(_constants: &Constants, _options: &PrintOptions) -> &'static str {
    ""
}
