//! What is known of graph values.

use super::{Alpha, AlphaEq};
use crate::ir::{ShapeInfo, StructInfo};

impl Alpha {
    pub(super) fn sinfos(&mut self, what: &str, xs: &[StructInfo], ys: &[StructInfo]) -> AlphaEq {
        self.same(&format!("number of {what}"), &xs.len(), &ys.len())?;
        xs.iter()
            .zip(ys)
            .try_for_each(|(x, y)| self.sinfo(what, x, y))
    }

    fn shape(&mut self, what: &str, a: &ShapeInfo, b: &ShapeInfo) -> AlphaEq {
        match (a, b) {
            (ShapeInfo::Known(xs), ShapeInfo::Known(ys)) => self.exprs(what, xs, ys),
            _ => self.same(what, a, b),
        }
    }

    pub(super) fn sinfo(&mut self, what: &str, a: &StructInfo, b: &StructInfo) -> AlphaEq {
        match (a, b) {
            (
                StructInfo::Prim {
                    dtype: d,
                    value: Some(x),
                },
                StructInfo::Prim {
                    dtype: e,
                    value: Some(y),
                },
            ) => {
                self.same(what, d, e)?;
                self.expr(what, x, y)
            }
            (StructInfo::Shape(x), StructInfo::Shape(y)) => self.shape(what, x, y),
            (StructInfo::Tensor(x), StructInfo::Tensor(y)) => {
                self.same(what, &x.dtype, &y.dtype)?;
                self.same(what, &x.vdevice, &y.vdevice)?;
                self.shape(what, &x.shape, &y.shape)
            }
            (StructInfo::Tuple(xs), StructInfo::Tuple(ys)) => self.sinfos(what, xs, ys),
            (
                StructInfo::Callable {
                    params: xs,
                    ret: r,
                    pure: p,
                },
                StructInfo::Callable {
                    params: ys,
                    ret: s,
                    pure: q,
                },
            ) => {
                self.same(what, p, q)?;
                match (xs, ys) {
                    (Some(xs), Some(ys)) => self.sinfos(what, xs, ys)?,
                    (None, None) => {}
                    _ => return self.fail(what, a, b),
                }
                self.sinfo(what, r, s)
            }
            _ => self.same(what, a, b),
        }
    }
}
