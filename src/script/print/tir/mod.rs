//! Prints the loop dialect (`T`).

mod block;
mod buffer;
mod layout;
mod stmt;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::namer::Namer;
use super::value;
use super::writer::Writer;
use crate::ir::{Block, BlockId, Buffer, Expr, Param, Place, PrimFunc, Stmt, Var};

/// A loop program; gives the bytes of each loop and block.
pub(super) fn print(out: &mut Writer, func: &PrimFunc) -> HashMap<Place, Range<usize>> {
    let mut printer = Printer {
        out,
        func,
        namer: Namer::default(),
        spans: HashMap::new(),
    };
    printer.function();
    printer.spans
}

struct Printer<'p> {
    out: &'p mut Writer,
    func: &'p PrimFunc,
    namer: Namer,
    spans: HashMap<Place, Range<usize>>,
}

impl Printer<'_> {
    fn function(&mut self) {
        let func = self.func;
        self.namer.push();
        self.out.line(if func.private {
            "@T.prim_func(private=True)"
        } else {
            "@T.prim_func"
        });
        let params: Vec<(String, Option<String>)> =
            func.params.iter().map(|p| self.param(p)).collect();
        let list: Vec<&str> = params.iter().map(|(param, _)| param.as_str()).collect();
        let ret = func.ret.map_or(String::new(), |ret| format!(" -> T.{ret}"));
        self.out
            .line(format!("def {}({}){ret}:", func.name, list.join(", ")));
        self.out.indent();
        if !func.attrs.is_empty() {
            let attrs = value::dict(&mut self.namer, &func.attrs);
            self.out.line(format!("T.func_attr({attrs})"));
        }
        for (param, (_, handle)) in func.params.iter().zip(&params) {
            if let (Param::Buffer { handle: _, buffer }, Some(handle)) = (param, handle) {
                self.match_param(buffer, handle);
            }
        }
        let free = free_vars(func);
        self.declare(&free);
        self.root();
        self.out.dedent();
        self.namer.pop();
    }

    /// A parameter with its type and, if its buffer is matched in the body, the name of its handle.
    fn param(&mut self, param: &Param) -> (String, Option<String>) {
        match param {
            Param::Scalar(var) => {
                let name = self.namer.define_var(var);
                (format!("{name}: T.{}", var.dtype()), None)
            }
            Param::Buffer { handle: _, buffer } if is_simple(buffer) => {
                let name = self.namer.define_buffer(buffer);
                let shape = super::expr::shape(&mut self.namer, buffer.shape());
                (
                    format!("{name}: T.Buffer({shape}, \"{}\")", buffer.dtype()),
                    None,
                )
            }
            Param::Buffer { handle, buffer } => {
                let name = if handle.name() == buffer.name() {
                    self.namer.fresh(&format!("var_{}", handle.name()))
                } else {
                    self.namer.define_var(handle)
                };
                (format!("{name}: T.handle"), Some(name))
            }
        }
    }

    /// The root block: a comment, unless it says more than its allocated buffers.
    fn root(&mut self) {
        let root = self.func.root;
        let block = &self.func.blocks[root];
        let start = self.out.next_line_start();
        if is_plain_root(block) {
            self.out.line("# with T.block(\"root\"):");
            for buffer in &block.alloc_buffers {
                self.alloc_buffer(buffer);
            }
            let body = self.func.tree.body(root);
            self.stmts(body);
            if body.is_empty() {
                self.out.line("pass");
            }
            self.spans
                .insert(root.into(), start..self.out.last_line_end());
        } else {
            self.block(root);
        }
    }

    fn expr(&mut self, e: &Expr) -> String {
        super::expr::expr(&mut self.namer, e)
    }

    /// Declares the variables that occur in the expressions and were not defined: dimensions that a buffer brings with it.
    fn declare<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        let mut new: Vec<Var> = vec![];
        for var in exprs.into_iter().flat_map(Expr::free_vars) {
            if !self.namer.knows_var(&var) && !new.contains(&var) {
                new.push(var);
            }
        }
        if new.is_empty() {
            return;
        }
        let names: Vec<String> = new.iter().map(|var| self.namer.define_var(var)).collect();
        let types: Vec<String> = new
            .iter()
            .map(|var| format!("T.{}()", var.dtype()))
            .collect();
        self.out
            .line(format!("{} = {}", names.join(", "), types.join(", ")));
    }
}

/// The variables that the function uses and does not define: an ill-formed one prints, too.
fn free_vars(func: &PrimFunc) -> Vec<Expr> {
    fn visit<'f>(func: &'f PrimFunc, stmts: &'f [Stmt], vars: &mut Vars<'f>) {
        for stmt in stmts {
            match stmt {
                Stmt::Loop(id) => {
                    let Some(l) = func.loops.get(*id) else {
                        continue;
                    };
                    vars.defined.insert(&l.var);
                    vars.used.extend([&l.min, &l.extent]);
                    visit(func, func.tree.body(*id), vars);
                }
                Stmt::Block(id) => block(func, *id, vars),
                other => {
                    if let Stmt::Let { var, .. } = other {
                        vars.defined.insert(var);
                    }
                    vars.used.extend(other.exprs());
                    for body in other.nested() {
                        visit(func, body, vars);
                    }
                }
            }
        }
    }
    fn block<'f>(func: &'f PrimFunc, id: BlockId, vars: &mut Vars<'f>) {
        let Some(block) = func.blocks.get(id) else {
            return;
        };
        vars.defined
            .extend(block.iters.iter().map(|iter| &iter.var));
        for view in &block.match_buffers {
            let node = view.buffer.node();
            let exprs = node
                .shape
                .iter()
                .chain(&node.strides)
                .chain(&node.elem_offset);
            vars.defined.extend(exprs.filter_map(Expr::as_var));
        }
        for buffer in &block.alloc_buffers {
            vars.used.extend(buffer.shape());
        }
        vars.used.extend(&block.bindings);
        vars.used.push(&block.predicate);
        visit(func, block.init.as_deref().unwrap_or_default(), vars);
        visit(func, func.tree.body(id), vars);
    }
    let mut vars = Vars::default();
    block(func, func.root, &mut vars);
    let mut free: Vec<Expr> = vec![];
    for var in vars.used.into_iter().flat_map(Expr::free_vars) {
        if !vars.defined.contains(&var) && !free.iter().any(|e| e.as_var() == Some(&var)) {
            free.push(var.expr());
        }
    }
    free
}

/// Variables that a function defines, and expressions that use some.
#[derive(Default)]
struct Vars<'f> {
    defined: HashSet<&'f Var>,
    used: Vec<&'f Expr>,
}

/// Whether the buffer can be written as the type of a parameter: everything about it is constant and usual.
fn is_simple(buffer: &Buffer) -> bool {
    let node = buffer.node();
    node.shape.iter().all(|dim| dim.as_int().is_some())
        && node.strides.is_empty()
        && node.elem_offset.is_none()
        && node.layout.is_none()
        && node.address.is_empty()
        && node.scope == crate::ir::Scope::Global
        && node.hints == crate::ir::BufferHints::default()
}

fn is_plain_root(block: &Block) -> bool {
    block.iters.is_empty()
        && block.predicate.as_bool() == Some(true)
        && block.reads.is_empty()
        && block.writes.is_empty()
        && block.init.is_none()
        && block.match_buffers.is_empty()
        && block.annotations.is_empty()
        && block.name == "root"
}
