//! Convolutions and pooling.

use serde_json::json;

use super::Operator;
use super::pieces::{dims_of, spatial_dims};
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::frontend::onnx::fit::Extent;
use crate::frontend::onnx::value::Value;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("AveragePool", &[7, 10, 11, 19, 22], average_pool).note(
        "one to three spatial dimensions",
    ),
    Operator::new("Conv", &[1, 11, 22], conv).note(
        "one to three spatial dimensions",
    ),
    Operator::new("ConvTranspose", &[1, 11, 22], conv_transpose).note(
        "one to three spatial dimensions; `auto_pad` SAME and `output_shape` need constant extents",
    ),
    Operator::new("GlobalAveragePool", &[1, 22], |c| global_pool(c, "mean")),
    Operator::new("GlobalMaxPool", &[1, 22], |c| global_pool(c, "max")),
    Operator::new("LpPool", &[2, 11, 18, 22], lp_pool).note(
        "one to three spatial dimensions",
    ),
    Operator::new("MaxPool", &[1, 8, 10, 11, 12, 22], max_pool).note(
        "one to three spatial dimensions; with positions `auto_pad` SAME with strides needs constant extents",
    ),
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

/// The extents of the kernel: an attribute, or those of the weights, which are the same if both are known.
fn kernel_of(c: &Call<'_, '_>) -> Result<Vec<i64>, Fault> {
    let weight = c.dims(1)?;
    let Some(given) = c.attributes.ints("kernel_shape")? else {
        return (2..weight.len()).map(|axis| c.dim(1, axis)).collect();
    };
    let spatial = weight.get(2..).unwrap_or_default();
    let known: Option<Vec<i64>> = spatial.iter().map(Size::as_int).collect();
    match known {
        Some(known) if known != given => Err(Fault::Attribute {
            name: "kernel_shape".to_owned(),
            given: format!("{given:?}"),
            expected: format!("{known:?}, as the weights have it"),
        }),
        _ => Ok(given),
    }
}

fn needed_kernel(c: &Call<'_, '_>) -> Result<Vec<i64>, Fault> {
    let kernel = c.attributes.ints("kernel_shape")?;
    kernel.ok_or_else(|| Fault::NoAttribute("kernel_shape".to_owned()))
}

/// `y + bias` per channel.
fn biased(c: &mut Call<'_, '_>, y: Expr, index: usize, spatial: usize) -> Result<Var, Fault> {
    let y = c.emit(y)?;
    let Some(bias) = c.optional(index)? else {
        return Ok(y);
    };
    let channels = dims_of(c, &y)?.swap_remove(1);
    c.expect_extents(index, &[Extent::of("channels", &channels)])?;
    let mut dims = vec![Size::i64(1); spatial + 1];
    dims[0] = Size::i64(c.dim(index, 0)?);
    let bias = relax::op("reshape", [bias, relax::shape(dims)]);
    c.op("add", [(&y).into(), bias])
}

/// Refuses data and weights of a convolution whose channels do not fit. Weights are (channels of the result, channels of a group, …), and
/// those of a transposed convolution (channels of the data, channels of a group of the result, …).
fn check_channels(c: &Call<'_, '_>, is_transposed: bool) -> Result<(), Fault> {
    let groups = c.attributes.int_within("group", 1, 1..=i64::MAX)?;
    let (data, weights) = (c.dims(0)?, c.dims(1)?);
    let unfit = |expected: String| Err(c.bad(1, shown(&weights), expected));
    if weights.len() != data.len() {
        return unfit(format!(
            "of {} dimensions, as {} is",
            data.len(),
            c.operand(0)
        ));
    }
    let Some(channels) = data[1].as_int() else {
        return Ok(());
    };
    if channels % groups != 0 {
        return Err(Fault::Attribute {
            name: "group".to_owned(),
            given: groups.to_string(),
            expected: format!(
                "a number that divides the {channels} channels of {}",
                c.operand(0)
            ),
        });
    }
    let (at, own) = match is_transposed {
        true => (0, channels),
        false => (1, channels / groups),
    };
    if c.surely_differ(&weights[at], &Size::i64(own)) {
        let split = if groups == 1 {
            String::new()
        } else {
            format!(" in {groups} groups")
        };
        let of = format!("the {channels} channels of {}{split}", c.operand(0));
        return unfit(format!("of extent {own} in dimension {at}, for {of}"));
    }
    match weights[0].as_int() {
        Some(all) if all % groups != 0 => unfit(format!(
            "of an extent in dimension 0 that the {groups} groups divide"
        )),
        _ => Ok(()),
    }
}

/// The operator of a convolution, and its attributes. The data are the first operand, the weights the second.
pub(super) fn conv_attributes(c: &Call<'_, '_>) -> Result<(String, serde_json::Value), Fault> {
    Window::of(c, kernel_of(c)?)?.conv(c)
}

fn conv(c: &mut Call<'_, '_>) -> Outputs {
    let mut window = Window::of(c, kernel_of(c)?)?;
    check_channels(c, false)?;
    window.pad_operand(c, 0.0)?;
    let (name, attributes) = window.conv(c)?;
    let spatial = c.ndim(0)? - 2;
    let (x, w) = (c.x(0)?, c.x(1)?);
    let y = relax::op_with(name, [x, w], attrs(&attributes));
    one(biased(c, y, 2, spatial)?)
}

fn conv_transpose(c: &mut Call<'_, '_>) -> Outputs {
    let mut window = Window::of(c, kernel_of(c)?)?;
    check_channels(c, true)?;
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
