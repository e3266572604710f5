//! The smaller and the greater of two floats.
//!
//! Min and max of NaN and a number are NaN. WGSL has no such function: its `min` and `max` may give the number, and a shader
//! compiler may take operands of float operations for numbers ("Floating Point Evaluation"), so drivers make the device's `max`
//! of `select(a, b, a < b)` too. Hence NaN is found by comparing bits as integers, which no driver may take for false.

use super::WgslError;
use super::emit::Emitter;
use super::intrin::INFINITY;
use super::text::Text;
use crate::kernel::{Expr, Ty};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// The bits of minus infinity as a signed integer. The bits of -0 and of all other negative numbers are below, those of a
/// negative NaN above.
const MINUS_INFINITY: &str = "-8388608i";

impl Emitter<'_> {
    /// The smaller or greater one, NaN if either is NaN. A tree of one operator, as the last step of a reduction, looks for NaN once.
    pub(super) fn float_min_max(
        &mut self,
        op: BinOp,
        a: &Expr,
        b: &Expr,
    ) -> Result<Text, WgslError> {
        let ty = self.kernel.ty(a);
        if let Some((x, bounds)) = bounds(op, a, b) {
            return self.bounded(ty, x, &bounds);
        }
        let mut sizes = vec![];
        let number = self.chosen(op, a, b, &mut sizes)?;
        // Without their signs the greatest bits are those of a NaN if any operand is one.
        while sizes.len() > 1 {
            let greater = |pair: &[Text]| match pair {
                [one] => one.clone(),
                _ => Text::call("max", pair),
            };
            sizes = sizes.chunks(2).map(greater).collect();
        }
        let size = self.bind(sizes.remove(0));
        let floats = self.ty(Ty {
            scalar: ScalarType::F32,
            lanes: ty.lanes,
        })?;
        let mut nan = Text::call(&format!("bitcast<{floats}>"), &[&size]);
        if ty.scalar == ScalarType::F16 {
            nan = Text::call(&self.ty(ty)?, &[nan]);
        }
        let infinity = self.word(ty, ScalarType::U32, INFINITY)?;
        let is_nan = Text::infix(BinOp::Gt, ">", &size, &infinity);
        Ok(Text::call("select", &[number, nan, is_nan]))
    }

    /// The smaller or greater one of numbers, and the bits of each operand of the tree without the sign.
    fn chosen(
        &mut self,
        op: BinOp,
        a: &Expr,
        b: &Expr,
        sizes: &mut Vec<Text>,
    ) -> Result<Text, WgslError> {
        let mut side = |e: &Expr| -> Result<Text, WgslError> {
            if let Expr::Binary(inner, a, b) = e
                && *inner == op
                && bounds(op, a, b).is_none()
            {
                let number = self.chosen(op, a, b, sizes)?;
                return Ok(self.bind(number));
            }
            let ty = self.kernel.ty(e);
            let value = self.expr(e)?;
            let value = self.bind(value);
            sizes.push(self.bits_of_size(ty, &value)?);
            Ok(value)
        };
        let (left, right) = (side(a)?, side(b)?);
        Ok(choose(op, &left, &right))
    }

    /// `x` within the bounds, the innermost first. As they are numbers, the result is NaN exactly if `x` is.
    fn bounded(&mut self, ty: Ty, x: &Expr, bounds: &[(BinOp, &Expr)]) -> Result<Text, WgslError> {
        let x = self.expr(x)?;
        let x = self.bind(x);
        if let [(BinOp::Max, zero)] = bounds
            && is_zero(zero)
        {
            let bits = self.float_bits(ty, ScalarType::I32, &x)?;
            let infinity = self.word(ty, ScalarType::I32, MINUS_INFINITY)?;
            let negative = Text::infix(BinOp::Le, "<=", &bits, &infinity);
            let zero = self.expr(zero)?;
            return Ok(Text::call("select", &[x, zero, negative]));
        }
        let mut number = x.clone();
        for (op, bound) in bounds {
            let bound = self.expr(bound)?;
            number = choose(*op, &self.bind(number), &bound);
        }
        let nan = self.is_nan(ty, &x)?;
        Ok(Text::call("select", &[number, x, nan]))
    }

    /// Either of two values. Where it is the smaller or greater of the two floats that it compares, drivers take it for the
    /// device's `min` or `max`, which lose a NaN that stays where no comparison with NaN is true.
    pub(super) fn select(
        &mut self,
        cond: &Expr,
        then: &Expr,
        otherwise: &Expr,
    ) -> Result<Text, WgslError> {
        if let Expr::Not(cond) = cond {
            return self.select(cond, otherwise, then);
        }
        let chooses = is_min_or_max(cond, then, otherwise) && !is_number(otherwise);
        let ty = self.kernel.ty(then);
        let (cond, then, other) = (self.expr(cond)?, self.expr(then)?, self.expr(otherwise)?);
        if !(chooses && ty.scalar.is_float()) {
            return Ok(Text::call("select", &[other, then, cond]));
        }
        let other = self.bind(other);
        let nan = self.is_nan(ty, &other)?;
        let number = Text::call("select", &[other.clone(), then, cond]);
        Ok(Text::call("select", &[number, other, nan]))
    }
}

/// Whether the condition compares the two values that it chooses from.
fn is_min_or_max(cond: &Expr, then: &Expr, otherwise: &Expr) -> bool {
    let Expr::Binary(BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, a, b) = cond else {
        return false;
    };
    let sides = (&**a, &**b);
    sides == (then, otherwise) || sides == (otherwise, then)
}

/// The operand that min and max with numbers are of, and what they do to it, in order: of `max(min(x, 6), 0)` `x`, the min with
/// 6, the max with 0. None if no operand is surely a number.
fn bounds<'e>(op: BinOp, a: &'e Expr, b: &'e Expr) -> Option<(&'e Expr, Vec<(BinOp, &'e Expr)>)> {
    let (x, bound) = match (is_number(a), is_number(b)) {
        (_, true) => (a, b),
        (true, false) => (b, a),
        (false, false) => return None,
    };
    let inner = match x {
        Expr::Binary(op @ (BinOp::Min | BinOp::Max), a, b) => bounds(*op, a, b),
        _ => None,
    };
    let (x, mut all) = inner.unwrap_or((x, vec![]));
    all.push((op, bound));
    Some((x, all))
}

/// Whether a float expression is surely not NaN.
fn is_number(e: &Expr) -> bool {
    match e {
        Expr::Float(v, _) => !v.is_nan(),
        Expr::Splat(a, _) => is_number(a),
        Expr::Pack(items) => items.iter().all(is_number),
        _ => false,
    }
}

fn is_zero(e: &Expr) -> bool {
    match e {
        Expr::Float(v, _) => *v == 0.0,
        Expr::Splat(a, _) => is_zero(a),
        _ => false,
    }
}

/// The smaller or greater of two numbers.
fn choose(op: BinOp, left: &Text, right: &Text) -> Text {
    let right_is_it = match op {
        BinOp::Min => Text::infix(BinOp::Gt, ">", left, right),
        _ => Text::infix(BinOp::Lt, "<", left, right),
    };
    Text::call("select", &[left, right, &right_is_it])
}
