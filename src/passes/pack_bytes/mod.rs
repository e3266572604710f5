//! `pack_bytes`: products of 8-bit integers, four bytes a word.
//!
//! Quantized models multiply `(x - zx) (w - zw)`, in `int32`, of elements `x` and `w` of 8 bits. Machines have instructions that
//! multiply four bytes of one word by four of another and add everything up (`T.dp4a_u8s8s32`; x86: `vpdpbusd`), of unsigned bytes by signed
//! ones. So both operands become words, of which the sum is
//!
//! ```text
//! Σ (x - zx) (w - zw) = Σ x w - zx Σ (w - zw) - zw Σ x
//! ```
//!
//! exactly, modulo 2³². `Σ (w - zw)` depends on weights alone: `fold_constant` or `lift_transform_params` takes it out of inference with
//! their words. If `zw` is 0, `zw Σ x` is left out. Signed `x` and unsigned `w` are moved by 128, and their zero points too.
//!
//! Products in `float32` of such differences times scales, as between `DequantizeLinear` and `QuantizeLinear`, are sums in `int32` times
//! both scales, where the machine has the instruction and the sums fit. They are exact; their conversion and the two products are rounded.
//!
//! Byte `j` of word `i` is element `j * words + i` of the sum, so that packing reads neighbours; bytes past the end are 0 in both operands.

mod calls;
mod operand;
mod product;
mod programs;

use super::eliminate_common_subexpr::without_common;
use super::{Cx, PassError};
use crate::ir::graph::{Become, Globals, rewrite};
use crate::ir::{Func, Module};
use crate::kernel::Target;
use calls::Calls;
use product::Product;

/// The module where products of `int8` and `uint8` rows by a matrix, and convolutions of one group, are dot products of words. On the CPU alone.
///
/// ```text
/// a = R.astype(x, "int32")            p = R.call_tir(cls.packed, (x,), …)
/// b = R.astype(w, "int32")       →    q = R.call_tir(cls.packed1, (w,), …)
/// y = R.matmul(a, b)                  y = R.call_tir(cls.matmul_of_words, (p, q), …)
/// ```
///
/// # Errors
/// [`PassError::Type`] if the types of a call do not fit.
pub(super) fn pack_bytes(module: &Module, cx: &Cx) -> Result<Module, PassError> {
    let Target::Cpu(cpu) = &cx.target else {
        return Ok(module.clone());
    };
    // Narrower vectors are those of Cranelift's code, which multiplies bytes one by one.
    if cpu.f32_lanes < FEWEST_LANES {
        return Ok(module.clone());
    }
    let globals = Globals::of(module);
    let mut out = module.clone();
    for (name, function) in module.functions() {
        let mut changed = false;
        let new = rewrite(function, &globals, &mut |rewriter, old| {
            let product = Product::of(old.def, &old.value.sinfo, rewriter.builder());
            // Without VNNI, float32 is as fast, and minimal filtering needs fewer multiplications.
            let pays = |product: &Product| cpu.dot_bytes || product.scales.is_none();
            let Some(product) = product.filter(pays) else {
                return Ok(Become::Kept);
            };
            changed = true;
            let mut calls = Calls {
                out: &mut out,
                rewriter,
            };
            let made = calls.product(&product);
            made.map(Become::Arg).map_err(|error| PassError::Type {
                func: name.to_owned(),
                value: old.value.name.clone(),
                error: Box::new(error),
            })
        })?;
        if changed {
            // Products of one operand by several weights pack it once.
            let new = without_common(&new, &Globals::of(&out));
            out.funcs.insert(name.to_owned(), Func::Graph(new));
        }
    }
    Ok(out)
}

/// Fewest lanes of a vector that words pay for.
const FEWEST_LANES: u16 = 8;
