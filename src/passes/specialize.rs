//! Makes loop programs for the shapes that they are called with (TVM: `PrimFunc.specialize`).
//!
//! Where a `call_tir` gives constants for symbolic sizes of the loop program it calls, it calls a copy with these constants
//! instead, so that schedules see them. Calls with equal constants share a copy; sizes that the call leaves symbolic stay so.

use std::collections::HashSet;
use std::convert::Infallible;

use indexmap::IndexMap;

use crate::arith::specialized;
use crate::ir::graph::{self, Become, Def, DpsCallee, Globals, Scope};
use crate::ir::{Func, Module, Param, PrimFunc, StructInfo, Var, unique_name};

/// The module with every call of a loop program specialised. The loop program stays; a copy stands behind it.
///
/// ```text
/// def double(x: T.handle, y: T.handle):                            # X and Y of shape (n, m)
/// y = R.call_tir(double, (x,), R.Tensor((batch, 128), "float32"))
/// # becomes
/// def double_128(x: T.handle, y: T.handle):                        # X and Y of shape (n, 128)
/// y = R.call_tir(double_128, (x,), R.Tensor((batch, 128), "float32"))
/// ```
pub(super) fn specialize(module: &Module) -> Module {
    let globals = Globals::of(module);
    let mut pass = Specialize {
        module,
        copies: IndexMap::new(),
        names: module.funcs.keys().cloned().collect(),
    };
    let mut funcs = IndexMap::new();
    for (name, func) in &module.funcs {
        let func = match func {
            Func::Graph(function) => {
                let Ok(new) = graph::rewrite(function, &globals, &mut |r, old| {
                    Ok::<_, Infallible>(pass.value(&r.scope(), old.def))
                });
                Func::Graph(new)
            }
            Func::Prim(func) => Func::Prim(func.clone()),
        };
        funcs.insert(name.clone(), func);
    }
    let mut out = Module {
        funcs: IndexMap::new(),
        ..module.clone()
    };
    for (name, func) in funcs {
        let own = pass.copies.iter().filter(|((of, _), _)| *of == name);
        let own = own.map(|(_, copy)| (copy.name.clone(), Func::Prim(copy.clone())));
        out.funcs.insert(name.clone(), func);
        out.funcs.extend(own);
    }
    out
}

/// The value of each symbolic size, in order of first use.
type Sizes = Vec<(Var, i64)>;

struct Specialize<'a> {
    module: &'a Module,
    /// By loop program and sizes.
    copies: IndexMap<(String, Sizes), PrimFunc>,
    names: HashSet<String>,
}

impl Specialize<'_> {
    /// A `call_tir` calls the copy for its sizes.
    fn value(&mut self, scope: &Scope<'_>, def: &Def) -> Become {
        let Def::CallDps {
            callee: DpsCallee::Prim(name),
            args,
            tir_vars,
            inplace,
            out,
        } = def
        else {
            return Become::Kept;
        };
        let mut tensors: Vec<StructInfo> = Vec::new();
        for arg in args {
            leaves(scope.arg(arg), &mut tensors);
        }
        let fresh = |at: usize| {
            let reused = inplace.as_ref().and_then(|list| list.get(at));
            reused.is_none_or(Option::is_none)
        };
        let mut outputs = Vec::new();
        leaves(out.clone(), &mut outputs);
        let outputs = outputs.into_iter().enumerate();
        tensors.extend(outputs.filter_map(|(at, info)| fresh(at).then_some(info)));
        match self.copy(name, &tensors) {
            None => Become::Kept,
            Some(copy) => Become::Def(Def::CallDps {
                callee: DpsCallee::Prim(copy),
                args: args.clone(),
                tir_vars: tir_vars.clone(),
                inplace: inplace.clone(),
                out: out.clone(),
            }),
        }
    }

    /// The name of the loop program for tensors of these shapes, if it is another one.
    fn copy(&mut self, name: &str, tensors: &[StructInfo]) -> Option<String> {
        let func = self.module.prim_func(name)?;
        let sizes = sizes(func, tensors);
        if sizes.is_empty() {
            return None;
        }
        let key = (name.to_owned(), sizes);
        if let Some(copy) = self.copies.get(&key) {
            return Some(copy.name.clone());
        }
        let values: Vec<String> = key.1.iter().map(|(_, value)| value.to_string()).collect();
        let base = format!("{name}_{}", values.join("_"));
        let unique = unique_name(&base, &mut self.names);
        let mut copy = specialized(func, &key.1);
        copy.name.clone_from(&unique);
        self.copies.insert(key, copy);
        Some(unique)
    }
}

fn leaves(info: StructInfo, out: &mut Vec<StructInfo>) {
    match info {
        StructInfo::Tuple(items) => items.into_iter().for_each(|item| leaves(item, out)),
        other => out.push(other),
    }
}

/// The symbolic sizes of a loop program that tensors of these shapes fix; none if they do not fit it, which is for others to say.
fn sizes(func: &PrimFunc, tensors: &[StructInfo]) -> Sizes {
    let scalars: Vec<&Var> = func
        .params
        .iter()
        .filter_map(|param| match param {
            Param::Scalar(var) => Some(var),
            Param::Buffer {
                handle: _,
                buffer: _,
            } => None,
        })
        .collect();
    let mut sizes = Sizes::new();
    for (buffer, info) in func.buffer_params().zip(tensors) {
        let dims = info.as_tensor().and_then(|info| info.shape.dims());
        for (extent, dim) in buffer.shape().iter().zip(dims.unwrap_or_default()) {
            let (Some(var), Some(value)) = (extent.as_var(), dim.as_int()) else {
                continue;
            };
            if scalars.contains(&var) {
                continue;
            }
            match sizes.iter().find(|(known, _)| known == var) {
                Some((_, known)) if *known != value => return vec![],
                Some(_) => {}
                None => sizes.push((var.clone(), value)),
            }
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{Value, run_module};
    use crate::ir::verify;
    use crate::passes::tests::run_passes;
    use crate::script::parse;
    use crate::tensor::Tensor;

    /// Calls with several outputs, in place, by a closure, and of sizes that are constant in part.
    const MODULE: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def split(x: T.handle, y: T.handle, z: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        Z = T.match_buffer(z, (n,), "float32")
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)
        for i, j in T.grid(n, m):
            with T.block("Z"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    Z[vi] = T.float32(0)
                Z[vi] = Z[vi] + X[vi, vj]

    @T.prim_func
    def increase(x: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        for i in range(n):
            with T.block("X"):
                vi = T.axis.spatial(n, i)
                X[vi] = X[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((3, 4), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.call_tir(split, (x,), (R.Tensor((n, 4), "float32"), R.Tensor((n,), "float32")))
            a0 = a[0]
            b = R.call_tir(split, (w,), (R.Tensor((3, 4), "float32"), R.Tensor((3,), "float32")))
            b1 = b[1]
            c = R.call_tir_inplace(increase, (b1,), inplace_indices=[0], out_sinfo=[R.Tensor((3,), "float32")])
            d = R.call_tir(split, (a0,), (R.Tensor((n, 4), "float32"), R.Tensor((n,), "float32")))
            R.output(c, d)
        return (c, d)
"#;

    #[test]
    fn the_module_computes_the_same() {
        let before = parse("test.py", MODULE).unwrap_or_else(|e| panic!("{e}"));
        let after = run_passes(&before, &["specialize", "dead_code_elimination"]);
        graph::verify(&after).expect("well formed");
        for (_, func) in after.prim_funcs() {
            verify::prim_func(func).expect("well formed");
        }
        let names: Vec<&str> = after.prim_funcs().map(|(name, _)| name).collect();
        assert_eq!(names, ["split_4", "split_3_4", "increase_3"]);
        let values: Vec<f32> = (0..20).map(|i| i as f32).collect();
        let tensor = |shape: &[usize], len| {
            let tensor = Tensor::from_slice(shape, &values[..len]);
            Value::Tensor(tensor.expect("as many"))
        };
        let args = [tensor(&[5, 4], 20), tensor(&[3, 4], 12)];
        let run = |module| {
            let result = run_module(module, "main", &args, &Default::default());
            format!("{:?}", result.expect("runs"))
        };
        assert_eq!(run(&before), run(&after));
    }
}
