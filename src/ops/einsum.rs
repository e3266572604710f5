//! `einsum`: sums of products, in Einstein's notation.
//!
//! A letter names an index. An index that the result does not have is summed over; a letter that an operand has twice reads its
//! diagonal. An ellipsis stands for all dimensions of an operand that have no letter: they broadcast, aligned at the last one.
//! Without `->` the result has those, and then, in the order of the alphabet, the letters that occur once.

use indexmap::IndexMap;

use super::ComputeCall;
use super::def::Computed;
use super::rules::{self, tensor_like};
use crate::ir::graph::{InferError, OpCall};
use crate::ir::{Expr, ShapeInfo, StructInfo};
use crate::te;
use crate::tensor::DType;
use crate::topi;

/// What stands for a dimension of an operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Index {
    /// One of the dimensions of an ellipsis, counted from the last one.
    Unnamed(usize),
    Letter(char),
}

/// The letters on one side of an ellipsis, and on the other; without an ellipsis all are before it.
#[derive(Clone, Debug, Default)]
struct Term {
    before: Vec<char>,
    after: Option<Vec<char>>,
}

impl Term {
    fn parse(text: &str) -> Option<Self> {
        let letters = |text: &str| -> Option<Vec<char>> {
            let known = text.chars().all(|c| c.is_ascii_alphabetic());
            known.then(|| text.chars().collect())
        };
        Some(match text.split_once("...") {
            Some((before, after)) => Self {
                before: letters(before)?,
                after: Some(letters(after)?),
            },
            None => Self {
                before: letters(text)?,
                after: None,
            },
        })
    }

    fn letters(&self) -> impl Iterator<Item = char> {
        let after = self.after.iter().flatten();
        self.before.iter().chain(after).copied()
    }

    /// How many dimensions of a tensor have no letter; `None` if the letters do not fit.
    fn unnamed(&self, ndim: usize) -> Option<usize> {
        let rest = ndim.checked_sub(self.letters().count())?;
        (rest == 0 || self.after.is_some()).then_some(rest)
    }

    /// The index of each dimension, where the ellipsis stands for so many.
    fn indices(&self, unnamed: usize) -> Vec<Index> {
        let before = self.before.iter().copied().map(Index::Letter);
        let middle = (0..unnamed).rev().map(Index::Unnamed);
        let after = self.after.iter().flatten().copied().map(Index::Letter);
        match self.after {
            Some(_) => before.chain(middle).chain(after).collect(),
            None => before.collect(),
        }
    }
}

/// The terms of the operands and of the result.
struct Subscripts {
    operands: Vec<Term>,
    result: Term,
}

impl Subscripts {
    /// `None` for what is no such text.
    fn parse(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (inputs, result) = match text.split_once("->") {
            Some((inputs, result)) => (inputs, Some(result)),
            None => (text.as_str(), None),
        };
        let operands: Vec<Term> = inputs.split(',').map(Term::parse).collect::<Option<_>>()?;
        let all: Vec<char> = operands.iter().flat_map(Term::letters).collect();
        let result = match result {
            Some(result) => Term::parse(result)?,
            None => {
                let once = |letter: &char| all.iter().filter(|other| *other == letter).count() == 1;
                let mut letters: Vec<char> = all.iter().copied().filter(once).collect();
                letters.sort_unstable();
                Term {
                    before: vec![],
                    after: Some(letters),
                }
            }
        };
        let letters: Vec<char> = result.letters().collect();
        let unique = (1..letters.len()).all(|at| !letters[..at].contains(&letters[at]));
        let known = letters.iter().all(|letter| all.contains(letter));
        (unique && known).then_some(Self { operands, result })
    }

    fn of(c: &OpCall<'_>) -> Result<Self, InferError> {
        let text = c.text("subscripts")?.unwrap_or_default();
        Self::parse(&text).ok_or_else(|| c.bad_attribute("subscripts", "letters, commas and at most one ellipsis for each operand, then -> and letters that operands have, each once"))
    }

    /// The indices of operands with these shapes.
    fn indices(&self, c: &OpCall<'_>, shapes: &[&[Expr]]) -> Result<Indices, InferError> {
        let wrong = || c.bad_operand(0, "tensors with a dimension for each letter");
        if self.operands.len() != shapes.len() {
            return Err(wrong());
        }
        let terms = self.operands.iter().zip(shapes);
        let unnamed = terms.map(|(term, shape)| term.unnamed(shape.len()));
        let unnamed: Vec<usize> = unnamed.collect::<Option<_>>().ok_or_else(wrong)?;
        let terms = self.operands.iter().zip(&unnamed);
        let operands: Vec<Vec<Index>> = terms.map(|(term, &n)| term.indices(n)).collect();
        let widest = unnamed.iter().copied().max().unwrap_or(0);
        let mut extents: Vec<(Index, Expr)> = vec![];
        for (indices, shape) in operands.iter().zip(shapes) {
            for (index, extent) in indices.iter().zip(*shape) {
                match extents.iter_mut().find(|(other, _)| other == index) {
                    None => extents.push((*index, extent.clone())),
                    Some((_, known)) if known.is_one() => *known = extent.clone(),
                    Some(_) if extent.is_one() => {}
                    Some((_, known)) => {
                        rules::equal_extents(c, "extents of one index", known, extent)?;
                    }
                }
            }
        }
        Ok(Indices {
            operands,
            result: self.result.indices(widest),
            extents,
        })
    }
}

/// What stands for each dimension.
struct Indices {
    operands: Vec<Vec<Index>>,
    result: Vec<Index>,
    /// Every index with its extent, in order of first use. An extent of 1 broadcasts.
    extents: Vec<(Index, Expr)>,
}

/// Which dimensions of operands with so many dimensions have one index: pairs of an operand and one of its dimensions.
pub(super) fn dims_of_indices(
    subscripts: &str,
    ndims: &[usize],
) -> Option<Vec<Vec<(usize, usize)>>> {
    let terms = Subscripts::parse(subscripts)?.operands;
    if terms.len() != ndims.len() {
        return None;
    }
    let mut dims: IndexMap<Index, Vec<(usize, usize)>> = IndexMap::new();
    for (operand, (term, &ndim)) in terms.iter().zip(ndims).enumerate() {
        let indices = term.indices(term.unnamed(ndim)?);
        for (dim, index) in indices.into_iter().enumerate() {
            dims.entry(index).or_default().push((operand, dim));
        }
    }
    Some(dims.into_values().collect())
}

pub(super) fn infer(c: &OpCall<'_>) -> rules::Inferred {
    let subscripts = Subscripts::of(c)?;
    let tensors = c.tensors(0)?;
    let Some(tensors) = tensors else {
        return Ok(StructInfo::Object);
    };
    let [first, rest @ ..] = tensors.as_slice() else {
        return Err(c.bad_operand(0, "a tuple of at least one tensor"));
    };
    if first.dtype.is_some_and(DType::is_bool) {
        return Err(c.bad_operand(0, "a tuple of tensors of numbers"));
    }
    for info in rest {
        rules::equal_types(c, first.dtype, info.dtype)?;
    }
    let shapes = [&[*first], rest].concat();
    let shapes: Option<Vec<&[Expr]>> = shapes.iter().map(|info| info.shape.dims()).collect();
    let shape = match shapes {
        Some(shapes) => {
            let indices = subscripts.indices(c, &shapes)?;
            let of = |index: &Index| indices.extents.iter().find(|(other, _)| other == index);
            let dims = indices.result.iter().filter_map(of);
            ShapeInfo::Known(dims.map(|(_, extent)| extent.clone()).collect())
        }
        None if subscripts.operands.iter().any(|term| term.after.is_some()) => ShapeInfo::Unknown,
        None => ShapeInfo::Ndim(subscripts.result.letters().count()),
    };
    Ok(tensor_like(first, shape, first.dtype))
}

pub(super) fn compute(c: &ComputeCall<'_>) -> Computed {
    let subscripts = Subscripts::of(c)?;
    let tensors = c.xs(0);
    let shapes: Vec<&[Expr]> = tensors.iter().map(|x| x.shape()).collect();
    let Indices {
        operands,
        result,
        extents,
    } = subscripts.indices(c, &shapes)?;
    let name = |index: &Index| match index {
        Index::Unnamed(at) => format!("r{at}"),
        Index::Letter(letter) => letter.to_string(),
    };
    let summed = extents.iter().filter(|(index, _)| !result.contains(index));
    let summed: Vec<_> = summed
        .map(|(index, extent)| (*index, te::reduce_axis(name(index), extent.clone())))
        .collect();
    let product = |i: &[Expr], wide: DType| {
        let index = |index: &Index| {
            let axis = summed.iter().find(|(other, _)| other == index);
            match axis {
                Some((_, axis)) => axis.expr(),
                None => {
                    let at = result.iter().position(|other| other == index);
                    i[at.expect("an index is summed or in the result")].clone()
                }
            }
        };
        let factors = tensors.iter().zip(&operands);
        let factors = factors.map(|(x, indices)| {
            let indices: Vec<_> = indices.iter().map(index).collect();
            topi::element(x, &indices).cast(wide)
        });
        factors.reduce(|a, b| a * b).expect("einsum has operands")
    };
    let shape = c.result_shape(0).to_vec();
    let dtype = c.result_dtype(0);
    if summed.is_empty() {
        return Ok(vec![te::compute("einsum", shape, |i| product(i, dtype))]);
    }
    let axes: Vec<_> = summed.iter().map(|(_, axis)| axis.clone()).collect();
    Ok(vec![topi::accumulated("einsum", dtype, |name, wide| {
        te::compute(name, shape, |i| te::sum(product(i, wide), &axes))
    })])
}
