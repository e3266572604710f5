//! `Recycler`: memory of tensors that nobody holds any longer, for those that come next.
//!
//! What a call returns has memory of its own, since its caller may keep it. The system takes large memory back when it is freed and
//! gives it again page by page, zeroed, when somebody writes there: results of 64 MB took half the time of a call. What is smaller is
//! zeroed when it is allocated: a result of 400 KB took an eighth of a call of 0.2 ms. So memory comes back here, if whoever made it is still
//! alive.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::storage::Storage;

/// Memory that is less is given by the allocator of the process as fast.
const LEAST: usize = 1 << 14;

/// Memory that is large: smaller memory does not push it out.
const LARGE: usize = 1 << 20;

/// How much is kept of large memory, and of smaller: a caller may hold the last result while it asks for the next one.
const MOST: usize = 2;

/// Memory that waits for tensors.
#[derive(Clone, Default)]
pub(crate) struct Recycler(Arc<Shelf>);

/// What waits, the oldest first.
type Shelf = Mutex<Vec<Storage>>;

/// Where memory goes that is no longer needed.
pub(super) struct Home(Weak<Shelf>);

impl Recycler {
    /// So many bytes or more, not more than twice as many, with whatever is there. `None` if there is not so much memory.
    pub(super) fn storage(&self, len: usize) -> Option<Storage> {
        if len < LEAST {
            return Storage::zeroed(len);
        }
        let mut shelf = lock(&self.0);
        let fits = |storage: &Storage| storage.len() >= len && storage.len() / 2 <= len;
        let found = shelf.iter().position(fits).map(|at| shelf.remove(at));
        drop(shelf);
        let storage = found.or_else(|| Storage::zeroed(len))?;
        Some(storage.with_home(Home(Arc::downgrade(&self.0))))
    }
}

impl Home {
    /// Takes memory in; what waits there longest of its kind leaves for it.
    pub(super) fn take(&self, storage: Storage) {
        let Some(shelf) = self.0.upgrade() else {
            return;
        };
        let mut shelf = lock(&shelf);
        let is_large = storage.len() >= LARGE;
        let mut same = (0..shelf.len()).filter(|&at| (shelf[at].len() >= LARGE) == is_large);
        if let (Some(oldest), MOST) = (same.next(), 1 + same.count()) {
            shelf.remove(oldest);
        }
        shelf.push(storage);
    }
}

fn lock(shelf: &Shelf) -> MutexGuard<'_, Vec<Storage>> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_while_its_recycler_lives() {
        let recycler = Recycler::default();
        let make = |len| recycler.storage(len).expect("there is so much");
        let (first, second) = (make(2 << 20), make(2 << 20));
        let addresses = [first.as_ptr(), second.as_ptr()];
        drop(first);
        let small = make(100);
        assert_eq!(make(3 << 18).len(), 3 << 18, "it is less than half");
        let again = make(3 << 19);
        assert_eq!(again.as_ptr(), addresses[0]);
        assert_eq!(again.len(), 2 << 20);
        drop((again, second, small, make(1 << 21)));
        assert_eq!(lock(&recycler.0).len(), MOST + 1);
        drop([make(LEAST), make(LEAST), make(LEAST)]);
        assert_eq!(lock(&recycler.0).len(), 2 * MOST, "large memory stays");
        let kept = recycler.storage(2 << 20).expect("there is so much");
        drop(recycler);
        drop(kept);
    }
}
