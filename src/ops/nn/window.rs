//! What convolutions and poolings share: layouts, strides, padding, and extents of sliding windows.

use crate::ir::graph::dims::Proof;
use crate::ir::graph::{InferError, OpCall};
use crate::ir::{AttrValue, Attrs, Expr, ShapeInfo, StructInfo};
use crate::ops::rules::{self, tensor_like};
use crate::tensor::DType;
use crate::topi::extent::{quotient, shifted};
use crate::topi::window::Positions;

pub(crate) use crate::topi::window::Window;

/// Where the letters stand in a layout attribute: `letters` and the spatial ones, each once, and blocks of the former.
///
/// # Errors
/// If the layout has other letters.
pub(crate) fn layout(
    c: &OpCall<'_>,
    name: &'static str,
    letters: [char; 2],
    spatial: usize,
) -> Result<Positions, InferError> {
    let text = c
        .text(name)?
        .ok_or_else(|| c.bad_attribute(name, "a layout"))?;
    Positions::blocked(&text, letters, spatial).ok_or_else(|| {
        c.bad_attribute(
            name,
            "a layout with each of its letters once, and blocks of channels",
        )
    })
}

/// The extents of an operand in this layout; `None` if they are not known.
///
/// # Errors
/// If it has another number of dimensions, or other blocks.
pub(crate) fn dims<'a>(
    c: &OpCall<'a>,
    index: usize,
    layout: &Positions,
) -> Result<Option<&'a [Expr]>, InferError> {
    if layout.blocks.is_empty() {
        return rules::image_dims(c, index, layout.spatial.len());
    }
    let expected = "a tensor with a dimension for each of the layout";
    let dims = rules::dims_of(c, index, layout.ndim(), expected)?;
    for block in dims.iter().flat_map(|_| &layout.blocks) {
        let (what, factor) = ("a block and its size", Expr::i64(block.factor));
        if let Some(dims) = dims {
            rules::equal_extents(c, what, &dims[block.at], &factor)?;
        }
    }
    Ok(dims)
}

/// The extents of a result in this layout.
///
/// # Errors
/// If blocks do not divide its channels.
pub(crate) fn extents(
    c: &OpCall<'_>,
    layout: &Positions,
    first: &Expr,
    second: &Expr,
    spatial: Vec<Expr>,
) -> Result<Vec<Expr>, InferError> {
    let dims = layout.extents(first, second, spatial);
    let what = "a blocked extent and its blocks";
    rules::equal_extents(c, what, first, &layout.first_extent(&dims))?;
    rules::equal_extents(c, what, second, &layout.second_extent(&dims))?;
    Ok(dims)
}

/// The layouts of data and result: `data`, and `out_layout` if the call gives it.
///
/// # Errors
/// If one has letters other than N, C and the spatial ones.
pub(crate) fn data_layouts(
    c: &OpCall<'_>,
    data: &'static str,
    spatial: usize,
) -> Result<(Positions, Positions), InferError> {
    let data = layout(c, data, ['N', 'C'], spatial)?;
    let out = match c.text("out_layout")? {
        Some(_) => layout(c, "out_layout", ['N', 'C'], spatial)?,
        None => data.clone(),
    };
    Ok((data, out))
}

/// The extents of the data; `Err` with the type of a result in `dtype` where they are not known.
///
/// # Errors
/// If the data has another element type or number of dimensions than the operator takes, or an attribute is no layout.
pub(crate) fn data_dims<'a>(
    c: &OpCall<'a>,
    layout: &'static str,
    spatial: usize,
    dtype: Option<DType>,
) -> Result<Result<&'a [Expr], StructInfo>, InferError> {
    rules::check_dtype(c, 0)?;
    let Some(data) = c.tensor(0)? else {
        return Ok(Err(StructInfo::Object));
    };
    let (from, to) = data_layouts(c, layout, spatial)?;
    let unknown = || tensor_like(data, ShapeInfo::Ndim(to.ndim()), dtype.or(data.dtype));
    Ok(dims(c, 0, &from)?.ok_or_else(unknown))
}

/// The type of a result with these extents, in `dtype` or that of the data.
///
/// # Errors
/// If there are fewer than no windows along a dimension.
pub(crate) fn result(c: &OpCall<'_>, dims: Vec<Expr>, dtype: Option<DType>) -> rules::Inferred {
    let what = "a number of windows of at least 0";
    if (dims.iter()).any(|extent| rules::at_least(c, what, extent, 0) == Proof::No) {
        return Err(c.bad_operand(0, "a tensor with room for one window"));
    }
    Ok(match c.tensor(0)? {
        Some(data) => tensor_like(data, ShapeInfo::Known(dims), dtype.or(data.dtype)),
        None => StructInfo::Object,
    })
}

/// One number for each spatial dimension; one number counts for all.
///
/// # Errors
/// If one is below `least`, or there are other numbers of them.
pub(crate) fn each(
    c: &OpCall<'_>,
    name: &'static str,
    spatial: usize,
    least: i64,
) -> Result<Vec<i64>, InferError> {
    let expected = match least {
        1 => "one integer of at least 1, or one for each spatial dimension",
        _ => "one integer that is not negative, or one for each spatial dimension",
    };
    let each = match c.ints(name)? {
        None => vec![least; spatial],
        Some(all) if all.len() == 1 => vec![all[0]; spatial],
        Some(each) if each.len() == spatial => each,
        Some(_) => return Err(c.bad_attribute(name, expected)),
    };
    if each.iter().all(|&v| v >= least) {
        Ok(each)
    } else {
        Err(c.bad_attribute(name, expected))
    }
}

/// One number that counts for all spatial dimensions becomes one for each, padding becomes one for each side, and the layout of
/// the result that of the data where it is absent. Numbers that do not fit stay as they are.
pub(crate) fn spell_out(attrs: &mut Attrs) {
    let layouts = ["data_layout", "layout"];
    let Some(layout) = layouts.iter().find_map(|name| attrs.get(*name)?.as_str()) else {
        return;
    };
    let layout = layout.to_owned();
    let axes = layout.chars().filter(char::is_ascii_uppercase).count();
    let spatial = axes.saturating_sub(2);
    for name in [
        "strides",
        "dilation",
        "pool_size",
        "output_size",
        "output_padding",
    ] {
        if let Some(AttrValue::List(each)) = attrs.get_mut(name)
            && let [one] = each.as_slice()
        {
            *each = vec![one.clone(); spatial];
        }
    }
    if let Some(AttrValue::List(sides)) = attrs.get_mut("padding") {
        match sides.as_slice() {
            [one] => *sides = vec![one.clone(); 2 * spatial],
            each if each.len() == spatial => *sides = [each, each].concat(),
            _ => {}
        }
    }
    if !attrs.contains_key("out_layout") {
        let at = attrs.get_index_of("out_dtype").unwrap_or(attrs.len());
        attrs.shift_insert(at, "out_layout".to_owned(), AttrValue::Str(layout));
    }
}

/// The windows in the attributes `strides`, `dilation` and `padding`. Padding is one number for all, one for each dimension,
/// or first all before and then all after.
///
/// # Errors
/// If the attributes have other numbers of numbers, strides or dilations below 1, or negative padding.
pub(crate) fn windows(c: &OpCall<'_>, spatial: usize) -> Result<Vec<Window>, InferError> {
    let strides = each(c, "strides", spatial, 1)?;
    let dilation = each(c, "dilation", spatial, 1)?;
    let all = c.ints("padding")?.unwrap_or_else(|| vec![0]);
    let padding = |at: usize| match all.len() {
        1 => Some((all[0], all[0])),
        n if n == spatial => Some((all[at], all[at])),
        n if n == 2 * spatial => Some((all[at], all[at + spatial])),
        _ => None,
    };
    let window = |at: usize| {
        let padding = padding(at).filter(|&(before, after)| before >= 0 && after >= 0);
        Ok(Window {
            stride: strides[at],
            dilation: dilation[at],
            padding: padding.ok_or_else(|| c.bad_attribute("padding", "one integer, one for each spatial dimension, or two for each (all before, then all after), and none negative"))?,
        })
    };
    (0..spatial).map(window).collect()
}

/// How a last window that does not fit is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rounding {
    /// Not at all.
    Floor,
    /// As if there were more padding after the data (`ceil_mode`), unless it starts in the padding after the data.
    Ceil,
}

/// The number of windows: `(extent + padding - reach) // stride + 1`, folded where it is constant. Negative where the data
/// is smaller than one window.
pub(crate) fn count(extent: &Expr, window: &Window, size: &Expr, rounding: Rounding) -> Expr {
    let stride = window.stride;
    let (before, after) = window.padding;
    let reach = window.reach(size);
    let Some(reach) = reach.as_int() else {
        let padding = before.saturating_add(after);
        return (extent.clone() + padding - reach).floor_div(stride) + 1;
    };
    // How far after the data the last window may start: negative if it must start before the end of the data.
    let fits = after.saturating_sub(reach);
    let last = match rounding {
        Rounding::Floor => fits,
        // Even the last window that fits starts in the padding: it is left out.
        Rounding::Ceil if fits >= 0 => fits - 1,
        Rounding::Ceil => fits.saturating_add(stride - 1).min(-1),
    };
    let last = before.saturating_add(last);
    if stride == 1 {
        return shifted(extent, last.saturating_add(1));
    }
    shifted(&quotient(&shifted(extent, last), &Expr::i64(stride)), 1)
}
