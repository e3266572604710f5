//! The module around the body: directives, bindings, scalars, the entry point.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::WgslError;
use super::form::{ArrayForm, Words, array_forms};
use super::grid::needs_folding;
use super::helper::Helpers;
use super::names::{FRAGMENT_WORDS, Namer};
use super::wide::is_wide;
use crate::kernel::{
    ArrayId, Expr, FragmentId, GpuTarget, Kernel, Launch, ScalarPassing, Shader, Space, Ty, VarId,
    declared,
};
use crate::support::SideTable;
use crate::tensor::ScalarType;

/// Writes a kernel as WGSL.
///
/// # Errors
/// If the kernel uses a type or a store that the GPU does not have, or was not lowered for it.
pub fn emit(kernel: &Kernel, target: &GpuTarget) -> Result<Shader, WgslError> {
    emit_with_lines(kernel, target).map(|(shader, _)| shader)
}

/// The same, with the line of the text, counted from 1, on which each statement of the kernel begins: outer statements first.
///
/// # Errors
/// As for [`emit`].
pub fn emit_with_lines(
    kernel: &Kernel,
    target: &GpuTarget,
) -> Result<(Shader, Vec<u32>), WgslError> {
    let kernel = &*kernel.without_active(&|_| true);
    let launch = kernel.launch.as_ref().ok_or_else(|| WgslError::NoLaunch {
        kernel: kernel.name.clone(),
    })?;
    let mut emitter = Emitter::new(kernel, needs_folding(launch, target.max_grid))?;
    let scalars = kernel.scalars.len() + if emitter.folded { 3 } else { 0 };
    let bindings = kernel.bindings().count() as u32;
    let passing = match scalars as u32 * 4 {
        0 => ScalarPassing::None,
        bytes if bytes <= target.immediate_bytes => ScalarPassing::Immediates,
        _ => ScalarPassing::Uniform { binding: bindings },
    };
    let folded = emitter.folded;
    let entry = emitter.entry.clone();
    let body = emitter.function(launch)?;
    let head = emitter.module(passing)?;
    let before = head.lines().count() as u32;
    let lines = emitter.starts.iter().map(|line| before + line).collect();
    let shader = Shader {
        text: head + &body,
        entry,
        passing,
        folded,
        is_translation: true,
    };
    Ok((shader, lines))
}

/// State of writing one kernel.
pub(super) struct Emitter<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) forms: SideTable<ArrayId, ArrayForm>,
    pub(super) arrays: SideTable<ArrayId, String>,
    pub(super) vars: SideTable<VarId, String>,
    pub(super) fragment_names: SideTable<FragmentId, String>,
    /// The fields of `args`: the kernel's scalars, in order.
    fields: Vec<String>,
    pub(super) namer: Namer,
    /// Functions that the body calls.
    pub(super) helpers: Helpers,
    folded: bool,
    /// Whether the text mentions `f16`.
    half: Cell<bool>,
    entry: String,
    out: String,
    /// Lines of `out`.
    lines: u32,
    /// Where each statement so far begins, counted from 1 in `out`.
    pub(super) starts: Vec<u32>,
    indent: usize,
}

impl<'a> Emitter<'a> {
    fn new(kernel: &'a Kernel, folded: bool) -> Result<Self, WgslError> {
        let mut namer = Namer::new();
        if kernel.has_fragments() {
            namer.reserve(FRAGMENT_WORDS);
        }
        let entry = namer.name(&kernel.name);
        let mut arrays = SideTable::<ArrayId, String>::new();
        for (id, array) in kernel.arrays.iter() {
            *arrays.entry(id) = namer.name(&array.name);
        }
        let mut vars = SideTable::<VarId, String>::new();
        for (id, var) in kernel.vars.iter() {
            *vars.entry(id) = namer.name(&var.name);
        }
        let mut fragment_names = SideTable::<FragmentId, String>::new();
        for (id, fragment) in kernel.fragments.iter() {
            *fragment_names.entry(id) = namer.name(&fragment.name);
        }
        let mut fields = Vec::new();
        for (var, _) in &kernel.scalars {
            let field = std::mem::take(vars.entry(*var));
            *vars.entry(*var) = format!("args.{field}");
            fields.push(field);
        }
        let forms = array_forms(kernel, &arrays, &mut namer);
        let mut emitter = Self {
            kernel,
            forms,
            arrays,
            vars,
            fragment_names,
            fields,
            namer,
            helpers: Helpers::default(),
            folded,
            half: Cell::new(false),
            entry,
            out: String::new(),
            lines: 0,
            starts: vec![],
            indent: 0,
        };
        emitter.check_scalars()?;
        Ok(emitter)
    }

    fn check_scalars(&mut self) -> Result<(), WgslError> {
        for (var, _) in &self.kernel.scalars {
            let info = &self.kernel.vars[*var];
            let supported = matches!(
                info.ty.scalar,
                ScalarType::I32 | ScalarType::U32 | ScalarType::F32
            );
            if !supported || info.ty.lanes != 1 {
                return Err(self.unsupported(&format!("scalar `{}`", info.name), info.ty.scalar));
            }
        }
        Ok(())
    }

    /// One line of the body.
    pub(super) fn line(&mut self, text: &str) {
        self.lines += 1;
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = 4 * self.indent);
    }

    /// Notes that a statement begins.
    pub(super) fn begin(&mut self) {
        self.starts.push(self.lines + 1);
    }

    /// Opens a nested part: `head {`.
    pub(super) fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
    }

    /// Closes it, with what follows the brace.
    pub(super) fn close(&mut self, tail: &str) {
        self.indent -= 1;
        self.line(&format!("}}{tail}"));
    }

    /// Closes it and opens the other side of a branch.
    pub(super) fn otherwise(&mut self) {
        self.close(" else {");
        self.indent += 1;
    }

    pub(super) fn unsupported(&self, what: &str, dtype: ScalarType) -> WgslError {
        let hint = match dtype {
            ScalarType::F64 | ScalarType::BF16 => "; use float32",
            _ => "",
        };
        WgslError::DType {
            kernel: self.kernel.name.clone(),
            what: what.to_owned(),
            dtype,
            hint,
        }
    }

    /// The WGSL type of a value held in a variable. Narrow integers are held in a word, wide ones in two.
    pub(super) fn ty(&self, ty: Ty) -> Result<String, WgslError> {
        if is_wide(ty.scalar) && ty.lanes == 1 {
            return Ok("vec2<u32>".to_owned());
        }
        let scalar = match ty.scalar {
            ScalarType::Bool => "bool",
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 => "i32",
            ScalarType::U8 | ScalarType::U16 | ScalarType::U32 => "u32",
            ScalarType::F16 => self.half(),
            ScalarType::F32 => "f32",
            ScalarType::I64
            | ScalarType::U64
            | ScalarType::BF16
            | ScalarType::F64
            | ScalarType::Small(_) => {
                return Err(self.unsupported("a value", ty.scalar));
            }
        };
        match ty.lanes {
            1 => Ok(scalar.to_owned()),
            2..=4 => Ok(format!("vec{}<{scalar}>", ty.lanes)),
            lanes => Err(WgslError::Lanes {
                kernel: self.kernel.name.clone(),
                lanes,
            }),
        }
    }

    /// The name of the 16-bit float type, which the module enables if this is called.
    pub(super) fn half(&self) -> &'static str {
        self.half.set(true);
        "f16"
    }

    /// The type of what an array is declared with: elements, vectors of them, or words.
    fn element(&self, id: ArrayId) -> Result<String, WgslError> {
        let array = &self.kernel.arrays[id];
        let lanes = match self.forms[id] {
            ArrayForm::Words(Words::Plain) => return Ok("u32".to_owned()),
            ArrayForm::Words(Words::Atomic) => return Ok("atomic<u32>".to_owned()),
            ArrayForm::Elements(width) | ArrayForm::Variables { width, names: _ } => width,
        };
        match array.dtype {
            ScalarType::BF16 | ScalarType::F64 => {
                Err(self.unsupported(&format!("array `{}`", array.name), array.dtype))
            }
            scalar => self.ty(Ty { scalar, lanes }),
        }
    }

    /// The length of an array that is no tensor; an array without elements has one that nothing accesses.
    fn constant_len(&self, id: ArrayId) -> Result<i64, WgslError> {
        let array = &self.kernel.arrays[id];
        let len = array.len.as_const();
        let len = len.ok_or_else(|| WgslError::DynamicArray {
            kernel: self.kernel.name.clone(),
            array: array.name.clone(),
        })?;
        Ok(len.max(1))
    }

    /// The entry point with its body.
    fn function(&mut self, launch: &Launch) -> Result<String, WgslError> {
        let kernel = self.kernel;
        let [x, y, z] = match self.kernel.has_fragments() {
            true => [launch.block.iter().product(), 1, 1],
            false => launch.block,
        };
        self.line(&format!("@compute @workgroup_size({x}, {y}, {z})"));
        let groups = if self.folded {
            ", @builtin(num_workgroups) num_groups: vec3<u32>"
        } else {
            ""
        };
        let threads = match self.kernel.has_fragments() {
            true => {
                "@builtin(subgroup_id) subgroup: u32, @builtin(subgroup_invocation_id) lane: u32"
            }
            false => "@builtin(local_invocation_id) thread_idx: vec3<u32>",
        };
        self.open(&format!(
            "fn {}(@builtin(workgroup_id) block_idx: vec3<u32>, {threads}{groups})",
            self.entry
        ));
        self.ids();
        self.locals()?;
        self.fragments()?;
        if self.folded {
            self.open("if (group < args.grid_x * args.grid_y * args.grid_z)");
        }
        self.body(&kernel.body)?;
        if self.folded {
            self.close("");
        }
        self.close("");
        Ok(std::mem::take(&mut self.out))
    }

    /// Names for the places in the launch that the body uses.
    fn ids(&mut self) {
        let mut used = BTreeSet::new();
        for stmt in &self.kernel.body {
            stmt.walk_exprs(&mut |e| match e {
                Expr::BlockIdx(dim) => drop(used.insert((0, *dim))),
                Expr::ThreadIdx(dim) => drop(used.insert((1, *dim))),
                _ => (),
            });
        }
        if self.folded {
            self.line("let group = block_idx.x + block_idx.y * num_groups.x;");
        }
        for (kind, dim) in used {
            let axis = ['x', 'y', 'z'][usize::from(dim.min(2))];
            let rows = self
                .kernel
                .launch
                .as_ref()
                .map_or(1, |launch| launch.block[1]);
            let value = match (kind, self.folded, dim) {
                (1, _, 0) if self.kernel.has_fragments() => "lane".to_owned(),
                (1, _, 1) if self.kernel.has_fragments() => format!("subgroup % {rows}u"),
                (1, _, _) if self.kernel.has_fragments() => format!("subgroup / {rows}u"),
                (1, _, _) => format!("thread_idx.{axis}"),
                (_, false, _) => format!("block_idx.{axis}"),
                (_, true, 0) => "group % args.grid_x".to_owned(),
                (_, true, 1) => "(group / args.grid_x) % args.grid_y".to_owned(),
                (_, true, _) => "group / (args.grid_x * args.grid_y)".to_owned(),
            };
            self.line(&format!(
                "let {}{axis} = i32({value});",
                if kind == 1 { 't' } else { 'b' }
            ));
        }
    }

    /// Variables for the arrays in registers.
    fn locals(&mut self) -> Result<(), WgslError> {
        let kernel = self.kernel;
        let locals = kernel.arrays.iter();
        for (id, _) in locals.filter(|(_, array)| array.space == Space::Local) {
            let (name, element) = (self.arrays[id].clone(), self.element(id)?);
            match self.forms[id].clone() {
                ArrayForm::Variables { width: _, names } => {
                    for name in names {
                        self.line(&format!("var {name}: {element};"));
                    }
                }
                ArrayForm::Elements(_) | ArrayForm::Words(_) => {
                    let len = self.constant_len(id)?;
                    self.line(&format!("var {name}: array<{element}, {len}>;"));
                }
            }
        }
        Ok(())
    }

    /// Everything before the entry point.
    fn module(&mut self, passing: ScalarPassing) -> Result<String, WgslError> {
        let kernel = self.kernel;
        let mut text = String::new();
        for comment in kernel.comment.lines() {
            let _ = writeln!(text, "// {comment}");
        }
        for (binding, (id, _, _, access)) in kernel.bindings().enumerate() {
            let (name, element) = (&self.arrays[id], self.element(id)?);
            let declared = declared(binding as u32, access);
            let _ = writeln!(text, "{declared}{name}: array<{element}>;");
        }
        for (id, _) in kernel
            .arrays
            .iter()
            .filter(|(_, a)| a.space == Space::Shared)
        {
            let width = match self.forms[id] {
                ArrayForm::Elements(width) => i64::from(width),
                ArrayForm::Variables { .. } | ArrayForm::Words(_) => 1,
            };
            let groups = (self.constant_len(id)? + width - 1) / width;
            let _ = writeln!(
                text,
                "var<workgroup> {}: array<{}, {groups}>;",
                self.arrays[id],
                self.element(id)?
            );
        }
        if passing != ScalarPassing::None {
            self.scalars(&mut text, passing)?;
        }
        text.push('\n');
        text.push_str(&self.helpers.text());
        let mut head = String::new();
        if self.half.get() {
            head += "enable f16;\n";
        }
        if self.kernel.has_fragments() {
            head += "enable wgpu_cooperative_matrix;\n";
        }
        if !head.is_empty() {
            text.insert_str(0, &(head + "\n"));
        }
        Ok(text)
    }

    fn scalars(&self, text: &mut String, passing: ScalarPassing) -> Result<(), WgslError> {
        text.push_str("struct Args {\n");
        for ((var, _), field) in self.kernel.scalars.iter().zip(&self.fields) {
            let _ = writeln!(
                text,
                "    {field}: {},",
                self.ty(self.kernel.vars[*var].ty)?
            );
        }
        if self.folded {
            text.push_str("    grid_x: u32,\n    grid_y: u32,\n    grid_z: u32,\n");
        }
        text.push_str("}\n");
        match passing {
            ScalarPassing::Uniform { binding } => {
                let _ = writeln!(
                    text,
                    "@group(0) @binding({binding}) var<uniform> args: Args;"
                );
            }
            ScalarPassing::Immediates | ScalarPassing::None => {
                text.push_str("var<immediate> args: Args;\n")
            }
        }
        Ok(())
    }
}
