//! A slow, obvious evaluator of CPU kernels, by the definitions of `tensor::scalar`.

use std::collections::HashMap;

use crate::kernel::{Array, ArrayId, Expr, Kernel, Space, Stmt, Ty, VarId};
use crate::tensor::ScalarType;
use crate::tensor::scalar::{
    BinOp, EvalError, Scalar, decode, encode, eval_binary, eval_cast, eval_intrin, wrap_int,
};

/// A value: its lanes and their type.
#[derive(Clone, Debug)]
struct Lanes(ScalarType, Vec<Scalar>);

struct Machine<'a> {
    kernel: &'a Kernel,
    arrays: HashMap<ArrayId, Vec<Scalar>>,
    vars: HashMap<VarId, Lanes>,
}

/// Runs the kernel on the elements of its global arrays, in binding order.
pub(crate) fn run(
    kernel: &Kernel,
    dims: &[i64],
    buffers: &mut [Vec<Scalar>],
) -> Result<(), EvalError> {
    let mut machine = Machine {
        kernel,
        arrays: HashMap::new(),
        vars: HashMap::new(),
    };
    for (var, value) in &kernel.scalars {
        let value = Lanes(
            kernel.vars[*var].ty.scalar,
            vec![Scalar::Int(value.eval(dims)?)],
        );
        machine.vars.insert(*var, value);
    }
    for ((id, ..), buffer) in kernel.bindings().zip(buffers.iter()) {
        machine.arrays.insert(id, buffer.clone());
    }
    for (
        id,
        Array {
            dtype, len, space, ..
        },
    ) in kernel.arrays.iter()
    {
        if *space == Space::Local {
            let zero = if dtype.is_float() {
                Scalar::Float(0.0)
            } else {
                Scalar::Int(0)
            };
            machine
                .arrays
                .insert(id, vec![zero; len.eval(dims)? as usize]);
        }
    }
    machine.stmts(&kernel.body)?;
    for ((id, ..), buffer) in kernel.bindings().zip(buffers) {
        buffer.clone_from(&machine.arrays[&id]);
    }
    Ok(())
}

impl Machine<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) -> Result<(), EvalError> {
        stmts.iter().try_for_each(|s| self.stmt(s))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), EvalError> {
        match stmt {
            Stmt::Let(var, value) => {
                let value = self.expr(value)?;
                self.vars.insert(*var, value);
            }
            Stmt::Store {
                array,
                index,
                value,
                active,
            } => {
                let at = self.int(index)?;
                let Lanes(_, mut lanes) = self.expr(value)?;
                lanes.truncate(self.active(active.as_ref(), lanes.len())?);
                let elements = self.arrays.get_mut(array).expect("declared");
                for (i, lane) in lanes.into_iter().enumerate() {
                    if let Some(element) = elements.get_mut((at + i as i64) as usize) {
                        *element = lane;
                    }
                }
            }
            Stmt::For {
                var,
                min,
                extent,
                body,
                ..
            } => {
                let (min, extent) = (self.int(min)?, self.int(extent)?);
                let ty = self.kernel.vars[*var].ty.scalar;
                for i in min..min + extent {
                    self.vars.insert(*var, Lanes(ty, vec![Scalar::Int(i)]));
                    self.stmts(body)?;
                }
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let body = if self.int(cond)? != 0 {
                    then
                } else {
                    otherwise
                };
                self.stmts(body)?;
            }
            Stmt::While { cond, body } => {
                while self.int(cond)? != 0 {
                    self.stmts(body)?;
                }
            }
            Stmt::Barrier | Stmt::Fragment(_) => panic!("not in CPU kernels"),
        }
        Ok(())
    }

    /// How many of so many lanes an access is for.
    fn active(&self, active: Option<&Expr>, lanes: usize) -> Result<usize, EvalError> {
        Ok(match active {
            Some(active) => self.int(active)?.clamp(0, lanes as i64) as usize,
            None => lanes,
        })
    }

    fn int(&self, e: &Expr) -> Result<i64, EvalError> {
        Ok(self.expr(e)?.1[0].as_int())
    }

    fn expr(&self, e: &Expr) -> Result<Lanes, EvalError> {
        Ok(match e {
            Expr::Int(value, ty) => Lanes(*ty, vec![Scalar::Int(wrap_int(*value, *ty))]),
            Expr::Float(value, ty) => {
                let rounded = crate::tensor::scalar::round_float(*value, *ty);
                Lanes(*ty, vec![Scalar::Float(rounded)])
            }
            Expr::Var(var) => self.vars[var].clone(),
            Expr::BlockIdx(_) | Expr::ThreadIdx(_) | Expr::Shuffle(..) => {
                panic!("not in CPU kernels")
            }
            Expr::Cast(Ty { scalar, .. }, a) => {
                let Lanes(from, lanes) = self.expr(a)?;
                Lanes(
                    *scalar,
                    lanes
                        .into_iter()
                        .map(|v| eval_cast(v, from, *scalar))
                        .collect(),
                )
            }
            Expr::Bits(to, a) => {
                let Lanes(from, lanes) = self.expr(a)?;
                let bits = |v| {
                    let mut bytes = vec![0; from.bytes()];
                    encode(v, from, &mut bytes);
                    decode(&bytes, *to)
                };
                Lanes(*to, lanes.into_iter().map(bits).collect())
            }
            Expr::Binary(op, a, b) => {
                let (Lanes(ty, a), Lanes(_, b)) = (self.expr(a)?, self.expr(b)?);
                let lanes = a
                    .into_iter()
                    .zip(b)
                    .map(|(a, b)| eval_binary(*op, ty, a, b));
                let result = if op.is_comparison() {
                    ScalarType::Bool
                } else {
                    ty
                };
                Lanes(result, lanes.collect::<Result<_, _>>()?)
            }
            Expr::Not(a) => {
                let Lanes(ty, lanes) = self.expr(a)?;
                Lanes(
                    ty,
                    lanes
                        .into_iter()
                        .map(|v| Scalar::Int((!v.is_true()).into()))
                        .collect(),
                )
            }
            Expr::Select(c, a, b) => {
                let (Lanes(_, c), Lanes(ty, a), Lanes(_, b)) =
                    (self.expr(c)?, self.expr(a)?, self.expr(b)?);
                let pick = |i: usize| if c[i % c.len()].is_true() { a[i] } else { b[i] };
                Lanes(ty, (0..a.len()).map(pick).collect())
            }
            Expr::Call(intrin, args) => {
                let args: Vec<Lanes> = args
                    .iter()
                    .map(|a| self.expr(a))
                    .collect::<Result<_, _>>()?;
                let ty = args[0].0;
                let lane = |i: usize| {
                    let args: Vec<Scalar> = args.iter().map(|a| a.1[i]).collect();
                    eval_intrin(*intrin, ty, &args)
                };
                let lanes = (0..args[0].1.len()).map(lane).collect::<Result<_, _>>()?;
                let result = if intrin.is_predicate() {
                    ScalarType::Bool
                } else {
                    ty
                };
                Lanes(result, lanes)
            }
            Expr::Load {
                array,
                index,
                lanes,
                active,
            } => {
                let at = self.int(index)?;
                let active = self.active(active.as_deref(), (*lanes).into())?;
                let ty = self.kernel.arrays[*array].dtype;
                let zero = if ty.is_float() {
                    Scalar::Float(0.0)
                } else {
                    Scalar::Int(0)
                };
                let elements = &self.arrays[array];
                let lane = |i: usize| match elements.get((at + i as i64) as usize) {
                    Some(element) if i < active => *element,
                    _ => zero,
                };
                Lanes(ty, (0..usize::from(*lanes)).map(lane).collect())
            }
            Expr::Splat(a, lanes) => {
                let Lanes(ty, a) = self.expr(a)?;
                Lanes(ty, vec![a[0]; (*lanes).into()])
            }
            Expr::Ramp(base, stride, lanes) => {
                let Lanes(ty, base) = self.expr(base)?;
                let stride = self.expr(stride)?.1[0];
                let mut lane = base[0];
                let mut all = vec![lane];
                for _ in 1..*lanes {
                    lane = eval_binary(BinOp::Add, ty, lane, stride)?;
                    all.push(lane);
                }
                Lanes(ty, all)
            }
            Expr::Any(a) => {
                let any = self.expr(a)?.1.iter().any(|lane| lane.is_true());
                Lanes(ScalarType::Bool, vec![Scalar::Int(any.into())])
            }
            Expr::Lane(a, lane) => {
                let Lanes(ty, lanes) = self.expr(a)?;
                Lanes(ty, vec![lanes[usize::from(*lane)]])
            }
            Expr::Pack(lanes) => {
                let lanes: Vec<Lanes> = lanes
                    .iter()
                    .map(|a| self.expr(a))
                    .collect::<Result<_, _>>()?;
                Lanes(lanes[0].0, lanes.iter().map(|l| l.1[0]).collect())
            }
        })
    }
}
