//! Expressions at run time.

use std::collections::HashMap;

use super::InterpError;
use super::memory::Memory;
use crate::ir::{Buffer, Expr, ExprKind, Var};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{BinOp, Scalar, eval_binary, eval_cast, eval_intrin};

/// The lanes of a value.
pub(super) type Lanes = Vec<Scalar>;

/// Values of variables and buffers.
#[derive(Default)]
pub(super) struct Env {
    pub(super) vars: HashMap<Var, Scalar>,
    pub(super) buffers: HashMap<Buffer, Memory>,
    /// Views: the source, and the first index in it.
    pub(super) views: HashMap<Buffer, (Buffer, Vec<i64>)>,
}

impl Env {
    /// A scalar value.
    pub(super) fn scalar(&mut self, e: &Expr) -> Result<Scalar, InterpError> {
        let ty = e.dtype().scalar;
        match e.kind() {
            ExprKind::Int(v) => Ok(Scalar::Int(*v)),
            ExprKind::Float(v) => Ok(Scalar::Float(*v)),
            ExprKind::Var(var) => {
                self.vars
                    .get(var)
                    .copied()
                    .ok_or_else(|| InterpError::UnboundVar {
                        name: var.name().to_owned(),
                    })
            }
            ExprKind::Cast(a) => Ok(eval_cast(self.scalar(a)?, a.dtype().scalar, ty)),
            // `and` and `or` guard what stands to their right.
            ExprKind::Binary(BinOp::And, a, b) => {
                if self.truth(a)? {
                    self.scalar(b)
                } else {
                    Ok(Scalar::Int(0))
                }
            }
            ExprKind::Binary(BinOp::Or, a, b) => {
                if self.truth(a)? {
                    Ok(Scalar::Int(1))
                } else {
                    self.scalar(b)
                }
            }
            ExprKind::Binary(op, a, b) => Ok(eval_binary(
                *op,
                a.dtype().scalar,
                self.scalar(a)?,
                self.scalar(b)?,
            )?),
            ExprKind::Not(a) => Ok(Scalar::Int((!self.truth(a)?).into())),
            ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) => {
                if self.truth(c)? {
                    self.scalar(a)
                } else {
                    self.scalar(b)
                }
            }
            ExprKind::Load(buffer, indices) => {
                let index = indices
                    .iter()
                    .map(|i| self.int(i))
                    .collect::<Result<Vec<_>, _>>()?;
                self.load(buffer, index)
            }
            ExprKind::Call(intrin, args) => {
                let values = args
                    .iter()
                    .map(|a| self.scalar(a))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(eval_intrin(*intrin, args[0].dtype().scalar, &values)?)
            }
            ExprKind::Let { var, value, body } => {
                let value = self.scalar(value)?;
                self.with_var(var, value, |env| env.scalar(body))
            }
            ExprKind::Ramp {
                base: a,
                stride: _,
                lanes: _,
            }
            | ExprKind::Broadcast(a, _) => self.scalar(a),
        }
    }

    /// All lanes of a value; one for a scalar.
    pub(super) fn lanes(&mut self, e: &Expr) -> Result<Lanes, InterpError> {
        let lanes = usize::from(e.dtype().lanes);
        if lanes == 1 {
            return Ok(vec![self.scalar(e)?]);
        }
        let ty = e.dtype().scalar;
        match e.kind() {
            ExprKind::Broadcast(a, n) => Ok(self.lanes(a)?.repeat(usize::from(*n))),
            ExprKind::Ramp {
                base,
                stride,
                lanes,
            } => {
                let (base, stride) = (self.int(base)?, self.int(stride)?);
                Ok((0..i64::from(*lanes))
                    .map(|i| Scalar::Int(base + i * stride))
                    .collect())
            }
            ExprKind::Cast(a) => {
                let from = a.dtype().scalar;
                Ok(self
                    .lanes(a)?
                    .into_iter()
                    .map(|v| eval_cast(v, from, ty))
                    .collect())
            }
            ExprKind::Binary(op, a, b) => {
                let from = a.dtype().scalar;
                let (a, b) = (self.lanes(a)?, self.lanes(b)?);
                a.into_iter()
                    .zip(b)
                    .map(|(a, b)| Ok(eval_binary(*op, from, a, b)?))
                    .collect()
            }
            ExprKind::Not(a) => Ok(self
                .lanes(a)?
                .into_iter()
                .map(|v| Scalar::Int((!v.is_true()).into()))
                .collect()),
            ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) => {
                let mut c = self.lanes(c)?;
                c.resize(lanes, c[0]);
                let (a, b) = (self.lanes(a)?, self.lanes(b)?);
                Ok(c.into_iter()
                    .zip(a.into_iter().zip(b))
                    .map(|(c, (a, b))| if c.is_true() { a } else { b })
                    .collect())
            }
            ExprKind::Load(buffer, indices) => self
                .indices(indices)?
                .into_iter()
                .map(|index| self.load(buffer, index))
                .collect(),
            ExprKind::Call(intrin, args) => {
                let from = args[0].dtype().scalar;
                let args = args
                    .iter()
                    .map(|a| self.lanes(a))
                    .collect::<Result<Vec<_>, _>>()?;
                (0..lanes)
                    .map(|i| {
                        Ok(eval_intrin(
                            *intrin,
                            from,
                            &args.iter().map(|a| a[i]).collect::<Vec<_>>(),
                        )?)
                    })
                    .collect()
            }
            ExprKind::Let { var, value, body } => {
                let value = self.scalar(value)?;
                self.with_var(var, value, |env| env.lanes(body))
            }
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Var(_) => {
                Ok(vec![self.scalar(e)?; lanes])
            }
        }
    }

    /// The index of each lane that vector indices name; one for scalar indices.
    pub(super) fn indices(&mut self, indices: &[Expr]) -> Result<Vec<Vec<i64>>, InterpError> {
        let per_dim = indices
            .iter()
            .map(|i| self.lanes(i))
            .collect::<Result<Vec<_>, _>>()?;
        let lanes = per_dim.iter().map(Vec::len).max().unwrap_or(1);
        let at = |dim: &Lanes, lane: usize| dim[if dim.len() == 1 { 0 } else { lane }].as_int();
        Ok((0..lanes)
            .map(|lane| per_dim.iter().map(|dim| at(dim, lane)).collect())
            .collect())
    }

    /// An integer value.
    pub(super) fn int(&mut self, e: &Expr) -> Result<i64, InterpError> {
        Ok(self.scalar(e)?.as_int())
    }

    /// A condition.
    pub(super) fn truth(&mut self, e: &Expr) -> Result<bool, InterpError> {
        Ok(self.scalar(e)?.is_true())
    }

    /// Runs `f` while the variable has this value.
    pub(super) fn with_var<T>(
        &mut self,
        var: &Var,
        value: Scalar,
        f: impl FnOnce(&mut Self) -> Result<T, InterpError>,
    ) -> Result<T, InterpError> {
        let before = self.vars.insert(var.clone(), value);
        let result = f(self);
        match before {
            Some(value) => self.vars.insert(var.clone(), value),
            None => self.vars.remove(var),
        };
        result
    }

    /// The buffer that owns the elements, and the index there.
    fn resolve(&self, buffer: &Buffer, mut index: Vec<i64>) -> (Buffer, Vec<i64>) {
        let mut at = buffer.clone();
        while let Some((source, origin)) = self.views.get(&at) {
            // A view may drop leading dimensions of extent 1.
            let skip = origin.len() - index.len().min(origin.len());
            let mut inner = origin.clone();
            inner
                .iter_mut()
                .skip(skip)
                .zip(&index)
                .for_each(|(o, i)| *o += i);
            index = inner;
            at = source.clone();
        }
        (at, index)
    }

    fn load(&self, buffer: &Buffer, index: Vec<i64>) -> Result<Scalar, InterpError> {
        let (buffer, index) = self.resolve(buffer, index);
        let memory = self.buffers.get(&buffer).ok_or_else(|| unbound(&buffer))?;
        memory.load(buffer.name(), &index)
    }

    /// Writes an element, rounded or wrapped to the type of the buffer.
    pub(super) fn store(
        &mut self,
        buffer: &Buffer,
        index: Vec<i64>,
        value: Scalar,
        from: ScalarType,
    ) -> Result<(), InterpError> {
        let (buffer, index) = self.resolve(buffer, index);
        let memory = self
            .buffers
            .get_mut(&buffer)
            .ok_or_else(|| unbound(&buffer))?;
        memory.store(
            buffer.name(),
            &index,
            eval_cast(value, from, memory.dtype.scalar),
        )
    }
}

fn unbound(buffer: &Buffer) -> InterpError {
    InterpError::UnboundBuffer {
        name: buffer.name().to_owned(),
    }
}
