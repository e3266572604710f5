//! Sliding windows over the spatial dimensions of images: layouts, padding, and what convolutions and poolings share.

use super::extent::{quotient, remainder, scaled, shifted, sum};
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
    /// Parts of the first two that are dimensions of their own, the larger ones of a letter first: the `4c` of `NCHW4c`.
    pub blocks: Vec<Block>,
}

/// A dimension of so many neighbours along another one, which counts such blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// The dimension that counts blocks.
    pub of: usize,
    /// The dimension of the elements of a block.
    pub at: usize,
    /// How many these are.
    pub factor: i64,
}

/// A dimension of a layout: its letter, and for a block its size.
fn dimensions(text: &str) -> Option<Vec<(char, Option<i64>)>> {
    let mut all = vec![];
    let mut factor = String::new();
    for letter in text.chars() {
        if letter.is_ascii_digit() {
            factor.push(letter);
            continue;
        }
        let size = match factor.as_str() {
            "" => None,
            digits => Some(digits.parse().ok().filter(|&size: &i64| size > 0)?),
        };
        if size.is_some() != letter.is_ascii_lowercase() {
            return None;
        }
        all.push((letter.to_ascii_uppercase(), size));
        factor.clear();
    }
    factor.is_empty().then_some(all)
}

impl Positions {
    /// Where the letters stand in a layout: `letters` and the spatial ones, each once. `None` if it has other letters.
    pub fn of(text: &str, letters: [char; 2], spatial: usize) -> Option<Self> {
        Self::blocked(text, letters, spatial).filter(|found| found.blocks.is_empty())
    }

    /// The same for layouts that may have blocks of the dimensions of `letters`, as `NCHW4c` and `OIHW4i16o4i`.
    pub fn blocked(text: &str, letters: [char; 2], spatial: usize) -> Option<Self> {
        let dimensions = dimensions(text)?;
        let whole = |letter| dimensions.iter().position(|d| *d == (letter, None));
        let spatial = SPATIAL.get(spatial.checked_sub(1)?)?;
        let [first, second] = [whole(letters[0])?, whole(letters[1])?];
        let blocks = dimensions.iter().enumerate().filter_map(|(at, d)| {
            let (letter, Some(factor)) = *d else {
                return None;
            };
            let of = if letter == letters[0] { first } else { second };
            letters
                .contains(&letter)
                .then_some(Block { of, at, factor })
        });
        let found = Self {
            first,
            second,
            spatial: spatial.chars().map(whole).collect::<Option<_>>()?,
            blocks: blocks.collect(),
        };
        (dimensions.len() == found.ndim()).then_some(found)
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.spatial.len() + 2 + self.blocks.len()
    }

    /// The sizes of the blocks of a dimension, larger ones first.
    fn factors(&self, of: usize) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(move |block| block.of == of)
    }

    /// One index for each dimension, in the order of the layout.
    pub fn arrange(&self, first: Expr, second: Expr, spatial: Vec<Expr>) -> Vec<Expr> {
        let mut all = vec![first.clone(); self.ndim()];
        for (of, mut index) in [(self.first, first), (self.second, second)] {
            let inner: Vec<&Block> = self.factors(of).collect();
            for block in inner.iter().rev() {
                let factor = Expr::i64(block.factor);
                all[block.at] = remainder(&index, &factor);
                index = quotient(&index, &factor);
            }
            all[of] = index;
        }
        for (&at, value) in self.spatial.iter().zip(spatial) {
            all[at] = value;
        }
        all
    }

    /// One extent for each dimension, in the order of the layout.
    pub fn extents(&self, first: &Expr, second: &Expr, spatial: Vec<Expr>) -> Vec<Expr> {
        let mut all = vec![first.clone(); self.ndim()];
        for (of, extent) in [(self.first, first), (self.second, second)] {
            let factors = self.factors(of).map(|block| block.factor);
            let factor = factors.fold(1i64, i64::saturating_mul);
            all[of] = match factor {
                1 => extent.clone(),
                _ => quotient(extent, &Expr::i64(factor)),
            };
        }
        for block in &self.blocks {
            all[block.at] = Expr::i64(block.factor);
        }
        for (&at, value) in self.spatial.iter().zip(spatial) {
            all[at] = value;
        }
        all
    }

    /// The index of the first letter, of one for each dimension.
    pub fn first_of(&self, all: &[Expr]) -> Expr {
        self.joined(self.first, all)
    }

    /// The index of the second letter.
    pub fn second_of(&self, all: &[Expr]) -> Expr {
        self.joined(self.second, all)
    }

    fn joined(&self, of: usize, all: &[Expr]) -> Expr {
        let blocks = self.factors(of);
        blocks.fold(all[of].clone(), |index, block| {
            sum(&scaled(&index, block.factor), &all[block.at])
        })
    }

    /// The extent of the first letter, of one for each dimension.
    pub fn first_extent(&self, all: &[Expr]) -> Expr {
        self.whole(self.first, all)
    }

    /// The extent of the second letter.
    pub fn second_extent(&self, all: &[Expr]) -> Expr {
        self.whole(self.second, all)
    }

    fn whole(&self, of: usize, all: &[Expr]) -> Expr {
        let blocks = self.factors(of);
        blocks.fold(all[of].clone(), |extent, block| {
            scaled(&extent, block.factor)
        })
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
