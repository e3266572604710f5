//! Broadcasting by the extents that a call has, as in numpy and ONNX.
//!
//! A graph operator repeats an extent that is written as 1; of two others it asks that they are equal, as TVM does. Where the text
//! of a model says nothing of an extent, it may be 1 in one call and another number in the next. Such an extent is repeated
//! by a `R.broadcast_to`, which decides at run time, to an extent of its own symbol.

use super::block_builder::Frame;
use super::{BlockBuilder, BuildError};
use crate::arith::{Analyzer, IntBound};
use crate::ir::graph::dims::{Proof, compare_dims};
use crate::ir::graph::{Arg, Def};
use crate::ir::{Attrs, Expr, ExprKind, ShapeInfo, StructInfo, Var};
use crate::ops::{self, Broadcasting, OpDef};
use crate::tensor::DType;
use crate::tensor::scalar::BinOp;

/// An extent of a symbol of its own, and the extents that broadcast to it.
#[derive(Clone)]
pub(super) struct Joined {
    extents: Vec<Expr>,
    to: Expr,
}

impl BlockBuilder {
    /// From now on, operands broadcast by the extents that they have in a call, and not only by those that are written as 1.
    pub fn broadcast_by_extents(&mut self) {
        self.by_extents = true;
    }

    /// The extent that these broadcast to, if all that are not 1 are equal. Nothing checks that they are.
    ///
    /// # Errors
    /// If no function is open.
    pub fn broadcast_extent(&mut self, extents: &[Expr]) -> Result<Expr, BuildError> {
        let mut several: Vec<Expr> = vec![];
        for extent in extents.iter().filter(|extent| !extent.is_one()) {
            if !several
                .iter()
                .any(|other| equal_unless_empty(extent, other))
            {
                several.push(extent.clone());
            }
        }
        let never_one = |extent: &&Expr| compare_dims(extent, &Expr::i64(1)) == Proof::No;
        match (several.iter().find(never_one), several.as_slice()) {
            (None, []) => Ok(Expr::i64(1)),
            (Some(extent), _) | (None, [extent]) => Ok(extent.clone()),
            (None, _) => self.joined(several),
        }
    }

    /// A symbol for the extent that several broadcast to, in the outermost function that knows them all.
    fn joined(&mut self, several: Vec<Expr>) -> Result<Expr, BuildError> {
        let mut extents: Vec<Expr> = vec![];
        for extent in several {
            let mut known = self.frames.iter().flat_map(|frame| &frame.joined);
            let parts = known.find(|known| known.to == extent);
            let parts = parts.map_or(vec![extent], |known| known.extents.clone());
            for part in parts {
                if !extents.contains(&part) {
                    extents.push(part);
                }
            }
        }
        let same = |known: &&Joined| {
            known.extents.len() == extents.len()
                && extents.iter().all(|extent| known.extents.contains(extent))
        };
        if let Some(known) = self.frames.iter().flat_map(|f| &f.joined).find(same) {
            return Ok(known.to.clone());
        }
        let symbols: Vec<Var> = extents.iter().flat_map(Expr::free_vars).collect();
        let defines = |frame: &Frame| symbols.iter().any(|var| frame.symbols.contains(var));
        let depth = self.frames.iter().rposition(defines).unwrap_or(0);
        let wide = extents.iter().map(|extent| extent.cast(DType::I64));
        let value = wide
            .rev()
            .reduce(|rest, extent| Expr::select(extent.equals(1), rest, extent));
        let shape = Arg::Shape(vec![value.expect("several extents")]);
        let to = Var::new(self.unused_name(), DType::I64);
        let frame = self.frames.get_mut(depth).ok_or(BuildError::NoFunction)?;
        frame.symbols.push(to.clone());
        let to = to.expr();
        frame.joined.push(Joined {
            extents,
            to: to.clone(),
        });
        let sinfo = StructInfo::Shape(ShapeInfo::Known(vec![to.clone()]));
        frame.builder.bind("extent", Def::MatchCast(shape, sinfo))?;
        Ok(to)
    }

    /// A name that no symbol has.
    fn unused_name(&self) -> String {
        let symbols = || self.frames.iter().flat_map(|frame| &frame.symbols);
        let names = (0..).map(|at| format!("broadcast_{at}"));
        let mut unused = names.filter(|name| symbols().all(|symbol| symbol.name() != name));
        unused.next().expect("there is no end of names")
    }

    /// The arguments of an operator, with those repeated whose extents may be 1 where others are not.
    pub(super) fn broadcast(
        &mut self,
        op: &'static OpDef,
        args: Vec<Arg>,
        attrs: &Attrs,
    ) -> Result<Vec<Arg>, BuildError> {
        if !self.by_extents || op.broadcasting == Broadcasting::Never {
            return Ok(args);
        }
        match (op.broadcasting, args.as_slice()) {
            (Broadcasting::Subscripts, [Arg::Tuple(operands)]) => {
                let operands = self.broadcast_operands(op, operands.clone(), attrs)?;
                Ok(vec![Arg::Tuple(operands)])
            }
            (Broadcasting::Subscripts, _) => Ok(args),
            _ => self.broadcast_operands(op, args, attrs),
        }
    }

    fn broadcast_operands(
        &mut self,
        op: &'static OpDef,
        mut args: Vec<Arg>,
        attrs: &Attrs,
    ) -> Result<Vec<Arg>, BuildError> {
        let scope = self.frame()?.builder.scope();
        let mut shapes: Vec<Vec<Expr>> = vec![];
        for arg in &args {
            shapes.push(match scope.arg(arg) {
                StructInfo::Tensor(info) => match info.shape {
                    ShapeInfo::Known(dims) => dims,
                    _ => return Ok(args),
                },
                _ => vec![],
            });
        }
        let ndims: Vec<usize> = shapes.iter().map(Vec::len).collect();
        for together in op.broadcast_dims(attrs, &ndims) {
            let extents = together.iter().map(|&(arg, dim)| shapes[arg][dim].clone());
            let extents: Vec<Expr> = extents.collect();
            let to = self.broadcast_extent(&extents)?;
            for (arg, dim) in together {
                let extent = &mut shapes[arg][dim];
                if may_repeat(extent, &to) {
                    *extent = to.clone();
                }
            }
        }
        for (arg, dims) in args.iter_mut().zip(shapes) {
            let own = self.frame()?.builder.scope().arg(arg);
            let same = own
                .as_tensor()
                .is_none_or(|info| info.shape.dims() == Some(&dims));
            if !same {
                *arg = self.repeated(arg.clone(), dims)?;
            }
        }
        Ok(args)
    }

    fn repeated(&mut self, x: Arg, dims: Vec<Expr>) -> Result<Arg, BuildError> {
        let op = ops::find("broadcast_to").expect("it is in the table").op();
        let name = self.fresh_name()?;
        let builder = &mut self.frame()?.builder;
        let value = builder.op(name, op, vec![x, Arg::Shape(dims)], Attrs::new())?;
        Ok(Arg::Value(value))
    }
}

/// Whether an extent is repeated to another one in some calls, and is as large in others.
fn may_repeat(extent: &Expr, to: &Expr) -> bool {
    let is_one = compare_dims(extent, &Expr::i64(1));
    is_one == Proof::Unknown && !equal_unless_empty(extent, to)
}

/// Proves that two extents are equal if every symbol is between 1 and `i32::MAX`. Such extents are not repeated; the call checks that
/// they are equal.
fn equal_unless_empty(a: &Expr, b: &Expr) -> bool {
    if compare_dims(a, b) == Proof::Yes {
        return true;
    }
    let mut arith = Analyzer::new();
    for symbol in a.free_vars().into_iter().chain(b.free_vars()) {
        arith.bind_bound(&symbol, IntBound::new(1, i64::from(i32::MAX)));
    }
    let [a, b] = [a, b].map(|e| without_upper_bound(&arith.simplify(&e.cast(DType::I64))));
    arith.can_prove_equal(&a, &b)
}

/// `min(n, c)` with `c > 1` is 1 exactly if `n` is, so it is compared as `n`.
fn without_upper_bound(extent: &Expr) -> Expr {
    let above_one = |bound: &Expr| bound.as_int().is_some_and(|bound| bound > 1);
    let rest = match extent.kind() {
        ExprKind::Binary(BinOp::Min, rest, bound) if above_one(bound) => rest,
        ExprKind::Binary(BinOp::Min, bound, rest) if above_one(bound) => rest,
        _ => extent,
    };
    rest.clone()
}
