//! Prints the definitions of buffers.

use super::Printer;
use crate::ir::{Buffer, MatchBuffer, Scope};
use crate::script::print::{expr, value};
use crate::tensor::DType;

impl Printer<'_> {
    /// `A = T.match_buffer(a, ...)` of a parameter, after the dimensions that it defines.
    pub(super) fn match_param(&mut self, buffer: &Buffer, handle: &str) {
        let node = buffer.node();
        self.declare(
            node.shape
                .iter()
                .chain(&node.strides)
                .chain(&node.elem_offset),
        );
        let properties = self.properties(buffer);
        let name = self.namer.define_buffer(buffer);
        self.out
            .line(format!("{name} = T.match_buffer({handle}, {properties})"));
    }

    /// `A = T.match_buffer(B[...], ...)` in a block.
    pub(super) fn match_region(&mut self, view: &MatchBuffer) {
        let node = view.buffer.node();
        self.declare(
            node.shape
                .iter()
                .chain(&node.strides)
                .chain(&node.elem_offset),
        );
        let source = value::region(&mut self.namer, &view.source);
        let properties = self.properties(&view.buffer);
        let name = self.namer.define_buffer(&view.buffer);
        self.out
            .line(format!("{name} = T.match_buffer({source}, {properties})"));
    }

    /// `A = T.alloc_buffer(...)`
    pub(super) fn alloc_buffer(&mut self, buffer: &Buffer) {
        let properties = self.properties(buffer);
        let name = self.namer.define_buffer(buffer);
        self.out
            .line(format!("{name} = T.alloc_buffer({properties})"));
    }

    /// Shape, and what is not as usual of the rest.
    pub(super) fn properties(&mut self, buffer: &Buffer) -> String {
        let node = buffer.node();
        let mut text = expr::shape(&mut self.namer, &node.shape);
        if node.dtype != DType::F32 {
            text.push_str(&format!(", \"{}\"", node.dtype));
        }
        if !node.strides.is_empty() {
            let strides = expr::shape(&mut self.namer, &node.strides);
            text.push_str(&format!(", strides={strides}"));
        }
        if let Some(offset) = &node.elem_offset {
            let offset = self.expr(offset);
            text.push_str(&format!(", elem_offset={offset}"));
        }
        if node.scope != Scope::Global {
            text.push_str(&format!(", scope={}", value::string(node.scope.name())));
        }
        if let Some(layout) = &node.layout {
            let layout = self.layout(layout);
            text.push_str(&format!(", layout={layout}"));
        }
        match &node.address[..] {
            [] => {}
            [one] => {
                let address = self.expr(one);
                text.push_str(&format!(", allocated_addr={address}"));
            }
            many => {
                let address = expr::list(&mut self.namer, many);
                text.push_str(&format!(", allocated_addr=[{address}]"));
            }
        }
        let hints = &node.hints;
        if hints.align != 0 {
            text.push_str(&format!(", align={}", hints.align));
        }
        if hints.offset_factor != 0 {
            text.push_str(&format!(", offset_factor={}", hints.offset_factor));
        }
        if !hints.axis_separators.is_empty() {
            text.push_str(&format!(", axis_separators={:?}", hints.axis_separators));
        }
        if !hints.annotations.is_empty() {
            let annotations = value::dict(&mut self.namer, &hints.annotations);
            text.push_str(&format!(", annotations={annotations}"));
        }
        text
    }
}
