//! Patterns for values that use each other, where no single value stands for all (Relax: `PatternContext`).

use std::collections::HashMap;

use super::{DfPattern, Matches};
use crate::ir::graph::{Arg, Function, Globals, Scope, ValueId};

/// Patterns, and which of them use which.
///
/// ```
/// use weftile::ir::graph::Globals;
/// use weftile::ir::graph::pattern::{PatternContext, is_op_with_first, wildcard};
/// use weftile::{ops, script};
///
/// let module = script::parse("main.py", r#"
/// @I.ir_module
/// class Module:
///     @R.function
///     def main(x: R.Tensor((4, 4), "float32"), a: R.Tensor((4, 4), "float32"), b: R.Tensor((4, 4), "float32")):
///         with R.dataflow():
///             y = R.matmul(x, a)
///             z = R.matmul(x, b)
///             R.output(y, z)
///         return (y, z)
/// "#)?;
/// // Two products with the same left operand.
/// let input = wildcard();
/// let [one, other] = [0, 1].map(|_| is_op_with_first(ops::op("matmul"), []));
/// let mut context = PatternContext::new();
/// context.used_by(&input, &one, Some(0));
/// context.used_by(&input, &other, Some(0));
/// let main = module.function("main").expect("as written");
/// let matches = context.matches(main, &main.blocks()[0].bindings, &Globals::of(&module));
/// let matches = matches.expect("two products");
/// assert_eq!(matches[&input].values(), main.params[..1]);
/// assert_ne!(matches[&one], matches[&other]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PatternContext {
    /// In the order in which they were named first.
    patterns: Vec<DfPattern>,
    uses: Vec<Use>,
}

/// One value uses another.
#[derive(Clone, Debug)]
struct Use {
    /// Positions among the patterns.
    used: usize,
    user: usize,
    /// As which argument.
    argument: Option<usize>,
    only: bool,
}

impl PatternContext {
    /// No patterns.
    pub fn new() -> Self {
        Self::default()
    }

    /// What `user` matches uses what `used` matches: as this argument, if one is given. Others may use it, too.
    pub fn used_by(&mut self, used: &DfPattern, user: &DfPattern, argument: Option<usize>) {
        self.constrain(used, user, argument, false);
    }

    /// What `user` matches uses what `used` matches: as this argument, if one is given. Nothing else uses it.
    pub fn only_used_by(&mut self, used: &DfPattern, user: &DfPattern, argument: Option<usize>) {
        self.constrain(used, user, argument, true);
    }

    fn constrain(
        &mut self,
        used: &DfPattern,
        user: &DfPattern,
        argument: Option<usize>,
        only: bool,
    ) {
        let [used, user] = [used, user].map(|pattern| {
            let known = self.patterns.iter().position(|known| known == pattern);
            known.unwrap_or_else(|| {
                self.patterns.push(pattern.clone());
                self.patterns.len() - 1
            })
        });
        self.uses.push(Use {
            used,
            user,
            argument,
            only,
        });
    }

    /// What the patterns match, each another value: parameters of the function, and values among these bindings, earlier ones
    /// first.
    pub fn matches(
        &self,
        function: &Function,
        bindings: &[ValueId],
        globals: &Globals,
    ) -> Option<Matches> {
        let scope = Scope {
            globals,
            frames: vec![&function.values],
        };
        let candidates = function.params.iter().chain(bindings);
        let search = Search {
            context: self,
            scope: &scope,
            candidates: candidates.copied().collect(),
            users: users(function),
        };
        search.extend(&mut vec![], Matches::default())
    }
}

/// Who uses a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum User {
    /// A value, as this argument; `None` as a part of one, or inside of it.
    Value(ValueId, Option<usize>),
    /// Those outside of the block or of the function.
    Outside,
}

/// The users of each value.
fn users(function: &Function) -> HashMap<ValueId, Vec<User>> {
    let mut users: HashMap<ValueId, Vec<User>> = HashMap::new();
    for (id, value) in function.values.iter() {
        let args = value.def.args();
        for (at, arg) in args.iter().enumerate() {
            for used in arg.values() {
                let whole = **arg == Arg::Value(used);
                let user = User::Value(id, whole.then_some(at));
                users.entry(used).or_default().push(user);
            }
        }
        for used in value.def.used_values() {
            if !args.iter().any(|arg| arg.values().contains(&used)) {
                users.entry(used).or_default().push(User::Value(id, None));
            }
        }
    }
    let outputs = function.blocks().into_iter();
    let outputs = outputs.flat_map(|block| block.dataflow.iter().flatten().copied());
    for id in outputs.chain(function.body.result.values()) {
        users.entry(id).or_default().push(User::Outside);
    }
    users
}

struct Search<'a> {
    context: &'a PatternContext,
    scope: &'a Scope<'a>,
    candidates: Vec<ValueId>,
    users: HashMap<ValueId, Vec<User>>,
}

impl Search<'_> {
    /// A match of all patterns, where the first ones match these values.
    fn extend(&self, found: &mut Vec<ValueId>, matches: Matches) -> Option<Matches> {
        let Some(pattern) = self.context.patterns.get(found.len()) else {
            return Some(matches);
        };
        for &id in &self.candidates {
            if found.contains(&id) {
                continue;
            }
            found.push(id);
            if self.uses_hold(found) {
                let within = |id: ValueId| self.candidates.contains(&id);
                let arg = Arg::Value(id);
                let more = matches.extended(pattern, &arg, self.scope, &within);
                if let Some(all) = more.and_then(|more| self.extend(found, more)) {
                    return Some(all);
                }
            }
            found.pop();
        }
        None
    }

    /// Whether the constraints between the patterns so far hold.
    fn uses_hold(&self, found: &[ValueId]) -> bool {
        let uses = self.context.uses.iter();
        let known = uses.filter(|u| u.used < found.len() && u.user < found.len());
        known.into_iter().all(|u| {
            let (used, user) = (found[u.used], found[u.user]);
            let users = self.users.get(&used).map_or(&[][..], Vec::as_slice);
            let by_user = |other: &User| {
                matches!(other, User::Value(id, at)
                    if *id == user && (u.argument.is_none() || u.argument == *at))
            };
            let by_other = |other: &User| !matches!(other, User::Value(id, _) if *id == user);
            users.iter().any(by_user) && !(u.only && users.iter().any(by_other))
        })
    }
}
