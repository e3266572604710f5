//! `Team`: threads that stand ready to run the blocks of a parallel region together with the caller.
//!
//! The first region starts the threads, which then wait for the next one, spinning, and sleep after [`LINGER`] without work. A region
//! is one store and one wait for each worker, and a wake-up for each that sleeps; it allocates nothing.
//!
//! A block is cut into grains: a thread without work takes grains from the end of another block, so that a thread whose core is busy with something else, or that is still asleep, delays the region by a
//! grain at most (work stealing; Blumofe and Leiserson, JACM 1999).

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How long a worker waits for the next region before it sleeps.
const LINGER: Duration = Duration::from_micros(100);

/// Spins of a worker before each look at the clock.
const SPINS: u32 = 1000;

/// Spins of a caller before it yields to other threads: some tenths of a millisecond. On a busy machine `yield_now` costs a time slice, of
/// milliseconds.
const PATIENCE: u32 = 20_000;

/// What a worker is doing. The caller writes a job and then moves the state; the worker moves it back when it is done.
mod state {
    /// The thread sleeps, or there is none: it must be called.
    pub(super) const AWAY: u8 = 0;
    /// A thread waits for work.
    pub(super) const READY: u8 = 1;
    /// There is work, and a thread that waits for it.
    pub(super) const OFFERED: u8 = 2;
    /// There is work, and the thread was called.
    pub(super) const CALLED: u8 = 3;
    /// The thread was called, but the work is gone.
    pub(super) const CALLED_OFF: u8 = 4;
    /// A thread runs the work.
    pub(super) const RUNNING: u8 = 5;
}

type Job<'a> = dyn Fn(usize) + Sync + 'a;

/// One worker and the job it is offered.
struct Worker {
    state: AtomicU8,
    /// Written by the caller before it offers, read by the worker after it accepted.
    job: UnsafeCell<Option<&'static Job<'static>>>,
    /// Which block of the region it is to run.
    block: usize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Started by the first call; `None` if that failed.
    thread: OnceLock<Option<Thread>>,
    /// Whether the team is gone.
    dismissed: AtomicBool,
}

// SAFETY: `job` is written only while the state is AWAY, READY or CALLED_OFF, by the one caller that holds the region lock, and
// read only by the thread that moved the state to RUNNING; the state's release and acquire order the two.
unsafe impl Sync for Worker {}

/// The grains of a block that nobody has taken: the first in the low half, the end in the high one.
#[derive(Debug)]
struct Share(AtomicU64);

/// Where a thread takes grains from a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The block is the thread's own.
    First,
    /// It is that of another one.
    Last,
}

impl Share {
    fn fill(&self, grains: u32) {
        self.0.store(u64::from(grains) << 32, Ordering::Relaxed);
    }

    fn take(&self, end: End) -> Option<u32> {
        let split = |both: u64| (both as u32, (both >> 32) as u32);
        let rest = |both| match split(both) {
            (from, to) if from >= to => None,
            (from, to) if end == End::First => Some(u64::from(to) << 32 | u64::from(from + 1)),
            (from, to) => Some(u64::from(to - 1) << 32 | u64::from(from)),
        };
        let order = Ordering::Relaxed;
        let (from, to) = split(self.0.fetch_update(order, order, rest).ok()?);
        Some(if end == End::First { from } else { to - 1 })
    }
}

/// Threads for parallel regions. Regions of different callers exclude each other: who finds the team busy works alone.
pub struct Team {
    threads: usize,
    workers: Vec<Arc<Worker>>,
    /// What is left of each block of the region.
    shares: Vec<Share>,
    busy: AtomicBool,
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team")
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl Team {
    /// A team of this many threads, the caller's among them. No thread is started before the first region that has work for it.
    pub fn new(threads: usize) -> Self {
        let threads = threads.max(1);
        let workers = (1..threads).map(|block| {
            Arc::new(Worker {
                state: AtomicU8::new(state::AWAY),
                job: UnsafeCell::new(None),
                block,
                panic: Mutex::new(None),
                thread: OnceLock::new(),
                dismissed: AtomicBool::new(false),
            })
        });
        Self {
            threads,
            workers: workers.collect(),
            shares: (0..threads).map(|_| Share(AtomicU64::new(0))).collect(),
            busy: AtomicBool::new(false),
        }
    }

    /// The team of this process: one thread for each core.
    pub fn global() -> &'static Self {
        static GLOBAL: OnceLock<Team> = OnceLock::new();
        GLOBAL
            .get_or_init(|| Self::new(std::thread::available_parallelism().map_or(1, usize::from)))
    }

    /// Number of threads, the caller's among them.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `f(begin, end)` on contiguous parts of `0 .. extent`, and returns when all are done. The part of each thread is cut into at most
    /// `grains` pieces, which other threads may take.
    ///
    /// # Panics
    /// If `f` panics.
    pub fn run(&self, extent: i64, grains: u32, f: &(dyn Fn(i64, i64) + Sync)) {
        let blocks = i64::try_from(self.threads).map_or(extent, |threads| threads.min(extent));
        let alone = blocks <= 1
            || self
                .busy
                .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
                .is_err();
        if alone {
            if extent > 0 {
                f(0, extent);
            }
            return;
        }
        // The same partition for the same extent: a row stays with its core, if nobody takes it from there.
        let bound = |block: usize| (extent as i128 * block as i128 / i128::from(blocks)) as i64;
        let blocks = blocks as usize;
        let grains = i64::from(grains.max(1));
        let cut = |block: usize| (bound(block), bound(block + 1) - bound(block));
        let in_block = |block: usize| grains.min(cut(block).1);
        let grain = |block: usize, at: u32| {
            let (from, len) = cut(block);
            let bound =
                |at: i64| from + (len as i128 * at as i128 / i128::from(in_block(block))) as i64;
            f(bound(at.into()), bound(i64::from(at) + 1));
        };
        let job = |own: usize| {
            for block in (own..blocks).chain(0..own) {
                let end = if block == own { End::First } else { End::Last };
                while let Some(at) = self.shares[block].take(end) {
                    grain(block, at);
                }
            }
        };
        let release = Release(&self.busy);
        for block in 0..blocks {
            self.shares[block].fill(in_block(block) as u32);
        }
        self.region(blocks, &job);
        drop(release);
    }

    fn region(&self, blocks: usize, job: &Job<'_>) {
        let workers = &self.workers[..blocks - 1];
        // SAFETY: only the lifetime changes. `finish` below returns after the last worker has left the job, also if the
        // caller's own block panics (`catch_unwind`), so the job outlives every use.
        let shared: &'static Job<'static> = unsafe { std::mem::transmute(job) };
        for worker in workers {
            offer(worker, shared);
        }
        let mut panic = catch_unwind(AssertUnwindSafe(|| job(0))).err();
        for worker in workers {
            let own = finish(worker, || job(worker.block));
            panic = panic.or(own);
        }
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        for worker in &self.workers {
            worker.dismissed.store(true, Ordering::Release);
            if let Some(Some(thread)) = worker.thread.get() {
                thread.unpark();
            }
        }
    }
}

fn offer(worker: &Arc<Worker>, job: &'static Job<'static>) {
    let mut now = worker.state.load(Ordering::Acquire);
    loop {
        let (next, calls) = match now {
            state::AWAY => (state::CALLED, true),
            state::READY => (state::OFFERED, false),
            state::CALLED_OFF => (state::CALLED, false),
            other => unreachable!("a worker is free between regions, not in state {other}"),
        };
        // SAFETY: the caller holds the region lock and the state is none in which a worker reads the job.
        unsafe { *worker.job.get() = Some(job) };
        match worker
            .state
            .compare_exchange(now, next, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => {
                if calls {
                    call(worker);
                }
                return;
            }
            // A waiting worker went to sleep, or a called one arrived.
            Err(changed) => now = changed,
        }
    }
}

/// Wakes the worker's thread. Where none can be started the caller takes the block back.
fn call(worker: &Arc<Worker>) {
    let thread = worker.thread.get_or_init(|| {
        let own = Arc::clone(worker);
        let builder = std::thread::Builder::new().name(format!("weftile-{}", worker.block));
        let handle = builder.spawn(move || own.live()).ok()?;
        Some(handle.thread().clone())
    });
    if let Some(thread) = thread {
        thread.unpark();
    }
}

/// Marks the team free again, also if a block panics.
struct Release<'a>(&'a AtomicBool);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Takes the block back and runs it, or waits until the worker has run it; gives its panic.
fn finish(worker: &Worker, run: impl Fn()) -> Option<Box<dyn Any + Send>> {
    let mut spins: u32 = 0;
    loop {
        let now = worker.state.load(Ordering::Acquire);
        let back = match now {
            state::OFFERED => state::READY,
            state::CALLED => state::CALLED_OFF,
            state::RUNNING => {
                spins = spins.saturating_add(1);
                match spins > PATIENCE {
                    true => std::thread::yield_now(),
                    false => std::hint::spin_loop(),
                }
                continue;
            }
            _ => return worker.panic.lock().map_or(None, |mut panic| panic.take()),
        };
        if worker
            .state
            .compare_exchange(now, back, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
        {
            return catch_unwind(AssertUnwindSafe(&run)).err();
        }
    }
}

impl Worker {
    /// The life of a thread.
    fn live(&self) {
        while !self.dismissed.load(Ordering::Acquire) {
            match self.state.load(Ordering::Acquire) {
                state::AWAY => std::thread::park(),
                _ => self.serve(),
            }
        }
    }

    /// What a thread does that was called: work and wait until nothing comes for a while.
    fn serve(&self) {
        // The caller may take the work back, and offer new work, at any moment before one of the two succeeds.
        while !self.accept(state::CALLED) && self.swap(state::CALLED_OFF, state::READY).is_err() {}
        let mut idle = Instant::now();
        let mut spins: u32 = 0;
        loop {
            if self.accept(state::OFFERED) {
                (idle, spins) = (Instant::now(), 0);
                continue;
            }
            spins += 1;
            std::hint::spin_loop();
            if spins.is_multiple_of(SPINS)
                && idle.elapsed() > LINGER
                && self.swap(state::READY, state::AWAY).is_ok()
            {
                return;
            }
        }
    }

    /// Runs the job if there is one in this state; says whether there was.
    fn accept(&self, offer: u8) -> bool {
        if self.state.load(Ordering::Relaxed) != offer || self.swap(offer, state::RUNNING).is_err()
        {
            return false;
        }
        // SAFETY: this thread moved the state to RUNNING, so the caller neither writes the job nor leaves it now.
        let job = unsafe { *self.job.get() };
        if let Some(job) = job
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| job(self.block)))
            && let Ok(mut slot) = self.panic.lock()
        {
            *slot = Some(panic);
        }
        self.state.store(state::READY, Ordering::Release);
        true
    }

    fn swap(&self, from: u8, to: u8) -> Result<u8, u8> {
        self.state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    fn sum(team: &Team, extent: i64) -> u64 {
        let total = AtomicU64::new(0);
        team.run(extent, 3, &|begin, end| {
            let part: i64 = (begin..end).sum();
            total.fetch_add(part as u64, Ordering::Relaxed);
        });
        total.into_inner()
    }

    #[test]
    fn every_iteration_runs_once() {
        for threads in [1, 2, 3, 5] {
            let team = Team::new(threads);
            for round in 0..2000i64 {
                let extent = round % 7;
                assert_eq!(
                    sum(&team, extent),
                    (extent * (extent - 1) / 2).max(0) as u64
                );
                if round % 400 == 0 {
                    std::thread::sleep(3 * LINGER);
                }
            }
        }
    }

    /// Whoever runs the first iteration of the second block waits until all others are done.
    #[test]
    fn nobody_waits_for_the_block_of_a_thread_that_is_held_up() {
        let team = Team::new(2);
        for _ in 0..100 {
            let done = AtomicU64::new(0);
            let start = Instant::now();
            team.run(16, 8, &|begin, end| {
                let held_up = || done.load(Ordering::Relaxed) < 15;
                while begin == 8 && held_up() && start.elapsed() < Duration::from_secs(20) {
                    std::thread::yield_now();
                }
                done.fetch_add((end - begin) as u64, Ordering::Relaxed);
            });
            assert_eq!(done.into_inner(), 16);
            assert!(start.elapsed() < Duration::from_secs(20));
        }
    }

    #[test]
    fn callers_at_the_same_time_work_alone() {
        let team = Team::new(3);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| assert_eq!(sum(&team, 100), 4950)));
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_team_lives_on() {
        let team = Team::new(2);
        for bad in [0, 9] {
            let run = || team.run(10, 1, &|begin, end| assert!(!(begin..end).contains(&bad)));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            assert_eq!(sum(&team, 10), 45);
        }
    }
}
