//! A convolution whose elements each have an offset (`DeformConv`): the data at computed coordinates, then a product with the
//! weights.
//!
//! # References
//! X. Zhu, H. Hu, S. Lin, J. Dai, "Deformable ConvNets v2: More Deformable, Better Results", 2018.

use serde_json::json;

use super::Operator;
use super::pieces::floats;
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, in_type, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr, Var};
use crate::tensor::DType;

pub(super) const OPERATORS: &[Operator] = &[Operator::new("DeformConv", &[19, 22], deform_conv)
    .note("images of two dimensions and of a constant size")];

/// The extents of a deformable convolution.
struct Extents {
    batch: Size,
    channels: i64,
    image: [i64; 2],
    /// Height and width of the kernel.
    kernel: [i64; 2],
    /// Rows and columns of the result.
    result: [Size; 2],
    filters: i64,
    /// Groups of channels that share weights, and that share offsets.
    groups: i64,
    offset_groups: i64,
}

impl Extents {
    fn of(c: &Call<'_, '_>) -> Result<Self, Fault> {
        for index in [0, 1, 2] {
            let dims = c.dims(index)?;
            if dims.len() != 4 {
                return Err(c.bad(index, shown(&dims), "a tensor of four dimensions"));
            }
        }
        let group = |name: &str, count: i64| match c.attributes.int_or(name, 1)? {
            groups if groups >= 1 && count % groups == 0 => Ok(groups),
            given => Err(Fault::Attribute {
                name: name.to_owned(),
                given: given.to_string(),
                expected: format!("a divisor of {count}"),
            }),
        };
        let (channels, filters) = (c.dim(0, 1)?, c.dim(1, 0)?);
        let kernel = [c.dim(1, 2)?, c.dim(1, 3)?];
        let result = c.dims(2)?;
        let extents = Self {
            batch: c.dims(0)?[0].clone(),
            channels,
            image: [c.dim(0, 2)?, c.dim(0, 3)?],
            kernel,
            result: [result[2].clone(), result[3].clone()],
            filters,
            groups: group("group", channels)?,
            offset_groups: group("offset_group", channels)?,
        };
        if let Some(given) = c.attributes.ints("kernel_shape")?
            && given != kernel
        {
            return Err(Fault::Attribute {
                name: "kernel_shape".to_owned(),
                given: format!("{given:?}"),
                expected: format!("{kernel:?}, as the weights have it"),
            });
        }
        let offsets = extents.offset_groups * kernel[0] * kernel[1];
        let own = channels / extents.groups;
        let expected = [(1, 1, own), (2, 1, 2 * offsets)];
        for (index, axis, extent) in expected {
            if c.dim(index, axis)? != extent {
                let dims = c.dims(index)?;
                return Err(c.bad(index, shown(&dims), format!("{extent} in dimension {axis}")));
            }
        }
        if filters % extents.groups != 0 || extents.image.contains(&0) {
            let dims = c.dims(1)?;
            return Err(c.bad(1, shown(&dims), "filters for each group, of an image"));
        }
        Ok(extents)
    }

    fn taps(&self) -> i64 {
        self.kernel[0] * self.kernel[1]
    }
}

/// Where the taps of the kernel are without their offsets, along one dimension: `[taps, rows, 1]` or `[taps, 1, columns]`.
fn places(c: &Call<'_, '_>, e: &Extents, axis: usize) -> Result<Expr, Fault> {
    let (strides, dilations) = (
        c.attributes.ints_of("strides", 1, 2)?,
        c.attributes.ints_of("dilations", 1, 2)?,
    );
    let pads = c.attributes.ints_of("pads", 0, 4)?;
    let steps = relax::op_with(
        "arange",
        [Expr::from(e.result[axis].clone())],
        attrs(&json!({"dtype": "int64"})),
    );
    let mut dims = vec![Size::i64(1); 3];
    dims[1 + axis] = e.result[axis].clone();
    let steps = relax::op("reshape", [cast(steps, DType::F32), relax::shape(dims)]);
    let starts = steps * number(strides[axis] as f64, DType::F32)?;
    let taps = (0..e.taps()).map(|tap| {
        let at = match axis {
            0 => tap / e.kernel[1],
            _ => tap % e.kernel[1],
        };
        (at as f64) * (dilations[axis] as f64) - pads[axis] as f64
    });
    let taps = floats(DType::F32, &[e.taps() as usize, 1, 1], taps)?;
    Ok(starts + relax::constant(taps))
}

/// The grid of coordinates, `[batch * offset groups, 2, taps * rows, columns]`: columns, then rows, as fractions of the image.
fn grid(c: &mut Call<'_, '_>, e: &Extents) -> Result<Var, Fault> {
    let [rows, columns] = e.result.clone();
    let offset = c.x(2)?;
    let offset = in_type(offset, c.dtype(2)?, DType::F32);
    let (groups, taps) = (Size::i64(e.offset_groups), Size::i64(e.taps()));
    let dims = [
        e.batch.clone(),
        groups,
        taps.clone(),
        Size::i64(2),
        rows.clone(),
        columns.clone(),
    ];
    let offset = c.reshaped(offset, dims)?;
    let mut coordinates = vec![];
    for axis in [1, 0] {
        let own = relax::op_with(
            "take",
            [Expr::from(&offset), number(axis as f64, DType::I64)?],
            attrs(&json!({"axis": 3})),
        );
        let at = own + places(c, e, axis)?;
        let unit = number(1.0, DType::F32)?;
        // The middle of element 0 is half an element from the edge, which is -1.
        let scale = number(2.0 / e.image[axis] as f64, DType::F32)?;
        let half = number(0.5, DType::F32)?;
        coordinates.push(c.emit((at + half) * scale - unit)?);
    }
    let both = relax::op_with(
        "stack",
        [relax::tuple(&coordinates)],
        attrs(&json!({"axis": 2})),
    );
    let batch = e.batch.clone() * e.offset_groups;
    c.reshaped(both, [batch, Size::i64(2), taps * rows, columns])
}

fn deform_conv(c: &mut Call<'_, '_>) -> Outputs {
    let e = Extents::of(c)?;
    let dtype = c.dtype(0)?;
    let grid = grid(c, &e)?;
    let [rows, columns] = e.result.clone();
    let [height, width] = e.image.map(Size::i64);
    let own = Size::i64(e.channels / e.offset_groups);
    let x = c.x(0)?;
    let batch = e.batch.clone() * e.offset_groups;
    let x = c.reshaped(
        in_type(x, dtype, DType::F32),
        [batch, own.clone(), height, width],
    )?;
    let sampled = c.op_with(
        "image.grid_sample",
        [&x, &grid],
        &json!({"method": "bilinear", "padding_mode": "zeros", "align_corners": false}),
    )?;
    let (groups, taps) = (Size::i64(e.offset_groups), Size::i64(e.taps()));
    let mut sampled: Expr = (&sampled).into();
    if let Some(mask) = c.optional(4)? {
        let mask = in_type(mask, c.dtype(4)?, DType::F32);
        let over = |channels: Size| {
            let head = [e.batch.clone(), groups.clone(), channels, taps.clone()];
            relax::shape(head.into_iter().chain([rows.clone(), columns.clone()]))
        };
        let mask = relax::op("reshape", [mask, over(Size::i64(1))]);
        sampled = relax::op("reshape", [sampled, over(own)]) * mask;
    }
    // One row for each channel and tap of a group, one column for each element of the result.
    let depth = Size::i64(e.channels / e.groups * e.taps());
    let groups = Size::i64(e.groups);
    let area = rows.clone() * columns.clone();
    let columns_of = c.reshaped(
        sampled,
        [e.batch.clone(), groups.clone(), depth.clone(), area],
    )?;
    let weight = c.x(1)?;
    let own = Size::i64(e.filters / e.groups);
    let weight = c.reshaped(
        in_type(weight, c.dtype(1)?, DType::F32),
        [groups, own, depth],
    )?;
    let y = c.op("matmul", [&weight, &columns_of])?;
    let filters = Size::i64(e.filters);
    let mut y = relax::op(
        "reshape",
        [
            (&y).into(),
            relax::shape([e.batch.clone(), filters.clone(), rows, columns]),
        ],
    );
    if let Some(bias) = c.optional(3)? {
        let bias = in_type(bias, c.dtype(3)?, DType::F32);
        let dims = [filters, Size::i64(1), Size::i64(1)];
        y = y + relax::op("reshape", [bias, relax::shape(dims)]);
    }
    one(c.emit(in_type(y, DType::F32, dtype))?)
}
