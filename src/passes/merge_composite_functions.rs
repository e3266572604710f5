//! `merge_composite_functions`: composite functions of one code generator that use each other become one function (Relax:
//! `MergeCompositeFunctions`).

use std::collections::{HashMap, HashSet};

use super::PassError;
use super::composite::{called, codegen, enclose};
use super::dead_code_elimination::dead_code_elimination;
use super::groups::{CODEGEN, Constants, Groups};
use super::signature::function;
use crate::ir::graph::{Arg, Def, Function, ValueId};
use crate::ir::{AttrValue, Attrs, Func, Module, StructInfo};
use indexmap::{IndexMap, IndexSet};

/// The module where `main` calls public functions with the attribute `Codegen` instead of composite functions. A call is joined
/// with those calls for the same code generator that it uses, unless others of its arguments need their results.
///
/// ```text
/// with R.dataflow():                                       with R.dataflow():
///     a = cls.fused_conv2d(x, w)  # dnnl.conv2d       →        b = cls.fused_conv2d_relu_dnnl(x, w)
///     b = cls.fused_relu(a)       # dnnl.relu                  R.output(b)
///     R.output(b)
/// ```
///
/// # Errors
/// [`PassError::UnknownFunction`] if the module has no `main`.
pub(super) fn merge_composite_functions(
    module: &Module,
    entries: &IndexSet<String>,
) -> Result<Module, PassError> {
    let main = function(module, "main")?;
    let mut regions = Regions::new(module, main);
    main.for_each_binding(&mut |id, value| regions.assign(id, &value.def));
    let mut out = module.clone();
    let mut groups = Groups::new(main);
    for block in main.blocks().into_iter().filter(|b| b.dataflow.is_some()) {
        for (codegen, members) in regions.of_block(&block.bindings) {
            let codegen = AttrValue::Str(codegen);
            let attrs = Attrs::from_iter([(CODEGEN.to_owned(), codegen)]);
            groups.add(block, members, attrs, Constants::Passed);
        }
    }
    if !groups.is_empty() {
        let new = groups.replaced(&mut out);
        out.funcs.insert("main".to_owned(), Func::Graph(new));
    }
    let made = |name: &str| !module.funcs.contains_key(name);
    let out = enclose(&out, &made);
    let mut entries = entries.clone();
    entries.insert("main".to_owned());
    Ok(dead_code_elimination(&out, &entries))
}

/// Which values of a function are computed together.
struct Regions<'m> {
    module: &'m Module,
    function: &'m Function,
    /// By value: its region, or one that was joined with it.
    of: HashMap<ValueId, usize>,
    all: Vec<Region>,
    /// Values from which nothing but items is taken.
    only_items: HashSet<ValueId>,
}

#[derive(Default)]
struct Region {
    /// Who compiles it.
    codegen: Option<String>,
    /// The region that it was joined with.
    joined: Option<usize>,
    /// The regions whose results it needs, directly or through others.
    needs: HashSet<usize>,
}

impl<'m> Regions<'m> {
    fn new(module: &'m Module, function: &'m Function) -> Self {
        let mut regions = Self {
            module,
            function,
            of: HashMap::new(),
            all: vec![],
            only_items: only_items(function),
        };
        for &param in &function.params {
            let region = regions.open(None);
            regions.of.insert(param, region);
        }
        regions
    }

    fn open(&mut self, codegen: Option<String>) -> usize {
        self.all.push(Region {
            codegen,
            ..Region::default()
        });
        self.all.len() - 1
    }

    fn root(&self, mut at: usize) -> usize {
        while let Some(next) = self.all[at].joined {
            at = next;
        }
        at
    }

    fn region(&self, id: ValueId) -> Option<usize> {
        self.of.get(&id).map(|&at| self.root(at))
    }

    /// The region of a value; its operands have theirs.
    fn assign(&mut self, id: ValueId, def: &Def) {
        let region = match def {
            Def::Arg(Arg::Value(other)) => self.region(*other),
            Def::Arg(Arg::Tuple(items)) => self.of_tuple(id, items),
            Def::TupleItem(Arg::Value(tuple), _) => self.of_item(*tuple),
            _ => called(def).and_then(|(callee, args)| self.of_call(callee, args)),
        };
        let region = region.unwrap_or_else(|| {
            let callee = called(def).and_then(|(name, _)| self.module.function(name));
            let codegen = callee.and_then(codegen).map(str::to_owned);
            self.open(codegen)
        });
        self.need(region, &def.used_values());
        self.of.insert(id, region);
    }

    /// The region that a call of a composite function is joined with, after those that it uses have been joined.
    fn of_call(&mut self, callee: &str, args: &[Arg]) -> Option<usize> {
        let codegen = codegen(self.module.function(callee)?)?.to_owned();
        let mut needed = HashSet::new();
        for arg in args {
            for region in arg.values().into_iter().filter_map(|id| self.region(id)) {
                needed.extend(&self.all[region].needs);
                // A tuple is made before the call.
                if matches!(arg, Arg::Tuple(_)) {
                    needed.insert(region);
                }
            }
        }
        let mut joins: Vec<usize> = vec![];
        for arg in args {
            let Arg::Value(id) = arg else { continue };
            let same = |at: &usize| self.all[*at].codegen.as_ref() == Some(&codegen);
            let region = self.region(*id).filter(same);
            joins.extend(region.filter(|at| !needed.contains(at) && !joins.contains(at)));
        }
        let (&first, others) = joins.split_first()?;
        others.iter().for_each(|&other| self.join(other, first));
        Some(first)
    }

    /// A tuple of tensors of one region belongs to it if only items are taken from it.
    fn of_tuple(&self, id: ValueId, items: &[Arg]) -> Option<usize> {
        let regions = items.iter().map(|item| match item {
            Arg::Value(id) => self.region(*id),
            _ => None,
        });
        let mut regions = regions.collect::<Option<Vec<_>>>()?;
        regions.dedup();
        match regions.as_slice() {
            [region] => Some(*region).filter(|&at| self.may_join(id, at)),
            _ => None,
        }
    }

    /// An item of a tuple belongs to the region of the tuple if only items are taken from that.
    fn of_item(&self, tuple: ValueId) -> Option<usize> {
        self.region(tuple).filter(|&at| self.may_join(tuple, at))
    }

    fn may_join(&self, tuple: ValueId, region: usize) -> bool {
        let tensors = match &self.function.values[tuple].sinfo {
            StructInfo::Tuple(items) => items.iter().all(|item| item.as_tensor().is_some()),
            _ => false,
        };
        tensors && self.only_items.contains(&tuple) && self.all[region].codegen.is_some()
    }

    fn need(&mut self, region: usize, used: &[ValueId]) {
        let used = used.iter().filter_map(|&id| self.region(id));
        let used: HashSet<usize> = used.filter(|&used| used != region).collect();
        for &used in &used {
            let needs = self.all[used].needs.clone();
            self.all[region].needs.extend(needs);
        }
        self.all[region].needs.extend(used);
    }

    fn join(&mut self, from: usize, to: usize) {
        let needs = std::mem::take(&mut self.all[from].needs);
        self.all[to].needs.extend(needs);
        self.all[from].joined = Some(to);
        for region in &mut self.all {
            if region.needs.remove(&from) {
                region.needs.insert(to);
            }
        }
    }

    /// The regions in a block that somebody else compiles, with their values there.
    fn of_block(&self, bindings: &[ValueId]) -> Vec<(String, Vec<ValueId>)> {
        let mut members: IndexMap<usize, Vec<ValueId>> = IndexMap::new();
        for &id in bindings {
            if let Some(region) = self.region(id) {
                members.entry(region).or_default().push(id);
            }
        }
        let members = members.into_iter();
        let known = members.map(|(at, members)| Some((self.all[at].codegen.clone()?, members)));
        known.flatten().collect()
    }
}

/// Tuples of which, under all their names, only items are used, and at least one.
fn only_items(function: &Function) -> HashSet<ValueId> {
    /// The value that is meant by a name for it.
    fn source(function: &Function, id: ValueId) -> ValueId {
        match &function.values[id].def {
            Def::Arg(Arg::Value(other)) => source(function, *other),
            _ => id,
        }
    }
    let (mut items, mut whole) = (HashSet::new(), HashSet::new());
    for block in function.blocks() {
        let outputs = block.dataflow.iter().flatten();
        whole.extend(outputs.map(|&id| source(function, id)));
    }
    let result = function.body.result.values();
    whole.extend(result.into_iter().map(|id| source(function, id)));
    for (_, value) in function.values.iter() {
        for used in value.def.used_values() {
            match &value.def {
                Def::TupleItem(Arg::Value(_), _) => items.insert(source(function, used)),
                Def::Arg(Arg::Value(_)) => false,
                _ => whole.insert(source(function, used)),
            };
        }
    }
    let values = function.values.iter();
    values
        .map(|(id, _)| id)
        .filter(|&id| items.contains(&source(function, id)))
        .filter(|&id| !whole.contains(&source(function, id)))
        .collect()
}
