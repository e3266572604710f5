//! Prints TVMScript: one canonical form, TVM's with `T.block`.

mod namer;
mod relax;
mod tir;
mod value;
mod writer;

use std::collections::HashMap;
use std::ops::Range;

use crate::ir::graph::{GraphError, Part};
use crate::ir::text as expr;
use crate::ir::{Func, Located, Module, Place, PrimFunc};
use crate::support::diag::{Diagnostic, Span};
use writer::Writer;

/// What is printed beyond the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// The constants that the program refers to, whole. Without them, if there are any, the text can be read and checked, not
    /// run.
    pub show_meta: bool,
}

/// A printed loop program.
#[derive(Clone, Debug)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// Bytes of each loop and block, from the start of its header to the end of its body. Loops that one `T.grid` holds share
    /// its header; the root block is the whole body.
    pub spans: HashMap<Place, Range<usize>>,
}

impl Printed {
    /// An error about loops and blocks of this function: the first one is the error, the others explain it.
    pub fn diagnostic(&self, func: &PrimFunc, error: &impl Located) -> Diagnostic {
        point_at(&self.spans, func, error)
    }

    /// The error as text, with the loops and blocks underlined.
    pub fn render(&self, func: &PrimFunc, error: &impl Located) -> String {
        self.diagnostic(func, error).render(&func.name, &self.text)
    }
}

/// An error about loops and blocks of a function that are at these places.
fn point_at(
    spans: &HashMap<Place, Range<usize>>,
    func: &PrimFunc,
    error: &impl Located,
) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(error.to_string());
    for (at, place) in error.places().iter().enumerate() {
        let Some(span) = spans.get(place) else {
            continue;
        };
        let name = match *place {
            Place::Loop(id) => func
                .loops
                .get(id)
                .map(|l| format!("loop `{}`", l.var.name())),
            Place::Block(id) => func.blocks.get(id).map(|b| format!("block \"{}\"", b.name)),
        };
        let name = name.unwrap_or_default();
        diagnostic = if at == 0 {
            diagnostic.at(span.clone(), name)
        } else {
            diagnostic.context(span.clone(), name)
        };
    }
    diagnostic
}

/// A printed module.
#[derive(Clone, Debug)]
pub struct PrintedModule {
    /// The text.
    pub text: String,
    /// Bytes of each loop and block of the loop programs, by the name of the program; see [`Printed::spans`].
    prim_funcs: HashMap<String, HashMap<Place, Range<usize>>>,
    /// Bytes of the parts of graph functions.
    graph: relax::Spans,
    /// What comes above the module, which the bytes do not count.
    header: usize,
}

impl PrintedModule {
    /// An error about a loop program of the module, with its loops and blocks.
    pub fn prim_func_diagnostic(&self, func: &PrimFunc, error: &impl Located) -> Diagnostic {
        let none = HashMap::new();
        let spans = self.prim_funcs.get(&func.name).unwrap_or(&none);
        let mut diagnostic = point_at(spans, func, error);
        for label in &mut diagnostic.labels {
            label.span = self.in_text(&(label.span.start..label.span.end));
        }
        diagnostic
    }

    /// An error about a graph function: the part that is wrong, below the head of the function.
    pub fn graph_diagnostic(&self, error: &GraphError) -> Diagnostic {
        let diagnostic = Diagnostic::error(error.to_string());
        let value = error.value.as_ref().map(|(id, _)| *id);
        let find = |value, part| self.graph.get(&(error.func.clone(), value, part));
        let head = find(None, Part::Definition);
        let part = find(value, error.part).or_else(|| find(value, Part::Definition));
        let diagnostic = match part.or(head) {
            Some(span) => diagnostic.at(self.in_text(span), ""),
            None => diagnostic,
        };
        match head {
            Some(span) if part.is_some_and(|part| !span.contains(&part.start)) => {
                diagnostic.context(self.in_text(span), "in this function")
            }
            _ => diagnostic,
        }
    }

    fn in_text(&self, span: &Range<usize>) -> Span {
        (self.header + span.start..self.header + span.end).into()
    }
}

/// The module as text, constants omitted.
pub fn print(module: &Module) -> String {
    print_with(module, &PrintOptions::default())
}

/// The module as text.
pub fn print_with(module: &Module, options: &PrintOptions) -> String {
    print_module(module, options).text
}

/// The module as text, with the places of what it holds.
pub fn print_module(module: &Module, options: &PrintOptions) -> PrintedModule {
    let mut body = Writer::default();
    body.line("@I.ir_module");
    body.line("class Module:");
    body.indent();
    let mut constants = relax::Constants::of(module);
    relax::module_header(&mut body, module);
    relax::externs(&mut body, module);
    let (mut prim_funcs, mut graph) = (HashMap::new(), relax::Spans::new());
    for (at, (name, func)) in in_print_order(module).into_iter().enumerate() {
        if at > 0 {
            body.blank();
        }
        match func {
            Func::Prim(func) => {
                prim_funcs.insert(name.clone(), tir::print(&mut body, func));
            }
            Func::Graph(func) => relax::print(
                &mut body,
                name,
                func,
                &module.vdevices,
                &mut constants,
                &mut graph,
            ),
        }
    }
    if module.funcs.is_empty() && module.externs.is_empty() {
        body.line("pass");
    }
    let mut text = header(module);
    text.push_str(&relax::metadata(&constants, options));
    let header = text.len();
    text.push_str(&body.finish());
    text.push_str(relax::trailer(&constants, options));
    PrintedModule {
        text,
        prim_funcs,
        graph,
        header,
    }
}

/// Loop programs first, then graph functions, each by name, as TVM does.
fn in_print_order(module: &Module) -> Vec<(&String, &Func)> {
    let mut funcs: Vec<_> = module.funcs.iter().collect();
    funcs.sort_by_key(|(name, func)| (matches!(func, Func::Graph(_)), *name));
    funcs
}

/// The imports that make the text valid Python.
fn header(module: &Module) -> String {
    let mut text = "# from tvm.script import ir as I\n".to_owned();
    // Graph functions declare their symbolic dimensions by `T.int64()`.
    let symbolic = module
        .functions()
        .any(|(_, f)| !f.symbolic_vars().is_empty());
    if symbolic || module.prim_funcs().next().is_some() {
        text.push_str("# from tvm.script import tir as T\n");
    }
    if module.functions().next().is_some() || !module.externs.is_empty() {
        text.push_str("# from tvm.script import relax as R\n");
    }
    text.push('\n');
    text
}

/// A loop program on its own, with the place of each loop and block.
pub fn print_prim_func(func: &PrimFunc) -> Printed {
    let mut out = Writer::default();
    out.line("# from tvm.script import tir as T");
    out.blank();
    let spans = tir::print(&mut out, func);
    Printed {
        text: out.finish(),
        spans,
    }
}
