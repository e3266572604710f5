//! `alter_op_impl`: operators are computed by other loop programs, in other layouts (Relax: `AlterOpImpl`).

use std::collections::HashMap;

use indexmap::IndexMap;

use super::PassError;
use crate::ir::graph::{
    Arg, Become, Def, DpsCallee, Globals, GraphBuilder, InferError, Old, OpCall, Rewriter, ValueId,
    rewrite,
};
use crate::ir::{AttrValue, Attrs, Func, Lambda, Module, PrimFunc, StructInfo};
use crate::ops;

/// The attribute of a loop program that says which operator it computes.
pub(super) const OPERATOR_NAME: &str = "operator_name";

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
/// are brought into the layouts of the program, and outputs back.
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
/// [`PassError::Type`] if a tensor does not have the layout: it has another number of dimensions, or the layout pads it.
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
            let becomes = replace(rewriter, &old, callee, &with.layouts);
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
    let mut inputs = vec![];
    for (arg, layout) in args.iter().zip(layouts) {
        let scalar = matches!(arg, Arg::Const(tensor) if tensor.shape().is_empty());
        inputs.push(match layout {
            Some(map) if !scalar => Arg::Value(transformed(rewriter.builder(), arg, map)?),
            _ => arg.clone(),
        });
    }
    let outs = match out {
        StructInfo::Tuple(items) => items.clone(),
        single => vec![single.clone()],
    };
    let layouts = &layouts[layouts.len() - outs.len()..];
    let laid_out: Vec<StructInfo> = (outs.iter().zip(layouts))
        .map(|(info, layout)| laid_out(info, layout.as_ref()))
        .collect::<Result<_, _>>()?;
    let made = match (out, laid_out.as_slice()) {
        (StructInfo::Tuple(_), items) => StructInfo::Tuple(items.to_vec()),
        (_, [single]) => single.clone(),
        (_, items) => StructInfo::Tuple(items.to_vec()),
    };
    let builder = rewriter.builder();
    let made = Arg::Value(builder.bind_as("lv", call(inputs, made.clone()), made));
    let mut back = vec![];
    for (index, (info, layout)) in outs.iter().zip(layouts).enumerate() {
        let item = match out {
            StructInfo::Tuple(_) => {
                let item = Def::TupleItem(made.clone(), index);
                Arg::Value(builder.bind("lv", item)?)
            }
            _ => made.clone(),
        };
        back.push(match layout {
            Some(map) => {
                let inverse = inverse(info, map)?;
                Arg::Value(transformed(builder, &item, &inverse)?)
            }
            None => item,
        });
    }
    Ok(Become::Arg(match (out, back.as_slice()) {
        (StructInfo::Tuple(_), _) => Arg::Tuple(back),
        (_, [single]) => single.clone(),
        (_, _) => Arg::Tuple(back),
    }))
}

fn with_map(map: &Lambda) -> Attrs {
    Attrs::from_iter([("index_map".to_owned(), AttrValue::IndexMap(map.clone()))])
}

/// Binds the tensor in another layout.
fn transformed(builder: &mut GraphBuilder, arg: &Arg, map: &Lambda) -> Result<ValueId, InferError> {
    let op = ops::op("layout_transform");
    builder.op("lv", op, vec![arg.clone()], with_map(map))
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

/// The map back from a layout of the tensor.
fn inverse(info: &StructInfo, map: &Lambda) -> Result<Lambda, InferError> {
    let dims = info.as_tensor().and_then(|info| info.shape.dims());
    let inverse = dims.and_then(|dims| ops::inverse_layout(map, dims));
    inverse.ok_or_else(|| InferError::Attribute {
        op: "layout_transform".to_owned(),
        name: "index_map",
        expected: "an index map that cuts or joins dimensions and pads nothing",
        got: AttrValue::IndexMap(map.clone()).to_string(),
    })
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
        let module = parsed(WITH);
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
        let args = [0.5f32, 2.0].map(|factor| {
            let elements: Vec<f32> = (0..16).map(|i| i as f32 * factor).collect();
            interp::Value::Tensor(Tensor::from_slice(&[16], &elements).expect("as many"))
        });
        let result = |module: &Module| {
            let out = interp::run_module(module, "main", &args, &HashMap::new());
            format!("{:?}", out.unwrap_or_else(|e| panic!("{e}")))
        };
        assert_eq!(result(&new), result(&module));
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
        let wide = |map: Lambda| {
            let params = map.params.clone();
            let [i] = params.as_slice() else {
                panic!("as written");
            };
            let eight = crate::ir::Expr::int(24, i.dtype());
            let results = vec![i.expr().floor_div(eight.clone()), i.expr().floor_mod(eight)];
            let map = Some(Lambda { params, results });
            vec![None, None, map.clone(), map]
        };
        let message = refused(with(&wide));
        assert!(message.contains("pads nothing"), "{message}");
    }
}
