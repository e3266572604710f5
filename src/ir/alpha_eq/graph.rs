//! Graph functions.
//!
//! Names of values and of nested functions do not matter, nor how plain bindings are cut into blocks; dataflow blocks do.

use std::collections::HashMap;

use super::{Alpha, AlphaEq};
use crate::ir::graph::{Arg, BindingBlock, Body, Callee, Def, Function, ValueId};

pub(super) fn compare(a: &Function, b: &Function) -> AlphaEq {
    let mut pair = Pair {
        alpha: Alpha::default(),
        frames: vec![],
    };
    pair.function(a, b)
}

/// Two functions under comparison, after those around them.
struct Pair<'f> {
    alpha: Alpha,
    frames: Vec<Frame<'f>>,
}

struct Frame<'f> {
    a: &'f Function,
    b: &'f Function,
    /// The value of `b` for each value of `a`.
    values: HashMap<ValueId, ValueId>,
}

impl<'f> Pair<'f> {
    fn frame(&mut self) -> &mut Frame<'f> {
        self.frames
            .last_mut()
            .expect("functions are being compared")
    }

    fn function(&mut self, a: &'f Function, b: &'f Function) -> AlphaEq {
        let count = (a.params.len(), b.params.len());
        self.alpha
            .same("number of parameters", &count.0, &count.1)?;
        self.frames.push(Frame {
            a,
            b,
            values: HashMap::new(),
        });
        for (x, y) in a.params.iter().zip(&b.params) {
            self.frame().values.insert(*x, *y);
            let (x, y) = (&a.values[*x], &b.values[*y]);
            self.alpha
                .sinfo(&format!("parameter {}", x.name), &x.sinfo, &y.sinfo)?;
        }
        self.alpha.same("pure", &a.pure, &b.pure)?;
        self.alpha.same("private", &a.private, &b.private)?;
        self.alpha.attrs(&a.attrs, &b.attrs)?;
        self.body(&a.body, &b.body)?;
        self.alpha.sinfo("result", &a.ret, &b.ret)?;
        self.frames.pop();
        Ok(())
    }

    fn body(&mut self, a: &'f Body, b: &'f Body) -> AlphaEq {
        let (xs, ys) = (merged(&a.blocks), merged(&b.blocks));
        self.alpha.same("number of blocks", &xs.len(), &ys.len())?;
        for (x, y) in xs.iter().zip(&ys) {
            let dataflow = (x.dataflow.is_some(), y.dataflow.is_some());
            self.alpha.same("dataflow", &dataflow.0, &dataflow.1)?;
            let count = (x.bindings.len(), y.bindings.len());
            self.alpha.same("number of bindings", &count.0, &count.1)?;
            for (x, y) in x.bindings.iter().zip(&y.bindings) {
                self.binding(*x, *y)?;
            }
            // In the order of their bindings: that in which they are named means nothing.
            let outputs = |block: &BindingBlock| -> Vec<ValueId> {
                let named = block.dataflow.as_deref().unwrap_or_default();
                let bound = block.bindings.iter();
                bound.filter(|id| named.contains(id)).copied().collect()
            };
            let (xs, ys) = (outputs(x), outputs(y));
            self.alpha.same("number of outputs", &xs.len(), &ys.len())?;
            for (x, y) in xs.iter().zip(&ys) {
                self.value("output", 0, *x, *y)?;
            }
        }
        self.arg("result", &a.result, &b.result)
    }

    fn binding(&mut self, x: ValueId, y: ValueId) -> AlphaEq {
        let (a, b) = {
            let frame = self.frame();
            (frame.a, frame.b)
        };
        let (Some(left), Some(right)) = (a.values.get(x), b.values.get(y)) else {
            return self.alpha.fail("binding", &x, &y);
        };
        self.alpha.path.push(format!("value {}", left.name));
        // A closure may use itself.
        self.frame().values.insert(x, y);
        self.def(&left.def, &right.def)?;
        self.alpha.sinfo("type", &left.sinfo, &right.sinfo)?;
        self.alpha.path.pop();
        Ok(())
    }

    fn def(&mut self, a: &'f Def, b: &'f Def) -> AlphaEq {
        match (a, b) {
            (Def::Param, Def::Param) => Ok(()),
            (Def::Arg(x), Def::Arg(y)) => self.arg("value", x, y),
            (Def::TupleItem(x, i), Def::TupleItem(y, j)) => {
                self.arg("tuple", x, y)?;
                self.alpha.same("index", i, j)
            }
            (Def::MatchCast(x, s), Def::MatchCast(y, t)) => {
                self.arg("value", x, y)?;
                self.alpha.sinfo("match_cast", s, t)
            }
            (
                Def::CallDps {
                    callee: f,
                    args: xs,
                    tir_vars: vs,
                    inplace: i,
                    out: s,
                },
                Def::CallDps {
                    callee: g,
                    args: ys,
                    tir_vars: ws,
                    inplace: j,
                    out: t,
                },
            ) => {
                self.alpha.same("callee", f, g)?;
                self.args(xs, ys)?;
                self.alpha.exprs("tir_vars", vs, ws)?;
                self.alpha.same("inplace_indices", i, j)?;
                self.alpha.sinfo("output", s, t)
            }
            (
                Def::Call {
                    callee: f,
                    args: xs,
                    attrs: p,
                    sinfo_args: ss,
                },
                Def::Call {
                    callee: g,
                    args: ys,
                    attrs: q,
                    sinfo_args: ts,
                },
            ) => {
                match (f, g) {
                    (Callee::Value(x), Callee::Value(y)) => self.value("callee", 0, *x, *y)?,
                    _ => self.alpha.same("callee", f, g)?,
                }
                self.args(xs, ys)?;
                self.alpha.attrs(p, q)?;
                self.alpha.sinfos("sinfo_args", ss, ts)
            }
            (
                Def::If {
                    cond: c,
                    then: t,
                    otherwise: o,
                },
                Def::If {
                    cond: d,
                    then: u,
                    otherwise: p,
                },
            ) => {
                self.arg("condition", c, d)?;
                self.body(t, u)?;
                self.body(o, p)
            }
            (Def::Function(f), Def::Function(g)) => self.function(f, g),
            _ => self.alpha.fail("definition", a, b),
        }
    }

    fn value(&mut self, what: &str, depth: usize, x: ValueId, y: ValueId) -> AlphaEq {
        let frame = self.frames.len().checked_sub(depth + 1);
        let known = frame.and_then(|at| self.frames[at].values.get(&x));
        if known == Some(&y) {
            Ok(())
        } else {
            self.alpha.fail(what, &x, &y)
        }
    }

    fn args(&mut self, xs: &[Arg], ys: &[Arg]) -> AlphaEq {
        let count = (xs.len(), ys.len());
        self.alpha.same("number of arguments", &count.0, &count.1)?;
        for (at, (x, y)) in xs.iter().zip(ys).enumerate() {
            self.arg(&format!("argument {at}"), x, y)?;
        }
        Ok(())
    }

    fn arg(&mut self, what: &str, a: &Arg, b: &Arg) -> AlphaEq {
        match (a, b) {
            (Arg::Value(x), Arg::Value(y)) => self.value(what, 0, *x, *y),
            (
                Arg::Captured { depth, value: x },
                Arg::Captured {
                    depth: other,
                    value: y,
                },
            ) if depth == other => self.value(what, *depth, *x, *y),
            (Arg::Const(x), Arg::Const(y)) => self.alpha.same(what, x, y),
            (Arg::Omitted(x), Arg::Omitted(y)) => self.alpha.same(what, x, y),
            (Arg::Tuple(xs), Arg::Tuple(ys)) => self.args(xs, ys),
            (Arg::Shape(xs), Arg::Shape(ys)) => self.alpha.exprs(what, xs, ys),
            (Arg::Prim(x), Arg::Prim(y)) => self.alpha.expr(what, x, y),
            (Arg::Str(x), Arg::Str(y))
            | (Arg::Global(x), Arg::Global(y))
            | (Arg::Extern(x), Arg::Extern(y)) => self.alpha.same(what, x, y),
            (Arg::DType(x), Arg::DType(y)) => self.alpha.same(what, x, y),
            _ => self.alpha.fail(what, a, b),
        }
    }
}

/// The blocks with neighbouring plain ones joined and empty plain ones left out.
fn merged(blocks: &[BindingBlock]) -> Vec<BindingBlock> {
    let mut out: Vec<BindingBlock> = Vec::new();
    for block in blocks {
        match out.last_mut() {
            Some(last) if last.dataflow.is_none() && block.dataflow.is_none() => {
                last.bindings.extend(&block.bindings);
            }
            _ => out.push(block.clone()),
        }
    }
    out.retain(|block| block.dataflow.is_some() || !block.bindings.is_empty());
    out
}
