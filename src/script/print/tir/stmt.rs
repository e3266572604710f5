//! Prints loops and plain statements.

use super::Printer;
use crate::ir::attrs::{HINT_KEY, HINT_TEXT};
use crate::ir::{
    AttrValue, Attrs, Expr, ExprKind, External, Loop, LoopId, LoopKind, Place, Stmt, Var,
};
use crate::script::print::{expr, value};
use crate::tensor::DType;

/// Variables for all dimensions of a place in the launch: one statement of the text.
struct LaunchPlace<'s> {
    place: External,
    dtype: DType,
    vars: Vec<&'s Var>,
    extents: &'s [Expr],
    preferred: &'s [Expr],
    body: &'s [Stmt],
}

impl<'s> LaunchPlace<'s> {
    /// What the statement and those inside of it say together; `None` if they do not belong together.
    fn of(stmt: &'s Stmt) -> Option<Self> {
        let Stmt::Let { var, value, body } = stmt else {
            return None;
        };
        let ExprKind::External(place, args) = value.kind() else {
            return None;
        };
        let [first, count, sizes @ ..] = &args[..] else {
            return None;
        };
        let count = usize::try_from(count.as_int()?).ok()?;
        if !place.is_launch_place() || !first.is_zero() || count > sizes.len() {
            return None;
        }
        let (extents, preferred) = sizes.split_at(count);
        let mut whole = Self {
            place: *place,
            dtype: value.dtype(),
            vars: vec![var],
            extents,
            preferred,
            body,
        };
        for dim in 1..count {
            let [Stmt::Let { var, value, body }] = whole.body else {
                return None;
            };
            let ExprKind::External(of, args) = value.kind() else {
                return None;
            };
            let same = of == place && args.get(2..) == Some(sizes);
            if !same || args[0].as_int() != i64::try_from(dim).ok() {
                return None;
            }
            whole.vars.push(var);
            whole.body = body;
        }
        Some(whole)
    }
}

impl Printer<'_> {
    /// A sequence of statements.
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        for (at, stmt) in stmts.iter().enumerate() {
            match stmt {
                Stmt::Let {
                    var: _,
                    value: _,
                    body: _,
                } if at + 1 == stmts.len()
                    && let Some(place) = LaunchPlace::of(stmt) =>
                {
                    self.launch_place(&place);
                    self.stmts(place.body);
                }
                Stmt::Let { var, value, body } => {
                    let value = self.expr(value);
                    let name = self.namer.define_var(var);
                    if at + 1 == stmts.len() {
                        self.out
                            .line(format!("{name}: T.{} = {value}", var.dtype()));
                        self.stmts(body);
                    } else {
                        self.out.line(format!("with T.LetStmt({value}) as {name}:"));
                        self.nested(body);
                    }
                }
                Stmt::View {
                    buffer,
                    memory,
                    body,
                } => {
                    let memory = self.expr(memory);
                    let properties = self.properties(buffer);
                    let name = self.namer.define_buffer(buffer);
                    let view = format!("T.decl_buffer({properties}, data={memory})");
                    if at + 1 == stmts.len() {
                        self.out.line(format!("{name} = {view}"));
                        self.stmts(body);
                    } else {
                        self.out.line(format!("with {view} as {name}:"));
                        self.nested(body);
                    }
                }
                Stmt::Attr {
                    node,
                    key,
                    value,
                    body,
                } => {
                    let header = self.remark(node, key, value);
                    self.out.line(format!("with {header}:"));
                    self.nested(body);
                }
                Stmt::Tile(op) => {
                    let args = value::arguments(&mut self.namer, &op.args, &op.attrs);
                    self.out.line(format!("{op}({args})"));
                }
                Stmt::Break => self.out.line("break"),
                Stmt::Continue => self.out.line("continue"),
                Stmt::Return(None) => self.out.line("return"),
                Stmt::Return(Some(value)) => {
                    let value = self.expr(value);
                    self.out.line(format!("return {value}"));
                }
                Stmt::Loop(id) => self.loop_nest(*id),
                Stmt::Block(id) => self.block(*id),
                Stmt::Store {
                    buffer,
                    indices,
                    value,
                } => {
                    let value = self.expr(value);
                    let indices = expr::indices(&mut self.namer, indices);
                    let name = self.namer.buffer(buffer);
                    self.out.line(format!("{name}[{indices}] = {value}"));
                }
                Stmt::If {
                    cond,
                    then,
                    otherwise,
                } => {
                    let cond = self.expr(cond);
                    self.out.line(format!("if {cond}:"));
                    self.nested(then);
                    self.otherwise(otherwise);
                }
                Stmt::While { cond, body } => {
                    let cond = self.expr(cond);
                    self.out.line(format!("while {cond}:"));
                    self.nested(body);
                }
                Stmt::Assert { cond, message } => {
                    let cond = self.expr(cond);
                    self.out
                        .line(format!("assert {cond}, {}", value::string(message)));
                }
                Stmt::Evaluate(e) => {
                    let text = self.expr(e);
                    self.out.line(match e.as_assumption() {
                        Some(_) => text,
                        None => format!("T.evaluate({text})"),
                    });
                }
            }
        }
    }

    /// `T.attr(node, key, value)`, or `T.hint("text", key=value)` for a hint.
    fn remark(&mut self, node: &AttrValue, key: &str, value: &AttrValue) -> String {
        if let (AttrValue::Dict(hint), HINT_KEY, AttrValue::Int(1)) = (node, key, value) {
            let (text, attrs): (Attrs, Attrs) =
                (hint.clone().into_iter()).partition(|(key, _)| key == HINT_TEXT);
            let args = value::arguments(&mut self.namer, text.values(), &attrs);
            return format!("T.hint({args})");
        }
        let node = value::value(&mut self.namer, node);
        let value = value::value(&mut self.namer, value);
        format!("T.attr({node}, {}, {value})", value::string(key))
    }

    /// `bx, by = T.cta_id([2, 4])`
    fn launch_place(&mut self, place: &LaunchPlace<'_>) {
        let mut args = Vec::new();
        if !place.extents.is_empty() {
            args.push(format!("[{}]", expr::list(&mut self.namer, place.extents)));
        }
        if !place.preferred.is_empty() {
            let preferred = expr::list(&mut self.namer, place.preferred);
            args.push(format!("preferred=[{preferred}]"));
        }
        if place.dtype != DType::I32 {
            args.push(format!("dtype=\"{}\"", place.dtype));
        }
        let vars = place.vars.iter();
        let names: Vec<String> = vars.map(|var| self.namer.define_var(var)).collect();
        let (names, args) = (names.join(", "), args.join(", "));
        self.out
            .line(format!("{names} = T.{}({args})", place.place.name()));
    }

    /// The other side of an `if`: nothing, `elif` for a lone `if`, or `else`.
    fn otherwise(&mut self, stmts: &[Stmt]) {
        match stmts {
            [] => {}
            [
                Stmt::If {
                    cond,
                    then,
                    otherwise,
                },
            ] => {
                let cond = self.expr(cond);
                self.out.line(format!("elif {cond}:"));
                self.nested(then);
                self.otherwise(otherwise);
            }
            _ => {
                self.out.line("else:");
                self.nested(stmts);
            }
        }
    }

    /// Statements one level deeper, with names of their own.
    pub(super) fn nested(&mut self, stmts: &[Stmt]) {
        self.out.indent();
        self.namer.push();
        self.stmts(stmts);
        if stmts.is_empty() {
            self.out.line("pass");
        }
        self.namer.pop();
        self.out.dedent();
    }

    /// A loop, with the loops directly inside of it that `T.grid` can hold.
    fn loop_nest(&mut self, id: LoopId) {
        if self.func.loops.get(id).is_none() {
            return self.removed(id.into());
        }
        let nest = self.grid(id);
        let start = self.out.next_line_start();
        self.namer.push();
        let loops: Vec<&Loop> = nest.iter().map(|id| &self.func.loops[*id]).collect();
        // The extents come first: they must not see the names that the loops define.
        let iter = match &loops[..] {
            [one] => self.iter(one),
            many => format!(
                "T.grid({})",
                expr::list(&mut self.namer, many.iter().map(|l| &l.extent))
            ),
        };
        let names: Vec<String> = loops
            .iter()
            .map(|l| self.namer.define_var(&l.var))
            .collect();
        self.out
            .line(format!("for {} in {iter}:", names.join(", ")));
        let innermost = nest.last().expect("the nest holds at least the loop");
        self.nested(self.func.tree.body(*innermost));
        self.namer.pop();
        let span = start..self.out.last_line_end();
        for id in nest {
            self.spans.insert(id.into(), span.clone());
        }
    }

    /// A loop or block that was removed and is in a body all the same: an ill-formed function prints, too.
    pub(super) fn removed(&mut self, place: Place) {
        let start = self.out.next_line_start();
        self.out.line(format!("pass  # {place} was removed"));
        self.spans.insert(place, start..self.out.last_line_end());
    }

    /// The loop and those directly inside, as far as all are serial, start at 0, and do not depend on each other.
    fn grid(&self, id: LoopId) -> Vec<LoopId> {
        let mut nest = vec![id];
        let plain =
            |l: &Loop| l.kind == LoopKind::Serial && l.min.is_zero() && l.annotations.is_empty();
        if !plain(&self.func.loops[id]) {
            return nest;
        }
        let mut at = id;
        while let [Stmt::Loop(inner)] = self.func.tree.body(at) {
            let Some(l) = self.func.loops.get(*inner) else {
                break;
            };
            let depends = nest
                .iter()
                .any(|outer| l.extent.uses(&self.func.loops[*outer].var));
            if !plain(l) || depends {
                break;
            }
            nest.push(*inner);
            at = *inner;
        }
        nest
    }

    /// What a single loop runs over.
    fn iter(&mut self, l: &Loop) -> String {
        let function = match l.kind {
            LoopKind::Serial if l.annotations.is_empty() => "range",
            LoopKind::Serial => "T.serial",
            LoopKind::Parallel => "T.parallel",
            LoopKind::Vectorized => "T.vectorized",
            LoopKind::Unrolled => "T.unroll",
            LoopKind::ThreadBinding(_) => "T.thread_binding",
        };
        let mut args = if l.min.is_zero() {
            self.expr(&l.extent)
        } else {
            let end = expr::end_of(&l.min, &l.extent);
            format!("{}, {}", self.expr(&l.min), self.expr(&end))
        };
        if let LoopKind::ThreadBinding(axis) = l.kind {
            args.push_str(&format!(", thread=\"{}\"", axis.name()));
        }
        if !l.annotations.is_empty() {
            let attrs = value::dict(&mut self.namer, &l.annotations);
            args.push_str(&format!(", annotations={attrs}"));
        }
        format!("{function}({args})")
    }
}
