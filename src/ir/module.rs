//! `Module`: functions of both levels by name.

use indexmap::IndexMap;

use super::{Attrs, PrimFunc, StructInfo, alpha_eq, graph};

/// A device that a module names (`I.vdevice`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VDevice {
    /// Kind of the target, as `llvm` or `vulkan`.
    pub target: String,
    /// Which of the machine's devices of this kind (TVM's `vdevice_id`).
    pub index: usize,
    /// Memory scope.
    pub scope: String,
}

impl VDevice {
    /// The device that a text names, as `"vulkan"`, `"vulkan:0"` or `"vulkan:0:global"`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let target = parts.next().filter(|target| !target.is_empty())?.to_owned();
        let index = parts.next().map_or(Ok(0), str::parse).ok()?;
        let scope = parts.next().unwrap_or("global").to_owned();
        Some(Self {
            target,
            index,
            scope,
        })
    }

    /// How the text of a module with these devices names this one: it counts those of one kind. Two scopes of one device have one
    /// [`index`](Self::index), and two names.
    pub fn named_in(&self, devices: &[Self]) -> Self {
        let mut of_kind = devices.iter().filter(|d| d.target == self.target);
        Self {
            index: of_kind.position(|d| d == self).unwrap_or(self.index),
            ..self.clone()
        }
    }

    /// The device that the text of a module with these devices means by this name, if there is one.
    pub fn meant_in(&self, devices: &[Self]) -> Option<Self> {
        let mut of_kind = devices.iter().filter(|d| d.target == self.target);
        of_kind.nth(self.index).cloned()
    }

    /// Whether it is the host, whatever the program is compiled for.
    pub fn is_host(&self) -> bool {
        matches!(self.target.as_str(), "llvm" | "c" | "cpu")
    }
}

impl std::fmt::Display for VDevice {
    /// As [`VDevice::parse`] reads it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            target,
            index,
            scope,
        } = self;
        write!(f, "{target}:{index}:{scope}")
    }
}

/// A function of a module.
#[derive(Clone, Debug)]
pub enum Func {
    /// A loop program.
    Prim(PrimFunc),
    /// A graph function.
    Graph(graph::Function),
}

/// A function of the environment that a module names (`R.ExternFunc`).
#[derive(Clone, PartialEq, Debug)]
pub struct ExternFunc {
    /// What the environment calls it.
    pub symbol: String,
    /// What is known of it.
    pub sinfo: StructInfo,
}

/// Functions by name, in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The functions.
    pub funcs: IndexMap<String, Func>,
    /// Functions of the environment, by the names that this module has for them.
    pub externs: IndexMap<String, ExternFunc>,
    /// Attributes (`I.module_attrs`).
    pub attrs: Attrs,
    /// Devices (`I.module_global_infos`).
    pub vdevices: Vec<VDevice>,
}

impl Module {
    /// Adds a loop program for the module's own use, and gives its name: `name`, with a number if another function has it. An
    /// equal program that was added under that name is taken instead.
    pub fn add_prim_func(&mut self, name: &str, mut func: PrimFunc) -> String {
        func.private = true;
        let mut free = name.to_owned();
        let mut count = 0;
        loop {
            match self.funcs.get(&free) {
                None => break,
                Some(Func::Prim(other)) if alpha_eq::prim_func(other, &func).is_ok() => {
                    return free;
                }
                Some(_) => {
                    count += 1;
                    free = format!("{name}{count}");
                }
            }
        }
        func.name.clone_from(&free);
        self.funcs.insert(free.clone(), Func::Prim(func));
        free
    }

    /// The loop program with this name.
    pub fn prim_func(&self, name: &str) -> Option<&PrimFunc> {
        if let Func::Prim(func) = self.funcs.get(name)? {
            Some(func)
        } else {
            None
        }
    }

    /// The graph function with this name.
    pub fn function(&self, name: &str) -> Option<&graph::Function> {
        if let Func::Graph(func) = self.funcs.get(name)? {
            Some(func)
        } else {
            None
        }
    }

    /// The loop programs with their names.
    pub fn prim_funcs(&self) -> impl Iterator<Item = (&str, &PrimFunc)> {
        self.funcs.iter().filter_map(|(name, f)| {
            if let Func::Prim(f) = f {
                Some((name.as_str(), f))
            } else {
                None
            }
        })
    }

    /// The graph functions with their names.
    pub fn functions(&self) -> impl Iterator<Item = (&str, &graph::Function)> {
        self.funcs.iter().filter_map(|(name, f)| {
            if let Func::Graph(f) = f {
                Some((name.as_str(), f))
            } else {
                None
            }
        })
    }
}
