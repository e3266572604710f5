//! What convolutions and poolings share: layouts, strides, padding, and extents of sliding windows.

use crate::ir::Expr;
use crate::ir::graph::{InferError, OpCall};

/// Letters of the spatial dimensions of layouts, for 1, 2 and 3 of them.
pub(super) const SPATIAL: [&str; 3] = ["W", "HW", "DHW"];

/// Where the dimensions of a layout stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Positions {
    /// The dimension of the first letter (batch, or output channels).
    pub(crate) first: usize,
    /// The dimension of the second letter (channels, or input channels).
    pub(crate) second: usize,
    /// The spatial dimensions.
    pub(crate) spatial: Vec<usize>,
}

impl Positions {
    /// Number of dimensions.
    pub(crate) fn ndim(&self) -> usize {
        self.spatial.len() + 2
    }
}

/// Where the letters stand in a layout attribute: `letters` and the spatial ones, each once.
///
/// # Errors
/// If the layout has other letters.
pub(crate) fn layout(
    c: &OpCall<'_>,
    name: &'static str,
    letters: [char; 2],
    spatial: usize,
) -> Result<Positions, InferError> {
    let text = c.text(name)?.ok_or_else(|| c.bad_attribute(name))?;
    positions(&text, letters, spatial).ok_or_else(|| c.bad_attribute(name))
}

/// The number of dimensions of the result if a layout has blocked axes, as the `4c` of `NCHW4c`. What is known of such a result is
/// that number alone.
///
/// # Errors
/// If an attribute is no layout.
pub(crate) fn blocked(
    c: &OpCall<'_>,
    names: [&'static str; 2],
) -> Result<Option<usize>, InferError> {
    let mut texts = Vec::new();
    for name in names {
        texts.extend(c.text(name)?);
    }
    let blocked = texts
        .iter()
        .any(|text| text.contains(|l: char| l.is_ascii_digit()));
    let axes = |text: &String| text.chars().filter(char::is_ascii_alphabetic).count();
    // The layout of the result is the first one that is given.
    Ok(texts.first().filter(|_| blocked).map(axes))
}

fn positions(text: &str, letters: [char; 2], spatial: usize) -> Option<Positions> {
    let at = |letter| text.chars().position(|c| c == letter);
    let spatial = SPATIAL.get(spatial.checked_sub(1)?)?;
    let found = Positions {
        first: at(letters[0])?,
        second: at(letters[1])?,
        spatial: spatial.chars().map(at).collect::<Option<_>>()?,
    };
    (text.chars().count() == found.ndim()).then_some(found)
}

/// One number for each spatial dimension; one number counts for all.
///
/// # Errors
/// If there are other numbers of them.
pub(crate) fn each(
    c: &OpCall<'_>,
    name: &'static str,
    spatial: usize,
) -> Result<Vec<i64>, InferError> {
    match c.ints(name)? {
        None => Ok(vec![1; spatial]),
        Some(all) if all.len() == 1 => Ok(vec![all[0]; spatial]),
        Some(each) if each.len() == spatial => Ok(each),
        Some(_) => Err(c.bad_attribute(name)),
    }
}

/// The same, of which none is below 1.
///
/// # Errors
/// If one is, or there are other numbers of them.
pub(crate) fn each_positive(
    c: &OpCall<'_>,
    name: &'static str,
    spatial: usize,
) -> Result<Vec<i64>, InferError> {
    let each = each(c, name, spatial)?;
    if each.iter().all(|&v| v >= 1) {
        Ok(each)
    } else {
        Err(c.bad_attribute(name))
    }
}

/// Padding before and after each spatial dimension: one number for all, one for each dimension, or first all before and then
/// all after.
///
/// # Errors
/// If there are other numbers of them.
pub(crate) fn padding(c: &OpCall<'_>, spatial: usize) -> Result<Vec<(i64, i64)>, InferError> {
    let Some(all) = c.ints("padding")? else {
        return Ok(vec![(0, 0); spatial]);
    };
    match all.len() {
        1 => Ok(vec![(all[0], all[0]); spatial]),
        n if n == spatial => Ok(all.iter().map(|&p| (p, p)).collect()),
        n if n == 2 * spatial => Ok((0..spatial).map(|i| (all[i], all[i + spatial])).collect()),
        _ => Err(c.bad_attribute("padding")),
    }
}

/// How far apart the first and the last element of a window are, and one.
pub(crate) fn reach(size: &Expr, dilation: i64) -> Expr {
    match size.as_int() {
        Some(size) => {
            let last = size.saturating_sub(1).saturating_mul(dilation);
            Expr::i64(last.saturating_add(1))
        }
        None if dilation == 1 => size.clone(),
        None => (size.clone() - 1) * dilation + 1,
    }
}

/// How a last window that does not fit is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rounding {
    /// Not at all.
    Floor,
    /// As if there were more padding after the data (`ceil_mode`).
    Ceil,
}

/// The number of windows: `(extent + padding - reach) // stride + 1`, folded where it is constant.
pub(crate) fn windows(
    extent: &Expr,
    padding: (i64, i64),
    reach: &Expr,
    stride: i64,
    rounding: Rounding,
) -> Expr {
    let extra = if rounding == Rounding::Ceil {
        stride - 1
    } else {
        0
    };
    let padding = padding.0.saturating_add(padding.1).saturating_add(extra);
    match (extent.as_int(), reach.as_int()) {
        (Some(extent), Some(reach)) => {
            let room = extent.saturating_add(padding).saturating_sub(reach);
            Expr::i64(room.div_euclid(stride).saturating_add(1))
        }
        (None, Some(reach)) if stride == 1 => match padding.saturating_sub(reach).saturating_add(1)
        {
            0 => extent.clone(),
            more if more > 0 => extent.clone() + more,
            less => extent.clone() - less.saturating_neg(),
        },
        _ => (extent.clone() + padding - reach).floor_div(stride) + 1,
    }
}
