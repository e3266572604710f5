//! Sliding windows over the spatial dimensions of images: layouts, padding, and what convolutions and poolings share.

use super::extent::{scaled, shifted, sum};
use crate::ir::Expr;

/// Letters of the spatial dimensions of layouts, for 1, 2 and 3 of them.
const SPATIAL: [&str; 3] = ["W", "HW", "DHW"];

/// Where the dimensions of a layout stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Positions {
    /// The dimension of the first letter (batch, or output channels).
    pub first: usize,
    /// The dimension of the second letter (channels, or input channels).
    pub second: usize,
    /// The spatial dimensions.
    pub spatial: Vec<usize>,
}

impl Positions {
    /// Where the letters stand in a layout: `letters` and the spatial ones, each once. `None` if it has other letters.
    pub fn of(text: &str, letters: [char; 2], spatial: usize) -> Option<Self> {
        let at = |letter| text.chars().position(|c| c == letter);
        let spatial = SPATIAL.get(spatial.checked_sub(1)?)?;
        let found = Self {
            first: at(letters[0])?,
            second: at(letters[1])?,
            spatial: spatial.chars().map(at).collect::<Option<_>>()?,
        };
        (text.chars().count() == found.ndim()).then_some(found)
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.spatial.len() + 2
    }

    /// One value for each dimension, in the order of the layout.
    pub fn arrange(&self, first: Expr, second: Expr, spatial: Vec<Expr>) -> Vec<Expr> {
        let mut all = vec![first; self.ndim()];
        all[self.second] = second;
        for (&at, value) in self.spatial.iter().zip(spatial) {
            all[at] = value;
        }
        all
    }

    /// The values of the spatial dimensions.
    pub fn spatial_of(&self, all: &[Expr]) -> Vec<Expr> {
        self.spatial.iter().map(|&at| all[at].clone()).collect()
    }
}

/// How windows slide over one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// How far apart windows are.
    pub stride: i64,
    /// How far apart the elements of a window are.
    pub dilation: i64,
    /// Padding before and after the data.
    pub padding: (i64, i64),
}

impl Window {
    /// How far apart the first and the last element of a window are, and one.
    pub fn reach(&self, size: &Expr) -> Expr {
        match self.dilation {
            1 => size.clone(),
            _ => shifted(&scaled(&shifted(size, -1), self.dilation), 1),
        }
    }

    /// The element `k` of window `at`, counted from the first element of the padding.
    pub fn element(&self, at: &Expr, k: &Expr) -> Expr {
        sum(&scaled(at, self.stride), &scaled(k, self.dilation))
    }
}
