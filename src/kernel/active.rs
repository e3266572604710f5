//! Accesses of which not all lanes are active, written with whole vectors and loops over lanes: for machines without masks.

use std::borrow::Cow;

use super::{Array, ArrayId, Expr, ForKind, HostExpr, Kernel, Space, Stmt, Ty, VarId, VarInfo};
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

impl Kernel {
    /// The kernel without such accesses to arrays of the types for which `wanted` holds. A load tests once whether all lanes
    /// are active; if not, it reads one by one into a local array, which is 0 elsewhere. A store does the like.
    #[must_use]
    pub fn without_active(&self, wanted: &dyn Fn(ScalarType) -> bool) -> Cow<'_, Self> {
        let mut found = false;
        self.walk_accesses(&mut |array, _, _, active| {
            found |= active.is_some() && wanted(self.arrays[array].dtype);
        });
        if !found {
            return Cow::Borrowed(self);
        }
        let mut kernel = self.clone();
        let body = std::mem::take(&mut kernel.body);
        let mut writer = Writer { kernel, wanted };
        writer.kernel.body = writer.stmts(body);
        Cow::Owned(writer.kernel)
    }
}

struct Writer<'a> {
    /// Grows variables and local arrays; its body is elsewhere meanwhile.
    kernel: Kernel,
    wanted: &'a dyn Fn(ScalarType) -> bool,
}

/// An access with its index and its number of active lanes in variables.
struct Placed {
    at: VarId,
    active: VarId,
    /// Where lanes go one by one.
    lanes: ArrayId,
    /// Defines the variables.
    before: [Stmt; 2],
}

impl Writer<'_> {
    fn stmts(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::new();
        for mut stmt in stmts {
            stmt.map_nested(&mut |body| self.stmts(body));
            // The condition of a `while` is computed anew before each pass; no vector is loaded in one.
            if !matches!(stmt, Stmt::While { .. }) {
                for e in stmt.exprs_mut() {
                    *e = self.expr(e, &mut out);
                }
            }
            match stmt {
                Stmt::Store {
                    array,
                    index,
                    value,
                    active: Some(active),
                } if (self.wanted)(self.kernel.arrays[array].dtype) => {
                    out.extend(self.store(array, &index, &value, &active));
                }
                _ => out.push(stmt),
            }
        }
        out
    }

    /// The expression with loads from local arrays, which the statements that are added to `before` fill.
    fn expr(&mut self, e: &Expr, before: &mut Vec<Stmt>) -> Expr {
        e.rewrite(&mut |e| match e {
            Expr::Load {
                array,
                index,
                lanes,
                active: Some(active),
            } if (self.wanted)(self.kernel.arrays[*array].dtype) => {
                Some(self.load(*array, index, *lanes, active, before))
            }
            _ => None,
        })
    }

    fn load(
        &mut self,
        array: ArrayId,
        index: &Expr,
        lanes: u16,
        active: &Expr,
        before: &mut Vec<Stmt>,
    ) -> Expr {
        let placed = self.placed(array, index, lanes, active);
        let dtype = self.kernel.arrays[array].dtype;
        let zero = match dtype.is_float() {
            true => Expr::Float(0.0, dtype),
            false => Expr::Int(0, dtype),
        };
        let zeros = Expr::Splat(Box::new(zero), lanes);
        let one_by_one = self.each_lane(&placed, |at, lane| {
            store(placed.lanes, lane, load(array, at, 1))
        });
        let otherwise = vec![store(placed.lanes, first(), zeros), one_by_one];
        let whole = load(array, Expr::Var(placed.at), lanes);
        let then = vec![store(placed.lanes, first(), whole)];
        let choice = self.if_all(&placed, lanes, then, otherwise);
        let local = placed.lanes;
        before.extend(placed.before);
        before.push(choice);
        load(local, first(), lanes)
    }

    fn store(&mut self, array: ArrayId, index: &Expr, value: &Expr, active: &Expr) -> Vec<Stmt> {
        let ty = self.kernel.ty(value);
        let placed = self.placed(array, index, ty.lanes, active);
        let all = self.var("lanes", ty);
        let one_by_one = self.each_lane(&placed, |at, lane| {
            store(array, at, load(placed.lanes, lane, 1))
        });
        let otherwise = vec![store(placed.lanes, first(), Expr::Var(all)), one_by_one];
        let then = vec![store(array, Expr::Var(placed.at), Expr::Var(all))];
        let choice = self.if_all(&placed, ty.lanes, then, otherwise);
        let mut out = vec![Stmt::Let(all, value.clone())];
        out.extend(placed.before);
        out.push(choice);
        out
    }

    fn placed(&mut self, array: ArrayId, index: &Expr, lanes: u16, active: &Expr) -> Placed {
        let [(at, let_at), (count, let_count)] =
            [("at", index), ("active", active)].map(|(name, e)| {
                let var = self.var(name, self.kernel.ty(e));
                (var, Stmt::Let(var, e.clone()))
            });
        let info = &self.kernel.arrays[array];
        let local = Array {
            name: format!("{}_lanes", info.name),
            dtype: info.dtype,
            len: HostExpr::Const(lanes.into()),
            space: Space::Local,
            vector: 1,
        };
        Placed {
            at,
            active: count,
            lanes: self.kernel.arrays.push(local),
            before: [let_at, let_count],
        }
    }

    fn var(&mut self, name: &str, ty: Ty) -> VarId {
        self.kernel.vars.push(VarInfo {
            name: name.to_owned(),
            ty,
        })
    }

    fn if_all(&self, placed: &Placed, lanes: u16, then: Vec<Stmt>, otherwise: Vec<Stmt>) -> Stmt {
        let all = Expr::Int(lanes.into(), self.kernel.vars[placed.active].ty.scalar);
        Stmt::If {
            cond: binary(BinOp::Ge, Expr::Var(placed.active), all),
            then,
            otherwise,
        }
    }

    /// A loop over the active lanes: what is done for each, given the index in the array and the lane.
    fn each_lane(&mut self, placed: &Placed, copy: impl FnOnce(Expr, Expr) -> Stmt) -> Stmt {
        let ty = self.kernel.vars[placed.active].ty;
        let lane = self.var("lane", ty);
        let at = binary(BinOp::Add, Expr::Var(placed.at), Expr::Var(lane));
        Stmt::For {
            var: lane,
            min: Expr::Int(0, ty.scalar),
            extent: Expr::Var(placed.active),
            kind: ForKind::Serial,
            body: vec![copy(at, Expr::Var(lane))],
        }
    }
}

fn first() -> Expr {
    Expr::Int(0, ScalarType::I64)
}

fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

fn load(array: ArrayId, index: Expr, lanes: u16) -> Expr {
    Expr::Load {
        array,
        index: Box::new(index),
        lanes,
        active: None,
    }
}

fn store(array: ArrayId, index: Expr, value: Expr) -> Stmt {
    Stmt::Store {
        array,
        index,
        value,
        active: None,
    }
}
