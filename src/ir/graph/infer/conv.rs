//! Results of convolution, pooling and batch normalisation.

use super::InferError;
use super::op::OpCall;
use crate::ir::graph::dims::{Proof, compare_dims};
use crate::ir::{Expr, ShapeInfo, StructInfo, TensorInfo};

/// `(extent + padding - reach) // stride + 1`, folded where it is constant.
fn sliding(extent: &Expr, padding: i64, reach: &Expr, stride: i64) -> Expr {
    match (extent.as_int(), reach.as_int()) {
        (Some(extent), Some(reach)) => {
            let room = extent.saturating_add(padding).saturating_sub(reach);
            Expr::i64(room.div_euclid(stride).saturating_add(1))
        }
        _ => (extent.clone() + padding - reach).floor_div(stride) + 1,
    }
}

/// How far apart the first and last element of a window are, and one.
fn window_reach(size: i64, dilation: i64) -> i64 {
    size.saturating_sub(1)
        .saturating_mul(dilation)
        .saturating_add(1)
}

impl OpCall<'_> {
    /// A pair in an attribute, one number counting for both.
    fn pair(&self, name: &'static str, default: i64) -> Result<[i64; 2], InferError> {
        match self.ints_attr(name)?.as_deref() {
            None => Ok([default; 2]),
            Some([both]) => Ok([*both; 2]),
            Some([a, b]) => Ok([*a, *b]),
            Some(_) => Err(self.bad_attribute(name)),
        }
    }

    /// Padding of both sides together, in each of the two dimensions.
    fn padding(&self) -> Result<[i64; 2], InferError> {
        match self.ints_attr("padding")?.as_deref() {
            None => Ok([0; 2]),
            Some([all]) => Ok([all.saturating_mul(2); 2]),
            Some([h, w]) => Ok([h.saturating_mul(2), w.saturating_mul(2)]),
            Some([top, left, bottom, right]) => {
                Ok([top.saturating_add(*bottom), left.saturating_add(*right)])
            }
            Some(_) => Err(self.bad_attribute("padding")),
        }
    }

    /// Strides, of which none is 0.
    fn strides(&self, default: [i64; 2]) -> Result<[i64; 2], InferError> {
        let strides = if self.ints_attr("strides")?.is_some() {
            self.pair("strides", 1)?
        } else {
            default
        };
        if strides.iter().any(|&s| s < 1) {
            return Err(self.bad_attribute("strides"));
        }
        Ok(strides)
    }

    /// Positions of these letters in a layout attribute.
    fn layout<const N: usize>(
        &self,
        name: &'static str,
        default: &str,
        letters: [char; N],
    ) -> Result<[usize; N], InferError> {
        let layout = match self.attrs.get(name).and_then(|v| v.as_str()) {
            Some(text) if !text.is_empty() => text,
            _ => default,
        };
        let mut at = [0; N];
        for (slot, letter) in at.iter_mut().zip(letters) {
            *slot = layout
                .chars()
                .position(|c| c == letter)
                .ok_or_else(|| self.bad_attribute(name))?;
        }
        if layout.chars().count() == N {
            Ok(at)
        } else {
            Err(self.bad_attribute(name))
        }
    }

    pub(super) fn conv2d(&self) -> Result<StructInfo, InferError> {
        let (Some(data), Some(kernel)) = (self.tensor(0)?, self.tensor(1)?) else {
            return Ok(StructInfo::Object);
        };
        let dtype = self.dtype_attr("out_dtype")?.or(data.dtype);
        let info = |shape| {
            Ok(StructInfo::Tensor(TensorInfo {
                shape,
                dtype,
                vdevice: data.vdevice.clone(),
            }))
        };
        let (Some(x), Some(w)) = (data.shape.dims(), kernel.shape.dims()) else {
            return info(ShapeInfo::Ndim(4));
        };
        for (index, dims) in [x, w].into_iter().enumerate() {
            if dims.len() != 4 {
                return Err(InferError::Operand {
                    op: self.op.to_owned(),
                    index,
                    expected: "a tensor with 4 dimensions",
                    got: Box::new(self.operands[index].clone()),
                });
            }
        }
        let [n, c, h, wd] = self.layout("data_layout", "NCHW", ['N', 'C', 'H', 'W'])?;
        let [o, i, kh, kw] = self.layout("kernel_layout", "OIHW", ['O', 'I', 'H', 'W'])?;
        let groups = self.int_attr("groups", 1)?;
        let channels = match w[i].as_int() {
            Some(v) => Expr::i64(v.saturating_mul(groups)),
            None => w[i].clone() * groups,
        };
        if compare_dims(&x[c], &channels) == Proof::No {
            return Err(InferError::Extents {
                op: self.op.to_owned(),
                what: "input channels of data and kernel",
                lhs: x[c].clone(),
                rhs: channels,
            });
        }
        let (pad, stride) = (self.padding()?, self.strides([1, 1])?);
        let dilation = self.pair("dilation", 1)?;
        let reach = |k: &Expr, d: i64| match k.as_int() {
            Some(k) => Expr::i64(window_reach(k, d)),
            None => (k.clone() - 1) * d + 1,
        };
        let mut out = vec![x[n].clone(); 4];
        out[c] = w[o].clone();
        out[h] = sliding(&x[h], pad[0], &reach(&w[kh], dilation[0]), stride[0]);
        out[wd] = sliding(&x[wd], pad[1], &reach(&w[kw], dilation[1]), stride[1]);
        info(ShapeInfo::Known(out))
    }

    pub(super) fn pool2d(&self) -> Result<StructInfo, InferError> {
        let Some(data) = self.tensor(0)? else {
            return Ok(StructInfo::Object);
        };
        let Some(x) = data.shape.dims() else {
            return Ok(StructInfo::Tensor(data.clone()));
        };
        let [_, _, h, w] = self.layout("layout", "NCHW", ['N', 'C', 'H', 'W'])?;
        if x.len() != 4 {
            return Err(InferError::Operand {
                op: self.op.to_owned(),
                index: 0,
                expected: "a tensor with 4 dimensions",
                got: Box::new(self.operands[0].clone()),
            });
        }
        let (window, pad) = (self.pair("pool_size", 1)?, self.padding()?);
        let (stride, dilation) = (self.strides([1, 1])?, self.pair("dilation", 1)?);
        let ceil = matches!(self.attrs.get("ceil_mode"), Some(v) if v.as_int() == Some(1));
        let mut out = x.to_vec();
        for (axis, at) in [h, w].into_iter().enumerate() {
            let reach = Expr::i64(window_reach(window[axis], dilation[axis]));
            let extra = if ceil { stride[axis] - 1 } else { 0 };
            let pad = pad[axis].saturating_add(extra);
            out[at] = sliding(&x[at], pad, &reach, stride[axis]);
        }
        Ok(StructInfo::Tensor(TensorInfo {
            shape: ShapeInfo::Known(out),
            ..data.clone()
        }))
    }

    pub(super) fn batch_norm(&self) -> Result<StructInfo, InferError> {
        let [data, _, _, mean, variance] = self.operands else {
            return Ok(StructInfo::Object);
        };
        self.tensor(0)?;
        Ok(StructInfo::Tuple(vec![
            data.clone(),
            mean.clone(),
            variance.clone(),
        ]))
    }
}
