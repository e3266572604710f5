//! `lambda_lift`: functions inside of functions become functions of the module (Relax: `LambdaLift`).

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use crate::ir::graph::{
    Arg, Become, BindingBlock, Body, Callee, Def, Function, Globals, Value, ValueId, rewrite,
};
use crate::ir::{Attrs, Func, Module, Origin, ShapeInfo, StructInfo, Var};
use crate::ops;

/// The module without functions inside of functions. One that uses nothing of the functions around becomes a private function, and
/// its calls become calls of that. Of another one the function takes what it uses after its parameters, and a closure binds
/// these; symbolic variables of the functions around that its parameters do not define are passed in a shape.
///
/// ```text
/// def main(x, y):                       def main_f(a, y): return R.add(a, y)
///     def f(a): return R.add(a, y)  →   def main(x, y):
///     z = f(x)                              f = R.make_closure(main_f, (y,))
///     return z                              z = R.invoke_pure_closure(f, (x,), …)
///                                           return z
/// ```
pub(super) fn lambda_lift(module: &Module) -> Module {
    let mut lifter = Lifter {
        names: names(module),
        lifted: IndexMap::new(),
    };
    let mut out = module.clone();
    for (name, func) in &mut out.funcs {
        if let Func::Graph(function) = func {
            lifter.function(function, &mut vec![name.clone()]);
        }
    }
    for (name, function) in lifter.lifted {
        out.funcs.insert(name, Func::Graph(function));
    }
    // Bindings that went leave values behind.
    let globals = Globals::of(&out);
    for func in out.funcs.values_mut() {
        if let Func::Graph(function) = func {
            let Ok(new) = rewrite::<std::convert::Infallible>(function, &globals, &mut |_, _| {
                Ok(Become::Kept)
            });
            *function = new;
        }
    }
    out
}

/// Where a function stands: the names of the functions around it and its own.
type Path = Vec<String>;

/// A name for each function inside of another one: that of the outermost function and its own; if several would have it, those of
/// all functions around it; if that is not enough, a number.
fn names(module: &Module) -> HashMap<Path, Vec<String>> {
    let mut left = vec![];
    for (name, function) in module.functions() {
        inner_paths(function, &mut vec![name.to_owned()], &mut left);
    }
    let short = |path: &Path| format!("{}_{}", path[0], path[path.len() - 1]);
    let mut taken: HashSet<String> = module.funcs.keys().cloned().collect();
    let mut given: HashMap<usize, String> = HashMap::new();
    for (at, (_, symbol)) in left.iter().enumerate() {
        if let Some(symbol) = symbol.clone().filter(|symbol| taken.insert(symbol.clone())) {
            given.insert(at, symbol);
        }
    }
    let mut counts: HashMap<String, usize> = HashMap::new();
    for attempt in [Attempt::Short, Attempt::Whole, Attempt::Numbered] {
        let mut proposed: IndexMap<String, Vec<usize>> = IndexMap::new();
        for (at, (path, _)) in left.iter().enumerate() {
            if given.contains_key(&at) {
                continue;
            }
            let name = match attempt {
                Attempt::Short => short(path),
                Attempt::Whole if path.len() == 2 => continue,
                Attempt::Whole => path.join("_"),
                Attempt::Numbered => loop {
                    let count = counts.entry(short(path)).or_default();
                    let name = format!("{}_{count}", short(path));
                    *count += 1;
                    if !taken.contains(&name) {
                        break name;
                    }
                },
            };
            proposed.entry(name).or_default().push(at);
        }
        for (name, who) in proposed {
            if let ([at], true) = (who.as_slice(), taken.insert(name.clone())) {
                given.insert(*at, name);
            }
        }
    }
    let mut names: HashMap<Path, Vec<String>> = HashMap::new();
    // Several functions may stand at one path; they are met in this order again, the last first.
    for (at, (path, _)) in left.into_iter().enumerate().rev() {
        names.entry(path).or_default().push(given[&at].clone());
    }
    names
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    Short,
    Whole,
    Numbered,
}

fn inner_paths(function: &Function, path: &mut Path, out: &mut Vec<(Path, Option<String>)>) {
    function.for_each_binding(&mut |_, value| {
        if let Def::Function(inner) = &value.def {
            path.push(value.name.clone());
            let symbol = inner.attrs.get("global_symbol");
            let symbol = symbol.and_then(|s| s.as_str()).map(str::to_owned);
            out.push((path.clone(), symbol));
            inner_paths(inner, path, out);
            path.pop();
        }
    });
}

struct Lifter {
    names: HashMap<Path, Vec<String>>,
    lifted: IndexMap<String, Function>,
}

/// What has become of functions inside of the one that is looked at.
#[derive(Default)]
struct Local {
    /// Those that are functions of the module now.
    global: HashMap<ValueId, String>,
    /// Those that are closures now, with whether their calls have no side effects.
    closures: HashMap<ValueId, bool>,
    /// Names for this function itself and for functions of the module: what they call, and what follows the arguments.
    own: HashMap<ValueId, (String, Vec<Arg>)>,
}

impl Lifter {
    fn function(&mut self, function: &mut Function, path: &mut Path) {
        self.lift(function, path, Local::default());
    }

    fn lift(&mut self, function: &mut Function, path: &mut Path, mut local: Local) {
        let mut body = function.body.clone();
        self.body(function, &mut body, path, &mut local);
        function.body = body;
    }

    fn body(
        &mut self,
        function: &mut Function,
        body: &mut Body,
        path: &mut Path,
        local: &mut Local,
    ) {
        for block in &mut body.blocks {
            let mut bindings = vec![];
            for id in std::mem::take(&mut block.bindings) {
                if self.binding(function, id, path, local) {
                    bindings.push(id);
                }
            }
            if let Some(outputs) = &mut block.dataflow {
                outputs.retain(|id| bindings.contains(id));
            }
            block.bindings = bindings;
        }
        body.blocks.retain(|block| !block.bindings.is_empty());
        body.result = local.arg(&body.result);
    }

    /// Whether the binding stays.
    fn binding(
        &mut self,
        function: &mut Function,
        id: ValueId,
        path: &mut Path,
        local: &mut Local,
    ) -> bool {
        let value = function.values[id].clone();
        let (def, sinfo) = match value.def {
            Def::Function(inner) => {
                path.push(value.name.clone());
                let lifted = self.closed(function, id, *inner, path, local);
                path.pop();
                let Some((name, captured)) = lifted else {
                    return false;
                };
                let pure = matches!(value.sinfo, StructInfo::Callable { pure: true, .. });
                local.closures.insert(id, pure);
                (closure(&name, captured), StructInfo::Object)
            }
            Def::If {
                cond,
                mut then,
                mut otherwise,
            } => {
                self.body(function, &mut then, path, local);
                self.body(function, &mut otherwise, path, local);
                let cond = local.arg(&cond);
                let def = Def::If {
                    cond,
                    then,
                    otherwise,
                };
                (def, value.sinfo)
            }
            Def::Call {
                callee: Callee::Value(callee),
                args,
                attrs,
                sinfo_args,
            } => {
                let mut args: Vec<Arg> = args.iter().map(|arg| local.arg(arg)).collect();
                let ret = sinfo_args.first().unwrap_or(&value.sinfo).clone();
                let callee = if let Some((name, more)) = local.own.get(&callee) {
                    args.extend(more.clone());
                    Callee::Global(name.clone())
                } else if let Some(name) = local.global.get(&callee) {
                    Callee::Global(name.clone())
                } else if let Some(pure) = self.is_closure(function, callee, local) {
                    let op = ["invoke_closure", "invoke_pure_closure"][usize::from(pure)];
                    args = vec![Arg::Value(callee), Arg::Tuple(args)];
                    let def = Def::Call {
                        callee: Callee::Op(ops::op(op)),
                        args,
                        attrs,
                        sinfo_args: vec![ret],
                    };
                    function.values[id].def = def;
                    return true;
                } else {
                    Callee::Value(callee)
                };
                let sinfo = match (self.returned(&callee), value.sinfo) {
                    (
                        Some(unknown),
                        StructInfo::Callable {
                            params: _,
                            ret: _,
                            pure,
                        },
                    ) => {
                        local.closures.insert(id, pure);
                        unknown
                    }
                    (_, known) => known,
                };
                let def = Def::Call {
                    callee,
                    args,
                    attrs,
                    sinfo_args,
                };
                (def, sinfo)
            }
            def => (
                def.map(&mut |leaf| local.leaf(leaf), &mut Clone::clone),
                value.sinfo,
            ),
        };
        let slot = &mut function.values[id];
        (slot.def, slot.sinfo) = (def, sinfo);
        true
    }

    /// Of a lifted function that gives a closure now, that nothing is known of its result.
    fn returned(&self, callee: &Callee) -> Option<StructInfo> {
        let Callee::Global(name) = callee else {
            return None;
        };
        let ret = &self.lifted.get(name)?.ret;
        (*ret == StructInfo::Object).then_some(StructInfo::Object)
    }

    /// Whether a value is a closure that a call gave, and then whether its calls have no side effects.
    fn is_closure(&self, function: &Function, id: ValueId, local: &Local) -> Option<bool> {
        if let Some(pure) = local.closures.get(&id) {
            return Some(*pure);
        }
        let value = &function.values[id];
        match (&value.def, &value.sinfo) {
            (
                Def::Call { .. },
                StructInfo::Callable {
                    params: _,
                    ret: _,
                    pure,
                },
            ) => Some(*pure),
            (Def::Arg(Arg::Value(of)), _) => self.is_closure(function, *of, local),
            _ => None,
        }
    }

    /// Makes a function of the module of `inner`, which is the value `own` of `function`. Gives its name and what it captures, or
    /// nothing if it captures nothing.
    fn closed(
        &mut self,
        function: &Function,
        own: ValueId,
        mut inner: Function,
        path: &mut Path,
        local: &mut Local,
    ) -> Option<(String, Vec<Arg>)> {
        let names = self.names.get_mut(path).expect("all paths have names");
        let name = names.pop().expect("as many names as functions");
        let mut captured = inner.captured(1);
        captured.retain(|id| *id != own && !local.global.contains_key(id));
        let mut instead: HashMap<ValueId, Arg> = HashMap::new();
        let mut outside = vec![];
        for id in captured {
            let value = &function.values[id];
            let sinfo = match local.closures.contains_key(&id) {
                true => StructInfo::Object,
                false => value.sinfo.clone(),
            };
            instead.insert(id, Arg::Value(add_param(&mut inner, &value.name, sinfo)));
            outside.push(Arg::Value(id));
        }
        let open = open_vars(&inner);
        if !open.is_empty() {
            let dims: Vec<_> = open.iter().map(Var::expr).collect();
            let shape = StructInfo::Shape(ShapeInfo::Known(dims.clone()));
            add_param(&mut inner, "dims", shape);
            outside.push(Arg::Shape(dims));
        }
        for (id, name) in &local.global {
            instead.insert(*id, Arg::Global(name.clone()));
        }
        let more: Vec<Arg> = inner.params[inner.params.len() - outside.len()..]
            .iter()
            .map(|id| Arg::Value(*id))
            .collect();
        let mut within = Local::default();
        let mut itself = None;
        if outside.is_empty() {
            local.global.insert(own, name.clone());
            instead.insert(own, Arg::Global(name.clone()));
        } else {
            let value = inner.values.push(Value {
                name: function.values[own].name.clone(),
                sinfo: StructInfo::Object,
                def: closure(&name, more.clone()),
                origin: Origin::Unknown,
            });
            within.own.insert(value, (name.clone(), more));
            within.closures.insert(value, inner.pure);
            instead.insert(own, Arg::Value(value));
            itself = Some(value);
        }
        let called = called_names(&inner, own, &local.global);
        replace(&mut inner, 1, &instead);
        for id in called {
            let call = match &inner.values[id].def {
                Def::Arg(Arg::Global(name)) => (name.clone(), vec![]),
                Def::Arg(Arg::Value(of)) => within.own[of].clone(),
                _ => unreachable!("a name for an argument stays one"),
            };
            within.own.insert(id, call);
        }
        let names: HashSet<ValueId> = within.own.keys().copied().collect();
        self.lift(&mut inner, path, within);
        drop_names(&mut inner, &names, itself);
        if returns_closure(&inner) {
            inner.ret = StructInfo::Object;
        }
        inner.attrs.shift_remove("global_symbol");
        inner.name.clone_from(&name);
        inner.private = true;
        self.lifted.insert(name.clone(), inner.with_own_vars());
        (!outside.is_empty()).then_some((name, outside))
    }
}

impl Local {
    fn leaf(&self, leaf: &Arg) -> Arg {
        match leaf {
            Arg::Value(id) => match self.global.get(id) {
                Some(name) => Arg::Global(name.clone()),
                None => leaf.clone(),
            },
            other => other.clone(),
        }
    }

    fn arg(&self, arg: &Arg) -> Arg {
        arg.map_leaves(&mut |leaf| self.leaf(leaf))
    }
}

fn closure(name: &str, captured: Vec<Arg>) -> Def {
    Def::Call {
        callee: Callee::Op(ops::op("make_closure")),
        args: vec![Arg::Global(name.to_owned()), Arg::Tuple(captured)],
        attrs: Attrs::new(),
        sinfo_args: vec![],
    }
}

fn add_param(function: &mut Function, name: &str, sinfo: StructInfo) -> ValueId {
    let id = function.values.push(Value {
        name: name.to_owned(),
        sinfo,
        def: Def::Param,
        origin: Origin::Unknown,
    });
    function.params.push(id);
    id
}

/// Symbolic variables that neither parameters nor checks define.
fn open_vars(function: &Function) -> Vec<Var> {
    let defined = function.defined_vars();
    let mut vars = function.symbolic_vars();
    vars.retain(|var| !defined.contains(var));
    vars
}

/// Puts other arguments in the place of captured values of the function `depth` functions out.
fn replace(function: &mut Function, depth: usize, instead: &HashMap<ValueId, Arg>) {
    let leaf = |leaf: &Arg| match leaf {
        Arg::Captured { depth: at, value } if *at == depth => match &instead[value] {
            Arg::Value(id) if depth > 1 => Arg::Captured {
                depth: depth - 1,
                value: *id,
            },
            other => other.clone(),
        },
        // What is farther out is one function nearer.
        Arg::Captured { depth: at, value } if *at > depth => Arg::Captured {
            depth: at - 1,
            value: *value,
        },
        other => other.clone(),
    };
    let ids: Vec<_> = function.values.iter().map(|(id, _)| id).collect();
    for id in ids {
        let value = &mut function.values[id];
        value.def = match std::mem::replace(&mut value.def, Def::Param) {
            Def::Function(mut inner) => {
                replace(&mut inner, depth + 1, instead);
                Def::Function(inner)
            }
            def => def.map(&mut |l| leaf(l), &mut Clone::clone),
        };
    }
    function.body.result = function.body.result.map_leaves(&mut |l| leaf(l));
}

/// Names that a function gives to captured functions, the one in which it is itself and those that are functions of the module.
fn called_names(
    function: &Function,
    own: ValueId,
    global: &HashMap<ValueId, String>,
) -> Vec<ValueId> {
    let mut names = vec![];
    function.for_each_binding(&mut |id, value| match &value.def {
        Def::Arg(Arg::Captured { depth: 1, value })
            if *value == own || global.contains_key(value) =>
        {
            names.push(id);
        }
        _ => {}
    });
    names
}

/// Drops names that were only called. The function itself is bound first if it is still used as a value.
fn drop_names(function: &mut Function, names: &HashSet<ValueId>, itself: Option<ValueId>) {
    let mut used = HashSet::new();
    let mut add = |arg: &Arg| {
        arg.walk(&mut |leaf| {
            if let Arg::Value(id) = leaf {
                used.insert(*id);
            }
        });
    };
    function.for_each_binding(&mut |id, value| {
        if !names.contains(&id) {
            value.def.args().into_iter().for_each(&mut add);
        }
        let bodies = value.def.bodies().into_iter();
        bodies.for_each(|body| add(&body.result));
    });
    add(&function.body.result);
    let stays = |id: &ValueId| !names.contains(id) || used.contains(id);
    super::bodies::for_each_own_body(function, &mut |body| {
        for block in &mut body.blocks {
            block.bindings.retain(stays);
            if let Some(outputs) = &mut block.dataflow {
                outputs.retain(stays);
            }
        }
        body.blocks.retain(|block| !block.bindings.is_empty());
    });
    if let Some(itself) = itself
        && names.iter().any(|id| used.contains(id))
    {
        let first = BindingBlock {
            dataflow: None,
            bindings: vec![itself],
        };
        function.body.blocks.insert(0, first);
    }
}

fn returns_closure(function: &Function) -> bool {
    match &function.body.result {
        Arg::Value(id) => function.values[*id].sinfo == StructInfo::Object,
        _ => false,
    }
}
