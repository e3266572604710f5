//! `legalize_ops`: calls of operators become calls of loop programs (Relax: `LegalizeOps`).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::obligations::check;
use super::{Pass, PassError};
use crate::arith::Analyzer;
use crate::ir::graph::dims::{Proof, is_base_of, named};
use crate::ir::graph::{
    Arg, Become, Callee, Def, DpsCallee, Globals, GraphBuilder, InferError, Obligations, Old, Op,
    OpCall, Rewriter, rewrite,
};
use crate::ir::{
    AttrValue, Attrs, Buffer, Expr, Func, Module, Place, PrimFunc, Stmt, StructInfo, Var,
};
use crate::ops::{
    self, Compute, ComputeCall, HostCall, Kernel, Legalization, LegalizeError, Legalized, Operand,
    Threads,
};
use crate::tensor::scalar::BinOp;

/// `legalize_ops` with legalizations of one's own (Relax: `LegalizeOps(customize_legalize_map, skip_ops, enable_warning)`).
///
/// ```
/// use weftile::interp::{Value, run_module};
/// use weftile::ir::Expr;
/// use weftile::kernel::{GpuTarget, Target};
/// use weftile::passes::{Cx, LegalizeOps};
/// use weftile::te;
/// use weftile::tensor::Tensor;
///
/// // The logistic function, fast and coarse: a line between 0 and 1.
/// let legalize = LegalizeOps::default().customize("sigmoid", |call| {
///     let x = call.x(0);
///     let number = |v: f64| Expr::float(v, call.result_dtype(0));
///     let line = te::compute("line", x.shape().to_vec(), |i| {
///         (x.at(i) * number(0.25) + number(0.5)).max(number(0.0)).min(number(1.0))
///     });
///     Ok(line.into())
/// })?;
///
/// let text = r#"
/// @I.ir_module
/// class Module:
///     @R.function
///     def main(x: R.Tensor(("n",), "float32")):
///         y = R.sigmoid(x)
///         return y
/// "#;
/// let module = weftile::script::parse("sigmoid.py", text)?;
/// let cx = Cx::new(&module, &Target::Gpu(GpuTarget::default()));
/// let module = cx.run(&legalize.pass(), &module)?;
/// let x = Value::Tensor(Tensor::from_slice(&[3], &[-1.0f32, 0.0, 3.0])?);
/// let Value::Tensor(y) = run_module(&module, "main", &[x], &Default::default())? else { panic!() };
/// assert_eq!(y.as_slice::<f32>()?, [0.25, 0.5, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct LegalizeOps {
    own: HashMap<Op, Arc<Legalization>>,
    skipped: HashSet<Op>,
    warns: bool,
}

impl LegalizeOps {
    /// Calls of this operator are computed by what `legalization` gives for each, tensor expressions or a loop program, and not by
    /// the definition of the operator. This goes for operators that nothing here computes, too.
    ///
    /// # Errors
    /// If there is no such operator.
    pub fn customize(
        mut self,
        op: &str,
        legalization: impl Fn(&ComputeCall<'_>) -> Result<Legalized, InferError> + Send + Sync + 'static,
    ) -> Result<Self, PassError> {
        self.own.insert(operator(op)?, Arc::new(legalization));
        Ok(self)
    }

    /// Calls of this operator stay.
    ///
    /// # Errors
    /// If there is no such operator.
    pub fn skip(mut self, op: &str) -> Result<Self, PassError> {
        self.skipped.insert(operator(op)?);
        Ok(self)
    }

    /// A call that stays because nothing here computes it is logged as a warning.
    #[must_use]
    pub fn enable_warning(mut self) -> Self {
        self.warns = true;
        self
    }

    /// The pass.
    pub fn pass(self) -> Pass {
        Pass::new("legalize_ops", 0, move |module, cx| {
            self.run(module, cx.threads())
        })
    }

    /// Replaces each call of an operator by a `call_tir` of a loop program, made by the definition of the operator for the shapes
    /// of that call, or of a function of the host. Calls with equal programs share one. What the virtual machine does itself stays,
    /// and so do operators that nothing here computes: who needs them to run reports them. What an operator asks of symbolic
    /// extents is checked before its call (`R.match_cast`), once for all calls that ask the same. Where a value is declared to be
    /// less than what is known of it then, what is known counts. Extents of which nothing is known get names first
    /// (`R.match_cast`).
    ///
    /// # Errors
    /// [`PassError::Legalize`] if shapes or element types of a call are not known.
    pub(super) fn run(&self, module: &Module, threads: Threads) -> Result<Module, PassError> {
        let globals = Globals::of(module);
        let mut out = module.clone();
        for (name, func) in module.functions() {
            let function = rewrite(func, &globals, &mut |rewriter, old| {
                self.replace(&mut out, name, threads, rewriter, old)
            })?;
            out.funcs.insert(name.to_owned(), Func::Graph(function));
        }
        Ok(out)
    }

    /// What becomes of a value of `function`; programs are added to `module`.
    fn replace(
        &self,
        module: &mut Module,
        function: &str,
        threads: Threads,
        rewriter: &mut Rewriter<'_>,
        old: Old<'_>,
    ) -> Result<Become, PassError> {
        let Def::Call {
            callee: Callee::Op(op),
            args,
            attrs,
            sinfo_args: _,
        } = old.def
        else {
            return Ok(Become::Kept);
        };
        let compute = ops::def(*op).compute;
        let own = self.own.get(op);
        let stays = matches!(compute, Compute::Machine(_) | Compute::Nothing(_));
        if self.skipped.contains(op) || (stays && own.is_none()) {
            if let (true, Compute::Nothing(why)) = (self.warns, compute) {
                log::warn!("`{function}`: {op} is not legalized: {why}");
            }
            return Ok(Become::Kept);
        }
        let args = match (compute, own) {
            (Compute::Kernel(_), _) | (_, Some(_)) => {
                let args = args
                    .iter()
                    .map(|arg| named_extents(rewriter.builder(), arg));
                Cow::Owned(args.collect::<Vec<_>>())
            }
            _ => Cow::Borrowed(args.as_slice()),
        };
        let args = &*args;
        let scope = rewriter.scope();
        let mut operands: Vec<_> = args.iter().map(|arg| scope.arg(arg)).collect();
        let mut stand_ins = stand_ins(rewriter.builder(), args, &mut operands);
        let obligations = Obligations::default();
        let call = OpCall::new(*op, args, &operands, attrs).noting(&obligations);
        let failed = |error| PassError::Legalize {
            func: function.to_owned(),
            value: old.value.name.clone(),
            origin: old.value.origin.clone(),
            error: Box::new(error),
        };
        let inferred = call.infer().map_err(|error| failed(error.into()))?;
        let declared = &old.value.sinfo;
        let result = match is_base_of(declared, &inferred) {
            Proof::Yes => inferred,
            Proof::No | Proof::Unknown => declared.clone(),
        };
        let call = OpCall {
            obligations: None,
            ..call
        };
        let name = ops::def(*op).program_name();
        let obligations = obligations.take();
        let asked = obligations.iter().flat_map(|o| [&o.given, &o.expected]);
        let mut sizes: HashSet<Var> = asked.flat_map(Expr::free_vars).collect();
        sizes.extend(result.free_vars());
        if !name_scalars(rewriter.builder(), args, &sizes, &mut stand_ins) {
            let op = op.name();
            let got = Box::new(declared.clone());
            return Err(failed(LegalizeError::UnknownResult { op, got }));
        }
        for obligation in obligations {
            check(rewriter.builder(), *op, &obligation).map_err(|error| failed(error.into()))?;
        }
        if let (Compute::Host(host), None) = (compute, own) {
            let call = host_call(&call, &host, &result).map_err(|error| failed(error.into()))?;
            return Ok(bound(rewriter, &old, call, result));
        }
        // Nothing has no places to compute.
        let is_empty = |info: &StructInfo| {
            let dims = info.as_tensor().and_then(|info| info.shape.dims());
            dims.is_some_and(|dims| dims.iter().any(Expr::is_zero))
        };
        let empty = is_empty(&result) || operands.iter().any(is_empty);
        let view = own.is_none() && matches!(compute, Compute::View(_));
        if empty && view {
            return Ok(Become::Kept);
        }
        let kernel = match own {
            Some(own) => ops::kernel_by(call, &result, name, &**own, threads),
            None => ops::kernel(call, &result, name, threads),
        };
        let mut kernel = match kernel {
            Ok(kernel) => kernel,
            // The machine finds out at run time what is not known here.
            Err(_) if view => return Ok(Become::Kept),
            Err(error) => return Err(failed(error)),
        };
        if view && divides_at_each_element(&kernel.func) {
            return Ok(bound(rewriter, &old, old.def.clone(), result));
        }
        let mut inputs = Vec::new();
        for operand in &kernel.args {
            inputs.push(match *operand {
                Operand::Whole(index) => args[index].clone(),
                Operand::Item(index, at) => item(rewriter.builder(), &args[index], at),
            });
        }
        pass_scalars(&mut kernel, &mut inputs, args, &stand_ins);
        let call = Def::CallDps {
            callee: DpsCallee::Prim(module.add_prim_func(name, kernel.func)),
            args: inputs,
            tir_vars: kernel.scalars,
            inplace: None,
            out: result.clone(),
        };
        Ok(bound(rewriter, &old, call, result))
    }
}

/// Whether the program divides by an extent that is not known yet where its innermost axis counts. A reshape becomes a program so
/// that it can be fused. Such a division costs more than the copy that fusion saves.
fn divides_at_each_element(func: &PrimFunc) -> bool {
    let mut sizes = Analyzer::new();
    let extents = func.buffer_params().flat_map(Buffer::shape);
    extents
        .flat_map(Expr::free_vars)
        .for_each(|size| sizes.bind_shape_var(&size));
    let blocks = func.blocks_under(Place::Block(func.root));
    blocks.into_iter().any(|block| {
        let iters = &func.blocks[block].iters;
        let mut wide = iters.iter().rev().filter(|iter| !iter.dom.extent.is_one());
        let (Some(innermost), [Stmt::Store { value, .. }]) = (wide.next(), func.tree.body(block))
        else {
            return false;
        };
        let mut known = sizes.clone();
        iters
            .iter()
            .for_each(|iter| known.bind(&iter.var, &iter.dom));
        let mut found = false;
        known.simplify(value).walk(&mut |node| {
            let ops = [BinOp::FloorDiv, BinOp::FloorMod];
            let mut divisions = ops.iter().filter_map(|op| node.as_binary(*op));
            found |= divisions.any(|(a, b)| b.as_int().is_none() && a.uses(&innermost.var));
            !found
        });
        found
    })
}

/// An element of a tuple: that of a tuple which the function makes is there already.
fn item(builder: &mut GraphBuilder, tuple: &Arg, at: usize) -> Arg {
    let made = match tuple {
        Arg::Value(id) => match &builder.values()[*id].def {
            Def::Arg(made) => made,
            _ => tuple,
        },
        _ => tuple,
    };
    if let Arg::Tuple(items) = made {
        return items[at].clone();
    }
    let item = builder.bind("lv", Def::TupleItem(tuple.clone(), at));
    Arg::Value(item.expect("the operand is a tuple of tensors"))
}

/// Gives each scalar among the operands of which nothing is known a variable for its value, so that a program can be made with it.
/// The variables by operand: none of them is defined in the function around.
fn stand_ins(
    builder: &GraphBuilder,
    args: &[Arg],
    operands: &mut [StructInfo],
) -> Vec<(usize, Var)> {
    let mut all = vec![];
    for (index, info) in operands.iter_mut().enumerate() {
        if let Some(cast) = builder.cast_of(&args[index])
            && matches!(info, StructInfo::Prim { dtype: _, value: _ })
        {
            *info = builder.values()[cast].sinfo.clone();
        }
        if let StructInfo::Prim { dtype, value } = info
            && value.is_none()
        {
            let var = Var::new("scalar", *dtype);
            *value = Some(var.expr());
            all.push((index, var));
        }
    }
    all
}

/// Defines the variables of integers that extents are made of, by a `match_cast`: they stand for nothing any more. Whether all that
/// extents are made of is defined then.
fn name_scalars(
    builder: &mut GraphBuilder,
    args: &[Arg],
    sizes: &HashSet<Var>,
    stand_ins: &mut Vec<(usize, Var)>,
) -> bool {
    stand_ins.retain(|(index, var)| {
        if !sizes.contains(var) || !var.dtype().is_int() {
            return true;
        }
        let sinfo = StructInfo::Prim {
            dtype: var.dtype(),
            value: Some(var.expr()),
        };
        builder.bind_as(
            "lv",
            Def::MatchCast(args[*index].clone(), sinfo.clone()),
            sinfo,
        );
        false
    });
    stand_ins.iter().all(|(_, var)| !sizes.contains(var))
}

/// Makes arguments of the scalars that stand for operands: in the program they come after its tensors, and before its results.
fn pass_scalars(
    kernel: &mut Kernel,
    inputs: &mut Vec<Arg>,
    args: &[Arg],
    stand_ins: &[(usize, Var)],
) {
    let params = &mut kernel.func.params;
    let mut last = params.len() - kernel.scalars.len();
    kernel.scalars.retain(|scalar| {
        let operand = stand_ins
            .iter()
            .find(|(_, var)| scalar.as_var() == Some(var));
        if let Some((index, _)) = operand {
            let param = params.remove(last);
            params.insert(inputs.len(), param);
            inputs.push(args[*index].clone());
        }
        last += 1;
        operand.is_none()
    });
}

/// The call of the function of the host that computes the operator.
fn host_call(call: &OpCall<'_>, host: &HostCall, result: &StructInfo) -> Result<Def, InferError> {
    let numbers = (host.numbers)(call)?;
    let passed = call.args.iter().zip(call.operands).filter(|(_, info)| {
        matches!(
            info,
            StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Object
        ) || host.message.is_some()
    });
    let mut passed: Vec<Arg> = passed.map(|(arg, _)| arg.clone()).collect();
    if let Some(at) = host.message {
        let format = call.attrs.get("format").and_then(AttrValue::as_str);
        passed.insert(at, Arg::Str(format.unwrap_or_default().to_owned()));
    }
    passed.extend(numbers.into_iter().map(|n| Arg::Prim(Expr::i64(n))));
    let callee = host.name.to_owned();
    Ok(Def::Call {
        callee: match call.op.schema().pure {
            true => Callee::PurePacked(callee),
            false => Callee::Packed(callee),
        },
        args: passed,
        attrs: Attrs::new(),
        sinfo_args: vec![result.clone()],
    })
}

/// The argument, of whose extents each has a name: where only the number of dimensions is known, a `match_cast` gives them one,
/// the same for all calls.
fn named_extents(builder: &mut GraphBuilder, arg: &Arg) -> Arg {
    if let Arg::Tuple(items) = arg {
        return Arg::Tuple(
            items
                .iter()
                .map(|item| named_extents(builder, item))
                .collect(),
        );
    }
    let known = builder.scope().arg(arg);
    if matches!(known, StructInfo::Prim { dtype: _, value: _ }) {
        return arg.clone();
    }
    let Some(sinfo) = named(&known) else {
        return arg.clone();
    };
    if let StructInfo::Tuple(items) = &known {
        let item = |(at, info): (usize, &StructInfo)| {
            let item = Def::TupleItem(arg.clone(), at);
            let item = Arg::Value(builder.bind_as("lv", item, info.clone()));
            named_extents(builder, &item)
        };
        return Arg::Tuple(items.iter().enumerate().map(item).collect());
    }
    let cast = builder.cast_of(arg);
    Arg::Value(cast.unwrap_or_else(|| {
        builder.bind_as("lv", Def::MatchCast(arg.clone(), sinfo.clone()), sinfo)
    }))
}

/// The operator with this name, with or without Relax's prefix.
fn operator(name: &str) -> Result<Op, PassError> {
    let short = name.strip_prefix("relax.").unwrap_or(name);
    match ops::find(short) {
        Some(def) => Ok(def.op()),
        None => Err(PassError::UnknownOperator {
            name: name.to_owned(),
        }),
    }
}

/// The call in the place of the old value, of which `sinfo` is known.
fn bound(rewriter: &mut Rewriter<'_>, old: &Old<'_>, call: Def, sinfo: StructInfo) -> Become {
    let name = old.value.name.as_str();
    Become::Arg(Arg::Value(rewriter.builder().bind_as(name, call, sinfo)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{GpuTarget, Target};
    use crate::passes::{Cx, pass_with};
    use crate::script::{parse, print};
    use crate::te;
    use crate::tensor::DType;

    const MODULE: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.add(x, R.const(2, "float32"))
            b = R.multiply(a, y)
            R.output(b)
        return b
"#;

    const PROGRAM: &str = r#"
@T.prim_func(private=True)
def shifted(A: T.Buffer((4,), "float32"), B: T.Buffer((), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[()] + A[vi]
"#;

    fn run(legalize: LegalizeOps) -> Result<String, String> {
        let module = parse("test.py", MODULE).expect("it parses");
        let cx = Cx::new(&module, &Target::Gpu(GpuTarget::default()));
        let after = cx.run(&legalize.pass(), &module);
        after.map(|m| print(&m)).map_err(|e| e.to_string())
    }

    fn with(legalized: Legalized) -> Result<String, String> {
        let own = move |_: &ComputeCall<'_>| Ok(legalized.clone());
        let legalize = LegalizeOps::default().customize("relax.add", own);
        run(legalize.expect("an operator"))
    }

    #[test]
    fn a_program_of_ones_own_gets_all_tensors() {
        let program = parse("test.py", PROGRAM).expect("it parses");
        let program = program.prim_func("shifted").expect("it is there").clone();
        let text = with(program.into()).expect("it fits");
        assert!(
            text.contains("R.call_tir(cls.add, (x, R.const(2.0, \"float32\"))"),
            "{text}"
        );
        assert!(text.contains("B[()] + A[vi]"), "{text}");
        assert!(text.contains("cls.multiply"), "{text}");
    }

    #[test]
    fn results_of_ones_own_are_checked() {
        let of = |n: i64| te::compute("t", [n], |_| Expr::float(0.0, DType::F32));
        assert_eq!(
            with(of(3).into()),
            Err("`main`, value `a`: R.add: its legalization gives R.Tensor((3,), dtype=\"float32\"), \
                 expected R.Tensor((4,), dtype=\"float32\")\n  \
                 from line 7: `a = R.add(x, R.const(2, \"float32\"))`"
                .to_owned())
        );
        assert_eq!(
            with(vec![of(4), of(4)].into()),
            Err(
                "`main`, value `a`: R.add: its legalization gives 2 results, expected 1\n  \
                 from line 7: `a = R.add(x, R.const(2, \"float32\"))`"
                    .to_owned()
            )
        );
        let error = LegalizeOps::default().skip("nn.rely").err();
        let error = error.expect("there is none").to_string();
        assert_eq!(error, "there is no operator `nn.rely`");
    }

    #[test]
    fn calls_of_skipped_operators_stay() {
        let module = parse("test.py", MODULE).expect("it parses");
        let skip = AttrValue::List(vec![AttrValue::Str("relax.add".into())]);
        let options = Attrs::from_iter([("skip_ops".to_owned(), skip)]);
        let pass = pass_with("LegalizeOps", options).expect("there is");
        let cx = Cx::new(&module, &Target::Gpu(GpuTarget::default()));
        let text = print(&cx.run(&pass, &module).expect("it runs"));
        assert!(
            text.contains("R.add(x") && text.contains("cls.multiply"),
            "{text}"
        );
    }
}
