//! `fuse_ops_by_pattern`: calls that match a pattern become functions (Relax: `FuseOpsByPattern`).

use std::fmt;
use std::sync::Arc;

use super::composite::{annotate, composite};
use super::groups::{COMPOSITE, Constants, Groups, is_orderable, is_whole};
use super::signature::function;
use super::{Pass, PassError};
use crate::ir::graph::pattern::{DfPattern, Matches};
use crate::ir::graph::{Arg, BindingBlock, Def, Function, Globals, Scope, ValueId};
use crate::ir::{AttrValue, Attrs, Func, Module, StructInfo};

/// A pattern with a name, and what is asked of its matches (Relax: `FusionPattern`). The name begins with that of the code generator:
/// `gemm.matmul_bias`.
#[derive(Clone)]
pub struct FusionPattern {
    name: String,
    pattern: DfPattern,
    annotations: Vec<(String, DfPattern)>,
    check: Option<Arc<Check>>,
    attrs: Option<Arc<AttrsOf>>,
}

/// Whether a match is wanted.
type Check = dyn Fn(&Candidate<'_>) -> bool + Send + Sync;
/// Attributes of the function that is made of a match.
type AttrsOf = dyn Fn(&Candidate<'_>) -> Attrs + Send + Sync;

impl FusionPattern {
    /// All matches of the pattern.
    pub fn new(name: impl Into<String>, pattern: &DfPattern) -> Self {
        Self {
            name: name.into(),
            pattern: pattern.clone(),
            annotations: vec![],
            check: None,
            attrs: None,
        }
    }

    /// Gives a part of the pattern a name, for [`Candidate::annotated`].
    #[must_use]
    pub fn annotate(mut self, name: impl Into<String>, part: &DfPattern) -> Self {
        self.annotations.push((name.into(), part.clone()));
        self
    }

    /// Only matches that `check` wants.
    #[must_use]
    pub fn check(mut self, check: impl Fn(&Candidate<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// The functions have these attributes, too.
    #[must_use]
    pub fn attrs(
        mut self,
        attrs: impl Fn(&Candidate<'_>) -> Attrs + Send + Sync + 'static,
    ) -> Self {
        self.attrs = Some(Arc::new(attrs));
        self
    }
}

impl fmt::Debug for FusionPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FusionPattern")
            .field("name", &self.name)
            .field("pattern", &self.pattern)
            .finish_non_exhaustive()
    }
}

/// A match of a pattern (Relax: `PatternCheckContext`).
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The function that it is in.
    pub function: &'a Function,
    /// The value that the pattern as a whole matches.
    pub value: ValueId,
    /// What the parts of the pattern match.
    pub matches: &'a Matches,
    annotations: &'a [(String, DfPattern)],
    block: &'a BindingBlock,
    scope: &'a Scope<'a>,
}

impl Candidate<'_> {
    /// What the part of the pattern with this name matches.
    pub fn annotated(&self, name: &str) -> Option<&Arg> {
        let part = self.annotations.iter().find(|(known, _)| known == name);
        part.and_then(|(_, part)| self.matches.get(part))
    }

    /// What is known of an argument.
    pub fn sinfo(&self, arg: &Arg) -> StructInfo {
        self.scope.arg(arg)
    }

    /// The values of the dataflow block that use a value.
    pub fn users(&self, value: ValueId) -> Vec<ValueId> {
        let uses = |id: &&ValueId| {
            self.function.values[**id]
                .def
                .used_values()
                .contains(&value)
        };
        self.block.bindings.iter().filter(uses).copied().collect()
    }

    /// Whether the dataflow block passes a value out.
    pub fn is_output(&self, value: ValueId) -> bool {
        let outputs = self.block.dataflow.as_deref();
        outputs.unwrap_or_default().contains(&value)
    }
}

/// What becomes of the functions that patterns make.
#[derive(Clone, Debug)]
pub struct FuseByPattern {
    /// What becomes of tensor constants (Relax: `bind_constants`).
    pub constants: Constants,
    /// Whether each function gets another one around it, for its code generator (Relax: `annotate_codegen`).
    pub codegen: Codegen,
    /// The functions where matches are looked for; all that are not fused yet, if there are none.
    pub functions: Vec<String>,
}

/// Whether functions are for code generators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Codegen {
    /// Each one.
    Annotate,
    /// None: `merge_composite_functions` joins them first.
    Later,
}

impl Default for FuseByPattern {
    /// Constants inside, code generators later, all functions.
    fn default() -> Self {
        Self {
            constants: Constants::Inside,
            codegen: Codegen::Later,
            functions: vec![],
        }
    }
}

impl FuseByPattern {
    /// The pass that fuses by these patterns, one after the other.
    pub fn pass(self, patterns: Vec<FusionPattern>) -> Pass {
        Pass::new("fuse_ops_by_pattern", 0, move |module, _| {
            fuse_ops_by_pattern(module, &patterns, &self)
        })
    }
}

/// The module where the calls in dataflow blocks that match a pattern are calls of private functions, which have the attributes
/// `Primitive` and `Composite`, the name of the pattern. Patterns are looked for in their order, and matches in the order of the program. A
/// match that holds all of an earlier match of the same pattern takes its place. A match stays unfused where it
/// overlaps with another, where a check does not want it, and where what it computes in between is needed to compute its inputs.
///
/// ```text
/// with R.dataflow():             with R.dataflow():
///     a = R.matmul(x, w)    →        b = cls.fused_relax_matmul_relax_nn_relu(x, w)
///     b = R.nn.relu(a)               R.output(b)
///     R.output(b)
/// ```
///
/// # Errors
/// [`PassError::UnknownFunction`] if the module has no function of a name that is given.
pub fn fuse_ops_by_pattern(
    module: &Module,
    patterns: &[FusionPattern],
    options: &FuseByPattern,
) -> Result<Module, PassError> {
    let mut out = module.clone();
    for pattern in patterns {
        let names: Vec<String> = if options.functions.is_empty() {
            let open = |f: &Function| !is_whole(f) && composite(f).is_none();
            let open = out.functions().filter(|(_, f)| open(f));
            open.map(|(name, _)| name.to_owned()).collect()
        } else {
            options.functions.clone()
        };
        for name in names {
            let function = function(&out, &name)?.clone();
            if let Some(new) = fuse(&mut out, &function, pattern, options.constants) {
                out.funcs.insert(name, Func::Graph(new));
            }
        }
    }
    Ok(match options.codegen {
        Codegen::Annotate => annotate(&out),
        Codegen::Later => out,
    })
}

/// The function with calls in place of the matches; `None` if there are none.
fn fuse(
    out: &mut Module,
    function: &Function,
    pattern: &FusionPattern,
    constants: Constants,
) -> Option<Function> {
    let globals = Globals::of(out);
    let scope = Scope {
        globals: &globals,
        frames: vec![&function.values],
    };
    let mut groups = Groups::new(function);
    for block in function.blocks() {
        if block.dataflow.is_some() {
            for (members, attrs) in matches_in(block, function, pattern, &scope) {
                groups.add(block, members, attrs, constants);
            }
        }
    }
    (!groups.is_empty()).then(|| groups.replaced(out))
}

/// The matches in a dataflow block: their values in the order of the block, and the attributes of the functions.
fn matches_in(
    block: &BindingBlock,
    function: &Function,
    pattern: &FusionPattern,
    scope: &Scope<'_>,
) -> Vec<(Vec<ValueId>, Attrs)> {
    let inside: std::collections::HashSet<ValueId> = block.bindings.iter().copied().collect();
    let mut found: Vec<(Vec<ValueId>, Attrs)> = vec![];
    for &id in &block.bindings {
        let def = &function.values[id].def;
        if !matches!(def, Def::Call { .. } | Def::CallDps { .. }) {
            continue;
        }
        let within = |id: ValueId| inside.contains(&id);
        let matches = (pattern.pattern).matches_within(&Arg::Value(id), scope, &within);
        let Some(matches) = matches else {
            continue;
        };
        let candidate = Candidate {
            function,
            value: id,
            matches: &matches,
            annotations: &pattern.annotations,
            block,
            scope,
        };
        if pattern
            .check
            .as_ref()
            .is_some_and(|check| !check(&candidate))
        {
            continue;
        }
        let computed = matches.computed();
        let is_member = |member: &ValueId| *member == id || computed.contains(member);
        let overlaps = |members: &[ValueId]| members.iter().any(is_member);
        let apart = |members: &[ValueId]| members.len() > 1 && !members.iter().all(is_member);
        if found
            .iter()
            .any(|(members, _)| overlaps(members) && apart(members))
        {
            continue;
        }
        let others = found.iter().filter(|(members, _)| !overlaps(members));
        let mut groups: Vec<&[ValueId]> = others.map(|(members, _)| members.as_slice()).collect();
        let free = |id: &ValueId| !groups.iter().any(|members| members.contains(id));
        let members = block.bindings.iter().copied().filter(is_member).collect();
        let members = with_names(function, block, members, &free);
        groups.push(&members);
        if members.len() > 1 && !is_orderable(function, block, &groups) {
            continue;
        }
        let mut attrs = Attrs::new();
        attrs.insert(COMPOSITE.to_owned(), AttrValue::Str(pattern.name.clone()));
        if let Some(more) = &pattern.attrs {
            attrs.extend(more(&candidate));
        }
        found.retain(|(members, _)| !overlaps(members));
        found.push((members, attrs));
    }
    found
}

/// The values with the tuples and other names between them, as far as these are free.
fn with_names(
    function: &Function,
    block: &BindingBlock,
    mut members: Vec<ValueId>,
    free: &dyn Fn(&ValueId) -> bool,
) -> Vec<ValueId> {
    let used = |id: ValueId| function.values[id].def.used_values();
    let is_between = |id: &ValueId, members: &[ValueId]| {
        matches!(function.values[*id].def, Def::Arg(_))
            && !members.contains(id)
            && used(*id).iter().any(|used| members.contains(used))
            && members.iter().any(|member| used(*member).contains(id))
    };
    // Of a chain of names one that a member uses comes last.
    let names = block.bindings.iter().rev().filter(|id| free(id));
    let mut names: Vec<ValueId> = names.copied().collect();
    while let Some(at) = names.iter().position(|id| is_between(id, &members)) {
        members.push(names.remove(at));
    }
    let bindings = block.bindings.iter().copied();
    bindings.filter(|id| members.contains(id)).collect()
}

#[cfg(test)]
mod tests;
