//! Symbolic dims of a function, and expressions over them as the host computes them.

use indexmap::IndexMap;

use crate::ir::{Expr, ExprKind, Param, PrimFunc, Var};
use crate::kernel::HostExpr;
use crate::tensor::scalar::BinOp;

/// The symbolic dims and scalar parameters, in order of first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Dims {
    /// With whether it is an extent of a tensor, or a factor of one.
    dims: IndexMap<Var, bool>,
    /// The extents of tensors.
    extents: Vec<Expr>,
}

impl Dims {
    /// The dims of the parameters.
    pub(super) fn of(func: &PrimFunc) -> Self {
        let mut dims = Self::default();
        for param in &func.params {
            match param {
                Param::Buffer { handle: _, buffer } => {
                    for extent in buffer.shape() {
                        for var in extent.free_vars() {
                            dims.dims.entry(var).or_default();
                        }
                        dims.extents.push(extent.clone());
                    }
                }
                Param::Scalar(var) => {
                    dims.dims.entry(var.clone()).or_default();
                }
            }
        }
        // As the one who launches sees them (`LoweredFunc::unproved_dim`).
        let extents = dims.extents.iter();
        let extents: Vec<HostExpr> = extents.filter_map(|e| dims.host(e)).collect();
        for (index, is_extent) in dims.dims.values_mut().enumerate() {
            *is_extent = extents.iter().any(|extent| extent.has_factor(index));
        }
        dims
    }

    /// Position of a dim.
    pub(super) fn index(&self, var: &Var) -> Option<usize> {
        self.dims.get_index_of(var)
    }

    /// Whether the dim is an extent of a tensor or a factor of one, and so never negative.
    pub(super) fn is_extent(&self, var: &Var) -> bool {
        self.dims.get(var).is_some_and(|&extent| extent)
    }

    /// The extents of tensors, none of which is negative.
    pub(super) fn extents(&self) -> &[Expr] {
        &self.extents
    }

    /// All dims in order.
    pub(super) fn vars(&self) -> impl Iterator<Item = &Var> {
        self.dims.keys()
    }

    /// The expression for the host, if it has a value whatever the dims are: it divides by constants only.
    pub(super) fn always_host(&self, e: &Expr) -> Option<HostExpr> {
        let mut defined = true;
        e.walk(&mut |e| {
            if let ExprKind::Binary(op, _, b) = e.kind() {
                use BinOp::{Div, FloorDiv, FloorMod, Mod};
                let divides = matches!(op, Div | Mod | FloorDiv | FloorMod);
                defined &= !divides || b.as_int().is_some_and(|b| b != 0);
            }
            defined
        });
        if defined { self.host(e) } else { None }
    }

    /// The expression for the host, if it has only integers and dims.
    pub(super) fn host(&self, e: &Expr) -> Option<HostExpr> {
        Some(match e.kind() {
            ExprKind::Int(v) => HostExpr::Const(*v),
            ExprKind::Var(v) => HostExpr::Dim(self.index(v)?),
            ExprKind::Cast(a) if e.dtype().is_int() && a.dtype().is_int() => self.host(a)?,
            ExprKind::Binary(op, a, b) if !a.dtype().is_float() => {
                HostExpr::binary(*op, self.host(a)?, self.host(b)?)
            }
            ExprKind::Not(a) => HostExpr::binary(BinOp::Eq, self.host(a)?, HostExpr::Const(0)),
            ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) => HostExpr::Select(
                Box::new(self.host(c)?),
                Box::new(self.host(a)?),
                Box::new(self.host(b)?),
            ),
            ExprKind::Float(_)
            | ExprKind::Cast(_)
            | ExprKind::Binary(_, _, _)
            | ExprKind::Load(_, _)
            | ExprKind::Ramp {
                base: _,
                stride: _,
                lanes: _,
            }
            | ExprKind::Broadcast(_, _)
            | ExprKind::Call(_, _)
            | ExprKind::Reinterpret(_)
            | ExprKind::External(_, _)
            | ExprKind::Str(_)
            | ExprKind::Data(_)
            | ExprKind::Let {
                var: _,
                value: _,
                body: _,
            } => return None,
        })
    }
}
