//! Checks of values and the shape heap as they are written down (`vm.builtin.*`), from `vm_shape_lower` or anybody else.

use super::error::{GraphError, GraphProblem, ShapeProblem};
use super::func::Compiler;
use super::operand::Bound;
use super::shape_func::shape_func;
use crate::artifact::{
    Builtin, Callee, Constant, ErrorContext, Operand, Reg, Slot, match_code, shape_code,
};
use crate::ir::PrimFunc;
use crate::ir::graph::{Arg, ValueId};
use crate::ops::{ALLOC_SHAPE_HEAP, MakeDim, MatchDim, ShapeBuiltin};
use crate::support::Id;

/// The shape heap of a function.
pub(super) struct ShapeHeap {
    reg: Reg,
    /// How many slots it has.
    size: usize,
    /// One more than the last slot that is used.
    pub(super) used: u32,
}

/// Most slots of a heap.
const MOST_SLOTS: i64 = 1 << 20;

/// The bytecode of a builtin.
fn bytecode(builtin: ShapeBuiltin) -> Builtin {
    match builtin {
        ShapeBuiltin::CheckTensor => Builtin::CheckTensorInfo,
        ShapeBuiltin::CheckShape => Builtin::CheckShapeInfo,
        ShapeBuiltin::CheckPrim => Builtin::CheckPrimValueInfo,
        ShapeBuiltin::CheckTuple => Builtin::CheckTupleInfo,
        ShapeBuiltin::CheckFunc => Builtin::CheckFuncInfo,
        ShapeBuiltin::MatchShape => Builtin::MatchShape,
        ShapeBuiltin::MatchPrim => Builtin::MatchPrimValue,
        ShapeBuiltin::MakeShape => Builtin::MakeShape,
        ShapeBuiltin::MakePrim => Builtin::MakePrimValue,
        ShapeBuiltin::TupleItem => Builtin::TupleGetItem,
    }
}

/// A call while it is translated.
struct Call<'a> {
    value: ValueId,
    name: &'static str,
    args: &'a [Arg],
}

impl Call<'_> {
    fn problem(&self, problem: impl Into<ShapeProblem>) -> GraphProblem {
        GraphProblem::Shape {
            name: self.name.to_owned(),
            problem: Box::new(problem.into()),
        }
    }

    fn wrong(&self, at: usize, expected: &'static str) -> GraphProblem {
        self.problem(ShapeProblem::Argument { at, expected })
    }

    /// The argument, which is an integer constant.
    fn int(&self, at: usize) -> Result<i64, GraphProblem> {
        match &self.args[at] {
            Arg::Prim(e) => e.as_int(),
            _ => None,
        }
        .ok_or_else(|| self.wrong(at, "an integer"))
    }

    /// Checks the number of arguments.
    fn arity(&self, expected: usize) -> Result<(), GraphProblem> {
        let got = self.args.len();
        let expected = expected.to_string();
        match expected == got.to_string() {
            true => Ok(()),
            false => Err(self.problem(ShapeProblem::Arity { expected, got })),
        }
    }

    /// The codes with their operands, from argument `from` up to the last `after`; one pair for each dimension, whose number is the
    /// argument before them where `counted`.
    fn pairs(
        &self,
        from: usize,
        after: usize,
        counted: bool,
    ) -> Result<Vec<[i64; 2]>, GraphProblem> {
        let got = self.args.len();
        if got < from + after {
            let expected = format!("at least {}", from + after);
            return Err(self.problem(ShapeProblem::Arity { expected, got }));
        }
        let ndim = match counted {
            true => self.int(from - 1)?,
            false => 1,
        };
        let end = got - after;
        if usize::try_from(ndim)
            .ok()
            .and_then(|ndim| ndim.checked_mul(2))
            != Some(end - from)
        {
            let got = end - from;
            return Err(self.problem(ShapeProblem::Pairs { ndim, got }));
        }
        let pairs = (from..end).step_by(2);
        pairs
            .map(|at| Ok([self.int(at)?, self.int(at + 1)?]))
            .collect()
    }
}

impl Compiler<'_, '_> {
    /// The heap of the function.
    pub(super) fn alloc_shape_heap(
        &mut self,
        value: ValueId,
        args: &[Arg],
    ) -> Result<Bound, GraphError> {
        let call = Call {
            value,
            name: ALLOC_SHAPE_HEAP,
            args,
        };
        self.heap(&call)
            .map_err(|problem| self.error(value, problem))
    }

    fn heap(&mut self, call: &Call<'_>) -> Result<Bound, GraphProblem> {
        let [Arg::Extern(name), args] = call.args else {
            let what = "a builtin that its name and a tuple of arguments do not say";
            return Err(GraphProblem::Unsupported(what));
        };
        if name != ALLOC_SHAPE_HEAP {
            let (kind, name) = ("builtin", name.clone());
            return Err(GraphProblem::UnknownFunction { kind, name });
        }
        let slots = match args {
            Arg::Tuple(items) => match items.as_slice() {
                [Arg::Prim(slots)] => slots.as_int(),
                _ => None,
            },
            Arg::Shape(dims) if dims.len() == 1 => dims[0].as_int(),
            _ => None,
        };
        let slots = slots.ok_or_else(|| call.wrong(1, "a tuple of one integer"))?;
        if !(0..=MOST_SLOTS).contains(&slots) {
            return Err(call.problem(ShapeProblem::HeapSize(slots)));
        }
        if self.heap.is_some() {
            return Err(call.problem(ShapeProblem::SecondHeap));
        }
        let reg = self.builtin(
            Builtin::AllocShapeHeap,
            vec![Operand::Vm, Operand::Imm(slots)],
        );
        self.heap = Some(ShapeHeap {
            reg,
            size: slots as usize,
            used: 0,
        });
        Ok(Bound::At(Operand::Reg(reg)))
    }

    /// A check, or what is made from the heap.
    pub(super) fn shape_builtin(
        &mut self,
        value: ValueId,
        builtin: ShapeBuiltin,
        args: &[Arg],
    ) -> Result<Bound, GraphError> {
        let call = Call {
            value,
            name: builtin.name(),
            args,
        };
        let translated = match builtin {
            ShapeBuiltin::CheckTensor => self.check(&call, builtin, 4),
            ShapeBuiltin::CheckShape | ShapeBuiltin::CheckPrim | ShapeBuiltin::CheckTuple => {
                self.check(&call, builtin, 3)
            }
            ShapeBuiltin::CheckFunc => self.check(&call, builtin, 2),
            ShapeBuiltin::MatchShape => self.matched(&call, builtin, 3, true),
            ShapeBuiltin::MatchPrim => self.matched(&call, builtin, 2, false),
            ShapeBuiltin::MakeShape => self.make_shape(&call),
            ShapeBuiltin::MakePrim => self.make_prim(&call),
            ShapeBuiltin::TupleItem => self.tuple_item(&call),
        };
        translated.map_err(|failed| match failed {
            Failed::Here(problem) => self.error(value, problem),
            Failed::There(error) => error,
        })
    }

    fn check(
        &mut self,
        call: &Call<'_>,
        builtin: ShapeBuiltin,
        arity: usize,
    ) -> Result<Bound, Failed> {
        call.arity(arity)?;
        let last = arity - 1;
        let mut operands = vec![self.value(call, 0)?];
        for at in 1..last {
            operands.push(match (&call.args[at], builtin) {
                (Arg::DType(_), ShapeBuiltin::CheckTensor | ShapeBuiltin::CheckPrim) => {
                    self.value(call, at)?
                }
                // Of a tensor of any element type, that is no value.
                (Arg::Value(_), ShapeBuiltin::CheckTensor) if at == 2 => Operand::Imm(-1),
                (_, ShapeBuiltin::CheckTensor) if at == 2 => {
                    return Err(call.wrong(at, "an element type or `R.null_value()`").into());
                }
                (_, ShapeBuiltin::CheckPrim) => {
                    return Err(call.wrong(at, "an element type").into());
                }
                _ => Operand::Imm(call.int(at)?),
            });
        }
        operands.push(self.context(call, last)?);
        self.void(bytecode(builtin), operands);
        Ok(Bound::Tuple(vec![]))
    }

    /// A value matched with the heap. Codes begin at argument `from`.
    fn matched(
        &mut self,
        call: &Call<'_>,
        builtin: ShapeBuiltin,
        from: usize,
        counted: bool,
    ) -> Result<Bound, Failed> {
        let pairs = call.pairs(from, 1, counted)?;
        let value = self.value(call, 0)?;
        let heap = self.heap_of(call, 1)?;
        let mut operands = vec![value, heap];
        if counted {
            operands.push(Operand::Imm(pairs.len() as i64));
        }
        for pair in pairs {
            let dim = MatchDim::of(pair, self.slots()).map_err(|e| call.problem(e))?;
            operands.extend(
                match dim {
                    MatchDim::Equal(value) => [match_code::ASSERT_EQUAL_TO_IMM, value],
                    MatchDim::Store(slot) => [match_code::STORE_TO_HEAP, self.used_slot(slot)],
                    MatchDim::Skip => [match_code::NO_OP, 0],
                    MatchDim::EqualSlot(slot) => {
                        [match_code::ASSERT_EQUAL_TO_LOAD, self.used_slot(slot)]
                    }
                }
                .map(Operand::Imm),
            );
        }
        operands.push(self.context(call, call.args.len() - 1)?);
        self.void(bytecode(builtin), operands);
        Ok(Bound::Tuple(vec![]))
    }

    /// A shape. Where launches take it, each dimension is a scalar of its own.
    fn make_shape(&mut self, call: &Call<'_>) -> Result<Bound, Failed> {
        let pairs = call.pairs(2, 0, true)?;
        let heap = self.heap_of(call, 0)?;
        let dims = pairs.into_iter().map(|pair| self.made(call, pair));
        let dims = dims.collect::<Result<Vec<_>, _>>()?;
        let launched = self.launched.get(&call.value).copied();
        if launched.is_some() {
            let scalars = dims.iter().map(|dim| self.scalar(heap, *dim)).collect();
            self.sizes.insert(call.value, scalars);
        }
        if launched == Some(false) {
            return Ok(Bound::Tuple(vec![]));
        }
        let mut operands = vec![heap, Operand::Imm(dims.len() as i64)];
        operands.extend(dims.into_iter().flat_map(made_operands));
        let shape = self.builtin(Builtin::MakeShape, operands);
        Ok(Bound::At(Operand::Reg(shape)))
    }

    fn make_prim(&mut self, call: &Call<'_>) -> Result<Bound, Failed> {
        let pairs = call.pairs(1, 0, false)?;
        let heap = self.heap_of(call, 0)?;
        let dim = self.made(call, pairs[0])?;
        Ok(Bound::At(self.scalar(heap, dim)))
    }

    /// A dimension of a shape as an operand.
    fn scalar(&mut self, heap: Operand, dim: MakeDim) -> Operand {
        if let MakeDim::Imm(value) = dim {
            return Operand::Imm(value);
        }
        let mut operands = vec![heap];
        operands.extend(made_operands(dim));
        Operand::Reg(self.builtin(Builtin::MakePrimValue, operands))
    }

    fn made(&mut self, call: &Call<'_>, pair: [i64; 2]) -> Result<MakeDim, GraphProblem> {
        let dim = MakeDim::of(pair, self.slots()).map_err(|e| call.problem(e))?;
        if let MakeDim::Slot(slot) = dim {
            self.used_slot(slot);
        }
        Ok(dim)
    }

    fn tuple_item(&mut self, call: &Call<'_>) -> Result<Bound, Failed> {
        call.arity(2)?;
        let index = usize::try_from(call.int(1)?);
        let index = index.map_err(|_| call.wrong(1, "the position of an element"))?;
        let tuple = self.arg(&call.args[0], call.value)?;
        Ok(self.item(&tuple, index))
    }

    /// The call of a program that computes slots from slots.
    pub(super) fn call_shape_func(
        &mut self,
        value: ValueId,
        program: &PrimFunc,
        args: &[Arg],
    ) -> Result<Bound, GraphError> {
        let failed = |problem| GraphProblem::Shape {
            name: program.name.clone(),
            problem: Box::new(problem),
        };
        let heap = match args {
            [heap] => self.arg(heap, value)?,
            _ => Bound::Tuple(vec![]),
        };
        let (Some(own), Bound::At(heap)) = (&mut self.heap, heap) else {
            let expected = "the shape heap";
            let problem = failed(ShapeProblem::Argument { at: 0, expected });
            return Err(self.error(value, problem));
        };
        let func = match shape_func(program) {
            Ok(func) => func,
            Err(problem) => return Err(self.error(value, problem)),
        };
        let slots = own.size;
        for slot in func.slots() {
            if slot.index() >= slots {
                let slot = slot.index() as i64;
                let problem = failed(crate::ops::CodeError::Slot { slot, slots }.into());
                return Err(self.error(value, problem));
            }
            own.used = own.used.max(slot.index() as u32 + 1);
        }
        if heap != Operand::Reg(own.reg) {
            let expected = "the shape heap";
            let problem = failed(ShapeProblem::Argument { at: 0, expected });
            return Err(self.error(value, problem));
        }
        let index = self.pool.shape_func(func);
        let callee = self.pool.callee(Callee::ShapeFunc(index));
        self.asm.call(None, callee, vec![heap]);
        Ok(Bound::Tuple(vec![]))
    }

    fn value(&mut self, call: &Call<'_>, at: usize) -> Result<Operand, GraphError> {
        let bound = self.arg(&call.args[at], call.value)?;
        Ok(self.operand(bound))
    }

    /// The argument, which is the shape heap of the function; or nothing, if it has none.
    fn heap_of(&mut self, call: &Call<'_>, at: usize) -> Result<Operand, Failed> {
        let given = self.value(call, at)?;
        let fits = match &self.heap {
            Some(heap) => given == Operand::Reg(heap.reg),
            None => matches!(given, Operand::Reg(_)),
        };
        match fits {
            true => Ok(given),
            false => Err(call.wrong(at, "the shape heap").into()),
        }
    }

    fn slots(&self) -> usize {
        self.heap.as_ref().map_or(0, |heap| heap.size)
    }

    /// The slot as an operand, which the function has for it.
    fn used_slot(&mut self, slot: usize) -> i64 {
        if let Some(heap) = &mut self.heap {
            heap.used = heap.used.max(slot as u32 + 1);
        }
        slot as i64
    }

    /// Where a value that is checked comes from: what the text says, or what is known without it.
    fn context(&mut self, call: &Call<'_>, at: usize) -> Result<Operand, Failed> {
        let Arg::Str(text) = &call.args[at] else {
            return Err(call.wrong(at, "a text").into());
        };
        let context = ErrorContext::parse(text).unwrap_or_else(|| ErrorContext {
            annotation: text.trim().to_owned(),
            ..ErrorContext::default()
        });
        let func = match context.func.as_str() {
            "" => self.unit.name.clone(),
            _ => context.func,
        };
        let value = match (context.value.as_str(), &call.args[0]) {
            ("", Arg::Value(id)) => self.function.values[*id].name.clone(),
            _ => context.value,
        };
        let context = ErrorContext {
            func,
            value,
            ..context
        };
        Ok(self.pool.constant(Constant::Context(context)))
    }

    fn void(&mut self, builtin: Builtin, operands: Vec<Operand>) {
        let callee = self.pool.builtin(builtin);
        self.asm.call(None, callee, operands);
    }
}

fn made_operands(dim: MakeDim) -> [Operand; 2] {
    match dim {
        MakeDim::Imm(value) => [Operand::Imm(shape_code::USE_IMM), Operand::Imm(value)],
        MakeDim::Slot(slot) => [
            Operand::Imm(shape_code::LOAD_SHAPE),
            Slot::from_index(slot).into(),
        ],
    }
}

/// Why a call cannot be translated: because of itself, or of an argument.
enum Failed {
    Here(GraphProblem),
    There(GraphError),
}

impl From<GraphProblem> for Failed {
    fn from(problem: GraphProblem) -> Self {
        Self::Here(problem)
    }
}

impl From<GraphError> for Failed {
    fn from(error: GraphError) -> Self {
        Self::There(error)
    }
}
