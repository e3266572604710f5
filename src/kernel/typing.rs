//! Types of kernel expressions.

use super::{Expr, Kernel, Ty};
use crate::tensor::{ScalarType, SmallType};

impl Kernel {
    /// A type of at most eight bits of an array, a variable or a value. No back end computes with one.
    pub fn small_type(&self) -> Option<SmallType> {
        let mut found = None;
        self.each_type(&mut |scalar| {
            if let ScalarType::Small(small) = scalar {
                found.get_or_insert(small);
            }
        });
        found
    }

    /// Calls `f` with the types of all arrays, variables, constants and conversions, and so of all values.
    fn each_type(&self, f: &mut dyn FnMut(ScalarType)) {
        self.arrays.iter().for_each(|(_, array)| f(array.dtype));
        self.vars.iter().for_each(|(_, var)| f(var.ty.scalar));
        for stmt in &self.body {
            stmt.walk_exprs(&mut |e| match e {
                Expr::Int(_, scalar) | Expr::Float(_, scalar) | Expr::Bits(scalar, _) => f(*scalar),
                Expr::Cast(ty, _) => f(ty.scalar),
                _ => {}
            });
        }
    }

    /// Type of an expression of this kernel.
    pub fn ty(&self, e: &Expr) -> Ty {
        match e {
            Expr::Int(_, scalar) | Expr::Float(_, scalar) => Ty::scalar(*scalar),
            Expr::Var(var) => self.vars[*var].ty,
            Expr::BlockIdx(_) | Expr::ThreadIdx(_) => Ty::scalar(ScalarType::I32),
            Expr::Cast(ty, _) => *ty,
            Expr::Bits(scalar, a) => Ty {
                scalar: *scalar,
                lanes: self.ty(a).lanes,
            },
            Expr::Any(_) => Ty::scalar(ScalarType::Bool),
            Expr::Binary(op, a, b) => {
                let ty = self.ty(a);
                if op.is_comparison() {
                    Ty {
                        scalar: ScalarType::Bool,
                        lanes: ty.lanes.max(self.ty(b).lanes),
                    }
                } else {
                    ty
                }
            }
            Expr::Not(a) | Expr::Shuffle(_, a) => self.ty(a),
            Expr::Select(_, a, _) => self.ty(a),
            Expr::Call(intrin, args) => {
                let ty = args
                    .first()
                    .map_or(Ty::scalar(ScalarType::F32), |a| self.ty(a));
                if intrin.is_predicate() {
                    Ty {
                        scalar: ScalarType::Bool,
                        lanes: ty.lanes,
                    }
                } else {
                    ty
                }
            }
            Expr::Load {
                array,
                index: _,
                lanes,
                active: _,
            } => Ty {
                scalar: self.arrays[*array].dtype,
                lanes: *lanes,
            },
            Expr::Splat(a, lanes) => Ty {
                scalar: self.ty(a).scalar,
                lanes: *lanes,
            },
            Expr::Ramp(base, _, lanes) => Ty {
                scalar: self.ty(base).scalar,
                lanes: *lanes,
            },
            Expr::Lane(a, _) => Ty::scalar(self.ty(a).scalar),
            Expr::Pack(items) => {
                let scalar = items.first().map_or(ScalarType::F32, |a| self.ty(a).scalar);
                Ty {
                    scalar,
                    lanes: items.len() as u16,
                }
            }
        }
    }
}
