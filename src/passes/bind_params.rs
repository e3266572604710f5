//! Binds parameters of a graph function to constants (TVM: `BindParams`).

use std::convert::Infallible;

use indexmap::IndexMap;

use super::PassError;
use super::signature::{function, not_called};
use crate::arith::Analyzer;
use crate::ir::graph::{self, Arg, Become, Function, Globals, ValueId, dims};
use crate::ir::{Expr, Func, Module, Var};
use crate::tensor::Tensor;

/// The module with parameters of one function replaced by constants and taken out of its signature. Symbolic dimensions that
/// the constants fix are replaced by their values everywhere in the function.
///
/// ```text
/// def main(x: R.Tensor((1, "m")), w: R.Tensor(("n", "m"))) -> R.Tensor((1, "n"))
/// # w bound to a tensor of shape [128, 784]
/// def main(x: R.Tensor((1, 784))) -> R.Tensor((1, 128))
/// ```
///
/// # Errors
/// If the function or a parameter does not exist, a tensor does not fit its parameter, or another function of the module calls
/// this one.
pub fn bind_params(
    module: &Module,
    func: &str,
    params: &IndexMap<String, Tensor>,
) -> Result<Module, PassError> {
    let function = function(module, func)?;
    not_called(module, func)?;
    let bound = find_params(function, params)?;
    let vars = match_shapes(function, &bound)?;
    let function = function.map_exprs(&mut |e| with_values(e, &vars));
    let Ok(function) = graph::rewrite(&function, &Globals::of(module), &mut |_, old| {
        let tensor = bound.get(&old.id).filter(|_| old.depth == 0);
        let constant = tensor.map(|tensor| Become::Arg(Arg::Const(tensor.clone())));
        Ok::<_, Infallible>(constant.unwrap_or(Become::Kept))
    });
    let mut out = module.clone();
    out.funcs.insert(func.to_owned(), Func::Graph(function));
    Ok(out)
}

/// The parameters with these names.
fn find_params(
    func: &Function,
    params: &IndexMap<String, Tensor>,
) -> Result<IndexMap<ValueId, Tensor>, PassError> {
    let mut bound = IndexMap::new();
    for (name, tensor) in params {
        let named = |id: &&ValueId| func.values[**id].name == *name;
        let mut found = func.params.iter().filter(named);
        let (func_name, name) = (func.name.clone(), name.clone());
        let all = || func.params.iter().map(|id| func.values[*id].name.clone());
        match (found.next(), found.next()) {
            (Some(id), None) => bound.insert(*id, tensor.clone()),
            (None, _) => {
                return Err(PassError::UnknownParam {
                    func: func_name,
                    name,
                    params: all().collect(),
                });
            }
            (Some(_), Some(_)) => {
                return Err(PassError::DuplicateParam {
                    func: func_name,
                    name,
                    params: all().collect(),
                });
            }
        };
    }
    Ok(bound)
}

/// Checks the tensors against their parameters; gives the values that they fix.
fn match_shapes(
    func: &Function,
    bound: &IndexMap<ValueId, Tensor>,
) -> Result<IndexMap<Var, i64>, PassError> {
    let mut vars: IndexMap<Var, i64> = IndexMap::new();
    let mut declared = Vec::new();
    for (id, tensor) in bound {
        let value = &func.values[*id];
        let (func, param) = (func.name.clone(), value.name.clone());
        let Some(info) = value.sinfo.as_tensor() else {
            let sinfo = Box::new(value.sinfo.clone());
            return Err(PassError::NotATensor { func, param, sinfo });
        };
        if let Some(expected) = info.dtype
            && expected != tensor.dtype()
        {
            let given = tensor.dtype();
            return Err(PassError::DTypeMismatch {
                func,
                param,
                expected,
                given,
            });
        }
        let given = tensor.shape().len();
        if let Some(expected) = info.shape.ndim()
            && expected != given
        {
            return Err(PassError::NdimMismatch {
                func,
                param,
                expected,
                given,
            });
        }
        for (dim, expr) in info.shape.dims().unwrap_or_default().iter().enumerate() {
            let given = tensor.shape()[dim] as i64;
            if let Some(var) = expr.as_var() {
                vars.entry(var.clone()).or_insert(given);
            }
            declared.push((param.clone(), dim, expr, given));
        }
    }
    for (param, dim, expr, given) in declared {
        let known = with_values(expr, &vars);
        if dims::compare_dims(&known, &Expr::i64(given)) == dims::Proof::No {
            let expected = match expr.as_int() {
                Some(constant) => constant.to_string(),
                None => format!("{expr:#} = {known:#}"),
            };
            return Err(PassError::DimMismatch {
                func: func.name.clone(),
                param,
                dim,
                expected,
                given,
            });
        }
    }
    Ok(vars)
}

/// The expression with variables replaced by their values; the same node if it has none of them.
pub(super) fn with_values(e: &Expr, vars: &IndexMap<Var, i64>) -> Expr {
    let new = e.substitute(&|var| vars.get(var).map(|&v| Expr::int(v, var.dtype())));
    if new.same_as(e) {
        new
    } else {
        Analyzer::new().simplify(&new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::StructInfo;
    use crate::ir::graph::{DpsCallee, Globals, GraphBuilder, verify_function};
    use crate::tensor::DType;

    /// `main(x: (1, m), w: (n, m), b: (n,)) -> (1, n)`, with a call of `linear`.
    fn linear() -> Module {
        let (n, m) = (Var::new("n", DType::I64), Var::new("m", DType::I64));
        let tensor = |dims: Vec<Expr>| StructInfo::tensor(dims, DType::F32);
        let mut b = GraphBuilder::new("main");
        let x = b.param("x", tensor(vec![Expr::i64(1), m.expr()]));
        let w = b.param("w", tensor(vec![n.expr(), m.expr()]));
        let bias = b.param("b", tensor(vec![n.expr()]));
        b.begin_dataflow();
        let out = b.call_dps(
            "out",
            DpsCallee::Packed("linear".into()),
            vec![Arg::Value(x), Arg::Value(w), Arg::Value(bias)],
            tensor(vec![Expr::i64(1), n.expr()]),
        );
        b.end_dataflow(vec![out]);
        let mut module = Module::default();
        module
            .funcs
            .insert("main".into(), Func::Graph(b.finish(Arg::Value(out))));
        module
    }

    fn zeros(shape: &[usize], dtype: DType) -> Tensor {
        Tensor::zeros(dtype, shape).expect("small")
    }

    fn bind(params: &[(&str, Tensor)]) -> Result<Module, PassError> {
        let params = params.iter().map(|(k, v)| ((*k).to_owned(), v.clone()));
        bind_params(&linear(), "main", &params.collect())
    }

    #[test]
    fn constants_fix_symbolic_dimensions_everywhere() {
        let weights = [
            ("w", zeros(&[128, 784], DType::F32)),
            ("b", zeros(&[128], DType::F32)),
        ];
        let module = bind(&weights).expect("they fit");
        let main = module.function("main").expect("still there");
        let shape = |dims: [i64; 2]| StructInfo::tensor(dims.map(Expr::i64).to_vec(), DType::F32);
        assert_eq!(main.params.len(), 1);
        assert_eq!(main.values[main.params[0]].sinfo, shape([1, 784]));
        assert_eq!(main.ret, shape([1, 128]));
        assert_eq!(main.symbolic_vars(), []);
        assert_eq!(verify_function(main, &Globals::default()), []);
    }

    #[test]
    fn tensors_that_do_not_fit_are_named() {
        let message = |params: &[(&str, Tensor)]| bind(params).expect_err("bad").to_string();
        assert_eq!(
            message(&[("v", zeros(&[1], DType::F32))]),
            "`main` has no parameter `v`; its parameters are: x, w, b"
        );
        assert_eq!(
            message(&[("b", zeros(&[1], DType::F16))]),
            "parameter `b` of `main`: expected elements of float32, given float16"
        );
        assert_eq!(
            message(&[("b", zeros(&[1, 2], DType::F32))]),
            "parameter `b` of `main`: expected 1 dimensions, given 2"
        );
        assert_eq!(
            message(&[
                ("w", zeros(&[4, 2], DType::F32)),
                ("b", zeros(&[3], DType::F32))
            ]),
            "parameter `b` of `main`: dimension 0 expected n = 4, given 3"
        );
        assert_eq!(
            message(&[("x", zeros(&[2, 2], DType::F32))]),
            "parameter `x` of `main`: dimension 0 expected 1, given 2"
        );
    }

    #[test]
    fn a_name_must_be_one_parameter() {
        let mut module = linear();
        let Some(Func::Graph(main)) = module.funcs.get_mut("main") else {
            panic!("main is a graph function")
        };
        let (w, b) = (main.params[1], main.params[2]);
        main.values[b].name = main.values[w].name.clone();
        let params = IndexMap::from([("w".to_owned(), zeros(&[4, 2], DType::F32))]);
        assert!(matches!(
            bind_params(&module, "main", &params),
            Err(PassError::DuplicateParam { .. })
        ));
        assert!(matches!(
            bind_params(&module, "other", &params),
            Err(PassError::UnknownFunction { .. })
        ));
    }
}
