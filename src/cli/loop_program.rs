//! A call of a loop program from the command line: a graph function of the module is made for it.
//!
//! A loop program writes its results into parameters. A parameter that it writes is a result and no input; one that a tensor is
//! given for all the same (`--input`) is both: the result starts out as that tensor.

use indexmap::{IndexMap, IndexSet};

use super::args::InputArgs;
use super::error::CliError;
use super::scalars::bind_scalars;
use crate::ir::graph::{Arg, Def, DpsCallee, Function, Globals, GraphBuilder, OUTPUT_NAMES};
use crate::ir::{
    AttrValue, Buffer, Expr, ExprKind, Func, Module, Param, Place, PrimFunc, Stmt, StructInfo, Var,
};
use crate::tensor::DType;

/// A module and the graph function of it to call.
pub(crate) struct Called {
    pub(crate) module: Module,
    pub(crate) func: String,
    pub(crate) inputs: InputArgs,
}

impl Called {
    /// The function.
    pub(crate) fn function(&self) -> &Function {
        self.module
            .function(&self.func)
            .expect("it was found, or made")
    }
}

/// The module with a graph function that calls the loop program, and what is left to say of the inputs of that function.
///
/// # Errors
/// If a number or an extent is not said, what is said does not fit, or the loop program has no result.
pub(crate) fn call_of(
    func: &PrimFunc,
    module: &Module,
    inputs: &InputArgs,
) -> Result<Called, CliError> {
    let (func, inputs) = bind_scalars(func, inputs)?;
    Call::new(&func, &inputs)?.called(module)
}

/// A call of a loop program in the making.
struct Call<'a> {
    /// It has no scalar parameters any more.
    func: &'a PrimFunc,
    inputs: InputArgs,
    /// By symbolic extent of the loop program: what it is in the graph function.
    dims: IndexMap<Var, Expr>,
}

/// What a buffer parameter is to the caller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Input,
    Output,
    InOut,
}

/// A buffer parameter as the graph function sees it.
struct BufferParam<'a> {
    name: &'a str,
    role: Role,
    sinfo: StructInfo,
}

impl<'a> Call<'a> {
    fn new(func: &'a PrimFunc, inputs: &InputArgs) -> Result<Self, CliError> {
        let mut call = Self {
            func,
            inputs: inputs.clone(),
            dims: IndexMap::new(),
        };
        let mut known = IndexSet::new();
        let mut said_of_outputs = Vec::new();
        for (name, buffer, role) in call.buffers() {
            let extents = buffer.shape().iter();
            if role == Role::Output {
                let said = call.output_shape(name, buffer)?;
                said_of_outputs.extend(said.map(|said| (name, buffer, said)));
            } else {
                known.extend(extents.filter_map(Expr::as_var).cloned());
            }
        }
        // An extent that no input has must be said.
        for (name, buffer, _) in call.buffers() {
            for var in buffer.shape().iter().flat_map(Expr::free_vars) {
                let said = call.inputs.shapes.iter().find(|(n, _)| n == var.name());
                match said.map(|(_, value)| value.as_slice()) {
                    Some(&[value]) => call.fix(&var, value),
                    _ if known.contains(&var) || call.dims.contains_key(&var) => {}
                    _ => {
                        return Err(CliError::NoInput {
                            param: name.to_owned(),
                            dims: format!("dimension {}", var.name()),
                        });
                    }
                }
            }
        }
        for (name, buffer, said) in said_of_outputs {
            call.check_output(name, buffer, &said)?;
        }
        let fixed = |name: &str| {
            let mut vars = call.dims.keys();
            vars.any(|var| var.name() == name)
        };
        let shapes = call.inputs.shapes.iter();
        let left = shapes.filter(|(name, _)| !fixed(name)).cloned().collect();
        call.inputs.shapes = left;
        Ok(call)
    }

    /// Names, buffers and roles of the parameters.
    fn buffers(&self) -> Vec<(&'a str, &'a Buffer, Role)> {
        let written = written(self.func);
        let given = |name: &str| self.inputs.inputs.iter().any(|(n, _)| n == name);
        let buffer = |param: &'a Param| {
            let Param::Buffer { handle, buffer } = param else {
                return None;
            };
            let name = handle.name();
            let role = match (written.contains(buffer), given(name)) {
                (false, _) => Role::Input,
                (true, false) => Role::Output,
                (true, true) => Role::InOut,
            };
            Some((name, buffer, role))
        };
        self.func.params.iter().filter_map(buffer).collect()
    }

    /// Takes the shape of an output out of the arguments: it says the symbolic extents.
    fn output_shape(
        &mut self,
        name: &str,
        buffer: &Buffer,
    ) -> Result<Option<Vec<usize>>, CliError> {
        let found = self.inputs.shapes.iter().position(|(n, _)| n == name);
        let Some(at) = found else { return Ok(None) };
        let (_, shape) = self.inputs.shapes.remove(at);
        if shape.len() != buffer.ndim() {
            return Err(other_shape(name, buffer, &shape));
        }
        for (dim, &value) in buffer.shape().iter().zip(&shape) {
            if let Some(var) = dim.as_var() {
                self.fix(var, value);
            }
        }
        Ok(Some(shape))
    }

    /// Refuses a shape of an output that the symbolic extents contradict.
    fn check_output(
        &mut self,
        name: &str,
        buffer: &Buffer,
        said: &[usize],
    ) -> Result<(), CliError> {
        for (dim, &said_dim) in buffer.shape().iter().zip(said) {
            let extent = self.dim(name, dim)?.as_int();
            if extent.is_some_and(|extent| usize::try_from(extent) != Ok(said_dim)) {
                return Err(other_shape(name, buffer, said));
            }
        }
        Ok(())
    }

    fn fix(&mut self, var: &Var, value: usize) {
        let value = Expr::i64(i64::try_from(value).unwrap_or(i64::MAX));
        self.dims.insert(var.clone(), value);
    }

    /// The extent in a graph function, where all are `int64`.
    fn dim(&mut self, param: &str, e: &Expr) -> Result<Expr, CliError> {
        match e.kind() {
            ExprKind::Int(value) => Ok(Expr::i64(*value)),
            ExprKind::Var(var) => {
                let new = || Var::new(var.name(), DType::I64).expr();
                Ok(self.dims.entry(var.clone()).or_insert_with(new).clone())
            }
            ExprKind::Binary(op, a, b) => {
                Ok(Expr::binary(*op, self.dim(param, a)?, self.dim(param, b)?))
            }
            ExprKind::Cast(a) => self.dim(param, a),
            _ => Err(CliError::Extent {
                param: param.to_owned(),
                extent: format!("{e:#}"),
            }),
        }
    }

    fn tensors(&mut self) -> Result<Vec<BufferParam<'a>>, CliError> {
        let mut tensors = Vec::new();
        for (name, buffer, role) in self.buffers() {
            let dims = buffer.shape().iter().map(|e| self.dim(name, e));
            let sinfo = StructInfo::tensor(dims.collect::<Result<_, _>>()?, buffer.dtype());
            tensors.push(BufferParam { name, role, sinfo });
        }
        Ok(tensors)
    }

    /// The module with a graph function that calls the loop program.
    fn called(mut self, module: &Module) -> Result<Called, CliError> {
        let tensors = self.tensors()?;
        let outputs = || tensors.iter().filter(|t| t.role != Role::Input);
        let results: Vec<String> = outputs().map(|t| t.name.to_owned()).collect();
        if results.is_empty() {
            return Err(CliError::NoOutput {
                func: self.func.name.clone(),
            });
        }
        let mut module = module.clone();
        let callee = self.callee(&mut module);
        let func = free_name(&module, &format!("call_{}", self.func.name));
        let mut builder = GraphBuilder::in_module(&func, Globals::of(&module));
        let mut args = Vec::new();
        let mut inplace = Vec::new();
        for tensor in &tensors {
            if tensor.role != Role::Input {
                inplace.push((tensor.role == Role::InOut).then_some(args.len()));
            }
            if tensor.role != Role::Output {
                args.push(Arg::Value(builder.param(tensor.name, tensor.sinfo.clone())));
            }
        }
        let mut out: Vec<StructInfo> = outputs().map(|t| t.sinfo.clone()).collect();
        let (name, out) = match out.len() {
            1 => (results[0].clone(), out.remove(0)),
            _ => (self.func.name.clone(), StructInfo::Tuple(out)),
        };
        let def = Def::CallDps {
            callee: DpsCallee::Prim(callee),
            args,
            tir_vars: vec![],
            inplace: inplace.iter().any(Option::is_some).then_some(inplace),
            out: out.clone(),
        };
        let result = builder.bind_as(name, def, out);
        let mut function = builder.finish(Arg::Value(result));
        let names = results.into_iter().map(AttrValue::Str).collect();
        let names = AttrValue::List(names);
        function.attrs.insert(OUTPUT_NAMES.to_owned(), names);
        module.funcs.insert(func.clone(), Func::Graph(function));
        Ok(Called {
            module,
            func,
            inputs: self.inputs,
        })
    }

    /// Name of the loop program to call. Calls pass results last, so another order of parameters takes a copy in that order, and so do
    /// scalar parameters that are numbers now.
    fn callee(&self, module: &mut Module) -> String {
        let buffers = self.buffers();
        let fresh = |at: usize| buffers[at].2 == Role::Output;
        let count = self.func.params.len();
        let order: Vec<usize> = (0..count)
            .filter(|&at| !fresh(at))
            .chain((0..count).filter(|&at| fresh(at)))
            .collect();
        let as_written = module.prim_func(&self.func.name);
        if order.is_sorted() && as_written.is_some_and(|func| func.params.len() == count) {
            return self.func.name.clone();
        }
        let mut func = self.func.clone();
        let change = match order.is_sorted() {
            true => "bound",
            false => "outputs_last",
        };
        func.name = free_name(module, &format!("{}_{change}", func.name));
        func.params = order
            .iter()
            .map(|&at| self.func.params[at].clone())
            .collect();
        let name = func.name.clone();
        module.funcs.insert(name.clone(), Func::Prim(func));
        name
    }
}

/// The name, or the first one like it that no function has.
pub(crate) fn free_name(module: &Module, name: &str) -> String {
    let mut name = name.to_owned();
    while module.funcs.contains_key(&name) {
        name.push('_');
    }
    name
}

fn other_shape(name: &str, buffer: &Buffer, said: &[usize]) -> CliError {
    CliError::OutputShape {
        param: name.to_owned(),
        shape: buffer.shape().iter().map(|e| format!("{e:#}")).collect(),
        said: said.to_vec(),
    }
}

/// The buffers that a loop program stores to, itself or through views of their memory.
fn written(func: &PrimFunc) -> IndexSet<Buffer> {
    fn stores(stmts: &[Stmt], out: &mut IndexSet<Buffer>, views: &mut Vec<(Buffer, Buffer)>) {
        for stmt in stmts {
            if let Stmt::Store { buffer, .. } = stmt {
                out.insert(buffer.clone());
            }
            if let Stmt::View { buffer, memory, .. } = stmt
                && let ExprKind::Data(of) = memory.kind()
            {
                views.push((buffer.clone(), of.clone()));
            }
            for nested in stmt.nested() {
                stores(nested, out, views);
            }
        }
    }
    let (mut out, mut views) = (IndexSet::new(), vec![]);
    func.tree.walk(Place::Block(func.root), &mut |place| {
        if let Place::Block(id) = place {
            let writes = &func.blocks[id].writes;
            out.extend(writes.iter().map(|region| region.buffer.clone()));
        }
        stores(func.tree.body(place), &mut out, &mut views);
    });
    // A view comes after what it is a view of.
    for (view, of) in views.into_iter().rev() {
        if out.contains(&view) {
            out.insert(of);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;

    fn entry(text: &str, inputs: &InputArgs) -> Result<Called, CliError> {
        let module = script::parse("prim.py", text).unwrap_or_else(|e| panic!("{e}"));
        let (_, func) = module.prim_funcs().next().expect("a loop program");
        Call::new(func, inputs)?.called(&module)
    }

    fn main(text: &str, inputs: &InputArgs) -> String {
        let entry = entry(text, inputs).unwrap_or_else(|e| panic!("{e}"));
        crate::ir::graph::verify(&entry.module).unwrap_or_else(|e| panic!("{e:?}"));
        let text = script::print(&entry.module);
        let start = text.find("@R.function").expect("it is there");
        let lines = text[start..].lines().skip(1).map(str::trim);
        let kept = lines.filter(|l| !l.is_empty() && !l.ends_with("T.int64()"));
        kept.collect::<Vec<_>>().join("\n")
    }

    /// Outputs first, of an extent of their own, with 32-bit extents.
    const FIRST: &str = r#"
@T.prim_func
def pad(y: T.handle, x: T.handle):
    n, m = T.int32(), T.int32()
    Y = T.match_buffer(y, (m,), "float32")
    X = T.match_buffer(x, (n,), "float32")
    for i in T.grid(m):
        with T.block("Y"):
            vi = T.axis.remap("S", [i])
            Y[vi] = T.if_then_else(vi < n, X[vi], T.float32(0))
"#;

    #[test]
    fn outputs_are_results_wherever_they_stand() {
        let shapes = |shapes: &[(&str, usize)]| InputArgs {
            inputs: vec![],
            shapes: shapes
                .iter()
                .map(|(n, v)| ((*n).to_owned(), vec![*v]))
                .collect(),
        };
        let expected = "def call_pad(x: R.Tensor((\"n\",), dtype=\"float32\")) -> R.Tensor((8,), dtype=\"float32\"):\n\
             R.func_attr({\"output_names\": [\"y\"]})\n\
             cls = Module\n\
             y = R.call_tir(cls.pad_outputs_last, (x,), out_sinfo=R.Tensor((8,), dtype=\"float32\"))\n\
             return y";
        assert_eq!(main(FIRST, &shapes(&[("y", 8)])), expected);
        assert_eq!(main(FIRST, &shapes(&[("m", 8), ("x", 3)])), expected);
        let error = entry(FIRST, &shapes(&[("x", 3)]))
            .map(|_| ())
            .expect_err("m is open");
        assert_eq!(
            error.to_string(),
            "parameter `y` needs --input y=FILE.npy or --shape y=DIMS: dimension m is not known"
        );
    }

    #[test]
    fn shapes_of_outputs_that_cannot_be_are_refused() {
        let square = FIRST.replace(
            "(m,), \"float32\")\n    X",
            "(m, m, 2), \"float32\")\n    X",
        );
        let square = square.replace("Y[vi]", "Y[vi, vi, 0]");
        for said in [vec![3], vec![3, 4, 2], vec![3, 3, 5]] {
            let given = InputArgs {
                inputs: vec![],
                shapes: vec![("y".to_owned(), said.clone())],
            };
            let error = entry(&square, &given)
                .map(|_| ())
                .expect_err("no such shape");
            assert_eq!(
                error.to_string(),
                format!("the shape of `y` is (m, m, 2), which {said:?} is not")
            );
        }
    }

    #[test]
    fn an_output_that_is_given_is_changed_in_place() {
        let given = InputArgs {
            inputs: vec![("y".to_owned(), "y.npy".into())],
            shapes: vec![],
        };
        let text = main(FIRST, &given);
        assert!(
            text.contains("def call_pad(y: R.Tensor((\"m\",), dtype=\"float32\"), x: "),
            "{text}"
        );
        assert!(
            text.contains("R.call_tir_inplace(cls.pad, (y, x), "),
            "{text}"
        );
    }

    #[test]
    fn what_is_written_through_a_view_is_a_result() {
        let text = r#"
@T.prim_func
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((2, 2), "float32")):
    B_1 = T.decl_buffer((4,), "float32", data=B.data)
    B_2 = T.decl_buffer((4,), "float32", data=B_1.data)
    for i in range(4):
        B_2[i] = A[i] + T.float32(1)
"#;
        let text = main(text, &InputArgs::default());
        assert!(text.contains("R.call_tir(cls.f, (A,), "), "{text}");
    }

    #[test]
    fn what_has_no_result_is_refused() {
        let nothing =
            "@T.prim_func\ndef nothing(x: T.Buffer((4,), \"float32\")):\n    T.evaluate(0)\n";
        let error = entry(nothing, &InputArgs::default())
            .map(|_| ())
            .expect_err("no output");
        assert_eq!(
            error.to_string(),
            "loop program `nothing` writes none of its parameters"
        );
    }
}
