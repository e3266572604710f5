//! [`Executable`]: what the compiler makes and the machine runs.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::{Callee, Constant, Function, Instr, Pc, ShapeFunc, Signature};
use crate::kernel::{LoweredFunc, Shader, Target};
use crate::support::arena::Id;

/// The entry of the metadata that lists weights.
const WEIGHTS: &str = "weights";

/// A lowered loop program with the code of its kernels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelFunc {
    /// Kernel IR: what the CPU compiles when the artifact is loaded, and what both devices launch from.
    pub func: LoweredFunc,
    /// For the GPU: a shader for each kernel. Empty for the CPU.
    pub wgsl: Vec<Shader>,
    /// Numbers in [`Executable::kernels`] of the same program for certain sizes, at most 16, in the order in which a launch tries them.
    pub variants: Vec<u32>,
}

impl KernelFunc {
    /// Whether it runs on the CPU, as all of an executable for the CPU do, and those of an executable for a GPU that work on memory
    /// of the host.
    pub fn is_native(&self) -> bool {
        self.wgsl.is_empty() && !self.func.kernels.is_empty()
    }
}

/// A compiled module.
#[derive(Clone, Debug)]
pub struct Executable {
    /// What it was compiled for.
    pub target: Target,
    /// Functions in bytecode.
    pub functions: Vec<Function>,
    /// What the functions of the module take and give, by name; those that the compiler made are left out.
    pub signatures: IndexMap<String, Signature>,
    /// What calls can call.
    pub callees: Vec<Callee>,
    /// The constant pool.
    pub constants: Vec<Constant>,
    /// Instructions of all functions.
    pub code: Vec<Instr>,
    /// Where instructions come from: the first of each run of them, in order, and what the author calls it; empty where nothing is
    /// known.
    pub origins: Vec<(Pc, String)>,
    /// Shape functions.
    pub shape_funcs: Vec<ShapeFunc>,
    /// Lowered loop programs.
    pub kernels: Vec<KernelFunc>,
    /// The module as TVMScript.
    pub script: String,
    /// By loop program: how it was scheduled, as a printed trace.
    pub traces: IndexMap<String, String>,
    /// Anything else that is worth knowing, as the version of the compiler.
    pub metadata: IndexMap<String, String>,
}

impl Executable {
    /// An executable without functions.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            functions: vec![],
            signatures: IndexMap::new(),
            callees: vec![],
            constants: vec![],
            code: vec![],
            origins: vec![],
            shape_funcs: vec![],
            kernels: vec![],
            script: String::new(),
            traces: IndexMap::new(),
            metadata: IndexMap::new(),
        }
    }

    /// Where an instruction comes from, if that is known.
    pub fn origin(&self, instr: Pc) -> Option<&str> {
        let next = self.origins.partition_point(|(first, _)| *first <= instr);
        let (_, origin) = self.origins.get(next.checked_sub(1)?)?;
        (!origin.is_empty()).then_some(origin)
    }

    /// Where the first call of this packed function comes from, if that is known.
    pub fn first_call(&self, packed: &str) -> Option<&str> {
        let calls = self.code.iter().position(|instr| match instr {
            Instr::Call { callee, .. } => {
                let callee = self.callees.get(*callee as usize);
                matches!(callee, Some(Callee::Packed(name)) if name == packed)
            }
            _ => false,
        });
        self.origin(Pc::from_index(calls?))
    }

    /// The programs that a launch of a lowered loop program may run, itself the last: it takes the first one whose parameters have the
    /// shapes of the arguments and whose assertions hold: those are comparisons of sizes, ranges and remainders.
    pub fn variants(&self, kernel: usize) -> impl Iterator<Item = usize> {
        let variants = self.kernels[kernel].variants.iter();
        variants.map(|at| *at as usize).chain([kernel])
    }

    /// Whether a launch chooses a lowered loop program among several.
    pub fn is_chosen(&self, kernel: usize) -> bool {
        let mut all = self.kernels.iter().flat_map(|func| &func.variants);
        !self.kernels[kernel].variants.is_empty() || all.any(|at| *at as usize == kernel)
    }

    /// The function with this name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name == name)
    }

    /// The names of the weights that it was compiled without, in the order in which the function takes them that prepares weights.
    pub fn weights(&self) -> Vec<String> {
        let names = self.metadata.get(WEIGHTS);
        let names = names.and_then(|names| serde_json::from_str(names).ok());
        names.unwrap_or_default()
    }

    /// Notes the names of the weights that it was compiled without.
    pub fn set_weights(&mut self, names: &[String]) {
        let names = serde_json::Value::from(names).to_string();
        self.metadata.insert(WEIGHTS.to_owned(), names);
    }

    /// The name of a callee.
    pub fn callee_name<'a>(&'a self, callee: &'a Callee) -> &'a str {
        let found = match callee {
            Callee::Function(i) => self.functions.get(*i as usize).map(|f| f.name.as_str()),
            Callee::Kernel(i) => self.kernels.get(*i as usize).map(|k| k.func.name.as_str()),
            Callee::ShapeFunc(i) => self.shape_funcs.get(*i as usize).map(|f| f.name.as_str()),
            Callee::Packed(name) => Some(name.as_str()),
            Callee::Builtin(builtin) => Some(builtin.name()),
        };
        found.unwrap_or("?")
    }
}
