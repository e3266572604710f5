//! Squares and cubes: a product takes an instruction or two, a power a call of a function.

use super::idiom::{Calls, Idiom, Operand, binary, scalar};
use crate::ir::Attrs;
use crate::ir::graph::pattern::{is_const, wildcard};

/// `x ** 2` and `x ** 3`.
pub(super) fn idioms() -> Vec<Idiom> {
    let (x, exponent) = (wildcard(), is_const());
    let power = binary("power", &x, &exponent);
    let instead = {
        let (x, exponent) = (x.clone(), exponent.clone());
        move |site: &super::Match<'_>| {
            let (Some(x), Some(count)) = (site.arg(&x), site.arg(&exponent).and_then(scalar))
            else {
                return Ok(None);
            };
            let (mut calls, operand) = (Calls::default(), Operand::Given(x.clone()));
            let twice = vec![operand.clone(), operand.clone()];
            if count == 2.0 {
                calls.add("multiply", twice, Attrs::new());
            } else if count == 3.0 {
                let square = calls.add("multiply", twice, Attrs::new());
                calls.add("multiply", vec![square, operand], Attrs::new());
            } else {
                return Ok(None);
            }
            site.has_shape_of(x)?;
            Ok(Some(calls))
        }
    };
    vec![Idiom::new("multiply", &power, &power, instead)]
}
