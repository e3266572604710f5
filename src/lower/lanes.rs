//! Vectors that a program writes out (`Y[i:i + 4] = A[i:i + 4] * 2`) become vectorized loops over their lanes, of which emission
//! makes vectors again where the target has them.
//!
//! All lanes of a value are computed before any is stored. So where a store reads other elements of the buffer that it writes, and
//! where a vector has a name, its lanes are kept in an array of the thread.

use std::collections::HashMap;

use super::nest::Unblock;
use super::node::Node;
use super::storage::Memory;
use super::{LowerError, LowerProblem};
use crate::ir::{Buffer, Expr, ExprKind, LoopKind, Range, Scope, Var};
use crate::tensor::scalar::BinOp;
use crate::tensor::{DType, ScalarType};

/// The arrays that hold the lanes of vectors with names.
pub(super) type Vectors = HashMap<Var, Buffer>;

/// A store of as many elements as an index or the value has lanes.
pub(super) fn store(
    at: &mut Unblock<'_>,
    buffer: &Buffer,
    indices: &[Expr],
    value: &Expr,
) -> Result<Vec<Node>, LowerError> {
    let lanes = indices.iter().map(|i| i.dtype().lanes).max().unwrap_or(1);
    if value.dtype().is_vector() && value.dtype().lanes != lanes {
        let buffer = buffer.name().to_owned();
        return Err(LowerProblem::VectorIndex { buffer }.into());
    }
    let mut out = Vec::new();
    let value = if reads_others(at, buffer, indices, value) {
        let kept = keep(at, buffer.name(), value, &mut out)?;
        let all = Expr::ramp(Expr::i64(0), Expr::i64(1), lanes);
        Expr::load(&kept, vec![all])
    } else {
        value.clone()
    };
    out.push(each_lane(at, lanes, |at, lane| {
        let indices: Result<Vec<Expr>, _> = indices
            .iter()
            .map(|i| lane_of(i, lane, &at.vectors))
            .collect();
        Ok((
            buffer.clone(),
            indices?,
            lane_of(&value, lane, &at.vectors)?,
        ))
    })?);
    Ok(out)
}

/// Keeps the lanes of a value.
pub(super) fn keep(
    at: &mut Unblock<'_>,
    name: &str,
    value: &Expr,
    out: &mut Vec<Node>,
) -> Result<Buffer, LowerError> {
    let lanes = value.dtype().lanes;
    let shape = vec![Expr::i64(lanes.into())];
    let dtype = value.dtype().with_lanes(1);
    let kept = Buffer::with_scope(format!("{name}_lanes"), shape, dtype, Scope::Local);
    at.nest.added.push((kept.clone(), Memory::Local));
    out.push(each_lane(at, lanes, |at, lane| {
        let value = lane_of(value, lane, &at.vectors)?;
        Ok((kept.clone(), vec![lane.clone()], value))
    })?);
    Ok(kept)
}

/// A loop over lanes that makes one store in each.
fn each_lane(
    at: &mut Unblock<'_>,
    lanes: u16,
    store: impl FnOnce(&Unblock<'_>, &Expr) -> Result<(Buffer, Vec<Expr>, Expr), LowerError>,
) -> Result<Node, LowerError> {
    let var = Var::new("lane", DType::I64);
    let range = Range::to(Expr::i64(lanes.into()));
    let (buffer, indices, value) = store(at, &var.expr())?;
    let outside = at.analyzer.clone();
    at.analyzer.bind_iteration(&var, &range);
    let store = at.store(&buffer, &indices, &value);
    at.analyzer = outside;
    Ok(Node::For {
        var,
        min: range.min,
        extent: range.extent,
        kind: LoopKind::Vectorized,
        body: vec![store],
    })
}

/// Whether a store reads elements of its buffer that other lanes write.
fn reads_others(at: &Unblock<'_>, buffer: &Buffer, indices: &[Expr], value: &Expr) -> bool {
    let owner = at.owner(buffer);
    let mut found = false;
    value.walk(&mut |e| {
        if let ExprKind::Load(read, at_indices) = e.kind() {
            let same = read == buffer && at_indices == indices;
            found |= !same && at.owner(read) == owner;
        }
        !found
    });
    found
}

/// The scalar, if need be without the vectors whose bits it has.
///
/// # Errors
/// If no lane can be taken of one of these.
pub(super) fn scalar(e: &Expr, vectors: &Vectors) -> Result<Expr, LowerError> {
    let mut has_vectors = false;
    e.walk(&mut |e| {
        has_vectors |= e.dtype().is_vector();
        !has_vectors
    });
    match has_vectors {
        true => lane_of(e, &Expr::i64(0), vectors),
        false => Ok(e.clone()),
    }
}

/// One lane of a value; the value itself if it is a scalar.
///
/// # Errors
/// If it has a vector that no lane can be taken of.
fn lane_of(e: &Expr, lane: &Expr, vectors: &Vectors) -> Result<Expr, LowerError> {
    let of = |e: &Expr| lane_of(e, lane, vectors);
    let scalar = e.dtype().with_lanes(1);
    Ok(match e.kind() {
        ExprKind::Reinterpret(a) if e.dtype().is_vector() => {
            bits_of(a, scalar.scalar, lane, vectors)?
        }
        ExprKind::Reinterpret(a) => bits_of(a, scalar.scalar, &Expr::i64(0), vectors)?,
        _ if !e.dtype().is_vector() => {
            let mut refused = Ok(());
            let same = e.map_children(&mut |child| {
                of(child).unwrap_or_else(|error| {
                    refused = Err(error);
                    child.clone()
                })
            });
            refused.map(|()| same)?
        }
        ExprKind::Int(v) => Expr::int(*v, scalar),
        ExprKind::Float(v) => Expr::float(*v, scalar),
        ExprKind::Var(var) => {
            let kept = vectors.get(var).ok_or_else(|| LowerProblem::Undefined {
                var: var.name().to_owned(),
            })?;
            Expr::load(kept, vec![lane.clone()])
        }
        ExprKind::Ramp {
            base,
            stride,
            lanes: _,
        } => base + stride * lane.cast(stride.dtype()),
        ExprKind::Broadcast(a, _) if a.dtype().is_vector() => {
            let lane = lane.floor_mod(Expr::i64(a.dtype().lanes.into()));
            lane_of(a, &lane, vectors)?
        }
        ExprKind::Broadcast(a, _) => of(a)?,
        ExprKind::Cast(a) => of(a)?.cast(scalar),
        ExprKind::Not(a) => of(a)?.not(),
        ExprKind::Binary(op, a, b) => Expr::binary(*op, of(a)?, of(b)?),
        ExprKind::Select(c, a, b) => Expr::select(of(c)?, of(a)?, of(b)?),
        ExprKind::IfThenElse(c, a, b) => Expr::if_then_else(of(c)?, of(a)?, of(b)?),
        ExprKind::Load(buffer, indices) => {
            let indices: Result<Vec<Expr>, _> = indices.iter().map(of).collect();
            Expr::load(buffer, indices?)
        }
        ExprKind::Call(intrin, args) => {
            let args: Result<Vec<Expr>, _> = args.iter().map(of).collect();
            Expr::call(*intrin, args?)
        }
        ExprKind::Let { var, value, body } => {
            of(&body.substitute(&|v| (v == var).then(|| value.clone())))?
        }
        ExprKind::External(external, args) => {
            return Err(LowerProblem::external(*external, args).into());
        }
        ExprKind::Str(_) | ExprKind::Data(_) => e.clone(),
    })
}

/// A lane of the bits of a value as elements of another type, the first lanes in the lowest bits.
fn bits_of(a: &Expr, to: ScalarType, lane: &Expr, vectors: &Vectors) -> Result<Expr, LowerError> {
    let from = a.dtype().scalar;
    let refuse = || LowerProblem::Reinterpret { dtype: to.into() };
    let (wide, narrow) = (from.bytes().max(to.bytes()), from.bytes().min(to.bytes()));
    let word = |bytes| unsigned(bytes).ok_or_else(refuse);
    if from.bytes() == to.bytes() {
        return Ok(lane_of(a, lane, vectors)?.reinterpret(to.into()));
    }
    let (wide_word, narrow_word) = (word(wide)?, word(narrow)?);
    let parts = Expr::i64((wide / narrow) as i64);
    let bits = Expr::i64(8 * narrow as i64);
    let part_bits = |part: Expr| (part * bits.clone()).cast(wide_word);
    if to.bytes() < from.bytes() {
        let source = lane_of(a, &lane.floor_div(parts.clone()), vectors)?;
        let shift = part_bits(lane.floor_mod(parts));
        let shifted = Expr::binary(BinOp::Shr, source.reinterpret(wide_word), shift);
        return Ok(shifted.cast(narrow_word).reinterpret(to.into()));
    }
    let mut all = Expr::int(0, wide_word);
    for part in 0..(wide / narrow) as i64 {
        let at = lane * parts.clone() + part;
        let source = lane_of(a, &at, vectors)?.reinterpret(narrow_word);
        let moved = Expr::binary(
            BinOp::Shl,
            source.cast(wide_word),
            part_bits(Expr::i64(part)),
        );
        all = Expr::binary(BinOp::BitOr, all, moved);
    }
    Ok(all.reinterpret(to.into()))
}

/// The unsigned integer of so many bytes.
fn unsigned(bytes: usize) -> Option<DType> {
    let scalar = match bytes {
        1 => ScalarType::U8,
        2 => ScalarType::U16,
        4 => ScalarType::U32,
        8 => ScalarType::U64,
        _ => return None,
    };
    Some(scalar.into())
}
