//! What the code generators of the CPU share: expansion of kernels, segments, functions of the host.

pub(crate) mod expand;
pub(crate) mod host;
pub(crate) mod math;
pub(crate) mod streams;

use crate::kernel::{ArrayId, Expr};
use crate::tensor::scalar::{BinOp, Intrin};

/// What a native kernel is given. The layout is part of the generated code.
#[derive(Debug)]
#[repr(C)]
pub struct KernelArgs {
    /// First element of each global array, in binding order.
    pub buffers: *const *mut u8,
    /// Number of elements of each global array, in binding order; read only by kernels with bounds checks.
    pub lens: *const i64,
    /// Values of the scalars that the kernel takes, in order.
    pub scalars: *const i64,
}

/// `a[i] = a[i] + x * y` as `a[i] = fma(x, y, a[i])`, and a sum of products of bytes, `a[i] + dp4a(x, y, 0)`, as `dp4a(x, y, a[i])`.
///
/// Only sums that accumulate in place are fused: their rounding depends on the order of the terms anyway, which the tolerance
/// of a reduction covers. All other products and sums are rounded as they are written.
pub(crate) fn contract(array: ArrayId, at: &Expr, value: &Expr) -> Option<Expr> {
    let Expr::Binary(BinOp::Add, a, b) = value else {
        return None;
    };
    let is_self = |e: &Expr| matches!(e, Expr::Load { array: from, index, lanes: _, active: _ } if *from == array && **index == *at);
    let (acc, product) = if is_self(a) { (a, b) } else { (b, a) };
    match &**product {
        Expr::Binary(BinOp::Mul, x, y) if is_self(acc) => {
            let args = vec![(**x).clone(), (**y).clone(), (**acc).clone()];
            Some(Expr::Call(Intrin::Fma, args))
        }
        Expr::Call(Intrin::Dp4aU8S8, args) if is_self(acc) => match args.as_slice() {
            [x, y, none] if is_zero(none) => {
                let args = vec![x.clone(), y.clone(), (**acc).clone()];
                Some(Expr::Call(Intrin::Dp4aU8S8, args))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether all lanes are the integer 0.
fn is_zero(e: &Expr) -> bool {
    match e {
        Expr::Int(value, _) => *value == 0,
        Expr::Splat(lane, _) => is_zero(lane),
        _ => false,
    }
}
