//! `with T.block(...)`: iter variables, predicate, regions, `T.init`.

use ruff_python_ast as ast;

use super::FuncParser;
use super::buffer::between;
use crate::arith::{Analyzer, access_regions};
use crate::ir::{
    Attrs, Buffer, BufferRegion, Expr, IterKind, IterVar, MatchBuffer, Range, Stmt, Var,
};
use crate::script::ScriptErrorKind;
use crate::script::parse::context::{Context, Parse, dotted};
use crate::script::parse::scope::{Binding, most_similar};

/// What was read of a block so far.
#[derive(Default)]
pub(super) struct BlockFrame {
    pub(super) iters: Vec<IterVar>,
    pub(super) bindings: Vec<Expr>,
    pub(super) predicate: Option<Expr>,
    pub(super) reads: Option<Vec<BufferRegion>>,
    pub(super) writes: Option<Vec<BufferRegion>>,
    pub(super) init: Option<Vec<Stmt>>,
    pub(super) alloc_buffers: Vec<Buffer>,
    pub(super) match_buffers: Vec<MatchBuffer>,
    pub(super) annotations: Attrs,
    /// Loops and branches of the block around the current statement.
    pub(super) nested: usize,
    /// Loops of the block around the current statement.
    pub(super) loops: usize,
}

impl FuncParser<'_, '_> {
    /// The innermost block around the current statement.
    pub(super) fn frame(&mut self) -> &mut BlockFrame {
        self.blocks.last_mut().expect("the root frame stays")
    }

    /// A `with` statement: a block, or the init of the block around.
    pub(super) fn with(&mut self, node: &ast::StmtWith) -> Parse<Vec<Stmt>> {
        let expected = "`with T.block(\"name\"):` or `with T.init():`";
        if let Some(stmts) = self.with_scopes(node)? {
            return Ok(stmts);
        }
        let [item] = &node.items[..] else {
            return Err(self.cx.expected(&node.items[1].context_expr, expected));
        };
        if let Some(vars) = &item.optional_vars {
            return Err(self.cx.unsupported(
                &**vars,
                "`as` of a block",
                "write `vi = T.axis.spatial(n, i)` in the block",
            ));
        }
        let ast::Expr::Call(call) = &item.context_expr else {
            return Err(self.cx.expected(&item.context_expr, expected));
        };
        match dotted(&call.func).as_deref() {
            Some(path @ ("T.block" | "T.sblock")) => {
                let [name, no_realize] = self.cx.bind(call, path, ["name", "no_realize"], 0)?;
                if let Some(flag) = no_realize
                    && self.cx.boolean(flag)?
                {
                    return Err(self.cx.unsupported(flag, "a block without bindings", ""));
                }
                let name = match name {
                    Some(name) => self.cx.string(name)?,
                    None => String::new(),
                };
                self.block(node, name)
            }
            Some("T.init") => {
                let [] = self.cx.bind(call, "T.init", [], 0)?;
                self.init(node)?;
                Ok(vec![])
            }
            _ => Err(self.cx.expected(&item.context_expr, expected)),
        }
    }

    fn block(&mut self, node: &ast::StmtWith, name: String) -> Parse<Vec<Stmt>> {
        let id = self.new_block(name);
        self.blocks.push(BlockFrame::default());
        self.cx.scopes.push();
        let body = self.body(&node.body);
        self.cx.scopes.pop();
        let frame = self.blocks.pop().expect("it was pushed above");
        self.func.tree.set_body(id, body);
        let block = &mut self.func.blocks[id];
        block.iters = frame.iters;
        block.bindings = frame.bindings;
        block.predicate = frame.predicate.unwrap_or_else(|| Expr::bool(true));
        block.init = frame.init;
        block.alloc_buffers = frame.alloc_buffers;
        block.match_buffers = frame.match_buffers;
        block.annotations = frame.annotations;
        let found = match (&frame.reads, &frame.writes) {
            (Some(_), Some(_)) => None,
            _ => Some(access_regions(&self.func, id)),
        };
        let (reads, writes) = found.map_or_else(Default::default, |f| (f.reads, f.writes));
        let block = &mut self.func.blocks[id];
        block.reads = frame.reads.unwrap_or(reads);
        block.writes = frame.writes.unwrap_or(writes);
        Ok(vec![Stmt::Block(id)])
    }

    fn init(&mut self, node: &ast::StmtWith) -> Parse<()> {
        self.directly_in_block(node, "`T.init`")?;
        if self.frame().init.is_some() {
            let name = "T.init".to_owned();
            return Err(self
                .cx
                .error(&node.items[0], ScriptErrorKind::Duplicate { name }));
        }
        let body = self.nested_body(&node.body);
        self.frame().init = Some(body);
        Ok(())
    }

    fn directly_in_block(
        &mut self,
        node: &impl ruff_text_size::Ranged,
        what: &'static str,
    ) -> Parse<()> {
        if self.blocks.len() > 1 && self.frame().nested == 0 {
            return Ok(());
        }
        Err(self
            .cx
            .unsupported(node, what, "it belongs directly into the body of a block"))
    }

    /// `vi = T.axis.spatial(n, i)` and `vi, vj = T.axis.remap("SR", [i, j])`.
    pub(super) fn axis(
        &mut self,
        target: &ast::Expr,
        call: &ast::ExprCall,
        path: &str,
    ) -> Parse<()> {
        self.directly_in_block(call, "`T.axis`")?;
        let kind = match path {
            "T.axis.spatial" | "T.axis.S" => IterKind::Spatial,
            "T.axis.reduce" | "T.axis.R" => IterKind::Reduce,
            "T.axis.scan" => IterKind::Scan,
            "T.axis.opaque" => IterKind::Opaque,
            "T.axis.remap" => return self.remap(target, call),
            _ => {
                let known = [
                    "T.axis.spatial",
                    "T.axis.reduce",
                    "T.axis.scan",
                    "T.axis.opaque",
                    "T.axis.remap",
                ];
                let similar = most_similar(path, known.into_iter());
                let name = path.to_owned();
                return Err(self.cx.error(
                    &*call.func,
                    ScriptErrorKind::UnknownFunction { name, similar },
                ));
            }
        };
        let [dom, value, _] = self.cx.bind(call, path, ["dom", "binding", "dtype"], 2)?;
        let (dom, value) = (dom.expect("required"), value.expect("required"));
        let dom = match dom {
            ast::Expr::Tuple(tuple) if tuple.len() == 2 => {
                let min = self.cx.integer_scalar(&tuple.elts[0])?;
                between(min, &self.cx.integer_scalar(&tuple.elts[1])?)
            }
            ast::Expr::Tuple(_) => {
                return Err(self
                    .cx
                    .expected(dom, "an extent, or a pair of first value and end"));
            }
            _ => between(Expr::i32(0), &self.cx.integer_scalar(dom)?),
        };
        let bound = self.cx.expr_as(value, dom.extent.dtype())?;
        let value = self.cx.check_integer_scalar(value, bound)?;
        self.iter_var(target, kind, with_extent_one(dom, &value), value)
    }

    fn remap(&mut self, target: &ast::Expr, call: &ast::ExprCall) -> Parse<()> {
        let [kinds_node, loops_node] =
            self.cx
                .bind_all(call, "T.axis.remap", ["kinds", "bindings"])?;
        let kinds = self.cx.string(kinds_node)?;
        let (names, loops) = (Context::elements(target), Context::elements(loops_node));
        if kinds.chars().count() != loops.len() {
            let kind = ScriptErrorKind::AxisCount {
                kinds: kinds.chars().count(),
                loops: loops.len(),
            };
            return Err(self.cx.error(call, kind));
        }
        if names.len() != loops.len() {
            let kind = ScriptErrorKind::Unpack {
                targets: names.len(),
                values: loops.len(),
            };
            return Err(self.cx.error(target, kind));
        }
        for ((name, letter), node) in names.iter().zip(kinds.chars()).zip(loops) {
            let kind = match letter {
                'S' => IterKind::Spatial,
                'R' => IterKind::Reduce,
                _ => {
                    return Err(self
                        .cx
                        .expected(kinds_node, "the letters `S` (spatial) and `R` (reduce)"));
                }
            };
            let value = self.cx.expr(node)?;
            let Some(range) = value.as_var().and_then(|var| self.loop_ranges.get(var)) else {
                return Err(self.cx.expected(node, "a loop variable"));
            };
            self.iter_var(name, kind, range.clone(), value)?;
        }
        Ok(())
    }

    fn iter_var(
        &mut self,
        target: &ast::Expr,
        kind: IterKind,
        dom: Range,
        value: Expr,
    ) -> Parse<()> {
        let ast::Expr::Name(name) = target else {
            return Err(self.cx.expected(target, "the name of an iter variable"));
        };
        if self
            .frame()
            .iters
            .iter()
            .any(|iter| iter.var.name() == name.id.as_str())
        {
            let name_text = name.id.to_string();
            return Err(self
                .cx
                .error(name, ScriptErrorKind::Duplicate { name: name_text }));
        }
        let var = Var::new(name.id.as_str(), value.dtype());
        self.cx
            .scopes
            .define(name.id.as_str(), Binding::Var(var.clone()));
        let frame = self.frame();
        frame.iters.push(IterVar { var, dom, kind });
        frame.bindings.push(value);
        Ok(())
    }

    /// `T.where`, `T.reads`, `T.writes` and `T.block_attr`; `false` if it is none of them.
    pub(super) fn block_statement(&mut self, call: &ast::ExprCall, path: &str) -> Parse<bool> {
        match path {
            "T.where" => {
                self.directly_in_block(call, "`T.where`")?;
                let [cond] = self.cx.bind_all(call, path, ["predicate"])?;
                let cond = self.cx.condition(cond)?;
                if self.frame().predicate.replace(cond).is_some() {
                    return Err(self.repeated(call, path));
                }
            }
            "T.reads" | "T.writes" => {
                self.directly_in_block(call, "a region")?;
                let mut nodes = self.cx.positional(call, path)?;
                if let [ast::Expr::List(list)] = nodes {
                    nodes = &list.elts;
                }
                let regions = nodes
                    .iter()
                    .map(|node| self.cx.region(node))
                    .collect::<Parse<_>>()?;
                let frame = self.frame();
                let slot = if path == "T.reads" {
                    &mut frame.reads
                } else {
                    &mut frame.writes
                };
                if slot.replace(regions).is_some() {
                    return Err(self.repeated(call, path));
                }
            }
            "T.block_attr" | "T.sblock_attr" => {
                self.directly_in_block(call, "`T.block_attr`")?;
                let [attrs] = self.cx.bind_all(call, path, ["attrs"])?;
                let attrs = self.cx.attrs(attrs)?;
                self.frame().annotations.extend(attrs);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn repeated(
        &mut self,
        call: &ast::ExprCall,
        path: &str,
    ) -> crate::script::parse::context::Reported {
        let name = path.to_owned();
        self.cx.error(call, ScriptErrorKind::Duplicate { name })
    }
}

/// TVM writes some axes of one iteration with the end 1 where the extent 1 is meant: `T.axis.spatial((v, v + (1 - v)), v)`.
fn with_extent_one(dom: Range, value: &Expr) -> Range {
    let end = Analyzer::new().simplify(&(dom.min.clone() + dom.extent.clone()));
    if dom.min.as_int().is_none() && dom.min == *value && end.is_one() {
        let extent = Expr::constant(1, dom.extent.dtype());
        return Range { extent, ..dom };
    }
    dom
}
