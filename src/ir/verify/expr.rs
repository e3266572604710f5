//! Expressions: what they use is defined, and their operands are of the right types.

use super::{PrimFuncErrorKind, VarKind, Verifier};
use crate::ir::{Expr, ExprKind, Var};
use crate::tensor::DType;

impl Verifier<'_> {
    fn var(&mut self, var: &Var) {
        let name = || var.name().to_owned();
        match self.vars.get(var) {
            Some(VarKind::Loop | VarKind::Other) => {}
            Some(VarKind::OuterLoop) => {
                self.error(PrimFuncErrorKind::LoopVarInBlock { name: name() })
            }
            None => self.error(PrimFuncErrorKind::UndefinedVar { name: name() }),
        }
    }

    /// Checks an expression and that it is an integer scalar.
    pub(super) fn integer(&mut self, what: &'static str, e: &Expr) {
        self.expr(e);
        let found = e.dtype();
        if !found.is_int() || found.is_vector() {
            let expected = "an integer scalar".to_owned();
            self.error(PrimFuncErrorKind::Type {
                what,
                expected,
                found,
            });
        }
    }

    /// Checks an index, which may be a vector.
    pub(super) fn index(&mut self, e: &Expr) {
        self.expr(e);
        let found = e.dtype();
        if !found.is_int() {
            let (what, expected) = ("an index", "an integer".to_owned());
            self.error(PrimFuncErrorKind::Type {
                what,
                expected,
                found,
            });
        }
    }

    /// Checks an expression and that it is a `bool`.
    pub(super) fn condition(&mut self, what: &'static str, e: &Expr) {
        self.expr(e);
        self.typed(what, e, DType::BOOL);
    }

    pub(super) fn typed(&mut self, what: &'static str, e: &Expr, expected: DType) {
        let found = e.dtype();
        if found != expected {
            let expected = expected.to_string();
            self.error(PrimFuncErrorKind::Type {
                what,
                expected,
                found,
            });
        }
    }

    fn same_type(&mut self, op: &str, a: &Expr, b: &Expr) {
        let (left, right) = (a.dtype(), b.dtype());
        if left != right {
            let op = op.to_owned();
            self.error(PrimFuncErrorKind::Operands { op, left, right });
        }
    }

    /// Checks an expression and all below.
    pub(super) fn expr(&mut self, e: &Expr) {
        match e.kind() {
            ExprKind::Int(_) | ExprKind::Float(_) => {}
            ExprKind::Var(var) => self.var(var),
            ExprKind::Cast(a) | ExprKind::Broadcast(a, _) => self.expr(a),
            ExprKind::Not(a) => {
                self.expr(a);
                let bools = DType::BOOL.with_lanes(a.dtype().lanes);
                self.typed("the operand of `not`", a, bools);
            }
            ExprKind::Binary(op, a, b) => {
                self.expr(a);
                self.expr(b);
                self.same_type(&format!("{op:?}"), a, b);
                if op.is_logical() {
                    let bools = DType::BOOL.with_lanes(a.dtype().lanes);
                    self.typed("an operand of `and` or `or`", a, bools);
                }
            }
            ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) => {
                [c, a, b].into_iter().for_each(|e| self.expr(e));
                if !c.dtype().is_bool() {
                    self.typed("a condition", c, DType::BOOL);
                }
                self.same_type("Select", a, b);
            }
            ExprKind::Load(buffer, indices) => {
                self.buffer_use(buffer, indices.len());
                indices.iter().for_each(|index| self.index(index));
            }
            ExprKind::Ramp {
                base,
                stride,
                lanes: _,
            } => {
                self.expr(base);
                self.expr(stride);
                self.same_type("Ramp", base, stride);
            }
            ExprKind::Call(_, args) => args.iter().for_each(|arg| self.expr(arg)),
            ExprKind::Let { var, value, body } => {
                self.expr(value);
                self.typed("the value of a let", value, var.dtype());
                self.within(self.place, |v| {
                    v.define(var, VarKind::Other);
                    v.expr(body);
                });
            }
        }
    }
}
