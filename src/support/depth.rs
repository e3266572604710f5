//! Bounded nesting of trees that are read from untrusted bytes.
//!
//! Reading, dropping and walking a tree recurse, so its depth must have a bound that the stack can bear.

use std::cell::Cell;

/// Deepest nesting of one tree.
pub const MAX_DEPTH: usize = 256;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs `read` one level deeper; `None` if that is too deep.
pub fn nested<T>(read: impl FnOnce() -> T) -> Option<T> {
    struct Level;
    impl Drop for Level {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    let depth = DEPTH.get();
    if depth >= MAX_DEPTH {
        return None;
    }
    DEPTH.set(depth + 1);
    let _level = Level;
    Some(read())
}

/// Implements `Serialize` and `Deserialize` of a recursive type that has `#[serde(remote = "Self")]`, with bounded nesting.
#[macro_export]
macro_rules! bounded_nesting {
    ($($ty:ty),*) => { $(
        impl serde::Serialize for $ty {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                <$ty>::serialize(self, serializer)
            }
        }
        impl<'de> serde::Deserialize<'de> for $ty {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::support::depth::nested(|| <$ty>::deserialize(deserializer))
                    .unwrap_or_else(|| Err(serde::de::Error::custom("nested too deeply")))
            }
        }
    )* };
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    #[serde(remote = "Self")]
    enum List {
        End,
        Item(Box<List>),
    }
    bounded_nesting!(List);

    #[test]
    fn deep_trees_are_refused_before_the_stack_ends() {
        let shallow = postcard::from_bytes::<List>(&[1, 1, 0]);
        assert_eq!(
            shallow,
            Ok(List::Item(Box::new(List::Item(Box::new(List::End)))))
        );
        assert!(postcard::from_bytes::<List>(&[1; 1_000_000]).is_err());
        assert!(
            postcard::from_bytes::<List>(&[1, 0]).is_ok(),
            "the count is back at zero"
        );
    }
}
