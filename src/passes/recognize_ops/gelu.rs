//! Gelu: by the error function, and by its approximation with a hyperbolic tangent.
//!
//! # References
//! D. Hendrycks, K. Gimpel, "Gaussian error linear units (GELUs)", 2016.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

use super::Declined;
use super::idiom::{Calls, Idiom, Match, binary, unary};
use crate::ir::Attrs;
use crate::ir::graph::pattern::{DfPattern, is_const, wildcard};

/// Both, in any order of factors.
pub(super) fn idioms() -> Vec<Idiom> {
    vec![by_erf(), by_tanh()]
}

/// The product of `x`, 1 plus a function of it, and a half.
struct Product {
    x: DfPattern,
    half: DfPattern,
    over: DfPattern,
    one: DfPattern,
    whole: DfPattern,
}

impl Product {
    fn new(function: &DfPattern) -> Self {
        let (x, half, over, one) = (wildcard(), is_const(), is_const(), is_const());
        let plus = binary("add", function, &one);
        let multiply = |a: &DfPattern, b: &DfPattern| binary("multiply", a, b);
        let both = multiply(&x, &plus);
        let last = &multiply(&both, &half) | &binary("divide", &both, &over);
        let first =
            &multiply(&multiply(&x, &half), &plus) | &multiply(&binary("divide", &x, &over), &plus);
        let within = multiply(&x, &multiply(&plus, &half));
        Self {
            x,
            half,
            over,
            one,
            whole: &(&last | &first) | &within,
        }
    }

    /// The operator of `x`, if the numbers are right and the function is one of `x`, too.
    fn instead(
        &self,
        operator: &'static str,
        function: &'static str,
        inner: &DfPattern,
        site: &Match<'_>,
    ) -> Result<Option<Calls>, Declined> {
        site.is_number("the factor", &self.half, 0.5)?;
        site.is_number("the divisor", &self.over, 2.0)?;
        site.is_number("what is added", &self.one, 1.0)?;
        let (Some(x), Some(inner)) = (site.arg(&self.x), site.arg(inner)) else {
            return Ok(None);
        };
        if x != inner {
            let other = "the product";
            return Err(Declined::OtherValue {
                what: function,
                other,
            });
        }
        site.has_shape_of(x)?;
        Ok(Some(Calls::one(operator, [x], Attrs::new())))
    }
}

/// `x * (1 + erf(x / sqrt(2))) / 2`
fn by_erf() -> Idiom {
    let (x, factor, divisor) = (wildcard(), is_const(), is_const());
    let scaled = &binary("multiply", &x, &factor) | &binary("divide", &x, &divisor);
    let erf = unary("erf", &scaled);
    let product = Product::new(&erf);
    let whole = product.whole.clone();
    Idiom::new("nn.gelu", &whole, &erf, move |site| {
        site.is_number("the factor in `erf`", &factor, FRAC_1_SQRT_2)?;
        site.is_number("the divisor in `erf`", &divisor, SQRT_2)?;
        product.instead("nn.gelu", "`erf`", &x, site)
    })
}

/// `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) / 2`
fn by_tanh() -> Idiom {
    let x = wildcard();
    let [cubic, root, one, two, three] = std::array::from_fn(|_| is_const());
    let multiply = |a: &DfPattern, b: &DfPattern| binary("multiply", a, b);
    let square = &multiply(&x, &x) | &binary("power", &x, &two);
    let cube = &multiply(&square, &x) | &binary("power", &x, &three);
    let sum = binary("add", &x, &multiply(&cube, &cubic));
    let share = &multiply(&square, &cubic) | &multiply(&multiply(&x, &cubic), &x);
    let share = binary("add", &share, &one);
    let of_shares =
        &multiply(&multiply(&x, &root), &share) | &multiply(&multiply(&x, &share), &root);
    let tanh = unary("tanh", &(&multiply(&sum, &root) | &of_shares));
    let product = Product::new(&tanh);
    let whole = product.whole.clone();
    Idiom::new("nn.gelu_tanh", &whole, &tanh, move |site| {
        site.is_number("the factor of the cube", &cubic, 0.044_715)?;
        site.is_number("the factor in `tanh`", &root, (2.0 / PI).sqrt())?;
        site.is_number("what is added in `tanh`", &one, 1.0)?;
        site.is_number("the exponent", &two, 2.0)?;
        site.is_number("the exponent", &three, 3.0)?;
        product.instead("nn.gelu_tanh", "`tanh`", &x, site)
    })
}
