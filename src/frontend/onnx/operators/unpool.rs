//! Operators that put elements at positions: windows back into images, and new entries into a cache.

use serde_json::json;

use super::Operator;
use super::pieces::{MOST_ELEMENTS, spatial_dims, volume, zeros};
use crate::frontend::onnx::call::{Call, Outputs, attrs, cast, number, one, shown};
use crate::frontend::onnx::error::Fault;
use crate::ir::Expr as Size;
use crate::relax::{self, Expr};
use crate::tensor::{DType, Tensor};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Col2Im", &[18], col2im)
        .note("an image and blocks whose extents follow from the model"),
    Operator::new("MaxUnpool", &[9, 11, 22], max_unpool),
    Operator::new("TensorScatter", &[24], tensor_scatter),
];

/// Numbers of an attribute, each of at least `least`.
fn list(
    c: &Call<'_, '_>,
    name: &str,
    default: i64,
    count: usize,
    least: i64,
) -> Result<Vec<i64>, Fault> {
    let list = c.attributes.ints(name)?;
    let list = list.unwrap_or_else(|| vec![default; count]);
    let fits = |&v: &i64| least <= v && v <= MOST_ELEMENTS as i64;
    match list.len() == count && list.iter().all(fits) {
        true => Ok(list),
        false => Err(Fault::Attribute {
            name: name.to_owned(),
            given: format!("{list:?}"),
            expected: format!("{count} numbers of at least {least}"),
        }),
    }
}

/// The product of extents.
fn product(c: &Call<'_, '_>, dims: &[Size]) -> Size {
    let all = volume(dims);
    c.importer.arith.simplify(&all)
}

/// The elements at their indices in the whole result, zeros elsewhere.
fn max_unpool(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    let spatial = spatial_dims(c)?;
    if !c.attributes.has("kernel_shape") {
        return Err(Fault::NoAttribute("kernel_shape".to_owned()));
    }
    let kernel = list(c, "kernel_shape", 1, spatial, 1)?;
    let strides = list(c, "strides", 1, spatial, 1)?;
    let pads = list(c, "pads", 0, 2 * spatial, 0)?;
    let mut full = dims[..2].to_vec();
    for at in 0..spatial {
        let more = kernel[at] - pads[at] - pads[spatial + at];
        let extent = (dims[at + 2].clone() - 1i64) * strides[at] + more;
        full.push(c.importer.arith.simplify(&extent));
    }
    if full
        .iter()
        .filter_map(Size::as_int)
        .any(|extent| extent < 0)
    {
        return Err(Fault::Attribute {
            name: "pads".to_owned(),
            given: format!("{pads:?}"),
            expected: "less than the windows reach".to_owned(),
        });
    }
    let (count, total) = (product(c, &dims), product(c, &full));
    let (x, indices) = (c.x(0)?, c.x(1)?);
    let x = c.reshaped(x, [count.clone()])?;
    let indices = c.reshaped(indices, [count])?;
    let nothing = zeros([total], c.dtype(0)?);
    let args = [nothing, (&indices).into(), (&x).into()];
    let y = c.op_with("scatter_elements", args, &json!({"axis": 0}))?;
    let y = c.reshaped(&y, full.clone())?;
    if !c.has(2) {
        return one(y);
    }
    let wanted = c.ints(2)?;
    let known: Option<Vec<i64>> = full.iter().map(Size::as_int).collect();
    let known = known.ok_or_else(|| c.bad(0, shown(&full), "a tensor of constant extents"))?;
    let mut width = vec![];
    for (wanted, known) in wanted.iter().zip(&known) {
        width.extend([0, wanted.saturating_sub(*known)]);
    }
    if wanted.len() != known.len() || width.iter().any(|&more| more < 0) {
        return Err(c.bad(2, format!("{wanted:?}"), format!("at least {known:?}")));
    }
    one(c.op_with("nn.pad", [&y], &json!({"pad_width": width}))?)
}

/// New entries of each batch from its position on; in a circular cache the first entry follows the last one.
fn tensor_scatter(c: &mut Call<'_, '_>) -> Outputs {
    let (dims, new) = (c.dims(0)?, c.dims(1)?);
    let axis = c.axis(c.attributes.int_or("axis", -2)?, dims.len())?;
    let circular = c
        .attributes
        .one_of("mode", "linear", &["linear", "circular"])?
        == "circular";
    if axis == 0 || new.len() != dims.len() {
        let expected = "as many dimensions as the cache, of which the axis is not the first";
        return Err(c.bad(1, shown(&new), expected));
    }
    let along = |extent: &Size| {
        let mut shape = vec![Size::i64(1); dims.len()];
        shape[axis] = extent.clone();
        relax::shape(shape)
    };
    let entries = relax::op_with(
        "arange",
        [Expr::from(new[axis].clone())],
        attrs(&json!({"dtype": "int64"})),
    );
    let mut positions = relax::op("reshape", [entries, along(&new[axis])]);
    if let Some(mut first) = c.optional(2)? {
        if c.dtype(2)? != DType::I64 {
            first = cast(first, DType::I64);
        }
        let mut shape = vec![Size::i64(1); dims.len()];
        shape[0] = new[0].clone();
        positions = positions + relax::op("reshape", [first, relax::shape(shape)]);
    }
    if circular {
        let extent = relax::op("shape_to_tensor", [relax::shape([dims[axis].clone()])]);
        let extent = match dims[axis].as_int() {
            Some(extent) => number(extent as f64, DType::I64)?,
            None => extent,
        };
        positions = relax::op("floor_mod", [positions, extent]);
    }
    let positions = c.op("broadcast_to", [positions, relax::shape(new)])?;
    let (cache, new) = (c.x(0)?, c.x(1)?);
    let args = [cache, (&positions).into(), new];
    one(c.op_with("scatter_elements", args, &json!({"axis": axis}))?)
}

/// Columns of blocks added into images: `(batch, channels * block, blocks)`.
fn col2im(c: &mut Call<'_, '_>) -> Outputs {
    let dims = c.dims(0)?;
    let (image, block) = (c.ints(1)?, c.ints(2)?);
    let rank = image.len();
    let fits = |list: &[i64]| list.iter().all(|&v| 0 < v && v <= MOST_ELEMENTS as i64);
    if rank == 0 || !fits(&image) {
        return Err(c.bad(1, format!("{image:?}"), "positive extents"));
    }
    if block.len() != rank || !fits(&block) {
        return Err(c.bad(2, format!("{block:?}"), format!("{rank} positive extents")));
    }
    let strides = list(c, "strides", 1, rank, 1)?;
    let dilations = list(c, "dilations", 1, rank, 1)?;
    let pads = list(c, "pads", 0, 2 * rank, 0)?;
    let padded: Vec<i64> = (0..rank)
        .map(|at| image[at] + pads[at] + pads[rank + at])
        .collect();
    let spans = (0..rank).map(|at| dilations[at].saturating_mul(block[at] - 1));
    let blocks: Vec<i64> = spans
        .enumerate()
        .map(|(at, span)| (padded[at] - span - 1).div_euclid(strides[at]) + 1)
        .collect();
    let all = |list: &[i64]| list.iter().fold(1i64, |all, &v| all.saturating_mul(v));
    let (kernel, count, pixels) = (all(&block), all(&blocks), all(&padded));
    let most = MOST_ELEMENTS as i64;
    if blocks.iter().any(|&count| count < 1) || kernel.saturating_mul(count) > most || pixels > most
    {
        return Err(c.bad(
            1,
            format!("{image:?}"),
            "an image of some blocks, not too many",
        ));
    }
    let channels = match dims.len() {
        3 => c.dim(0, 1)?,
        _ => return Err(c.bad(0, shown(&dims), "(batch, channels * block, blocks)")),
    };
    if channels % kernel != 0 || c.dim(0, 2)? != count {
        let expected = format!("(batch, a multiple of {kernel}, {count})");
        return Err(c.bad(0, shown(&dims), expected));
    }
    let channels = channels / kernel;
    let positions = positions(&block, &blocks, &padded, &strides, &dilations);
    let positions = Tensor::from_slice(&[1, 1, positions.len()], &positions);
    let positions = relax::constant(positions.map_err(relax::BuildError::from)?);
    let column = [
        dims[0].clone(),
        Size::i64(channels),
        Size::i64(kernel * count),
    ];
    let x = c.x(0)?;
    let x = c.reshaped(x, column.clone())?;
    let positions = c.op("broadcast_to", [positions, relax::shape(column)])?;
    let plane = [dims[0].clone(), Size::i64(channels), Size::i64(pixels)];
    let nothing = zeros(plane, c.dtype(0)?);
    let args = [nothing, (&positions).into(), (&x).into()];
    let attributes = json!({"axis": 2, "reduction": "add"});
    let y = c.op_with("scatter_elements", args, &attributes)?;
    let mut shape = vec![dims[0].clone(), Size::i64(channels)];
    shape.extend(padded.iter().map(|&extent| Size::i64(extent)));
    let y = c.reshaped(&y, shape)?;
    if pads.iter().all(|&pad| pad == 0) {
        return one(y);
    }
    let args = [
        (&y).into(),
        relax::shape((0..rank as i64).map(|axis| axis + 2)),
        relax::shape(pads[..rank].to_vec()),
        relax::shape((0..rank).map(|at| pads[at] + image[at])),
    ];
    one(c.op("strided_slice", args)?)
}

/// Where the elements of the columns are in a padded image, in their order: all blocks of the first position of a block first.
fn positions(
    block: &[i64],
    blocks: &[i64],
    padded: &[i64],
    strides: &[i64],
    dilations: &[i64],
) -> Vec<i64> {
    let kernel: i64 = block.iter().product();
    let count: i64 = blocks.iter().product();
    let place = |inside: i64, which: i64| {
        let (mut inside, mut which) = (inside, which);
        let (mut place, mut size) = (0, 1);
        for at in (0..block.len()).rev() {
            let (offset, start) = (inside % block[at], which % blocks[at]);
            place += (start * strides[at] + offset * dilations[at]) * size;
            size *= padded[at];
            inside /= block[at];
            which /= blocks[at];
        }
        place
    };
    let pairs = (0..kernel).flat_map(|inside| (0..count).map(move |which| (inside, which)));
    pairs.map(|(inside, which)| place(inside, which)).collect()
}
