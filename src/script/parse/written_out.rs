//! Functions of `T` that are short for arithmetic, and are read as what they stand for.

use ruff_python_ast as ast;

use super::context::{Context, Parse};
use crate::ir::Expr;
use crate::script::ScriptErrorKind;
use crate::tensor::scalar::{BinOp, Intrin};
use crate::tensor::{DType, ScalarType};

impl Context<'_> {
    /// The arithmetic that a call stands for; `None` if it is no such function.
    pub(super) fn written_out(
        &mut self,
        node: &ast::ExprCall,
        path: &str,
        name: &str,
    ) -> Parse<Option<Expr>> {
        Ok(Some(match name {
            "q_multiply_shift" => {
                let [x, y, q, s] = self.bind_all(node, path, ["x", "y", "q", "s"])?;
                let (x, y) = (self.integer_scalar(x)?, self.integer_scalar(y)?);
                let (q, s) = (self.integer_scalar(q)?, self.integer_scalar(s)?);
                multiply_shift(&x, &y, &s.max(0), &(q - s.min(0)))
            }
            "q_multiply_shift_per_axis" => {
                let names = [
                    "x",
                    "y",
                    "ls",
                    "rs",
                    "q",
                    "is_lshift_required",
                    "is_rshift_required",
                ];
                let [x, y, ls, rs, q, left, right] = self.bind_all(node, path, names)?;
                let (x, y) = (self.integer_scalar(x)?, self.integer_scalar(y)?);
                let (ls, rs) = (self.integer_scalar(ls)?, self.integer_scalar(rs)?);
                let q = self.integer_scalar(q)?;
                let (left, right) = (self.condition(left)?, self.condition(right)?);
                let zero = Expr::i32(0);
                let ls = chosen(&left, ls, zero.clone());
                multiply_shift(&x, &y, &ls, &(q + chosen(&right, rs, zero)))
            }
            "fmod" => {
                let (a, b) = self.floats(node, path)?;
                Expr::binary(BinOp::Mod, a, b)
            }
            "hypot" => {
                let (a, b) = self.floats(node, path)?;
                Expr::call(Intrin::Sqrt, vec![a.clone() * &a + b.clone() * &b])
            }
            "copysign" => {
                let (a, b) = self.floats(node, path)?;
                let sign = self.bits(node, a.dtype())?;
                let bits = |e: &Expr| e.reinterpret(sign.dtype());
                let rest = Expr::call(Intrin::BitNot, vec![sign.clone()]);
                let magnitude = Expr::binary(BinOp::BitAnd, bits(&a), rest);
                let sign = Expr::binary(BinOp::BitAnd, bits(&b), sign.clone());
                Expr::binary(BinOp::BitOr, magnitude, sign).reinterpret(a.dtype())
            }
            "ldexp" => {
                let [x, exponent] = self.bind_all(node, path, ["x", "exp"])?;
                let (x, exponent) = (self.expr(x)?, self.expr(exponent)?);
                let exponent = exponent.cast(x.dtype());
                x * Expr::call(Intrin::Exp2, vec![exponent])
            }
            _ => return Ok(None),
        }))
    }

    fn floats(&mut self, node: &ast::ExprCall, path: &str) -> Parse<(Expr, Expr)> {
        let [a_node, b_node] = self.bind_all(node, path, ["x1", "x2"])?;
        let (a, b) = (self.expr(a_node)?, self.expr(b_node)?);
        let (a, b) = self.operands(node, path, (a_node, a), (b_node, b))?;
        if a.dtype().is_float() {
            return Ok((a, b));
        }
        let (function, found) = (path.to_owned(), a.dtype());
        Err(self.error(node, ScriptErrorKind::NotDefined { function, found }))
    }

    /// The bit of the sign, as an unsigned integer with as many bits as the float.
    fn bits(&mut self, node: &ast::ExprCall, float: DType) -> Parse<Expr> {
        let (scalar, sign) = match float.scalar {
            ScalarType::F16 | ScalarType::BF16 => (ScalarType::U16, 1 << 15),
            ScalarType::F32 => (ScalarType::U32, 1 << 31),
            _ => (ScalarType::U64, i64::MIN),
        };
        if float.is_vector() {
            return Err(self.expected(node, "scalars"));
        }
        Ok(Expr::int(sign, DType::of(scalar)))
    }
}

/// One of two values; where the condition is known, that one.
fn chosen(cond: &Expr, a: Expr, b: Expr) -> Expr {
    match cond.as_bool() {
        Some(true) => a,
        Some(false) => b,
        None => Expr::select(cond.clone(), a, b),
    }
}

/// `(x << left) * y`, shifted right with rounding, halves upwards: the multiplication of fixed-point numbers.
fn multiply_shift(x: &Expr, y: &Expr, left: &Expr, right: &Expr) -> Expr {
    let wide = |e: &Expr| e.cast(DType::I64);
    let shifted = Expr::binary(BinOp::Shl, wide(x), wide(left));
    let product = shifted * wide(y);
    let half = Expr::binary(BinOp::Shl, Expr::i64(1), wide(right) - 1);
    Expr::binary(BinOp::Shr, product + half, wide(right)).cast(DType::I32)
}
