//! Expressions: what they use is defined, and their operands are of the right types.

use super::{PrimFuncErrorKind, VarKind, Verifier};
use crate::ir::{Buffer, Expr, ExprKind, Var, defined};
use crate::tensor::DType;
use crate::tensor::scalar::Intrin;

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

    /// Checks the indices of an access, of which the last may be a vector.
    pub(super) fn indices(&mut self, buffer: &Buffer, indices: &[Expr]) {
        self.buffer_use(buffer, indices.len());
        let Some((last, before)) = indices.split_last() else {
            return;
        };
        let what = "an index before the last";
        before.iter().for_each(|index| self.integer(what, index));
        self.index(last);
        let (of_buffer, of_index) = (buffer.dtype().lanes, last.dtype().lanes);
        if of_buffer.checked_mul(of_index).is_none() {
            let name = buffer.name().to_owned();
            self.error(PrimFuncErrorKind::TooManyLanes { name });
        }
    }

    fn index(&mut self, e: &Expr) {
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

    /// Checks that both have as many lanes.
    fn same_lanes(&mut self, what: &'static str, e: &Expr, lanes: u16) {
        self.typed(what, e, e.dtype().with_lanes(lanes));
    }

    /// Checks that a type has as many bits as the value that is read as one of it.
    fn same_bits(&mut self, value: &Expr, dtype: DType) {
        let found = value.dtype();
        if found.bytes() != dtype.bytes() {
            let (what, expected) = ("a reinterpreted value", format!("as many bits as {dtype}"));
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

    fn defined(&mut self, op: &str, operand: &Expr, defined: bool) {
        if !defined {
            let (op, found) = (op.to_owned(), operand.dtype());
            self.error(PrimFuncErrorKind::NotDefined { op, found });
        }
    }

    fn call(&mut self, intrin: Intrin, args: &[Expr]) {
        args.iter().for_each(|arg| self.expr(arg));
        let name = intrin.name();
        if args.len() != intrin.arity() {
            self.error(PrimFuncErrorKind::ArgumentCount {
                function: name,
                expected: intrin.arity(),
                got: args.len(),
            });
        }
        let Some((first, rest)) = args.split_first() else {
            return;
        };
        rest.iter().for_each(|arg| self.same_type(name, first, arg));
        self.defined(name, first, defined::intrinsic(intrin, first.dtype()));
    }

    /// Checks an expression and all below.
    pub(super) fn expr(&mut self, e: &Expr) {
        match e.kind() {
            ExprKind::Int(_) | ExprKind::Float(_) => {}
            ExprKind::Var(var) => self.var(var),
            ExprKind::Cast(a) => {
                self.expr(a);
                self.same_lanes("the operand of a cast", a, e.dtype().lanes);
            }
            ExprKind::Reinterpret(a) => {
                self.expr(a);
                self.same_bits(a, e.dtype());
            }
            ExprKind::Broadcast(a, _) => {
                self.expr(a);
                self.same_lanes("the operand of a broadcast", a, 1);
            }
            ExprKind::Not(a) => {
                self.expr(a);
                let bools = DType::BOOL.with_lanes(a.dtype().lanes);
                self.typed("the operand of `not`", a, bools);
            }
            ExprKind::Binary(op, a, b) => {
                self.expr(a);
                self.expr(b);
                self.same_type(op.symbol(), a, b);
                self.defined(op.symbol(), a, defined::operator(*op, a.dtype()));
            }
            ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) => {
                [c, a, b].into_iter().for_each(|e| self.expr(e));
                let lanes = if c.dtype().is_vector() {
                    a.dtype().lanes
                } else {
                    1
                };
                self.typed("a condition", c, DType::BOOL.with_lanes(lanes));
                self.same_type("Select", a, b);
            }
            ExprKind::Load(buffer, indices) => self.indices(buffer, indices),
            ExprKind::Ramp {
                base,
                stride,
                lanes: _,
            } => {
                self.integer("the base of a ramp", base);
                self.integer("the stride of a ramp", stride);
                self.same_type("Ramp", base, stride);
            }
            ExprKind::Call(intrin, args) => self.call(*intrin, args),
            ExprKind::External(_, args) => {
                let takes = args
                    .iter()
                    .filter(|a| !matches!(a.kind(), ExprKind::Str(_)));
                takes.for_each(|arg| self.expr(arg));
            }
            ExprKind::Str(_) => self.error(PrimFuncErrorKind::Text),
            ExprKind::Data(buffer) => self.buffer_use(buffer, buffer.ndim()),
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
