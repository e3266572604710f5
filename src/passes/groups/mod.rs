//! Groups of values in dataflow blocks become calls of functions that compute them.
//!
//! `fuse_ops`, `fuse_ops_by_pattern` and `merge_composite_functions` decide which values belong together. `group` makes a function
//! of each group; [`Groups`] puts calls of these functions in place of the groups.

mod group;

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

pub use self::group::Constants;
use self::group::Group;
use super::bodies::for_each_body;
use crate::ir::graph::{
    Arg, Become, BindingBlock, Callee, Def, Function, Globals, Old, Rewriter, ValueId, rewrite,
};
use crate::ir::{AttrValue, Attrs, Expr, Func, Module, Origin, Var, alpha_eq};

/// The attribute of functions that are computed as a whole.
pub(super) const PRIMITIVE: &str = "Primitive";
/// The attribute of functions that match a pattern: the name of the pattern.
pub(super) const COMPOSITE: &str = "Composite";
/// The attribute of functions that an external code generator compiles: its name.
pub(super) const CODEGEN: &str = "Codegen";

/// Whether the function is computed as a whole, or an external code generator compiles it.
pub(super) fn is_whole(function: &Function) -> bool {
    let set = |v: &AttrValue| v.as_int().is_some_and(|v| v != 0);
    function.attrs.get(PRIMITIVE).is_some_and(set) || function.attrs.contains_key(CODEGEN)
}

/// The groups of one function. No value is in two groups, and none is needed both to compute a group and after it.
pub(super) struct Groups<'f> {
    function: &'f Function,
    all: Vec<Group>,
    /// By value: its group.
    of: HashMap<ValueId, usize>,
    needs: Needs<'f>,
}

impl<'f> Groups<'f> {
    pub(super) fn new(function: &'f Function) -> Self {
        Self {
            function,
            all: vec![],
            of: HashMap::new(),
            needs: Needs::of(function),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Makes a group of values of a dataflow block, which are in the order of the block. The function of the group has these
    /// attributes, and is `Primitive`.
    pub(super) fn add(
        &mut self,
        block: &BindingBlock,
        members: Vec<ValueId>,
        attrs: Attrs,
        constants: Constants,
    ) {
        let index = self.all.len();
        self.of.extend(members.iter().map(|id| (*id, index)));
        let outputs = used_outside(self.function, block, &members);
        let group = Group::new(self.function, members, &outputs, attrs, constants);
        self.all.push(group);
    }

    /// The function with calls in place of the groups; the functions that they call are added to `out`.
    pub(super) fn replaced(&self, out: &mut Module) -> Function {
        let ordered = self.in_order();
        let globals = Globals::of(out);
        let Ok(new) = rewrite::<Infallible>(&ordered, &globals, &mut |rewriter, old| {
            Ok(self.replace(out, rewriter, old))
        });
        new
    }

    /// The function with the values of each group next to each other, after all that they use.
    fn in_order(&self) -> Function {
        let mut ordered = self.function.clone();
        for_each_body(&mut ordered, &mut |body| {
            for block in &mut body.blocks {
                if block.dataflow.is_some()
                    && block.bindings.iter().any(|id| self.of.contains_key(id))
                {
                    let bindings: HashSet<ValueId> = block.bindings.iter().copied().collect();
                    let mut sorted = Sorted::default();
                    for &id in &block.bindings {
                        self.place(&bindings, id, &mut sorted);
                    }
                    block.bindings = sorted.order;
                }
            }
        });
        ordered
    }

    /// Adds a value with its group, after what they use.
    fn place(&self, bindings: &HashSet<ValueId>, id: ValueId, sorted: &mut Sorted) {
        if sorted.seen.contains(&id) || !bindings.contains(&id) {
            return;
        }
        let alone = [id];
        let members = match self.of.get(&id) {
            Some(&group) => self.all[group].members.as_slice(),
            None => &alone,
        };
        sorted.seen.extend(members);
        for &member in members {
            for needed in self.needs.all(member) {
                self.place(bindings, needed, sorted);
            }
        }
        sorted.order.extend(members);
    }

    /// The last value of a group becomes the call, the others vanish; other values get the items of its result.
    fn replace(&self, out: &mut Module, rewriter: &mut Rewriter<'_>, old: Old<'_>) -> Become {
        let group = self.of.get(&old.id).filter(|_| old.depth == 0);
        let Some(group) = group.map(|&index| &self.all[index]) else {
            return Become::Kept;
        };
        if group.members.last() != Some(&old.id) || group.outputs.is_empty() {
            return Become::Nothing;
        }
        let name = add_function(out, &group.name, &group.function);
        let mut args = vec![];
        for (arg, item) in &group.args {
            let arg = rewriter.arg(arg);
            let Some(index) = item else {
                args.push(arg);
                continue;
            };
            let item = rewriter.builder().bind("lv", Def::TupleItem(arg, *index));
            args.push(Arg::Value(
                item.expect("the group has this element of the tuple"),
            ));
        }
        let call = Def::Call {
            callee: Callee::Global(name),
            args,
            attrs: Attrs::new(),
            sinfo_args: vec![],
        };
        let ret = group.ret.clone();
        let members = group.members.iter();
        let origins = members.map(|&id| &self.function.values[id].origin);
        rewriter.builder().set_origin(Origin::of_all(origins));
        match group.outputs.as_slice() {
            [(output, name)] => {
                let call = rewriter.builder().bind_as(name.as_str(), call, ret);
                rewriter.replace(*output, Arg::Value(call));
            }
            outputs => {
                let call = rewriter.builder().bind_as("lv", call, ret);
                // The items stand in the order of the block.
                for &id in &group.members {
                    let index = outputs.iter().position(|(output, _)| *output == id);
                    let Some(index) = index else { continue };
                    let (output, name) = &outputs[index];
                    let item = Def::TupleItem(Arg::Value(call), index);
                    let info = group.items[index].clone();
                    let item = rewriter.builder().bind_as(name.as_str(), item, info);
                    rewriter.replace(*output, Arg::Value(item));
                }
            }
        }
        Become::Nothing
    }
}

/// What must come before a value: those that it uses, and those that define the symbolic variables in it.
struct Needs<'f> {
    function: &'f Function,
    /// By symbolic variable: the `match_cast` that defines it.
    definitions: HashMap<Var, ValueId>,
}

impl<'f> Needs<'f> {
    fn of(function: &'f Function) -> Self {
        let params = function.params.iter();
        let params = params.flat_map(|id| function.values[*id].sinfo.defined_vars());
        let params: HashSet<Var> = params.collect();
        let mut definitions = HashMap::new();
        for (id, value) in function.values.iter() {
            if let Def::MatchCast(_, sinfo) = &value.def {
                // A variable of a parameter is there already: the cast compares it.
                let vars = sinfo.defined_vars().into_iter();
                for var in vars.filter(|var| !params.contains(var)) {
                    definitions.entry(var).or_insert(id);
                }
            }
        }
        Self {
            function,
            definitions,
        }
    }

    fn all(&self, id: ValueId) -> Vec<ValueId> {
        let value = &self.function.values[id];
        let mut all = value.def.used_values();
        if self.definitions.is_empty() {
            return all;
        }
        let exprs = value.def.exprs().into_iter().flat_map(Expr::free_vars);
        let vars = exprs.chain(value.sinfo.free_vars());
        let definitions = vars.filter_map(|var| self.definitions.get(&var).copied());
        all.extend(definitions.filter(|definition| *definition != id));
        all
    }
}

/// Values of a block in a new order.
#[derive(Default)]
struct Sorted {
    order: Vec<ValueId>,
    /// Those in `order`, and those that are about to be.
    seen: HashSet<ValueId>,
}

/// The members that others use: the outputs of the block, then the others in the order in which the block uses them first.
fn used_outside(function: &Function, block: &BindingBlock, members: &[ValueId]) -> Vec<ValueId> {
    let leaves = |id: &&ValueId| block.dataflow.iter().flatten().any(|output| output == *id);
    let mut outputs: Vec<ValueId> = members.iter().filter(leaves).copied().collect();
    for id in block.bindings.iter().filter(|id| !members.contains(id)) {
        for used in function.values[*id].def.used_values() {
            if members.contains(&used) && !outputs.contains(&used) {
                outputs.push(used);
            }
        }
    }
    outputs
}

/// Whether the groups of a dataflow block can be computed one after the other, each as a whole.
pub(super) fn is_orderable(
    function: &Function,
    block: &BindingBlock,
    groups: &[&[ValueId]],
) -> bool {
    // The first member of a group stands for all.
    let mut of: HashMap<ValueId, ValueId> = block.bindings.iter().map(|id| (*id, *id)).collect();
    for members in groups {
        of.extend(members.iter().map(|id| (*id, members[0])));
    }
    let of_value = Needs::of(function);
    let mut needs: HashMap<ValueId, HashSet<ValueId>> = HashMap::new();
    let mut users: HashMap<ValueId, Vec<ValueId>> = HashMap::new();
    for id in &block.bindings {
        let own = of[id];
        let needed = needs.entry(own).or_default();
        for used in of_value.all(*id) {
            if let Some(&used) = of.get(&used).filter(|used| **used != own)
                && needed.insert(used)
            {
                users.entry(used).or_default().push(own);
            }
        }
    }
    let count = needs.len();
    let free = |needs: &HashSet<ValueId>| needs.is_empty();
    let ready = needs.iter().filter(|(_, needs)| free(needs));
    let mut ready: Vec<ValueId> = ready.map(|(id, _)| *id).collect();
    let mut done = 0;
    while let Some(id) = ready.pop() {
        done += 1;
        for user in users.remove(&id).unwrap_or_default() {
            if let Some(left) = needs.get_mut(&user)
                && left.remove(&id)
                && free(left)
            {
                ready.push(user);
            }
        }
    }
    done == count
}

/// Adds a private function and gives its name: `name`, with a number if another function has it. An equal one that is there is
/// taken instead.
pub(super) fn add_function(module: &mut Module, name: &str, function: &Function) -> String {
    let mut free = name.to_owned();
    let mut count = 0;
    loop {
        match module.funcs.get(&free) {
            None => break,
            Some(Func::Graph(other)) if alpha_eq::function(other, function).is_ok() => return free,
            Some(_) => {
                count += 1;
                free = format!("{name}{count}");
            }
        }
    }
    let mut function = function.with_own_vars();
    function.name.clone_from(&free);
    module.funcs.insert(free.clone(), Func::Graph(function));
    free
}
