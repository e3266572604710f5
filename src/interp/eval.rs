//! Expressions at run time.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::InterpError;
use super::memory::{Memory, check_index};
use super::view::View;
use crate::ir::{Buffer, Expr, ExprKind, FragmentExtents, Var};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{
    BinOp, Scalar, decode, encode, eval_binary, eval_cast, eval_intrin, wrap_int,
};

/// The lanes of a value.
pub(super) type Lanes = Vec<Scalar>;

/// Values of variables and buffers.
#[derive(Default)]
pub(super) struct Env {
    pub(super) vars: HashMap<Var, Scalar>,
    /// Values of the variables that are vectors.
    vectors: HashMap<Var, Lanes>,
    pub(super) buffers: HashMap<Buffer, Memory>,
    pub(super) views: HashMap<Buffer, View>,
    /// Buffers of which each thread that runs has elements of its own.
    pub(super) private: HashSet<Buffer>,
    /// The elements of those buffers that the running thread has written; of others it sees what was there before. Threads that went on
    /// from here share them until they write.
    own: HashMap<Buffer, Rc<Elements>>,
    /// Extents of the fragments of the program.
    pub(super) fragment_extents: FragmentExtents,
}

type Elements = HashMap<Vec<i64>, Scalar>;

/// All that a thread of a workgroup has for itself.
#[derive(Clone, Default)]
pub(super) struct Thread {
    vars: HashMap<Var, Scalar>,
    vectors: HashMap<Var, Lanes>,
    views: HashMap<Buffer, View>,
    own: HashMap<Buffer, Rc<Elements>>,
}

impl Thread {
    /// Takes what another thread, which went on from here, wrote for itself.
    pub(super) fn take_own(&mut self, other: Self) {
        for (buffer, elements) in other.own {
            match self.own.entry(buffer) {
                Entry::Vacant(none) => {
                    none.insert(elements);
                }
                Entry::Occupied(own) if Rc::ptr_eq(own.get(), &elements) => {}
                Entry::Occupied(mut own) => {
                    Rc::make_mut(own.get_mut()).extend(Rc::unwrap_or_clone(elements));
                }
            }
        }
    }
}

impl Env {
    /// Another thread runs from here on; what the last one had for itself is in its place.
    pub(super) fn swap(&mut self, thread: &mut Thread) {
        std::mem::swap(&mut self.vars, &mut thread.vars);
        std::mem::swap(&mut self.vectors, &mut thread.vectors);
        std::mem::swap(&mut self.views, &mut thread.views);
        std::mem::swap(&mut self.own, &mut thread.own);
    }

    /// A buffer begins to exist: nothing is written in it.
    pub(super) fn allocate(&mut self, buffer: &Buffer, shape: Vec<i64>) -> Result<(), InterpError> {
        self.own.remove(buffer);
        let memory = Memory::uninitialized(buffer, shape)?;
        self.buffers.insert(buffer.clone(), memory);
        Ok(())
    }

    /// No threads run any more: what the last one wrote for itself is in the buffers.
    pub(super) fn leave_threads(&mut self) -> Result<(), InterpError> {
        self.private.clear();
        for (buffer, elements) in std::mem::take(&mut self.own) {
            let memory = self.buffers.get_mut(&buffer);
            let memory = memory.ok_or_else(|| unbound(&buffer))?;
            for (index, value) in Rc::unwrap_or_clone(elements) {
                memory.store(buffer.name(), &index, value)?;
            }
        }
        Ok(())
    }

    /// A scalar value.
    pub(super) fn scalar(&mut self, e: &Expr) -> Result<Scalar, InterpError> {
        if e.dtype().is_vector() {
            return Err(InterpError::Vector { found: e.dtype() });
        }
        let ty = e.dtype().scalar;
        match e.kind() {
            ExprKind::Int(v) => Ok(Scalar::Int(*v)),
            ExprKind::Float(v) => Ok(Scalar::Float(*v)),
            ExprKind::Var(var) => {
                let value = self.vars.get(var).copied();
                value.ok_or_else(|| unbound_var(var))
            }
            ExprKind::Cast(a) => Ok(eval_cast(self.scalar(a)?, a.dtype().scalar, ty)),
            ExprKind::Reinterpret(_) => {
                let mut lanes = self.reinterpret(e)?.into_iter();
                Ok(lanes.next().unwrap_or(Scalar::Int(0)))
            }
            ExprKind::External(_, _) | ExprKind::Str(_) | ExprKind::Data(_) => {
                Err(beyond_program(e))
            }
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
                self.define(var, value)?;
                self.scalar(body)
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
        if e.dtype().vscale_factor().is_some() {
            return Err(InterpError::BeyondProgram {
                what: format!(
                    "a vector of type {}, whose length the hardware chooses",
                    e.dtype()
                ),
            });
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
                let lane = |i| wrap_int(stride.wrapping_mul(i).wrapping_add(base), ty);
                Ok((0..i64::from(*lanes))
                    .map(|i| Scalar::Int(lane(i)))
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
            ExprKind::Reinterpret(_) => self.reinterpret(e),
            ExprKind::External(_, _) | ExprKind::Str(_) | ExprKind::Data(_) => {
                Err(beyond_program(e))
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
            // One condition for all lanes guards them all.
            ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) if !c.dtype().is_vector() => {
                if self.truth(c)? {
                    self.lanes(a)
                } else {
                    self.lanes(b)
                }
            }
            ExprKind::Select(c, a, b) | ExprKind::IfThenElse(c, a, b) => {
                let (c, a, b) = (self.lanes(c)?, self.lanes(a)?, self.lanes(b)?);
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
                self.define(var, value)?;
                self.lanes(body)
            }
            ExprKind::Var(var) => self
                .vectors
                .get(var)
                .cloned()
                .ok_or_else(|| unbound_var(var)),
            ExprKind::Int(v) => Ok(vec![Scalar::Int(*v); lanes]),
            ExprKind::Float(v) => Ok(vec![Scalar::Float(*v); lanes]),
        }
    }

    /// The bits of all lanes of a value, cut into lanes of the type of the node.
    fn reinterpret(&mut self, e: &Expr) -> Result<Lanes, InterpError> {
        let ExprKind::Reinterpret(value) = e.kind() else {
            return self.lanes(e);
        };
        let (from, to) = (value.dtype().scalar, e.dtype().scalar);
        let mut bytes = Vec::new();
        for lane in self.lanes(value)? {
            let mut element = vec![0; from.bytes()];
            encode(lane, from, &mut element);
            bytes.extend(element);
        }
        let lanes = bytes.chunks_exact(to.bytes());
        Ok(lanes.map(|element| decode(element, to)).collect())
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

    /// Integer values.
    pub(super) fn ints(&mut self, exprs: &[Expr]) -> Result<Vec<i64>, InterpError> {
        exprs.iter().map(|e| self.int(e)).collect()
    }

    /// A condition.
    pub(super) fn truth(&mut self, e: &Expr) -> Result<bool, InterpError> {
        Ok(self.scalar(e)?.is_true())
    }

    /// Gives a variable the value of an expression. It keeps it after its scope, in which alone the verifier allows its use.
    pub(super) fn define(&mut self, var: &Var, value: &Expr) -> Result<(), InterpError> {
        if value.dtype().is_vector() {
            let lanes = self.lanes(value)?;
            self.vectors.insert(var.clone(), lanes);
        } else {
            let value = self.scalar(value)?;
            self.vars.insert(var.clone(), value);
        }
        Ok(())
    }

    /// An element.
    pub(super) fn load(&self, buffer: &Buffer, index: Vec<i64>) -> Result<Scalar, InterpError> {
        let (buffer, index) = self.resolve(buffer, index)?;
        let own = self.own.get(&buffer).and_then(|own| own.get(&index));
        if let Some(value) = own {
            return Ok(*value);
        }
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
        let (buffer, index) = self.resolve(buffer, index)?;
        let memory = self
            .buffers
            .get_mut(&buffer)
            .ok_or_else(|| unbound(&buffer))?;
        let value = eval_cast(value, from, memory.dtype.scalar);
        if self.private.contains(&buffer) {
            check_index(buffer.name(), &index, &memory.shape)?;
            Rc::make_mut(self.own.entry(buffer).or_default()).insert(index, value);
            return Ok(());
        }
        memory.store(buffer.name(), &index, value)
    }
}

fn beyond_program(e: &Expr) -> InterpError {
    let what = match e.kind() {
        ExprKind::External(external, _) => format!("`T.{}`", external.name()),
        ExprKind::Data(buffer) => format!("the address of `{}`", buffer.name()),
        _ => "a text".to_owned(),
    };
    InterpError::BeyondProgram { what }
}

fn unbound_var(var: &Var) -> InterpError {
    InterpError::UnboundVar {
        name: var.name().to_owned(),
    }
}

pub(super) fn unbound(buffer: &Buffer) -> InterpError {
    InterpError::UnboundBuffer {
        name: buffer.name().to_owned(),
    }
}
