//! Packed functions by name: host functions that programs call without knowing them (TVM: `register_func`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::error::Error;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::Value;

/// What a packed function may fail with.
pub type PackedError = Box<dyn Error + Send + Sync>;

/// A host function. In destination-passing calls the outputs are the last arguments, to be written in place.
pub type PackedFunc = Arc<dyn Fn(&mut [Value]) -> Result<Value, PackedError> + Send + Sync>;

/// Whether a name that is taken may be given to another function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Override {
    /// The new function takes the place of the old one.
    Yes,
    /// That is an error.
    No,
}

/// Why a function was not registered or not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The name is taken.
    #[error("a function is already registered as `{0}`; use `Override::Yes` to replace it")]
    Duplicate(String),
    /// No function has the name.
    #[error("no function is registered as `{name}`{}", also(.similar))]
    Unknown {
        /// The name.
        name: String,
        /// Registered names that look like it.
        similar: Vec<String>,
    },
}

fn also(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!("; there is `{}`", names.join("`, `"))
}

/// Packed functions by name. A machine has one of its own, and behind it the global one.
#[derive(Clone, Default)]
pub struct Registry {
    funcs: HashMap<String, PackedFunc>,
}

impl Registry {
    /// A registry without functions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a function.
    ///
    /// # Errors
    /// [`RegistryError::Duplicate`] if the name is taken and may not be overridden.
    pub fn register<F>(
        &mut self,
        name: &str,
        func: F,
        overriding: Override,
    ) -> Result<(), RegistryError>
    where
        F: Fn(&mut [Value]) -> Result<Value, PackedError> + Send + Sync + 'static,
    {
        match self.funcs.entry(name.to_owned()) {
            Entry::Occupied(_) if overriding == Override::No => {
                Err(RegistryError::Duplicate(name.to_owned()))
            }
            Entry::Occupied(mut entry) => {
                entry.insert(Arc::new(func));
                Ok(())
            }
            Entry::Vacant(entry) => {
                entry.insert(Arc::new(func));
                Ok(())
            }
        }
    }

    /// The function with this name in this registry.
    pub fn get(&self, name: &str) -> Option<PackedFunc> {
        self.funcs.get(name).cloned()
    }

    /// The function with this name, in this registry or else the global one.
    ///
    /// # Errors
    /// [`RegistryError::Unknown`] if neither has it.
    pub fn find(&self, name: &str) -> Result<PackedFunc, RegistryError> {
        let found = self.get(name);
        found.map_or_else(|| global_func(name), Ok)
    }

    fn similar(&self, name: &str) -> Vec<String> {
        let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_lowercase();
        let wanted = last(name);
        let mut names: Vec<String> = self
            .funcs
            .keys()
            .filter(|other| last(other) == wanted || other.eq_ignore_ascii_case(name))
            .cloned()
            .collect();
        names.sort();
        names
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut names: Vec<_> = self.funcs.keys().collect();
        names.sort();
        f.debug_list().entries(names).finish()
    }
}

fn global() -> &'static RwLock<Registry> {
    static GLOBAL: OnceLock<RwLock<Registry>> = OnceLock::new();
    GLOBAL.get_or_init(RwLock::default)
}

/// Registers a function for all machines of this process.
///
/// # Errors
/// [`RegistryError::Duplicate`] if the name is taken and may not be overridden.
pub fn register_func<F>(name: &str, func: F, overriding: Override) -> Result<(), RegistryError>
where
    F: Fn(&mut [Value]) -> Result<Value, PackedError> + Send + Sync + 'static,
{
    // A map is whole between its operations, so a panic elsewhere leaves nothing half done.
    let mut registry = global().write().unwrap_or_else(PoisonError::into_inner);
    registry.register(name, func, overriding)
}

/// The function registered under this name for all machines; behind those the functions of the host that operators need.
///
/// # Errors
/// [`RegistryError::Unknown`] if there is none.
pub fn global_func(name: &str) -> Result<PackedFunc, RegistryError> {
    let registry = global().read().unwrap_or_else(PoisonError::into_inner);
    let found = registry.get(name).or_else(|| super::host::host_func(name));
    found.ok_or_else(|| RegistryError::Unknown {
        name: name.to_owned(),
        similar: registry.similar(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_once_unless_overridden() {
        let mut registry = Registry::new();
        let give = |value: i64| move |_: &mut [Value]| Ok(Value::Int(value));
        assert_eq!(registry.register("env.one", give(1), Override::No), Ok(()));
        assert_eq!(
            registry.register("env.one", give(2), Override::No),
            Err(RegistryError::Duplicate("env.one".into()))
        );
        assert_eq!(registry.register("env.one", give(3), Override::Yes), Ok(()));
        let func = registry.find("env.one").expect("registered");
        assert!(matches!(func(&mut []), Ok(Value::Int(3))));
    }

    #[test]
    fn unknown_names_are_told_apart_from_misspelt_ones() {
        register_func("registry_test.linear", |_| Ok(Value::None), Override::Yes).expect("free");
        let error = Registry::new().find("env.Linear").err();
        assert_eq!(
            error.map(|e| e.to_string()),
            Some(
                "no function is registered as `env.Linear`; there is `registry_test.linear`".into()
            )
        );
    }
}
