//! Convolutions, pooling and normalisation.

use serde_json::json;

use super::Operator;
use super::pieces::spatial_dims;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, in_type, number, one};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::value::Value;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("AveragePool", &[7, 10, 11, 19, 22], average_pool).note(
        "one to three spatial dimensions",
    ),
    Operator::new("BatchNormalization", &[7, 9, 14, 15], batch_norm)
        .note("training mode from version 14 on; `spatial` only 1"),
    Operator::new("Conv", &[1, 11, 22], conv).note(
        "one to three spatial dimensions",
    ),
    Operator::new("ConvTranspose", &[1, 11, 22], conv_transpose).note(
        "one to three spatial dimensions; `auto_pad` SAME and `output_shape` need constant extents",
    ),
    Operator::new("GlobalAveragePool", &[1, 22], |c| global_pool(c, "mean")),
    Operator::new("GlobalMaxPool", &[1, 22], |c| global_pool(c, "max")),
    Operator::new("GroupNormalization", &[18, 21], group_norm),
    Operator::new("InstanceNormalization", &[6, 22], instance_norm),
    Operator::new("LRN", &[1, 13], lrn),
    Operator::new("LayerNormalization", &[17], layer_norm).note("`stash_type` only 1"),
    Operator::new("LpNormalization", &[1, 22], lp_norm).note("`p` only 1 or 2"),
    Operator::new("LpPool", &[2, 11, 18, 22], lp_pool).note(
        "one to three spatial dimensions",
    ),
    Operator::new("MaxPool", &[1, 8, 10, 11, 12, 22], max_pool).note(
        "one to three spatial dimensions; with positions `auto_pad` SAME with strides needs constant extents",
    ),
    Operator::new("MeanVarianceNormalization", &[9, 13], mean_variance),
    Operator::new("RMSNormalization", &[23], rms_norm).note("`stash_type` only 1"),
];

/// Names of layouts by the number of spatial dimensions, and of the operators.
const DATA: [&str; 3] = ["NCW", "NCHW", "NCDHW"];

/// What a window over spatial dimensions does.
struct Window {
    spatial: usize,
    kernel: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// Before each dimension, then after each.
    pads: Vec<i64>,
    /// The dimensions in which the operand itself was padded.
    padded: Vec<usize>,
}

impl Window {
    fn of(c: &Call<'_, '_>, kernel: Vec<i64>) -> Result<Self, Fault> {
        let spatial = spatial_dims(c)?;
        let list = |name, default, count| c.attributes.ints_of(name, default, count);
        let strides = list("strides", 1, spatial)?;
        let dilations = list("dilations", 1, spatial)?;
        let pads = list("pads", 0, 2 * spatial)?;
        let sound = |v: &i64| (1..=i64::from(i32::MAX)).contains(v);
        let steps = strides.iter().chain(&dilations).chain(&kernel);
        let pads_fit = pads.iter().all(|v| v.unsigned_abs() <= i32::MAX as u64);
        if kernel.len() != spatial || !steps.clone().all(sound) || !pads_fit {
            return Err(Fault::Attribute {
                name: "kernel_shape, strides or dilations".to_owned(),
                given: format!("{kernel:?}, {strides:?}, {dilations:?}"),
                expected: format!("{spatial} positive numbers each"),
            });
        }
        Ok(Self {
            spatial,
            kernel,
            strides,
            dilations,
            pads,
            padded: vec![],
        })
    }

    /// The padding that `auto_pad` asks for.
    fn auto_pad(&mut self, c: &Call<'_, '_>) -> Result<(), Fault> {
        let known = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"];
        let how = c.attributes.one_of("auto_pad", "NOTSET", &known)?;
        match how {
            "NOTSET" => {}
            "VALID" => self.pads.fill(0),
            _ => {
                let own = |at: &usize| !self.padded.contains(at);
                for at in (0..self.spatial).filter(own) {
                    let span = self.span(at);
                    let total = if self.strides[at] == 1 {
                        span - 1
                    } else {
                        let extent = c.dim(0, at + 2)?;
                        let last = (extent - 1).div_euclid(self.strides[at]) * self.strides[at];
                        (last + span - extent).max(0)
                    };
                    let (before, after) = halves(how, total);
                    self.pads[at] = before;
                    self.pads[self.spatial + at] = after;
                }
            }
        }
        Ok(())
    }

    /// How many places of a dimension the kernel reaches over.
    fn span(&self, at: usize) -> i64 {
        (self.kernel[at] - 1) * self.dilations[at] + 1
    }

    /// Pads the operand itself in the dimensions whose extent is no number, where `auto_pad` makes the padding depend on it.
    fn pad_operand(&mut self, c: &mut Call<'_, '_>, fill: f64) -> Result<(), Fault> {
        let how = c.attributes.str_or("auto_pad", "NOTSET")?;
        if !how.starts_with("SAME") {
            return Ok(());
        }
        for at in 0..self.spatial {
            let extent = c.dims(0)?[at + 2].clone();
            let stride = self.strides[at];
            if stride == 1 || extent.as_int().is_some() {
                continue;
            }
            let last = (&extent - 1i64).floor_div(stride) * stride;
            let total = (last + self.span(at) - extent).max(0i64);
            let less = total.floor_div(2i64);
            let more = total - less.clone();
            let (before, after) = match how {
                "SAME_UPPER" => (less, more),
                _ => (more, less),
            };
            let x = c.x(0)?;
            let sides = [
                filled(c, at + 2, before, fill)?,
                x,
                filled(c, at + 2, after, fill)?,
            ];
            let x = c.op_with("concat", [relax::tuple(sides)], &json!({"axis": at + 2}))?;
            c.inputs[0] = x.into();
            self.padded.push(at);
        }
        Ok(())
    }

    /// The operator of a convolution, and its attributes.
    fn conv(&mut self, c: &Call<'_, '_>) -> Result<(String, serde_json::Value), Fault> {
        self.auto_pad(c)?;
        let n = self.spatial;
        let attributes = json!({
            "strides": self.strides, "dilation": self.dilations, "padding": self.pads,
            "groups": c.attributes.int_or("group", 1)?,
            "data_layout": (DATA[n - 1]), "kernel_layout": (["OIW", "OIHW", "OIDHW"][n - 1]),
        });
        Ok((format!("nn.conv{n}d"), attributes))
    }

    fn pool(&self, c: &Call<'_, '_>) -> Result<serde_json::Value, Fault> {
        Ok(json!({
            "pool_size": self.kernel, "strides": self.strides, "dilation": self.dilations,
            "padding": self.pads, "ceil_mode": c.attributes.flag("ceil_mode", false)?,
            "layout": (DATA[self.spatial - 1]),
        }))
    }
}

/// A number wherever the first operand has elements, of another extent in one dimension.
fn filled(c: &Call<'_, '_>, axis: usize, extent: Size, fill: f64) -> Result<Expr, Fault> {
    let (mut dims, dtype) = (c.dims(0)?, c.dtype(0)?);
    dims[axis] = c.importer.arith.simplify(&extent);
    Ok(relax::op(
        "full",
        [relax::shape(dims), number(fill, dtype)?],
    ))
}

/// Padding before and after a dimension: an odd one more lies at its end, or with `SAME_LOWER` at its beginning.
fn halves(auto_pad: &str, total: i64) -> (i64, i64) {
    let less = total / 2;
    match auto_pad {
        "SAME_UPPER" => (less, total - less),
        _ => (total - less, less),
    }
}

/// The extents of the kernel: an attribute, or those of the weights.
fn kernel_of(c: &Call<'_, '_>) -> Result<Vec<i64>, Fault> {
    if let Some(kernel) = c.attributes.ints("kernel_shape")? {
        return Ok(kernel);
    }
    let rank = c.ndim(1)?;
    (2..rank).map(|axis| c.dim(1, axis)).collect()
}

fn needed_kernel(c: &Call<'_, '_>) -> Result<Vec<i64>, Fault> {
    let kernel = c.attributes.ints("kernel_shape")?;
    kernel.ok_or_else(|| Fault::NoAttribute("kernel_shape".to_owned()))
}

/// `y + bias` per channel.
fn biased(c: &mut Call<'_, '_>, y: Expr, index: usize, spatial: usize) -> Result<Var, Fault> {
    let Some(bias) = c.optional(index)? else {
        return c.emit(y);
    };
    let mut dims = vec![Size::i64(1); spatial + 1];
    dims[0] = Size::i64(c.dim(index, 0)?);
    let bias = relax::op("reshape", [bias, relax::shape(dims)]);
    c.op("add", [y, bias])
}

/// The operator of a convolution, and its attributes. The data are the first operand, the weights the second.
pub(super) fn conv_attributes(c: &Call<'_, '_>) -> Result<(String, serde_json::Value), Fault> {
    Window::of(c, kernel_of(c)?)?.conv(c)
}

fn conv(c: &mut Call<'_, '_>) -> Outputs {
    let mut window = Window::of(c, kernel_of(c)?)?;
    window.pad_operand(c, 0.0)?;
    let (name, attributes) = window.conv(c)?;
    let spatial = c.ndim(0)? - 2;
    let (x, w) = (c.x(0)?, c.x(1)?);
    let y = relax::op_with(name, [x, w], attrs(&attributes));
    one(biased(c, y, 2, spatial)?)
}

fn conv_transpose(c: &mut Call<'_, '_>) -> Outputs {
    let mut window = Window::of(c, kernel_of(c)?)?;
    let n = window.spatial;
    let known = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"];
    let how = c.attributes.one_of("auto_pad", "NOTSET", &known)?;
    let list = |name: &str, fewest: usize| match c.attributes.ints(name)? {
        Some(list)
            if list.len() >= fewest && list.iter().all(|v| v.unsigned_abs() <= i32::MAX as u64) =>
        {
            Ok(Some(list))
        }
        Some(list) => Err(Fault::Attribute {
            name: name.to_owned(),
            given: format!("{list:?}"),
            expected: format!("{fewest} numbers"),
        }),
        None => Ok(None),
    };
    let mut more = list("output_padding", n)?.unwrap_or_else(|| vec![0; n]);
    let shape = list("output_shape", n)?;
    if how == "VALID" {
        window.pads.fill(0);
    }
    for at in 0..n {
        let span = (window.kernel[at] - 1) * window.dilations[at] + 1;
        // What is cut off, so that the result has the extents asked for.
        let wanted = match &shape {
            // All dimensions, or the spatial ones.
            Some(shape) => {
                let reach = c.dim(0, at + 2)?.saturating_mul(window.strides[at]);
                Some(shape[shape.len() - n + at].saturating_sub(reach))
            }
            None if how.starts_with("SAME") => Some(0),
            None => None,
        };
        let Some(wanted) = wanted else { continue };
        let total = (span - window.strides[at] + more[at]).saturating_sub(wanted);
        if total < 0 {
            // More is added than the kernel reaches.
            more[at] = more[at].saturating_sub(total);
        }
        let total = total.max(0);
        let (before, after) = halves(how, total);
        window.pads[at] = before;
        window.pads[n + at] = after;
    }
    let attributes = json!({
        "strides": window.strides, "dilation": window.dilations, "padding": window.pads,
        "output_padding": more, "groups": c.attributes.int_or("group", 1)?,
        "data_layout": (DATA[n - 1]), "kernel_layout": (["IOW", "IOHW", "IODHW"][n - 1]),
    });
    let (x, w) = (c.x(0)?, c.x(1)?);
    let y = relax::op_with(format!("nn.conv{n}d_transpose"), [x, w], attrs(&attributes));
    one(biased(c, y, 2, n)?)
}

fn average_pool(c: &mut Call<'_, '_>) -> Outputs {
    let mut window = Window::of(c, needed_kernel(c)?)?;
    let (dims, dtype) = (c.dims(0)?, c.dtype(0)?);
    window.pad_operand(c, 0.0)?;
    window.auto_pad(c)?;
    let all = c.attributes.flag("count_include_pad", false)?;
    let mut attributes = window.pool(c)?;
    attributes["count_include_pad"] = json!(all || !window.padded.is_empty());
    let name = format!("nn.avg_pool{}d", window.spatial);
    let x = c.x(0)?;
    let y = c.op_with(&name, [x], &attributes)?;
    if all || window.padded.is_empty() {
        return one(y);
    }
    // How much of each window is no padding.
    let mut shape = vec![Size::i64(1); 2];
    shape.extend_from_slice(&dims[2..]);
    c.inputs[0] = c
        .op("full", [relax::shape(shape), number(1.0, dtype)?])?
        .into();
    window.padded.clear();
    window.pad_operand(c, 0.0)?;
    let ones = c.x(0)?;
    let share = c.op_with(&name, [ones], &attributes)?;
    one(c.op("divide", [&y, &share])?)
}

fn lp_pool(c: &mut Call<'_, '_>) -> Outputs {
    let mut window = Window::of(c, needed_kernel(c)?)?;
    window.pad_operand(c, 0.0)?;
    window.auto_pad(c)?;
    let mut attributes = window.pool(c)?;
    attributes["p"] = json!(c.attributes.int_or("p", 2)?);
    let x = c.x(0)?;
    one(c.op_with(&format!("nn.lp_pool{}d", window.spatial), [x], &attributes)?)
}

fn max_pool(c: &mut Call<'_, '_>) -> Outputs {
    let mut window = Window::of(c, needed_kernel(c)?)?;
    if !c.wants(1) {
        let lowest = c.dtype(0)?.scalar.int_range();
        let lowest = lowest.map_or(f64::NEG_INFINITY, |(low, _)| low as f64);
        window.pad_operand(c, lowest)?;
    }
    window.auto_pad(c)?;
    let column_major = c.attributes.flag("storage_order", false)?;
    let attributes = window.pool(c)?;
    let n = window.spatial;
    let x = c.x(0)?;
    if !c.wants(1) {
        return one(c.op_with(&format!("nn.max_pool{n}d"), [x], &attributes)?);
    }
    let both = c.op_with(&format!("nn.max_pool{n}d_with_positions"), [x], &attributes)?;
    let both = c.items(&both, 2)?;
    let [values, Value::Var(at)] = both.as_slice() else {
        return Ok(both);
    };
    let at = match at.sinfo().as_tensor().and_then(|info| info.dtype) {
        Some(DType::I64) => at.clone(),
        _ => c.emit(cast(at, DType::I64))?,
    };
    if !column_major || n == 1 {
        return Ok(vec![values.clone(), at.into()]);
    }
    let at = column_major_positions(c, &at)?;
    Ok(vec![values.clone(), at.into()])
}

/// Positions in a row-major image as those in a column-major one: the first spatial dimension runs fastest, batch and channels
/// stay the slowest.
fn column_major_positions(c: &mut Call<'_, '_>, at: &Var) -> Result<Var, Fault> {
    let dims = c.dims(0)?;
    let extents = (2..dims.len()).map(|axis| c.dim(0, axis));
    let extents = extents.collect::<Result<Vec<i64>, Fault>>()?;
    let int = |value: i64| number(value as f64, DType::I64);
    let area = extents.iter().product::<i64>().max(1);
    let inner = c.emit(relax::op("floor_mod", [at.into(), int(area)?]))?;
    let mut result = at - &inner;
    let (mut row_major, mut column_major) = (area, 1i64);
    for &extent in &extents {
        row_major /= extent.max(1);
        let index = relax::op("floor_divide", [(&inner).into(), int(row_major)?]);
        let index = relax::op("floor_mod", [index, int(extent.max(1))?]);
        result = result + index * int(column_major)?;
        column_major *= extent;
    }
    c.emit(result)
}

fn global_pool(c: &mut Call<'_, '_>, name: &str) -> Outputs {
    let rank = c.ndim(0)?;
    let axes: Vec<usize> = (2..rank).collect();
    let x = c.x(0)?;
    one(c.op_with(name, [x], &json!({"axis": axes, "keepdims": true}))?)
}

fn batch_norm(c: &mut Call<'_, '_>) -> Outputs {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-5f32))?;
    let momentum = c.attributes.float_or("momentum", f64::from(0.9f32))?;
    c.attributes.only("spatial", 1)?;
    if c.attributes.flag("training_mode", false)? {
        return trained_batch_norm(c, epsilon, momentum);
    }
    let dtype = c.dtype(0)?;
    let args = (0..5).map(|at| {
        let x = c.x(at)?;
        Ok::<_, Fault>(in_type(x, c.dtype(at)?, dtype))
    });
    let args = args.collect::<Result<Vec<Expr>, Fault>>()?;
    let attributes = json!({"axis": 1, "epsilon": epsilon, "training": false});
    let all = c.op_with("nn.batch_norm", args, &attributes)?;
    one(c.emit(relax::item(&all, 0))?)
}

/// By the mean and variance of the batch itself, which also move those that are kept.
fn trained_batch_norm(c: &mut Call<'_, '_>, epsilon: f64, momentum: f64) -> Outputs {
    let (dtype, rank) = (c.dtype(0)?, c.ndim(0)?);
    let wide = match dtype {
        DType::F64 => DType::F64,
        _ => DType::F32,
    };
    let axes: Vec<usize> = (0..rank).filter(|&axis| axis != 1).collect();
    let channels = c.dims(1)?;
    let per_channel = |c: &mut Call<'_, '_>, index: usize| {
        let mut dims = vec![Size::i64(1); rank.saturating_sub(1)];
        dims[0] = channels.first().cloned().unwrap_or_else(|| Size::i64(1));
        let x = c.x(index)?;
        let x = in_type(x, c.dtype(index)?, wide);
        Ok::<Expr, Fault>(relax::op("reshape", [x, relax::shape(dims)]))
    };
    let x = c.x(0)?;
    let x = c.emit(in_type(x, dtype, wide))?;
    let over = json!({"axis": axes, "keepdims": true});
    let mean = c.op_with("mean", [&x], &over)?;
    let centred = c.emit(&x - &mean)?;
    let variance = c.op_with("mean", [relax::op("square", [&centred])], &over)?;
    let deviation = relax::op("sqrt", [&variance + number(epsilon, wide)?]);
    let (scale, shift) = (per_channel(c, 1)?, per_channel(c, 2)?);
    let y = &centred / deviation * scale + shift;
    let y = c.emit(in_type(y, wide, dtype))?;
    let mut outputs = vec![y.into()];
    for (index, own) in [(3, mean), (4, variance)] {
        let kept = c.dtype(index)?;
        let before = c.x(index)?;
        let before = in_type(before, kept, wide);
        let own = relax::op(
            "reshape",
            [Expr::from(&own), relax::shape(channels.clone())],
        );
        let moved = before * number(momentum, wide)? + own * number(1.0 - momentum, wide)?;
        outputs.push(c.emit(in_type(moved, wide, kept))?.into());
    }
    Ok(outputs)
}

fn instance_norm(c: &mut Call<'_, '_>) -> Outputs {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-5f32))?;
    let axes: Vec<usize> = (2..c.ndim(0)?).collect();
    let args = [c.x(0)?, c.x(1)?, c.x(2)?];
    let attributes = json!({"channel_axis": 1, "axes": axes, "epsilon": epsilon});
    one(c.op_with("nn.instance_norm", args, &attributes)?)
}

/// Before version 21 there was a scale and a bias for each group, then one for each channel.
fn group_norm(c: &mut Call<'_, '_>) -> Outputs {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-5f32))?;
    let groups = c.attributes.int("num_groups")?;
    let groups = groups.ok_or_else(|| Fault::NoAttribute("num_groups".to_owned()))?;
    c.attributes.ignore("stash_type");
    let (dims, channels) = (c.dims(0)?, c.dim(0, 1)?);
    let per_channel = |c: &mut Call<'_, '_>, index: usize| {
        let x = c.x(index)?;
        if c.version >= 21 || channels == groups {
            return Ok::<_, Fault>(x);
        }
        let attributes = attrs(&json!({"repeats": channels / groups.max(1), "axis": 0}));
        Ok(relax::op_with("repeat", [x], attributes))
    };
    let args = [c.x(0)?, per_channel(c, 1)?, per_channel(c, 2)?];
    let axes: Vec<usize> = (2..dims.len()).collect();
    let attributes =
        json!({"num_groups": groups, "channel_axis": 1, "axes": axes, "epsilon": epsilon});
    one(c.op_with("nn.group_norm", args, &attributes)?)
}

fn lrn(c: &mut Call<'_, '_>) -> Outputs {
    let attributes = json!({
        "size": c.attributes.int("size")?.ok_or_else(|| Fault::NoAttribute("size".to_owned()))?,
        "axis": 1,
        "alpha": c.attributes.float_or("alpha", f64::from(1e-4f32))?,
        "beta": c.attributes.float_or("beta", 0.75)?,
        "bias": c.attributes.float_or("bias", 1.0)?,
    });
    let x = c.x(0)?;
    one(c.op_with("nn.lrn", [x], &attributes)?)
}

/// The dimensions from an axis on.
fn from_axis(c: &Call<'_, '_>) -> Result<Vec<usize>, Fault> {
    let rank = c.ndim(0)?;
    let axis = c.attributes.int_or("axis", -1)?;
    Ok((c.axis(axis, rank)?..rank).collect())
}

/// In float32, as `stash_type` says; the mean and the inverse deviation are results too.
fn layer_norm(c: &mut Call<'_, '_>) -> Outputs {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-5f32))?;
    c.attributes.only("stash_type", 1)?;
    let axes = from_axis(c)?;
    let dtype = c.dtype(0)?;
    let plain = c.ndim(1)? == axes.len() && (!c.has(2) || c.ndim(2)? == axes.len());
    let scale = c.x(1)?;
    let wanted = c.wants(1) || c.wants(2);
    if plain && c.has(2) && !wanted {
        let (x, shift) = (c.x(0)?, c.x(2)?);
        let attributes = json!({"axes": axes, "epsilon": epsilon});
        return one(c.op_with("nn.layer_norm", [x, scale, shift], &attributes)?);
    }
    let x = c.x(0)?;
    let x = c.emit(in_type(x, dtype, DType::F32))?;
    let over = json!({"axis": axes, "keepdims": true});
    let mean = c.op_with("mean", [&x], &over)?;
    let centred = c.emit(&x - &mean)?;
    let variance = relax::op_with("mean", [relax::op("square", [&centred])], attrs(&over));
    let epsilon = number(epsilon, DType::F32)?;
    let inverse = c.op("rsqrt", [variance + epsilon])?;
    let mut y = &centred * &inverse;
    if dtype != DType::F32 {
        y = cast(y, dtype);
    }
    y = y * scale;
    if let Some(shift) = c.optional(2)? {
        y = y + shift;
    }
    let y = c.emit(y)?;
    Ok(vec![y.into(), mean.into(), inverse.into()])
}

pub(super) fn rms_norm(c: &mut Call<'_, '_>) -> Outputs {
    let epsilon = c.attributes.float_or("epsilon", f64::from(1e-5f32))?;
    c.attributes.only("stash_type", 1)?;
    let axes = from_axis(c)?;
    let dtype = c.dtype(0)?;
    let (x, scale) = (c.x(0)?, c.x(1)?);
    let x = c.emit(in_type(x, dtype, DType::F32))?;
    let over = json!({"axis": axes, "keepdims": true});
    let squares = relax::op_with("mean", [relax::op("square", [&x])], attrs(&over));
    let epsilon = number(epsilon, DType::F32)?;
    let y = &x * relax::op("rsqrt", [squares + epsilon]);
    one(c.emit(in_type(y, DType::F32, dtype) * scale)?)
}

/// A row of zeros stays a row of zeros.
fn lp_norm(c: &mut Call<'_, '_>) -> Outputs {
    let p = c.attributes.int_or("p", 2)?;
    let axis = c.attributes.int_or("axis", -1)?;
    let axis = c.axis(axis, c.ndim(0)?)?;
    let dtype = c.dtype(0)?;
    let x = c.var(0)?;
    let over = attrs(&json!({"axis": [axis], "keepdims": true}));
    let norm = match p {
        1 => relax::op_with("sum", [relax::op("abs", [&x])], over),
        2 => relax::op(
            "sqrt",
            [relax::op_with("sum", [relax::op("square", [&x])], over)],
        ),
        other => {
            return Err(Fault::Attribute {
                name: "p".to_owned(),
                given: other.to_string(),
                expected: "1 or 2".to_owned(),
            });
        }
    };
    let norm = c.emit(norm)?;
    let (zero, unit) = (number(0.0, dtype)?, number(1.0, dtype)?);
    let nothing = relax::op("equal", [(&norm).into(), zero]);
    let norm = relax::op("where", [nothing, unit, (&norm).into()]);
    one(c.emit(&x / norm)?)
}

fn mean_variance(c: &mut Call<'_, '_>) -> Outputs {
    let axes = c.attributes.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]);
    let dtype = c.dtype(0)?;
    let x = c.var(0)?;
    let over = json!({"axis": axes, "keepdims": true});
    let mean = c.op_with("mean", [&x], &over)?;
    let centred = c.emit(&x - &mean)?;
    let variance = relax::op_with("mean", [relax::op("square", [&centred])], attrs(&over));
    let deviation = relax::op("sqrt", [variance]) + number(1e-9, dtype)?;
    one(c.emit(&centred / deviation)?)
}
