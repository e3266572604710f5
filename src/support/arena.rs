//! `Arena<I, T>`: entities named by small typed ids; `SideTable<I, U>`: data about them kept elsewhere.
//!
//! Ids are never reused. Removal leaves a tombstone, so a stale id is a `None`, not another entity. A clone of an arena
//! keeps all ids valid.

use std::fmt;
use std::marker::PhantomData;

/// A typed index into an [`Arena`]. Made by [`id_type!`](crate::id_type).
pub trait Id: Copy + Eq {
    /// The id with this position.
    fn from_index(index: usize) -> Self;
    /// Position of the entity in its arena.
    fn index(self) -> usize;
}

/// Declares an id: a `u32` newtype that prints with the given prefix, as in `L2`.
#[macro_export]
macro_rules! id_type {
    ($(#[$doc:meta])* $vis:vis $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        $vis struct $name(u32);

        impl $crate::support::Id for $name {
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("an arena holds fewer than 2^32 entities"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self, f)
            }
        }
    };
}

/// Owns entities of one kind, in order of creation.
#[derive(Clone)]
pub struct Arena<I, T> {
    slots: Vec<Option<T>>,
    id: PhantomData<fn() -> I>,
}

impl<I: Id, T> Arena<I, T> {
    /// An arena without entities.
    pub fn new() -> Self {
        Self {
            slots: Vec::new(),
            id: PhantomData,
        }
    }

    /// Adds an entity and names it.
    pub fn push(&mut self, value: T) -> I {
        let id = I::from_index(self.slots.len());
        self.slots.push(Some(value));
        id
    }

    /// The entity, unless it was removed.
    pub fn get(&self, id: I) -> Option<&T> {
        self.slots.get(id.index())?.as_ref()
    }

    /// The entity, to be changed, unless it was removed.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.slots.get_mut(id.index())?.as_mut()
    }

    /// Takes the entity out; its id stays dead.
    pub fn remove(&mut self, id: I) -> Option<T> {
        self.slots.get_mut(id.index())?.take()
    }

    /// Ids and entities that are alive, in order of creation.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(i, slot)| Some((I::from_index(i), slot.as_ref()?)))
    }

    /// One more than the largest index ever used.
    pub fn bound(&self) -> usize {
        self.slots.len()
    }
}

/// An arena is stored as its slots, so ids stay valid.
impl<I: Id, T: serde::Serialize> serde::Serialize for Arena<I, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.slots.serialize(serializer)
    }
}

impl<'de, I: Id, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Arena<I, T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self {
            slots: Vec::deserialize(deserializer)?,
            id: PhantomData,
        })
    }
}

impl<I: Id, T> Default for Arena<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> std::ops::Index<I> for Arena<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        self.get(id)
            .expect("the id names a living entity of this arena")
    }
}

impl<I: Id, T> std::ops::IndexMut<I> for Arena<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        self.get_mut(id)
            .expect("the id names a living entity of this arena")
    }
}

impl<I: Id + fmt::Debug, T: fmt::Debug> fmt::Debug for Arena<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Data about the entities of an arena, kept apart from them; absent keys read as the default.
#[derive(Clone, Debug)]
pub struct SideTable<I, U> {
    values: Vec<U>,
    default: U,
    id: PhantomData<fn() -> I>,
}

impl<I: Id, U: Clone> SideTable<I, U> {
    /// A table in which every key reads as `default`.
    pub fn with_default(default: U) -> Self {
        Self {
            values: Vec::new(),
            default,
            id: PhantomData,
        }
    }

    /// Makes room for the key and gives its value to be changed.
    pub fn entry(&mut self, id: I) -> &mut U {
        let index = id.index();
        if index >= self.values.len() {
            self.values.resize(index + 1, self.default.clone());
        }
        &mut self.values[index]
    }
}

impl<I: Id, U: Clone + Default> SideTable<I, U> {
    /// A table in which every key reads as `U::default()`.
    pub fn new() -> Self {
        Self::with_default(U::default())
    }
}

impl<I: Id, U: Clone + Default> Default for SideTable<I, U> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, U> std::ops::Index<I> for SideTable<I, U> {
    type Output = U;
    fn index(&self, id: I) -> &U {
        self.values.get(id.index()).unwrap_or(&self.default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    id_type!(
        /// A test entity.
        TestId,
        "T"
    );

    #[test]
    fn removed_entities_leave_dead_ids() {
        let mut arena = Arena::<TestId, &str>::new();
        let a = arena.push("a");
        let b = arena.push("b");
        assert_eq!(arena.remove(a), Some("a"));
        let c = arena.push("c");
        assert_eq!(arena.get(a), None);
        assert_ne!(a, c);
        assert_eq!(arena.iter().map(|(id, _)| id).collect::<Vec<_>>(), [b, c]);
        assert_eq!(format!("{c}"), "T2");
    }

    #[test]
    fn side_tables_read_absent_keys_as_default() {
        let mut table = SideTable::<TestId, u32>::with_default(7);
        let key = TestId::from_index(3);
        assert_eq!(table[key], 7);
        *table.entry(key) = 1;
        assert_eq!((table[key], table[TestId::from_index(2)]), (1, 7));
    }
}
