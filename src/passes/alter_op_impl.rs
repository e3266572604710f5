//! `alter_op_impl`: operators are computed by other loop programs, in other layouts (Relax: `AlterOpImpl`).

use std::collections::HashMap;

use indexmap::IndexMap;

use super::PassError;
use crate::ir::graph::dims::{Proof, compare_dims};
use crate::ir::graph::{
    Arg, Become, Callee, Def, DpsCallee, Globals, GraphBuilder, InferError, Old, OpCall, Rewriter,
    ValueId, rewrite,
};
use crate::ir::{AttrValue, Attrs, Expr, Func, Lambda, Module, PrimFunc, StructInfo, Var};
use crate::tensor::DType;
use crate::{ops, te};

/// The attribute of a loop program that says which operator it computes.
pub(super) const OPERATOR_NAME: &str = "operator_name";
/// The operator that leaves out the padding of a tensor.
pub(super) const REMOVE_PAD: &str = "remove_pad";

/// Another loop program for an operator.
#[derive(Clone, Debug)]
pub struct OpImpl {
    /// The program, with as many parameters as those that it replaces.
    pub program: PrimFunc,
    /// For each parameter the map from the layout of the graph to that of the program; `None` where both are the same. Nothing, if
    /// all are.
    pub layouts: Vec<Option<Lambda>>,
}

/// The module where calls of loop programs with the attribute `operator_name` call the given programs for these operators. Inputs
/// are brought into the layouts of the program, and outputs back. Where a layout pads an output, the loop program `remove_pad`
/// takes the output out of what comes back.
///
/// ```text
/// z = R.call_tir(cls.add, (x, y), …)    →    a = R.layout_transform(x, lambda i: (i // 4, i % 4))
///                                            b = R.layout_transform(y, lambda i: (i // 4, i % 4))
///                                            c = R.call_tir(cls.relax_add_replacement, (a, b), …)
///                                            z = R.layout_transform(c, lambda i, j: (i * 4 + j,))
/// ```
///
/// # Errors
/// [`PassError::Replacement`] if a program has another number of parameters, or of layouts, than the one that it replaces;
/// [`PassError::Type`] if a tensor does not have the layout: it has another number of dimensions, or the layout has no inverse.
pub fn alter_op_impl(
    module: &Module,
    impls: &IndexMap<String, OpImpl>,
) -> Result<Module, PassError> {
    let globals = Globals::of(module);
    let mut out = module.clone();
    let mut made: HashMap<&str, String> = HashMap::new();
    for (name, function) in module.functions() {
        let new = rewrite(function, &globals, &mut |rewriter, old| {
            let Some((kind, program)) = operator(module, old.def) else {
                return Ok(Become::Kept);
            };
            let Some((kind, with)) = impls.get_key_value(kind) else {
                return Ok(Become::Kept);
            };
            let params = program.params.len();
            let fits = |count: usize| count == params;
            if !fits(with.program.params.len())
                || !(with.layouts.is_empty() || fits(with.layouts.len()))
            {
                return Err(PassError::Replacement {
                    operator: kind.clone(),
                    params,
                    given: with.program.params.len(),
                    layouts: with.layouts.len(),
                });
            }
            let callee = made.entry(kind.as_str()).or_insert_with(|| {
                let mut program = with.program.clone();
                let operator = AttrValue::Str(kind.clone());
                program.attrs.insert(OPERATOR_NAME.to_owned(), operator);
                let name = format!("{}_replacement", kind.replace('.', "_"));
                out.add_prim_func(&name, program)
            });
            let callee = callee.clone();
            let becomes = replace(&mut out, rewriter, &old, &callee, &with.layouts);
            becomes.map_err(|error| PassError::Type {
                func: name.to_owned(),
                value: old.value.name.clone(),
                error: Box::new(error),
            })
        })?;
        out.funcs.insert(name.to_owned(), Func::Graph(new));
    }
    Ok(out)
}

/// The operator that a call computes, and the loop program that does.
fn operator<'m>(module: &'m Module, def: &Def) -> Option<(&'m str, &'m PrimFunc)> {
    let Def::CallDps {
        callee: DpsCallee::Prim(name),
        args: _,
        tir_vars: _,
        inplace: None,
        out: _,
    } = def
    else {
        return None;
    };
    let program = module.prim_func(name)?;
    let operator = program.attrs.get(OPERATOR_NAME)?.as_str()?;
    Some((operator, program))
}

/// The call of the other program, between changes of layout.
fn replace(
    module: &mut Module,
    rewriter: &mut Rewriter<'_>,
    old: &Old<'_>,
    callee: &str,
    layouts: &[Option<Lambda>],
) -> Result<Become, InferError> {
    let Def::CallDps {
        callee: _,
        args,
        tir_vars,
        inplace: _,
        out,
    } = old.def
    else {
        return Ok(Become::Kept);
    };
    let call = |args: Vec<Arg>, out: StructInfo| Def::CallDps {
        callee: DpsCallee::Prim(callee.to_owned()),
        args,
        tir_vars: tir_vars.clone(),
        inplace: None,
        out,
    };
    if layouts.is_empty() {
        return Ok(Become::Def(call(args.clone(), out.clone())));
    }
    let builder = rewriter.builder();
    let mut inputs = vec![];
    for (arg, layout) in args.iter().zip(layouts) {
        let scalar = matches!(arg, Arg::Const(tensor) if tensor.shape().is_empty());
        inputs.push(match layout {
            Some(map) if !scalar => Arg::Value(builder.bind("lv", transformed(arg, map)?)?),
            _ => arg.clone(),
        });
    }
    let StructInfo::Tuple(outs) = out else {
        let Some(map) = &layouts[layouts.len() - 1] else {
            return Ok(Become::Def(call(inputs, out.clone())));
        };
        let made = laid_out(out, Some(map))?;
        let made = builder.bind_as("lv", call(inputs, made.clone()), made);
        return Ok(Become::Def(restored(module, builder, made, out, map)?));
    };
    let layouts = &layouts[layouts.len() - outs.len()..];
    let made = outs.iter().zip(layouts);
    let made = made.map(|(info, layout)| laid_out(info, layout.as_ref()));
    let made = StructInfo::Tuple(made.collect::<Result<_, _>>()?);
    let made = Arg::Value(builder.bind_as("lv", call(inputs, made.clone()), made));
    let mut back = vec![];
    for (index, (info, layout)) in outs.iter().zip(layouts).enumerate() {
        let item = builder.bind("lv", Def::TupleItem(made.clone(), index))?;
        back.push(Arg::Value(match layout {
            Some(map) => {
                let def = restored(module, builder, item, info, map)?;
                builder.bind_as("lv", def, info.clone())
            }
            None => item,
        }));
    }
    Ok(Become::Def(Def::Arg(Arg::Tuple(back))))
}

fn with_map(map: &Lambda) -> Attrs {
    Attrs::from_iter([("index_map".to_owned(), AttrValue::IndexMap(map.clone()))])
}

/// The tensor in another layout.
fn transformed(arg: &Arg, map: &Lambda) -> Result<Def, InferError> {
    let op = ops::op("layout_transform");
    Ok(Def::Call {
        callee: Callee::Op(op),
        args: vec![arg.clone()],
        attrs: op.complete(with_map(map))?,
        sinfo_args: vec![],
    })
}

/// What is known of a tensor in another layout.
fn laid_out(info: &StructInfo, map: Option<&Lambda>) -> Result<StructInfo, InferError> {
    let Some(map) = map else {
        return Ok(info.clone());
    };
    let op = ops::op("layout_transform");
    let call = OpCall {
        op,
        args: &[],
        operands: std::slice::from_ref(info),
        attrs: &op.complete(with_map(map))?,
        obligations: None,
    };
    call.infer()
}

/// The tensor of which `info` is known, from its layout `map`.
fn restored(
    module: &mut Module,
    builder: &mut GraphBuilder,
    tensor: ValueId,
    info: &StructInfo,
    map: &Lambda,
) -> Result<Def, InferError> {
    let whole = info.as_tensor();
    let dims = whole.and_then(|whole| whole.shape.dims());
    let inverse = dims.and_then(|dims| ops::inverse_layout(map, dims));
    let dtype = whole.and_then(|whole| whole.dtype);
    let (Some(dims), Some(dtype), Some(inverse)) = (dims, dtype, inverse) else {
        return Err(InferError::Attribute {
            op: "layout_transform".to_owned(),
            name: "index_map",
            expected: "an index map that cuts or joins dimensions",
            got: AttrValue::IndexMap(map.clone()).to_string(),
        });
    };
    let def = transformed(&Arg::Value(tensor), &inverse)?;
    let padded = builder.infer(&def)?;
    let padded = padded.as_tensor().and_then(|info| info.shape.dims());
    let same = |padded: &[Expr]| {
        let mut pairs = padded.iter().zip(dims);
        pairs.all(|(padded, dim)| compare_dims(padded, dim) == Proof::Yes)
    };
    if padded.is_none_or(same) {
        return Ok(def);
    }
    let program = module.add_prim_func(REMOVE_PAD, remove_pad(dims.len(), dtype));
    Ok(Def::CallDps {
        callee: DpsCallee::Prim(program),
        args: vec![Arg::Value(builder.bind("lv", def)?)],
        tir_vars: vec![],
        inplace: None,
        out: info.clone(),
    })
}

/// The loop program that copies the first elements of each of so many dimensions.
fn remove_pad(ndim: usize, dtype: DType) -> PrimFunc {
    let dims = |letter: &str| -> Vec<Expr> {
        let dims = (0..ndim).map(|at| Var::new(format!("{letter}{at}"), DType::I64).expr());
        dims.collect()
    };
    let padded = te::placeholder("input", dims("p"), dtype);
    let whole = te::compute("output", dims("i"), |i| padded.at(i));
    let program = te::create_prim_func(REMOVE_PAD, &[padded.clone(), whole]);
    let mut program = program.expect("each extent is one of a parameter");
    let operator = AttrValue::Str(REMOVE_PAD.to_owned());
    program.attrs.insert(OPERATOR_NAME.to_owned(), operator);
    program
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::tensor::Tensor;
    use crate::{interp, script};

    const BEFORE: &str = r#"
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def both(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32"), s: T.Buffer((16,), "float32"), d: T.Buffer((16,), "float32")):
        T.func_attr({"operator_name": "relax.both"})
        for i in range(16):
            with T.block("both"):
                vi = T.axis.spatial(16, i)
                s[vi] = x[vi] + y[vi]
                d[vi] = x[vi] - y[vi]

    @T.prim_func(private=True)
    def other(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("other"):
                vi = T.axis.spatial(16, i)
                y[vi] = x[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((16,), "float32"), y: R.Tensor((16,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.both, (x, y), out_sinfo=[R.Tensor((16,), "float32"), R.Tensor((16,), "float32")])
            b = a[0]
            c = R.call_tir(cls.other, (b,), out_sinfo=R.Tensor((16,), "float32"))
            d = a[1]
            R.output(c, d)
        return (c, d)
"#;

    const WITH: &str = r#"
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def packed(x: T.Buffer((4, 4), "float32"), y: T.Buffer((16,), "float32"), s: T.Buffer((4, 4), "float32"), d: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            with T.block("both"):
                vi, vj = T.axis.remap("SS", [i, j])
                s[vi, vj] = x[vi, vj] + y[vi * 4 + vj]
                d[vi, vj] = x[vi, vj] - y[vi * 4 + vj]

    @R.function
    def main(x: R.Tensor((16,), "float32")):
        y = R.layout_transform(x, index_map=T.index_map(lambda i: (i // 4, i % 4)))
        return y
"#;

    fn parsed(text: &str) -> Module {
        script::parse("test.py", text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn with(layouts: &dyn Fn(Lambda) -> Vec<Option<Lambda>>) -> IndexMap<String, OpImpl> {
        with_program(WITH, layouts)
    }

    fn with_program(
        text: &str,
        layouts: &dyn Fn(Lambda) -> Vec<Option<Lambda>>,
    ) -> IndexMap<String, OpImpl> {
        let module = parsed(text);
        let main = module.function("main").expect("as written");
        let map = main.values.iter().find_map(|(_, value)| match &value.def {
            Def::Call { attrs, .. } => match attrs.get("index_map") {
                Some(AttrValue::IndexMap(map)) => Some(map.clone()),
                _ => None,
            },
            _ => None,
        });
        let impl_ = OpImpl {
            program: module.prim_func("packed").expect("as written").clone(),
            layouts: layouts(map.expect("as written")),
        };
        IndexMap::from([("relax.both".to_owned(), impl_)])
    }

    fn results(module: &Module) -> String {
        let args = [0.5f32, 2.0].map(|factor| {
            let elements: Vec<f32> = (0..16).map(|i| i as f32 * factor).collect();
            interp::Value::Tensor(Tensor::from_slice(&[16], &elements).expect("as many"))
        });
        let out = interp::run_module(module, "main", &args, &HashMap::new());
        format!("{:?}", out.unwrap_or_else(|e| panic!("{e}")))
    }

    #[test]
    fn tensors_go_to_the_layouts_of_the_program_and_back() {
        let module = parsed(BEFORE);
        let impls = with(&|map| vec![Some(map.clone()), None, Some(map.clone()), Some(map)]);
        let new = alter_op_impl(&module, &impls).unwrap_or_else(|e| panic!("{e}"));
        script::well_formed(&new).unwrap_or_else(|e| panic!("{e}"));
        let program = new.prim_func("relax_both_replacement");
        let program = program.unwrap_or_else(|| panic!("{}", script::print(&new)));
        assert_eq!(
            program.attrs[OPERATOR_NAME],
            AttrValue::Str("relax.both".to_owned())
        );
        assert_eq!(results(&new), results(&module));
    }

    /// Five columns hold the sixteen elements in four rows, and four elements of padding.
    #[test]
    fn padding_of_outputs_is_taken_out() {
        let padded = WITH
            .replace("(4, 4)", "(4, 5)")
            .replace("x: T.Buffer((4, 5)", "x: T.Buffer((16,)")
            .replace("x[vi, vj]", "x[T.min(vi * 5 + vj, 15)]")
            .replace("y[vi * 4 + vj]", "y[T.min(vi * 5 + vj, 15)]")
            .replace("i // 4, i % 4", "i // 5, i % 5");
        let impls = with_program(&padded, &|map| {
            vec![None, None, Some(map.clone()), Some(map)]
        });
        let module = parsed(BEFORE);
        let new = alter_op_impl(&module, &impls).unwrap_or_else(|e| panic!("{e}"));
        script::well_formed(&new).unwrap_or_else(|e| panic!("{e}"));
        let text = script::print(&new);
        assert_eq!(text.matches("cls.remove_pad").count(), 2, "{text}");
        assert_eq!(results(&new), results(&module));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let module = parsed(BEFORE);
        let refused = |impls| {
            alter_op_impl(&module, &impls)
                .expect_err("refused")
                .to_string()
        };
        assert_eq!(
            refused(with(&|map| vec![Some(map)])),
            "operator `relax.both` is computed by a loop program of 4 parameters, and is to be by one of 4 with 1 layouts"
        );
        let overlapping = |map: Lambda| {
            let params = map.params.clone();
            let [i] = params.as_slice() else {
                panic!("as written");
            };
            let number = |n| Expr::int(n, i.dtype());
            let results = vec![i.expr().floor_div(number(4)), i.expr().floor_mod(number(8))];
            let map = Some(Lambda { params, results });
            vec![None, None, map.clone(), map]
        };
        let message = refused(with(&overlapping));
        assert!(message.contains("cuts each dimension"), "{message}");
    }
}
