//! Expressions and attributes.

use super::{Alpha, AlphaEq};
use crate::ir::{AttrValue, Attrs, Expr, ExprKind, Lambda, Range};

impl Alpha {
    pub(super) fn exprs(&mut self, what: &str, a: &[Expr], b: &[Expr]) -> AlphaEq {
        if a.len() != b.len() {
            return self.fail(what, a, b);
        }
        a.iter().zip(b).try_for_each(|(a, b)| self.expr(what, a, b))
    }

    pub(super) fn range(&mut self, what: &str, a: &Range, b: &Range) -> AlphaEq {
        self.expr(what, &a.min, &b.min)?;
        self.expr(what, &a.extent, &b.extent)
    }

    pub(super) fn expr(&mut self, what: &str, a: &Expr, b: &Expr) -> AlphaEq {
        if a.dtype() != b.dtype() {
            let typed = |e: &Expr| format!("{e:#} of type {}", e.dtype());
            return self.fail(what, &typed(a), &typed(b));
        }
        match (a.kind(), b.kind()) {
            (ExprKind::Int(x), ExprKind::Int(y)) if x == y => Ok(()),
            (ExprKind::Float(x), ExprKind::Float(y)) if x.to_bits() == y.to_bits() => Ok(()),
            (ExprKind::Var(x), ExprKind::Var(y)) => self.var(x, y),
            (ExprKind::Cast(x), ExprKind::Cast(y))
            | (ExprKind::Not(x), ExprKind::Not(y))
            | (ExprKind::Reinterpret(x), ExprKind::Reinterpret(y)) => self.expr(what, x, y),
            (ExprKind::Binary(op_a, x0, x1), ExprKind::Binary(op_b, y0, y1)) if op_a == op_b => {
                self.expr(what, x0, y0)?;
                self.expr(what, x1, y1)
            }
            (ExprKind::Select(x0, x1, x2), ExprKind::Select(y0, y1, y2))
            | (ExprKind::IfThenElse(x0, x1, x2), ExprKind::IfThenElse(y0, y1, y2)) => {
                self.expr(what, x0, y0)?;
                self.expr(what, x1, y1)?;
                self.expr(what, x2, y2)
            }
            (ExprKind::Load(x, at_x), ExprKind::Load(y, at_y)) => {
                self.buffer(x, y)?;
                self.exprs(what, at_x, at_y)
            }
            (
                ExprKind::Ramp {
                    base: x0,
                    stride: x1,
                    lanes: lanes_a,
                },
                ExprKind::Ramp {
                    base: y0,
                    stride: y1,
                    lanes: lanes_b,
                },
            ) if lanes_a == lanes_b => {
                self.expr(what, x0, y0)?;
                self.expr(what, x1, y1)
            }
            (ExprKind::Broadcast(x, lanes_a), ExprKind::Broadcast(y, lanes_b))
                if lanes_a == lanes_b =>
            {
                self.expr(what, x, y)
            }
            (ExprKind::Call(f, xs), ExprKind::Call(g, ys)) if f == g => self.exprs(what, xs, ys),
            (ExprKind::External(f, xs), ExprKind::External(g, ys)) if f == g => {
                self.exprs(what, xs, ys)
            }
            (ExprKind::Str(x), ExprKind::Str(y)) if x == y => Ok(()),
            (ExprKind::Data(x), ExprKind::Data(y)) => self.buffer(x, y),
            (
                ExprKind::Let {
                    var: va,
                    value: x,
                    body: body_a,
                },
                ExprKind::Let {
                    var: vb,
                    value: y,
                    body: body_b,
                },
            ) => {
                self.expr(what, x, y)?;
                self.define("variable", va, vb)?;
                self.expr(what, body_a, body_b)
            }
            _ => self.fail(what, a, b),
        }
    }

    pub(super) fn attrs(&mut self, a: &Attrs, b: &Attrs) -> AlphaEq {
        let keys = |attrs: &Attrs| {
            let mut keys: Vec<String> = attrs.keys().cloned().collect();
            keys.sort_unstable();
            keys
        };
        self.same("attributes", &keys(a), &keys(b))?;
        a.iter()
            .try_for_each(|(key, value)| self.attr(key, value, &b[key]))
    }

    fn lambda(&mut self, what: &str, a: &Lambda, b: &Lambda) -> AlphaEq {
        let count = (a.params.len(), b.params.len());
        self.same("number of parameters", &count.0, &count.1)?;
        for (x, y) in a.params.iter().zip(&b.params) {
            self.define("parameter", x, y)?;
        }
        self.exprs(what, &a.results, &b.results)
    }

    /// A value; a type counts as its name, for the text writes it so.
    pub(super) fn attr(&mut self, key: &str, a: &AttrValue, b: &AttrValue) -> AlphaEq {
        match (a, b) {
            (AttrValue::Expr(a), AttrValue::Expr(b)) => self.expr(key, a, b),
            (AttrValue::List(x), AttrValue::List(y)) if x.len() == y.len() => {
                x.iter().zip(y).try_for_each(|(a, b)| self.attr(key, a, b))
            }
            (AttrValue::Dict(x), AttrValue::Dict(y)) => self.attrs(x, y),
            (AttrValue::Buffer(x), AttrValue::Buffer(y)) => self.buffer(x, y),
            (AttrValue::Region(x), AttrValue::Region(y)) => self.region(key, x, y),
            (AttrValue::IndexMap(x), AttrValue::IndexMap(y))
            | (AttrValue::Function(x), AttrValue::Function(y)) => self.lambda(key, x, y),
            (AttrValue::Reducer(x), AttrValue::Reducer(y)) => {
                self.lambda(key, &x.combine, &y.combine)?;
                self.exprs(key, &x.identity, &y.identity)
            }
            (AttrValue::DType(t), AttrValue::Str(s)) | (AttrValue::Str(s), AttrValue::DType(t)) => {
                self.same(key, &t.to_string(), s)
            }
            _ => self.same(key, a, b),
        }
    }
}
