//! The rules of operations on fragments: roles and types agree, all threads of the workgroup are there, and whole tiles are inside
//! their arrays, since no driver checks that.

use std::collections::HashMap;

use super::Verifier;
use crate::kernel::{
    ArrayTile, Expr, FRAGMENT_ALIGN, FRAGMENT_EXTENTS, FRAGMENT_THREADS, Fragment, FragmentId,
    FragmentOp, FragmentProduct, Role, Space, VarId,
};
use crate::tensor::scalar::BinOp;

/// What is known of variables, and of the place of a statement.
#[derive(Default)]
pub(super) struct Known {
    /// Branches and loops around here that threads of a workgroup may leave differently.
    divergent: usize,
    vars: HashMap<VarId, Value>,
}

/// What is known of the value of a variable.
#[derive(Clone, Copy)]
struct Value {
    /// Whether it may differ between threads of a workgroup.
    varies: bool,
    range: Option<(i128, i128)>,
    /// What it is a multiple of; 0 if it is 0.
    factor: i128,
}

impl Verifier<'_> {
    /// Notes the value of a variable.
    pub(super) fn learn(&mut self, var: VarId, value: &Expr) {
        let value = Value {
            varies: self.varies(value),
            range: self.range(value),
            factor: self.factor(value),
        };
        self.known.vars.insert(var, value);
    }

    /// Notes the values of the variable of a loop.
    pub(super) fn learn_loop(&mut self, var: VarId, min: &Expr, extent: &Expr) {
        let ends = self.range(min).zip(self.range(extent));
        let value = Value {
            varies: self.varies(min),
            range: ends.and_then(|(min, extent)| {
                let last = min.1.checked_add(extent.1)? - 1;
                Some((min.0, last.max(min.0)))
            }),
            factor: 1,
        };
        self.known.vars.insert(var, value);
    }

    /// Checks what is inside a branch or loop that these values decide.
    pub(super) fn within(
        &mut self,
        deciding: &[&Expr],
        inside: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let divergent = usize::from(deciding.iter().any(|e| self.varies(e)));
        self.known.divergent += divergent;
        let checked = inside(self);
        self.known.divergent -= divergent;
        checked
    }

    /// What fragments ask of the launch, whether operations use them or not: they decide how threads are numbered.
    pub(super) fn threads_of_fragments(&self) -> Result<(), String> {
        if !self.kernel.has_fragments() {
            return Ok(());
        }
        let block = self.kernel.launch.as_ref().map_or([0; 3], |l| l.block);
        if block[0] != FRAGMENT_THREADS {
            return Err(format!(
                "fragments of {FRAGMENT_THREADS} threads where a workgroup has {} in x",
                block[0]
            ));
        }
        let threads = block.iter().try_fold(1_u32, |all, n| all.checked_mul(*n));
        threads
            .map(drop)
            .ok_or_else(|| "too many threads".to_owned())
    }

    /// An operation on fragments.
    pub(super) fn fragment(&mut self, op: &FragmentOp) -> Result<(), String> {
        if self.known.divergent > 0 {
            return Err("not all threads come by an operation on fragments".into());
        }
        match op {
            FragmentOp::Clear(id) => self.role(*id, None).map(drop),
            FragmentOp::Load(id, tile) | FragmentOp::Store(id, tile) => {
                let of = self.role(*id, None)?;
                self.tile(tile, of)
            }
            FragmentOp::MultiplyAdd { sum, a, b } => {
                let (a, b) = (self.role(*a, Some(Role::A))?, self.role(*b, Some(Role::B))?);
                let sum = self.role(*sum, Some(Role::C))?;
                let extents = [a, b, sum].map(|of| of.extent);
                if extents != [sum.extent; 3] {
                    return Err(format!("a product of fragments of {extents:?} rows"));
                }
                let product = FragmentProduct {
                    extent: sum.extent,
                    factors: a.dtype,
                    sums: sum.dtype,
                };
                match a.dtype == b.dtype && product.is_used() {
                    true => Ok(()),
                    false => Err(format!(
                        "fragments of {} and {} with sums in {}",
                        a.dtype, b.dtype, sum.dtype
                    )),
                }
            }
        }
    }

    /// The fragment, which is a tile of this matrix, if one is asked for.
    fn role(&self, id: FragmentId, wanted: Option<Role>) -> Result<&Fragment, String> {
        let fragment = self.kernel.fragments.get(id);
        let fragment = fragment.ok_or_else(|| format!("{id} does not exist"))?;
        if !FRAGMENT_EXTENTS.contains(&fragment.extent) {
            let (name, extent) = (&fragment.name, fragment.extent);
            return Err(format!("`{name}` is a tile of {extent} x {extent}"));
        }
        match wanted {
            Some(role) if role != fragment.role => Err(format!(
                "`{}` is a tile of matrix {:?}, not {role:?}",
                fragment.name, fragment.role
            )),
            _ => Ok(fragment),
        }
    }

    /// A tile of memory of the workgroup.
    fn tile(&self, tile: &ArrayTile, fragment: &Fragment) -> Result<(), String> {
        let dtype = fragment.dtype;
        let of = self.array(tile.array)?;
        let array = &self.kernel.arrays[tile.array];
        let name = &array.name;
        if of != dtype {
            return Err(format!("a tile of `{name}`, which is {of}, as {dtype}"));
        }
        if !matches!(array.space, Space::Shared) {
            return Err(format!("a tile of `{name}`, which is not shared"));
        }
        self.index(&tile.index, None)?;
        let align = i128::from(FRAGMENT_ALIGN) / of.bytes() as i128;
        let (stride, extent) = (i128::from(tile.stride), i128::from(fragment.extent));
        if stride < extent || stride % align != 0 {
            return Err(format!("a tile of `{name}` with rows {stride} apart"));
        }
        if self.factor(&tile.index) % align != 0 {
            return Err(format!(
                "a tile of `{name}` that begins at no multiple of {align}"
            ));
        }
        let len = array.len.as_const().unwrap_or(0);
        let last = (extent - 1) * stride + extent;
        match self.range(&tile.index) {
            Some((least, greatest)) if least >= 0 && greatest + last <= len.into() => Ok(()),
            _ => Err(format!("a tile of `{name}` is not shown to be inside")),
        }
    }

    /// Whether the value may differ between threads of a workgroup.
    fn varies(&self, e: &Expr) -> bool {
        e.any(&|e| match e {
            Expr::ThreadIdx(_) | Expr::Load { .. } | Expr::Shuffle(..) => true,
            Expr::Var(var) => self.known.vars.get(var).is_some_and(|value| value.varies),
            _ => false,
        })
    }

    /// Least and greatest value of an integer, if both are known and its type holds them: the shader computes in that type.
    fn range(&self, e: &Expr) -> Option<(i128, i128)> {
        let (least, greatest) = self.range_of_any(e)?;
        let (lowest, highest) = self.kernel.ty(e).scalar.int_range()?;
        let fits = least >= lowest.into() && greatest <= highest.into();
        fits.then_some((least, greatest))
    }

    /// The same, of integers that are not limited.
    fn range_of_any(&self, e: &Expr) -> Option<(i128, i128)> {
        let launch = self.kernel.launch.as_ref();
        let below = |count: i64| Some((0, i128::from(count) - 1));
        match e {
            Expr::Int(value, _) => Some(((*value).into(), (*value).into())),
            Expr::Var(var) => self.known.vars.get(var)?.range,
            Expr::ThreadIdx(axis) => below((*launch?.block.get(usize::from(*axis))?).into()),
            Expr::BlockIdx(axis) => below(launch?.grid.get(usize::from(*axis))?.as_const()?),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.range(a)?, self.range(b)?);
                let divisor = (b.0 == b.1 && b.0 > 0).then_some(b.0);
                match op {
                    BinOp::Add => Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)),
                    BinOp::Sub => Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?)),
                    BinOp::Mul => {
                        let ends = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
                        let ends = ends.map(|(a, b)| a.checked_mul(b));
                        let ends: Option<Vec<i128>> = ends.into_iter().collect();
                        let ends = ends?;
                        ends.iter().min().copied().zip(ends.iter().max().copied())
                    }
                    BinOp::Div | BinOp::FloorDiv if a.0 >= 0 => {
                        divisor.map(|by| (a.0 / by, a.1 / by))
                    }
                    BinOp::Mod | BinOp::FloorMod if a.0 >= 0 => {
                        divisor.map(|by| if a.1 < by { a } else { (0, by - 1) })
                    }
                    BinOp::Min => Some((a.0.min(b.0), a.1.min(b.1))),
                    BinOp::Max => Some((a.0.max(b.0), a.1.max(b.1))),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What an integer is a multiple of: 0 if it is 0, 1 if nothing is known.
    fn factor(&self, e: &Expr) -> i128 {
        match e {
            Expr::Int(value, _) => i128::from(*value).abs(),
            Expr::Var(var) => self.known.vars.get(var).map_or(1, |value| value.factor),
            Expr::Binary(BinOp::Add | BinOp::Sub, a, b) => gcd(self.factor(a), self.factor(b)),
            Expr::Binary(BinOp::Mul, a, b) => {
                self.factor(a).checked_mul(self.factor(b)).unwrap_or(1)
            }
            _ => 1,
        }
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
