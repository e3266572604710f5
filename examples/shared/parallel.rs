//! What the replays of recorded cases share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `f` of each item, in the order of the items, by as many threads as there are cores.
pub(crate) fn map<T: Sync, R: Send + Clone>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![None; items.len()]);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(item) = items.get(at)
                {
                    let result = f(item);
                    let mut all = results.lock().expect("no thread panics while it holds it");
                    all[at] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("all threads have ended");
    let done = results.into_iter();
    done.map(|result| result.expect("every item was taken"))
        .collect()
}
