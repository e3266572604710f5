//! Default rules: analyse a loop program, then call the same public primitives that a user has, so that what they did can be
//! printed and replayed (TVM: dlight).
//!
//! Each block at the root gets the first rule that takes it; a rule that declines has changed nothing. No rule needs a
//! constant extent. A rule may make what a later stage refuses: [`choose`] takes the first schedule that the later stage
//! accepts.

mod alternatives;
mod chain;
mod choose;
pub mod cpu;
mod epilogue;
pub mod gpu;
mod inline;
pub mod layouts;
mod nest;
mod order;
pub mod pattern;
mod products;
mod recurrence;
mod reuse;
mod sizes;
mod variants;

pub use alternatives::{Alternative, alternatives, can_be_called};
pub use choose::{Search, choose, choose_fastest};
pub use gpu::{has_fast_shared, reads_packed};
pub use sizes::usual_size;
pub use variants::{Aligned, Large, Rows, Variants, asserting, few_rows, number_of_rows, variants};

use super::analysis::runs_in_any_order;
use super::{Schedule, ScheduleError};
use crate::ir::{BlockId, LoopId, LoopKind, Place, PrimFunc};
use crate::kernel::Target;
use crate::tensor::DType;

/// A function with its default schedule.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The schedule, with its trace.
    pub schedule: Schedule,
    /// The rules that took its blocks, in the order in which blocks were tried; before them, `serial` for each statement that stays
    /// as written.
    pub rules: Vec<&'static str>,
    /// The rules that a block was for, and why they left it to others.
    pub declined: Vec<Declined>,
    /// The same as `rules`, with the blocks.
    taken: Vec<Taken>,
}

impl Scheduled {
    /// The same schedule as that of a program which is equal but for names.
    pub(crate) fn named_as(&self, func: &PrimFunc) -> Self {
        Self {
            schedule: self.schedule.named_as(func),
            ..self.clone()
        }
    }
}

/// A rule that left a block to the next one.
#[derive(Clone, Debug)]
pub struct Declined {
    /// The rule.
    pub rule: &'static str,
    /// Name of the block.
    pub block: String,
    /// Why.
    pub reason: DeclineReason,
}

impl std::fmt::Display for Declined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            rule,
            block,
            reason,
        } = self;
        write!(f, "rule {rule} declined block `{block}`: {reason}")
    }
}

/// Why a rule leaves a block to the next one.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeclineReason {
    /// The block is not what the rule is for.
    #[error("{0}")]
    Pattern(&'static str),
    /// A primitive refused.
    #[error(transparent)]
    Primitive(Box<ScheduleError>),
    /// A product cannot be made of fragments.
    #[error(transparent)]
    Fragments(#[from] FragmentsReason),
    /// What another rule makes is faster, by the counts of the kernels.
    #[error("it would take {:.1} us, and {:.1} us otherwise", *.own as f64 / 1e3, *.others as f64 / 1e3)]
    Slower {
        /// Nanoseconds of what the rule makes.
        own: u64,
        /// Nanoseconds otherwise.
        others: u64,
    },
    /// A later stage refused what the rule made.
    #[error("{0}")]
    Refused(String),
}

/// Why a product is not made of fragments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FragmentsReason {
    /// The device has none of such elements.
    #[error("the device multiplies no tiles of {factors}")]
    Device {
        /// The type of the factors.
        factors: DType,
    },
    /// Sums of a type that products of fragments do not have.
    #[error("sums are {dtype}, not float32")]
    Sums {
        /// Their type.
        dtype: DType,
    },
    /// An extent that only a call knows.
    #[error("the extent of {axis} is open")]
    Open {
        /// `m`, `n` or `k`.
        axis: &'static str,
    },
    /// An extent that fills less than half of the smallest tile.
    #[error("the extent of {axis} is {extent}, less than half of {of}")]
    Extent {
        /// `m`, `n` or `k`.
        axis: &'static str,
        /// Its extent.
        extent: i64,
        /// That of the smallest tile.
        of: i64,
    },
    /// The device has no workgroups of as many threads as the smallest tile has.
    #[error("a tile needs {needs} threads, and a workgroup of the device has {limit}")]
    Threads {
        /// Threads of the smallest tile.
        needs: i64,
        /// Threads of the device.
        limit: i64,
    },
    /// No tile fits into shared memory.
    #[error("a tile needs {needs} bytes of shared memory, and the device has {limit}")]
    Shared {
        /// Bytes of the smallest tile.
        needs: i64,
        /// Bytes of the device.
        limit: i64,
    },
}

impl From<ScheduleError> for DeclineReason {
    fn from(error: ScheduleError) -> Self {
        Self::Primitive(Box::new(error))
    }
}

/// A default rule: its name, and what it does to the block it takes.
pub(crate) struct DefaultRule<T> {
    pub(crate) name: &'static str,
    pub(crate) apply: Apply<T>,
}

/// How a rule schedules a block.
pub(crate) enum Apply<T> {
    /// In one way.
    Once(fn(&mut Schedule, BlockId, &T) -> Result<(), DeclineReason>),
    /// In the way with this number.
    Way(fn(&mut Schedule, BlockId, &T, usize) -> Result<Ways, DeclineReason>),
}

/// In how many ways a rule can schedule a block, the most promising first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways {
    /// Those that may be the fastest.
    pub(crate) promising: usize,
    pub(crate) all: usize,
    /// Whether what a later rule makes may be faster.
    pub(crate) rivals: bool,
}

impl Ways {
    const ONE: Self = Self {
        promising: 1,
        all: 1,
        rivals: false,
    };
}

impl<T> DefaultRule<T> {
    const fn new(
        name: &'static str,
        apply: fn(&mut Schedule, BlockId, &T) -> Result<(), DeclineReason>,
    ) -> Self {
        let apply = Apply::Once(apply);
        Self { name, apply }
    }

    const fn of_ways(
        name: &'static str,
        apply: fn(&mut Schedule, BlockId, &T, usize) -> Result<Ways, DeclineReason>,
    ) -> Self {
        let apply = Apply::Way(apply);
        Self { name, apply }
    }
}

/// A block or statement, and the rule that took it.
#[derive(Clone, Debug)]
struct Taken {
    rule: &'static str,
    at: Place,
    /// The statements that the rule made at the root: what it took may not be there any more.
    made: Vec<Place>,
    /// In how many ways the rule schedules it.
    ways: Ways,
    /// Why it runs in one thread, if it does.
    one_thread: Option<&'static str>,
}

/// What a schedule is to be made without, and in which ways.
#[derive(Clone, Debug, Default)]
struct Without {
    rules: Vec<(BlockId, &'static str)>,
    /// The ways of blocks; of others the first.
    ways: Vec<(BlockId, usize)>,
    /// Moving blocks into their consumers.
    inlining: bool,
    /// Any rule but `serial`.
    parallelism: bool,
}

/// Gives a function its default schedule for a target. A function that binds or marks loops already is left as it is, but for
/// loops that a GPU needs bound.
pub fn schedule(func: &PrimFunc, target: &Target) -> Scheduled {
    schedule_without(func, target, &Without::default())
}

fn schedule_without(func: &PrimFunc, target: &Target, without: &Without) -> Scheduled {
    let mut work = Work {
        schedule: Schedule::new(func.clone()),
        without,
        taken: vec![],
        declined: vec![],
    };
    match target {
        _ if is_scheduled(func) => {
            work.take("as written", func.root.into(), None);
            if let Target::Gpu(_) = target {
                gpu::bind_rest(&mut work);
            }
        }
        Target::Gpu(gpu) => {
            if !without.inlining {
                gpu::inline_producers(&mut work.schedule, gpu);
            }
            work.run(
                gpu::RULES,
                gpu,
                Some(gpu::in_one_thread),
                Some(&|func, block| gpu::reader_of(func, block, gpu)),
            );
        }
        Target::Cpu(cpu) => {
            if !without.inlining {
                cpu::inline_read_once(&mut work.schedule);
            }
            work.run(cpu::RULES, cpu, None, Some(&cpu::window_of));
        }
    }
    Scheduled {
        rules: work.taken.iter().map(|taken| taken.rule).collect(),
        schedule: work.schedule,
        declined: work.declined,
        taken: work.taken,
    }
}

/// Whether the function already has a schedule. Vectorized loops inside an `any_order` block are part of its body, not of a schedule.
pub(crate) fn is_scheduled(func: &PrimFunc) -> bool {
    func.loops.iter().any(|(id, l)| match l.kind {
        LoopKind::Serial => false,
        LoopKind::Vectorized => !is_in_body(func, id),
        LoopKind::Parallel | LoopKind::Unrolled | LoopKind::ThreadBinding(_) => true,
    })
}

/// Whether a loop without blocks is in a block whose iterations run in any order.
fn is_in_body(func: &PrimFunc, l: LoopId) -> bool {
    let block = func.scope_block(l.into());
    func.blocks_under(l.into()).is_empty() && block.is_some_and(|b| runs_in_any_order(func, b))
}

/// Makes a loop or block run as it is written.
type InOrder = fn(&mut Schedule, Place) -> Result<(), DeclineReason>;

/// The block that is tried before this one, its producer: a rule cannot see any more what a scheduled block writes wholly.
type TriedFirst<'a> = &'a dyn Fn(&PrimFunc, BlockId) -> Option<BlockId>;

/// What is to be scheduled next.
enum Next {
    /// A block whose iterations a rule may spread.
    Block(BlockId),
    /// Loops and blocks of one statement that must run in the order that is written, and why.
    Ordered(Vec<Place>, &'static str),
}

/// A function on the way to its default schedule.
struct Work<'a> {
    schedule: Schedule,
    without: &'a Without,
    taken: Vec<Taken>,
    declined: Vec<Declined>,
}

impl Work<'_> {
    fn take(&mut self, rule: &'static str, at: Place, one_thread: Option<&'static str>) {
        self.taken.push(Taken {
            rule,
            at,
            made: vec![],
            ways: Ways::ONE,
            one_thread,
        });
    }

    /// Tries the rules on each block at the root that is not yet scheduled. Statements that must run in order stay whole.
    fn run<T>(
        &mut self,
        rules: &[DefaultRule<T>],
        target: &T,
        in_order: Option<InOrder>,
        tried_first: Option<TriedFirst<'_>>,
    ) {
        let mut done = Vec::new();
        while let Some(next) = self.next(&done) {
            let block = match next {
                Next::Block(block) => tried_first
                    .and_then(|first| first(self.schedule.func(), block))
                    .filter(|first| !done.contains(&(*first).into()))
                    .unwrap_or(block),
                Next::Ordered(places, reason) => {
                    self.keep_order(&places, reason, in_order);
                    let func = self.schedule.func();
                    let blocks = places.iter().flat_map(|&place| func.blocks_under(place));
                    done.extend(blocks.map(Place::Block));
                    done.extend(places);
                    continue;
                }
            };
            done.push(block.into());
            let mut allowed = rules
                .iter()
                .filter(|rule| !self.without.rules.contains(&(block, rule.name)));
            let mut declined = Vec::new();
            let ways = &self.without.ways;
            let way = ways.iter().find(|(of, _)| *of == block);
            let way = way.map_or(0, |(_, way)| *way);
            let taker = allowed.find_map(|rule| {
                let mut trial = self.schedule.clone();
                let applied = match rule.apply {
                    Apply::Once(apply) => apply(&mut trial, block, target).map(|()| Ways::ONE),
                    Apply::Way(apply) => apply(&mut trial, block, target, way),
                };
                match applied {
                    Ok(ways) => Some((rule, ways, trial)),
                    Err(reason) => {
                        declined.push((rule.name, reason));
                        None
                    }
                }
            });
            for (rule, reason) in declined {
                self.decline(rule, block, reason);
            }
            let Some((rule, ways, schedule)) = taker else {
                continue;
            };
            let at_root = |schedule: &Schedule| {
                let func = schedule.func();
                func.tree.children(func.root)
            };
            let before = at_root(&self.schedule);
            let after = at_root(&schedule).into_iter();
            let one_thread =
                (rule.name == SERIAL).then_some("its iterations are not known to be independent");
            self.taken.push(Taken {
                rule: rule.name,
                at: block.into(),
                made: after.filter(|place| !before.contains(place)).collect(),
                ways,
                one_thread,
            });
            self.schedule = schedule;
        }
    }

    /// Notes that a rule leaves a block to others; of rules that are for other blocks only the log says so.
    fn decline(&mut self, rule: &'static str, block: BlockId, reason: DeclineReason) {
        let name = self.schedule.func().blocks.get(block);
        let declined = Declined {
            rule,
            block: name.map(|b| b.name.clone()).unwrap_or_default(),
            reason,
        };
        log::debug!("`{}`: {declined}", self.schedule.func().name);
        if !matches!(declined.reason, DeclineReason::Pattern(_)) {
            self.declined.push(declined);
        }
    }

    fn keep_order(&mut self, places: &[Place], reason: &'static str, in_order: Option<InOrder>) {
        for &place in places {
            if let Some(in_order) = in_order
                && let Err(declined) = in_order(&mut self.schedule, place)
            {
                log::debug!("cannot keep the order of {place:?}: {declined}");
            }
        }
        if let Some(&first) = places.first() {
            self.take(SERIAL, first, in_order.map(|_| reason));
        }
    }

    /// A statement to be kept in order, else a block at the root whose loops are all serial still, that was not tried. The
    /// former come first, so that no rule takes their blocks apart for the sake of another block.
    fn next(&self, done: &[Place]) -> Option<Next> {
        let func = self.schedule.func();
        let is_serial = |&block: &BlockId| chain::is_serial(func, block);
        let touched = |at: &Place| done.iter().any(|&d| func.tree.is_ancestor(*at, d));
        let ordered = func.tree.body(func.root).iter().find_map(|stmt| {
            let tops = stmt.places();
            let mut blocks = tops.iter().flat_map(|&top| match top {
                Place::Block(id) => vec![id],
                Place::Loop(_) => func.child_blocks(top),
            });
            let fresh =
                !tops.is_empty() && !tops.iter().any(touched) && blocks.all(|b| is_serial(&b));
            let reason = if self.without.parallelism {
                Some("no rule makes threads of it that the device can run")
            } else {
                order::ordered(func, stmt)
            };
            Some(Next::Ordered(tops, reason.filter(|_| fresh)?))
        });
        let waits = |b: &BlockId| !done.contains(&(*b).into()) && is_serial(b);
        let blocks = func.child_blocks(Place::Block(func.root)).into_iter();
        ordered.or_else(|| blocks.into_iter().find(waits).map(Next::Block))
    }
}

/// The rule that takes every statement, and leaves it as it is written.
const SERIAL: &str = "serial";
