//! Determinants.
//!
//! # References
//! N. Higham, "Accuracy and Stability of Numerical Algorithms", section 14.6: by elimination with partial pivoting.

use super::accumulator;
use super::extent::clamped;
use crate::ir::{Buffer, Expr, PrimFuncBuilder, Scope, Var};
use crate::te::{self, Tensor};
use crate::tensor::DType;
use crate::tensor::scalar::{BinOp, Intrin};

/// The determinant of each matrix; the last two dimensions are its rows and columns, as many of each. A matrix is one thread's
/// work.
pub fn det(name: &str, x: &Tensor) -> Tensor {
    let (shape, dtype) = (x.shape()[..x.ndim() - 2].to_vec(), x.dtype());
    if x.shape()[x.ndim() - 1].is_zero() {
        return te::compute(name, shape, |_| Expr::float(1.0, dtype));
    }
    let wide = accumulator(dtype);
    let result = vec![(shape.clone(), dtype), (x.shape().to_vec(), wide)];
    let inputs = std::slice::from_ref(x);
    let write = move |b: &mut PrimFuncBuilder, at: &[Var], from: &[Buffer], to: &[Buffer]| {
        let one = |b: &mut PrimFuncBuilder, name, dtype| b.alloc(name, [1i64], dtype, Scope::Local);
        let size = from[0].shape()[at.len()].clone();
        let elimination = Elimination {
            size: size.clone(),
            matrix: at.iter().map(Var::expr).collect(),
            work: to[1].clone(),
            product: one(b, "product", wide),
            pivot: one(b, "pivot", DType::I32),
        };
        b.grid([("i", &size), ("j", &size)], |b, v| {
            let index: Vec<Expr> = at.iter().chain(v).map(Var::expr).collect();
            let element = Expr::load(&from[0], index.clone()).cast(wide);
            b.store(&elimination.work, index, element);
        });
        set(b, &elimination.product, Expr::float(1.0, wide));
        b.grid([("k", &size)], |b, k| elimination.column(b, &k[0].expr()));
        let product = get(&elimination.product).cast(dtype);
        b.store(&to[0], at, product);
    };
    te::extern_each(name, shape, inputs, result, write).remove(0)
}

/// The memory of one thread.
struct Elimination {
    size: Expr,
    /// Which matrix it is.
    matrix: Vec<Expr>,
    /// The matrices.
    work: Buffer,
    /// The product of the diagonal so far.
    product: Buffer,
    /// The row with the greatest element of a column.
    pivot: Buffer,
}

fn get(number: &Buffer) -> Expr {
    Expr::load(number, vec![Expr::i64(0)])
}

fn set(b: &mut PrimFuncBuilder, number: &Buffer, value: Expr) {
    b.store(number, [Expr::i64(0)], value);
}

impl Elimination {
    fn at(&self, row: &Expr, column: &Expr) -> Vec<Expr> {
        let matrix = self.matrix.iter();
        matrix.chain([row, column]).cloned().collect()
    }

    fn element(&self, row: &Expr, column: &Expr) -> Expr {
        Expr::load(&self.work, self.at(row, column))
    }

    fn pivot(&self) -> Expr {
        clamped(&get(&self.pivot).cast(DType::I64), &self.size)
    }

    /// Moves the greatest element of column `k` to the diagonal, and takes its row from those below.
    fn column(&self, b: &mut PrimFuncBuilder, k: &Expr) {
        let absolute = |e: Expr| Expr::call(Intrin::Abs, vec![e]);
        set(b, &self.pivot, k.cast(DType::I32));
        b.grid([("r", &self.size)], |b, r| {
            let r = r[0].expr();
            let own = absolute(self.element(&r, k));
            let known = absolute(self.element(&self.pivot(), k));
            let greater = Expr::binary(BinOp::Gt, own, known);
            b.if_(k.lt(&r).and(greater), |b| {
                set(b, &self.pivot, r.cast(DType::I32));
            });
        });
        let moved = Expr::binary(BinOp::Ne, self.pivot(), k.clone());
        b.if_(moved, |b| {
            set(
                b,
                &self.product,
                get(&self.product) * Expr::float(-1.0, self.work.dtype()),
            );
            b.grid([("j", &self.size)], |b, j| {
                let j = j[0].expr();
                b.let_("lower", self.element(&self.pivot(), &j), |b, lower| {
                    b.store(&self.work, self.at(&self.pivot(), &j), self.element(k, &j));
                    b.store(&self.work, self.at(k, &j), lower.expr());
                });
            });
        });
        let diagonal = self.element(k, k);
        set(b, &self.product, get(&self.product) * &diagonal);
        let zero = Expr::float(0.0, self.work.dtype());
        b.grid([("r", &self.size)], |b, r| {
            let r = r[0].expr();
            let below = k.lt(&r);
            let divides = Expr::binary(BinOp::Ne, diagonal.clone(), zero);
            b.if_(below.and(divides), |b| {
                b.let_("factor", self.element(&r, k) / &diagonal, |b, factor| {
                    b.grid([("j", &self.size)], |b, j| {
                        let j = j[0].expr();
                        let taken = factor.expr() * self.element(k, &j);
                        b.store(&self.work, self.at(&r, &j), self.element(&r, &j) - taken);
                    });
                });
            });
        });
    }
}
