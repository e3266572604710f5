//! The rules of kernel IR: what a kernel names exists, is defined where it is used and has the type that its place asks for; only what
//! may be written is. Back ends rely on them. That accesses stay inside the arrays is another matter ([`Kernel::stays_in_bounds`]).

mod fragments;

use self::fragments::Known;
use super::{
    Access, ArrayId, BufferRef, Expr, HostExpr, Kernel, LoweredFunc, Shuffle, Space, Stmt, Ty,
    VarId,
};
use crate::support::SideTable;
use crate::tensor::ScalarType;
use crate::tensor::scalar::BinOp;

/// A rule that a kernel breaks.
#[derive(Debug, thiserror::Error)]
#[error("kernel `{kernel}`: {problem}")]
pub struct InvalidKernel {
    /// The kernel, or the function where its launch is wrong.
    pub kernel: String,
    /// What is wrong.
    pub problem: String,
}

impl HostExpr {
    /// Checks that every dim it names is among `len`.
    ///
    /// # Errors
    /// A dim that is not.
    pub fn verify(&self, len: usize) -> Result<(), String> {
        let mut unknown = None;
        self.for_each_dim(&mut |dim| {
            if dim >= len {
                unknown = Some(dim);
            }
        });
        match unknown {
            None => Ok(()),
            Some(dim) => Err(format!("dim {dim} of {len}")),
        }
    }
}

impl LoweredFunc {
    /// Checks the rules of kernel IR.
    ///
    /// # Errors
    /// The first that is broken.
    pub fn verify(&self) -> Result<(), InvalidKernel> {
        let of = |kernel: &str| {
            let kernel = kernel.to_owned();
            |problem| InvalidKernel { kernel, problem }
        };
        self.verify_host().map_err(of(&self.name))?;
        for kernel in &self.kernels {
            self.verify_launch(kernel).map_err(of(&kernel.name))?;
            let mut verifier = Verifier {
                kernel,
                defined: SideTable::new(),
                known: Known::default(),
            };
            verifier.kernel().map_err(of(&kernel.name))?;
        }
        Ok(())
    }

    /// What the host computes for all kernels.
    fn verify_host(&self) -> Result<(), String> {
        let len = self.dims.len();
        let shapes = self.params.iter().flat_map(|p| &p.shape);
        let temps = self.temps.iter().map(|t| &t.len);
        let requires = self.requires.iter().map(|r| &r.value);
        let asserts = self.asserts.iter().map(|a| &a.holds);
        let mut all = shapes.chain(temps).chain(requires).chain(asserts);
        all.try_for_each(|e| e.verify(len))?;
        match self.scalar_params.iter().find(|param| param.dim >= len) {
            Some(param) => Err(format!("dim {} of {len}", param.dim)),
            None => Ok(()),
        }
    }

    /// What the host computes for a kernel, and the tensors that it binds.
    fn verify_launch(&self, kernel: &Kernel) -> Result<(), String> {
        let len = self.dims.len();
        // Scalars of a shader may count its runs.
        let known = len + usize::from(kernel.launch.is_some());
        let mut scalars = kernel.scalars.iter();
        scalars.try_for_each(|(_, e)| e.verify(known))?;
        let lengths = kernel.arrays.iter().map(|(_, array)| &array.len);
        let launch = kernel.launch.iter();
        let launch = launch.flat_map(|l| l.grid.iter().chain([&l.times]));
        let mut all = lengths.chain(launch).chain([&kernel.flops, &kernel.bytes]);
        all.try_for_each(|e| e.verify(len))?;
        for (_, array, buffer, access) in kernel.bindings() {
            let (written, dtype) = match buffer {
                BufferRef::Param(at) => self.params.get(at).map(|p| (p.written, p.dtype)),
                BufferRef::Temp(at) => self.temps.get(at).map(|t| (true, t.dtype)),
            }
            .ok_or_else(|| format!("{buffer} does not exist"))?;
            if access != Access::Read && !written {
                return Err(format!("`{}` writes a parameter that is read", array.name));
            }
            if array.dtype != dtype {
                let name = &array.name;
                return Err(format!("`{name}` is {}, {buffer} {dtype}", array.dtype));
            }
        }
        Ok(())
    }
}

struct Verifier<'a> {
    kernel: &'a Kernel,
    /// Variables that have a value here.
    defined: SideTable<VarId, bool>,
    /// What operations on fragments ask for.
    known: Known,
}

impl Verifier<'_> {
    fn kernel(&mut self) -> Result<(), String> {
        for (var, _) in &self.kernel.scalars {
            if self.kernel.vars.get(*var).is_none() {
                return Err(format!("{var} does not exist"));
            }
            *self.defined.entry(*var) = true;
        }
        self.threads_of_fragments()?;
        self.body(&self.kernel.body)
    }

    /// Statements; what they define ends with them.
    fn body(&mut self, body: &[Stmt]) -> Result<(), String> {
        let mut lets = vec![];
        for stmt in body {
            if let Stmt::Let(var, value) = stmt {
                let ty = self.expr(value)?;
                expect(ty, self.define(*var)?, "a variable")?;
                self.learn(*var, value);
                lets.push(*var);
            } else {
                self.stmt(stmt)?;
            }
        }
        for var in lets {
            *self.defined.entry(var) = false;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), String> {
        match stmt {
            Stmt::Let(..) => Ok(()),
            Stmt::Store {
                array,
                index,
                value,
                active,
            } => {
                let dtype = self.array(*array)?;
                let array = &self.kernel.arrays[*array];
                if let Space::Global {
                    buffer: _,
                    access: Access::Read,
                } = array.space
                {
                    return Err(format!("`{}` is written and only read", array.name));
                }
                self.index(index, active.as_ref())?;
                let ty = self.expr(value)?;
                let element = Ty {
                    scalar: dtype,
                    lanes: ty.lanes,
                };
                expect(ty, element, "an element")
            }
            Stmt::For {
                var,
                min,
                extent: count,
                kind: _,
                body,
            } => {
                let first = self.integer(min, "the first value of a loop")?;
                expect(self.integer(count, "an extent")?, first, "an extent")?;
                expect(first, self.define(*var)?, "the variable of a loop")?;
                self.learn_loop(*var, min, count);
                self.within(&[min, count], |verifier| verifier.body(body))?;
                *self.defined.entry(*var) = false;
                Ok(())
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                self.condition(cond)?;
                self.within(&[cond], |verifier| {
                    verifier.body(then)?;
                    verifier.body(otherwise)
                })
            }
            Stmt::While { cond, body } => {
                self.condition(cond)?;
                self.within(&[cond], |verifier| verifier.body(body))
            }
            Stmt::Barrier => self.launched("a barrier"),
            Stmt::Fragment(op) => self.fragment(op),
        }
    }

    /// The type of an expression.
    fn expr(&self, e: &Expr) -> Result<Ty, String> {
        match e {
            Expr::Int(_, scalar) if !scalar.is_float() => Ok(Ty::scalar(*scalar)),
            Expr::Float(_, scalar) if scalar.is_float() => Ok(Ty::scalar(*scalar)),
            Expr::Int(_, scalar) | Expr::Float(_, scalar) => {
                Err(format!("a constant of another kind of {scalar}"))
            }
            Expr::Var(var) => match (self.kernel.vars.get(*var), self.defined[*var]) {
                (Some(var), true) => Ok(var.ty),
                (Some(info), false) => Err(format!("`{}` is not defined", info.name)),
                (None, _) => Err(format!("{var} does not exist")),
            },
            Expr::BlockIdx(axis) | Expr::ThreadIdx(axis) if *axis >= 3 => {
                Err(format!("axis {axis} of a launch"))
            }
            Expr::BlockIdx(_) | Expr::ThreadIdx(_) => {
                self.launched("a thread")?;
                Ok(Ty::scalar(ScalarType::I32))
            }
            Expr::Cast(to, a) => {
                let lanes = self.expr(a)?.lanes;
                let same = Ty { lanes, ..*to };
                expect(*to, same, "a conversion")?;
                Ok(*to)
            }
            Expr::Bits(scalar, a) => {
                let from = self.expr(a)?;
                let fit = match from.lanes {
                    1 => from.scalar.bytes() == scalar.bytes(),
                    // Narrower ones are held in other lanes than their own.
                    _ => [4, 8].contains(&scalar.bytes()) && from.scalar.bytes() == scalar.bytes(),
                };
                match fit {
                    true => Ok(Ty {
                        scalar: *scalar,
                        ..from
                    }),
                    false => Err(format!("bits of {from} as {scalar}")),
                }
            }
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Not(a) => {
                let ty = self.expr(a)?;
                expect(ty, bools(ty.lanes), "an operand of `not`")?;
                Ok(ty)
            }
            Expr::Any(a) => {
                let ty = self.expr(a)?;
                expect(ty, bools(ty.lanes.max(2)), "an operand of `any`")?;
                Ok(bools(1))
            }
            Expr::Select(cond, a, b) => {
                let (cond, a, b) = (self.expr(cond)?, self.expr(a)?, self.expr(b)?);
                expect(b, a, "the other side of a select")?;
                let lanes = if cond.lanes == 1 { 1 } else { a.lanes };
                expect(cond, bools(lanes), "the condition of a select")?;
                Ok(a)
            }
            Expr::Call(intrin, args) => {
                if args.len() != intrin.arity() {
                    let (name, given) = (intrin.name(), args.len());
                    return Err(format!("{given} arguments for `{name}`"));
                }
                let first = self.expr(&args[0])?;
                for arg in &args[1..] {
                    expect(self.expr(arg)?, first, "an argument")?;
                }
                match intrin.is_predicate() {
                    true => Ok(bools(first.lanes)),
                    false => Ok(first),
                }
            }
            Expr::Load {
                array,
                index,
                lanes,
                active,
            } => {
                let scalar = self.array(*array)?;
                self.index(index, active.as_deref())?;
                vector(scalar, (*lanes).into())
            }
            Expr::Splat(a, lanes) => {
                let ty = self.scalar(a, "a splat")?;
                vector(ty.scalar, (*lanes).into())
            }
            Expr::Ramp(base, stride, lanes) => {
                let base = self.integer(base, "the base of a ramp")?;
                let stride = self.integer(stride, "the stride of a ramp")?;
                expect(stride, base, "the stride of a ramp")?;
                vector(base.scalar, (*lanes).into())
            }
            Expr::Lane(a, lane) => {
                let ty = self.expr(a)?;
                match *lane < ty.lanes {
                    true => Ok(Ty::scalar(ty.scalar)),
                    false => Err(format!("lane {lane} of {ty}")),
                }
            }
            Expr::Pack(items) => {
                let Some(first) = items.first() else {
                    return Err("a vector without lanes".into());
                };
                let first = self.scalar(first, "a lane")?;
                for item in &items[1..] {
                    expect(self.expr(item)?, first, "a lane")?;
                }
                vector(first.scalar, items.len())
            }
            Expr::Shuffle(from, a) => {
                self.launched("a shuffle")?;
                let ty = self.scalar(a, "a shuffle")?;
                let words = matches!(
                    ty.scalar,
                    ScalarType::F32 | ScalarType::I32 | ScalarType::U32
                );
                match from {
                    _ if !words => Err(format!("a shuffle of {ty}")),
                    Shuffle::Down(by) | Shuffle::Xor(by)
                        if !by.is_power_of_two() || *by > MOST_SHUFFLED =>
                    {
                        Err(format!("a shuffle of threads {by} apart"))
                    }
                    Shuffle::Down(_) | Shuffle::Xor(_) | Shuffle::First => Ok(ty),
                }
            }
        }
    }

    fn binary(&self, op: BinOp, a: &Expr, b: &Expr) -> Result<Ty, String> {
        let (a, b) = (self.expr(a)?, self.expr(b)?);
        expect(b, a, "the right operand")?;
        match op.is_comparison() {
            true => Ok(bools(a.lanes)),
            false => Ok(a),
        }
    }

    /// The index of an access, and how many of its lanes count: an integer of the same type.
    fn index(&self, index: &Expr, active: Option<&Expr>) -> Result<(), String> {
        let index = self.integer(index, "an index")?;
        match active {
            Some(active) => expect(self.expr(active)?, index, "a number of active lanes"),
            None => Ok(()),
        }
    }

    fn condition(&self, cond: &Expr) -> Result<(), String> {
        expect(self.expr(cond)?, bools(1), "a condition")
    }

    fn scalar(&self, e: &Expr, what: &str) -> Result<Ty, String> {
        let ty = self.expr(e)?;
        expect(ty, Ty::scalar(ty.scalar), what)?;
        Ok(ty)
    }

    fn integer(&self, e: &Expr, what: &str) -> Result<Ty, String> {
        let ty = self.scalar(e, what)?;
        match ty.scalar.is_int() {
            true => Ok(ty),
            false => Err(format!("{what} is {ty}")),
        }
    }

    /// Gives a variable a value; its type.
    fn define(&mut self, var: VarId) -> Result<Ty, String> {
        let info = self.kernel.vars.get(var);
        let info = info.ok_or_else(|| format!("{var} does not exist"))?;
        match std::mem::replace(self.defined.entry(var), true) {
            false => Ok(info.ty),
            true => Err(format!("`{}` is defined twice", info.name)),
        }
    }

    fn array(&self, array: ArrayId) -> Result<ScalarType, String> {
        let info = self.kernel.arrays.get(array);
        let info = info.ok_or_else(|| format!("{array} does not exist"))?;
        Ok(info.dtype)
    }

    fn launched(&self, what: &str) -> Result<(), String> {
        match self.kernel.launch {
            Some(_) => Ok(()),
            None => Err(format!("{what} in a kernel without a launch")),
        }
    }
}

const fn bools(lanes: u16) -> Ty {
    Ty {
        scalar: ScalarType::Bool,
        lanes,
    }
}

/// Most lanes of a vector.
pub const MOST_LANES: u16 = 256;

/// How far apart threads of a subgroup may be, at most: no device has subgroups of more than 128.
const MOST_SHUFFLED: u32 = 64;

fn vector(scalar: ScalarType, lanes: usize) -> Result<Ty, String> {
    match u16::try_from(lanes) {
        Ok(lanes) if (1..=MOST_LANES).contains(&lanes) => Ok(Ty { scalar, lanes }),
        _ => Err(format!("a vector of {lanes} lanes")),
    }
}

fn expect(got: Ty, expected: Ty, what: &str) -> Result<(), String> {
    match got == expected {
        true => Ok(()),
        false => Err(format!("{what} is {got}, not {expected}")),
    }
}

#[cfg(test)]
mod tests;
