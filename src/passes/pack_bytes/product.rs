//! Which calls are products of bytes.

use super::operand::{Centred, tensor};
use crate::ir::graph::{Arg, Def, GraphBuilder, Op, OpCall};
use crate::ir::{Attrs, Expr, StructInfo};
use crate::ops::{
    self,
    nn::{self, Window},
};
use crate::tensor::DType;

const MATMUL: Op = ops::op("matmul");
const CONVOLUTIONS: [Op; 3] = [
    ops::op("nn.conv1d"),
    ops::op("nn.conv2d"),
    ops::op("nn.conv3d"),
];

/// A product of two such operands.
pub(super) struct Product {
    pub(super) x: Centred,
    pub(super) w: Centred,
    /// The scales of `x` and `w`, if the product is in `float32`.
    pub(super) scales: Option<[Arg; 2]>,
    /// The windows of a convolution; `None` for a matrix product.
    pub(super) windows: Option<Vec<Window>>,
    /// The shape of the result.
    pub(super) shape: Vec<Expr>,
}

impl Product {
    pub(super) fn of(def: &Def, result: &StructInfo, builder: &GraphBuilder) -> Option<Self> {
        let (op, [x, w], attrs) = def.op_call()? else {
            return None;
        };
        let is_conv = CONVOLUTIONS.contains(&op);
        if op != MATMUL && !is_conv {
            return None;
        }
        let info = result.as_tensor()?;
        let (x, w, scales) = match info.dtype? {
            DType::I32 => (Centred::of(x, builder)?, Centred::of(w, builder)?, None),
            DType::F32 => {
                let (x, of_x) = Centred::scaled(x, builder)?;
                let (w, of_w) = Centred::scaled(w, builder)?;
                (x, w, Some([of_x, of_w]))
            }
            _ => return None,
        };
        let windows = match is_conv {
            true => Some(windows(op, [&x, &w], attrs)?),
            false => None,
        };
        let depth = w.shape.get(usize::from(is_conv))?.as_int()?;
        let product = Self {
            x,
            w,
            scales,
            windows,
            shape: info.shape.dims()?.to_vec(),
        };
        let fits = match product.windows {
            Some(_) => product.is_convolution(builder),
            None => product.is_matmul(builder),
        };
        (fits && depth >= FEWEST && product.has_scales(builder)).then_some(product)
    }

    /// Whether rows are multiplied by a matrix, and zero points are the same along the sum. The number of steps is known: nothing is left
    /// to be checked before a call.
    fn is_matmul(&self, builder: &GraphBuilder) -> bool {
        let ([_, .., steps], [depth, columns]) = (self.x.shape.as_slice(), self.w.shape.as_slice())
        else {
            return false;
        };
        let rank = self.x.shape.len();
        let of_rows = |zero: &[Expr]| zero.len() <= rank && zero.last().is_none_or(Expr::is_one);
        let of_columns = |zero: &[Expr]| match zero {
            [] => true,
            [n] => n.is_one() || n == columns,
            [one, n] => one.is_one() && (n.is_one() || n == columns),
            _ => false,
        };
        steps.as_int().is_some()
            && steps.as_int() == depth.as_int()
            && self.x.zero_is(builder, of_rows)
            && self.w.zero_is(builder, of_columns)
    }

    /// Whether extents but the number of images are known, so that nothing is left to be checked before a call, and zero points are as a
    /// convolution takes them: one of the image, and one of the weight or one for each channel of the result.
    fn is_convolution(&self, builder: &GraphBuilder) -> bool {
        let (x, w) = (&self.x.shape, &self.w.shape);
        let known = |extents: &[Expr]| extents.iter().all(|extent| extent.as_int().is_some());
        x.len() == w.len()
            && known(&x[1..])
            && known(w)
            && x[1].as_int() == w[1].as_int()
            && self.x.zero_is(builder, <[Expr]>::is_empty)
            && (self.w).zero_is(builder, |of_w| of_w.is_empty() || self.is_each_filter(of_w))
    }

    fn is_each_filter(&self, shape: &[Expr]) -> bool {
        let weight = &self.w.shape;
        let ones = |extents: &[Expr]| extents.iter().all(Expr::is_one);
        shape.len() == weight.len() && shape[0] == weight[0] && ones(&shape[1..])
    }

    /// Whether scales, if there are any, can be taken out of the sums, which then fit `int32`.
    fn has_scales(&self, builder: &GraphBuilder) -> bool {
        let Some([of_x, of_w]) = &self.scales else {
            return true;
        };
        let scales = [of_x, of_w].map(|scale| tensor(scale, builder));
        let [Some((DType::F32, of_x)), Some((DType::F32, of_w))] = scales else {
            return false;
        };
        let (each, of_sum) = match self.windows {
            Some(_) => (self.is_each_filter(&of_w), &self.w.shape[1..]),
            None => {
                let columns = &self.w.shape[1];
                let is_row = matches!(of_w.as_slice(), [one, n] if one.is_one() && n == columns);
                (is_row, &self.w.shape[..1])
            }
        };
        let steps = of_sum
            .iter()
            .try_fold(1_i64, |all, extent| all.checked_mul(extent.as_int()?));
        of_x.is_empty() && (of_w.is_empty() || each) && steps.is_some_and(|n| n <= MOST_STEPS)
    }
}

/// Most products of two differences of bytes whose sum fits `int32`.
const MOST_STEPS: i64 = i32::MAX as i64 / (255 * 255);

/// Fewest elements that words pay for: three bytes of a word.
const FEWEST: i64 = 3;

/// The windows of a convolution, if words can be made of its channels.
fn windows(op: Op, [x, w]: [&Centred; 2], attrs: &Attrs) -> Option<Vec<Window>> {
    let spatial = w.shape.len().checked_sub(2).filter(|n| *n > 0)?;
    let operands = [x, w].map(|operand| StructInfo::tensor(operand.shape.clone(), DType::I32));
    let call = OpCall::new(op, &[], &operands, attrs);
    let windows = nn::windows_of_one_group(&call, spatial).ok()??;
    let small = |window: &Window| window.padding.0.max(window.padding.1) <= MOST_PADDING;
    windows.iter().all(small).then_some(windows)
}

/// Most padding on one side: sums of extents with it are far from overflowing.
const MOST_PADDING: i64 = i32::MAX as i64;
