//! How tensors of a function share memory: in which storages they are, and where.
//!
//! There are two ways (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020). A storage may hold one
//! tensor at a time and be as large as its largest: the best fit, as TVM chooses it in the order of the program, or large tensors
//! first. Or it is an arena that holds tensors side by side, large ones placed first: only where none but loop programs see them,
//! since others may keep a tensor longer than is planned. The way that takes fewest bytes counts, in this order. On a GPU an arena
//! must save a sixteenth: kernels that use one buffer wait for each other there, also where one needs nothing of the other, while
//! those with buffers of their own may overlap.

use super::height::{Height, Units};
use super::size::Size;
use crate::ir::Expr;
use crate::ir::graph::ValueId;
use crate::kernel::{PART_ALIGN, Target};

/// A tensor that needs memory for some time.
pub(super) struct Tensor {
    pub(super) value: ValueId,
    pub(super) size: Size,
    /// Whether its symbols have values where the function starts.
    pub(super) known: bool,
    pub(super) device: i64,
    pub(super) scope: String,
    /// Positions of its first and last use.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The bodies that it is in, from that of the function inwards, by their addresses.
    pub(super) path: Vec<usize>,
    /// Only loop programs see it, and it may lie in an arena.
    pub(super) private: bool,
    /// The function gives it back, in memory of its size.
    pub(super) given: bool,
}

impl Tensor {
    /// Whether the memory is of the same kind, and the size of memory for both has a value where the first of them is.
    pub(super) fn may_share(&self, other: &Self) -> bool {
        let sizes = self.known && other.known || self.size.symbols == other.size.symbols;
        (self.device, &self.scope, sizes) == (other.device, &other.scope, true)
    }

    /// Whether both are needed together.
    fn meets(&self, other: &Self) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// Memory for tensors, and where they start in it.
pub(super) struct Storage<'a> {
    pub(super) size: Expr,
    /// Bytes, if symbols were middling.
    typical: i128,
    pub(super) tensors: Vec<(Expr, &'a Tensor)>,
}

/// Memory for one tensor after the other.
struct Turns<'a> {
    /// The largest.
    size: Size,
    tensors: Vec<&'a Tensor>,
}

impl<'a> Turns<'a> {
    fn of(tensor: &'a Tensor) -> Self {
        Self {
            size: tensor.size.clone(),
            tensors: vec![tensor],
        }
    }

    /// Whether the sizes can be compared, no tensor of the storage is needed together with this one, and the first of them all is
    /// where the others are.
    fn takes(&self, tensor: &Tensor) -> bool {
        let all = || self.tensors.iter().copied().chain([tensor]);
        let first = all().min_by_key(|tensor| tensor.from);
        let reached = |first: &Tensor| all().all(|other| other.path.starts_with(&first.path));
        self.size.symbols == tensor.size.symbols
            && !self.tensors.iter().any(|other| other.meets(tensor))
            && first.is_some_and(reached)
    }

    fn storage(self) -> Storage<'a> {
        let tensors = self.tensors.into_iter();
        Storage {
            size: self.size.expr(),
            typical: self.size.typical(),
            tensors: tensors.map(|tensor| (Expr::i64(0), tensor)).collect(),
        }
    }
}

/// Storages for tensors: those of the way that takes fewest bytes. What the function gives back has memory that no plan makes
/// smaller or larger; where that helps, others are in it before.
pub(super) fn best<'a>(tensors: &[&'a Tensor], target: &Target) -> Vec<Storage<'a>> {
    let (given, others): (Vec<&Tensor>, Vec<&Tensor>) =
        tensors.iter().copied().partition(|tensor| tensor.given);
    let apart = ways(&others, target);
    let (hosts, rest) = hosted(&given, &others);
    if hosts.is_empty() {
        return apart;
    }
    let rest = ways(&rest, target);
    // The memory of what is given back is there in either case.
    if typical(&rest) < typical(&apart) {
        rest.into_iter()
            .chain(hosts.into_iter().map(Turns::storage))
            .collect()
    } else {
        apart
    }
}

/// The memory of tensors that are given back with others that are in it before, and those that are in none: what is needed
/// together with most others comes first, then large tensors.
fn hosted<'a>(given: &[&'a Tensor], others: &[&'a Tensor]) -> (Vec<Turns<'a>>, Vec<&'a Tensor>) {
    let there = |at: usize| {
        let there = others.iter();
        there.filter(move |tensor| (tensor.from..=tensor.to).contains(&at))
    };
    let together = |tensor: &&Tensor| {
        let sizes = there(tensor.from).map(|tensor| tensor.size.typical());
        sizes.sum::<i128>()
    };
    let peak = others.iter().max_by_key(|tensor| together(tensor));
    let peak = peak.map_or(0, |tensor| tensor.from);
    let mut rest = others.to_vec();
    rest.sort_by_key(|tensor| {
        let at_peak = (tensor.from..=tensor.to).contains(&peak);
        (!at_peak, -tensor.size.typical())
    });
    let mut hosts: Vec<Turns> = given.iter().map(|tensor| Turns::of(tensor)).collect();
    hosts.sort_by_key(|host| -host.size.typical());
    for host in &mut hosts {
        rest.retain(|tensor| {
            let taken = tensor.size.factor <= host.size.factor && host.takes(tensor);
            if taken {
                host.tensors.push(tensor);
            }
            !taken
        });
    }
    hosts.retain(|host| host.tensors.len() > 1);
    rest.sort_by_key(|tensor| tensor.from);
    (hosts, rest)
}

/// Storages for tensors in program order.
fn ways<'a>(tensors: &[&'a Tensor], target: &Target) -> Vec<Storage<'a>> {
    let mut large_first = tensors.to_vec();
    large_first.sort_by_key(|tensor| -tensor.size.typical());
    let in_turns = [one_at_a_time(tensors), one_at_a_time(&large_first)];
    let in_turns = in_turns.into_iter().min_by_key(|way| typical(way));
    let in_turns = in_turns.unwrap_or_default();
    let arena = side_by_side(&large_first, align(target));
    let saved = typical(&in_turns) - typical(&arena);
    let worth = match target {
        Target::Cpu(_) => saved > 0,
        Target::Gpu(_) => saved > typical(&in_turns) / 16,
    };
    if worth { arena } else { in_turns }
}

fn typical(storages: &[Storage]) -> i128 {
    storages.iter().map(|storage| storage.typical).sum()
}

/// Bytes that tensors side by side start at multiples of: a line of the cache, or what a GPU binds.
fn align(target: &Target) -> i64 {
    match target {
        Target::Cpu(_) => 64,
        Target::Gpu(_) => PART_ALIGN as i64,
    }
}

/// Storage for one tensor after the other: the smallest that is large enough, else the largest, which grows.
fn one_at_a_time<'a>(tensors: &[&'a Tensor]) -> Vec<Storage<'a>> {
    let mut storages: Vec<Turns> = vec![];
    for &tensor in tensors {
        let factor = tensor.size.factor;
        let free = storages.iter_mut().filter(|storage| storage.takes(tensor));
        let best = free.min_by_key(|storage| match storage.size.factor >= factor {
            true => (0, storage.size.factor),
            false => (1, -storage.size.factor),
        });
        match best {
            Some(storage) => {
                storage.size.factor = storage.size.factor.max(factor);
                storage.tensors.push(tensor);
            }
            None => storages.push(Turns::of(tensor)),
        }
    }
    storages.into_iter().map(Turns::storage).collect()
}

/// An arena for the tensors that may lie in one, and storages for the others. Large tensors are placed first; while the arena is
/// larger than what is needed together, the tensor that ends it is placed before all others.
fn side_by_side<'a>(tensors: &[&'a Tensor], align: i64) -> Vec<Storage<'a>> {
    let private = || tensors.iter().filter(|tensor| tensor.private);
    let Some(first) = private().min_by_key(|tensor| tensor.from) else {
        return one_at_a_time(tensors);
    };
    let lies_in_arena = |tensor: &&Tensor| tensor.private && tensor.path.starts_with(&first.path);
    let (mut order, others): (Vec<&Tensor>, Vec<&Tensor>) =
        tensors.iter().copied().partition(lies_in_arena);
    let units = Units::of(order.iter().map(|tensor| &tensor.size));
    let least = needed_together(&order);
    let mut best = Arena::of(&order, &units, align);
    for _ in 0..rounds(order.len()) {
        if best.typical <= least {
            break;
        }
        let made = Arena::of(&order, &units, align);
        let ends = |at: &At| units.typical(&at.end) == made.typical;
        let last = made.tensors.iter().position(ends);
        if made.typical < best.typical {
            best = made;
        }
        // The tensors of an arena are in the order in which they were placed.
        if let Some(last) = last {
            order[..=last].rotate_right(1);
        }
    }
    let mut storages = one_at_a_time(&others);
    storages.insert(0, best.storage(&units, align));
    storages
}

/// How often tensors are placed anew: less often where there are many.
fn rounds(tensors: usize) -> usize {
    ((1 << 22) / (tensors * tensors).max(1)).clamp(1, 64)
}

/// Tensors side by side.
struct Arena<'a> {
    size: Height,
    typical: i128,
    tensors: Vec<At<'a>>,
}

/// A tensor in an arena.
struct At<'a> {
    tensor: &'a Tensor,
    from: Height,
    end: Height,
    /// Lines that it starts higher than the sizes below it say.
    level: i64,
}

impl At<'_> {
    /// The level of what lies above it.
    fn next_level(&self) -> i64 {
        self.level + i64::from(!self.tensor.size.symbols.is_empty())
    }
}

impl<'a> Arena<'a> {
    /// The tensors, placed in this order, each in the smallest gap that is large enough.
    fn of(order: &[&'a Tensor], units: &Units, align: i64) -> Self {
        let mut arena = Self {
            size: units.ground(),
            typical: 0,
            tensors: vec![],
        };
        for &tensor in order {
            let from = arena.gap(tensor, units, align);
            let end = units.end(&from, &tensor.size);
            arena.size = arena.size.max(&end);
            arena.tensors.push(At {
                tensor,
                from,
                end,
                level: 0,
            });
        }
        arena.typical = units.typical(&arena.size);
        arena
    }

    /// Where a tensor starts.
    fn gap(&self, tensor: &Tensor, units: &Units, align: i64) -> Height {
        let placed = self.tensors.iter().filter(|at| at.tensor.meets(tensor));
        let placed: Vec<(&Height, Height)> = placed
            .map(|at| (&at.from, at.end.clone().aligned(align)))
            .collect();
        let ends = || placed.iter().map(|(_, end)| end);
        let top = ends().fold(units.ground(), Height::max);
        let gap = |from: &Height| {
            let end = units.end(from, &tensor.size);
            let mut room = i128::MAX;
            for (start, above) in &placed {
                if above.at_most(from) {
                    continue;
                }
                if !end.at_most(start) {
                    return None;
                }
                room = room.min(units.typical(start) - units.typical(from));
            }
            Some((room, units.typical(from)))
        };
        let ground = units.ground();
        let starts = [&ground].into_iter().chain(ends()).chain([&top]);
        let gaps = starts.filter_map(|from| Some((gap(from)?, from)));
        let best = gaps.min_by_key(|(gap, _)| *gap);
        best.map_or(&top, |(_, from)| from).clone()
    }

    fn storage(mut self, units: &Units, align: i64) -> Storage<'a> {
        self.find_levels(units);
        let tensors = self.tensors.iter();
        let level = tensors.clone().map(At::next_level).max();
        Storage {
            size: units.expr(&self.size, level.unwrap_or(0), align),
            typical: self.typical,
            tensors: tensors
                .map(|at| (units.expr(&at.from, at.level, align), at.tensor))
                .collect(),
        }
    }

    fn find_levels(&mut self, units: &Units) {
        self.tensors.sort_by_key(|at| units.typical(&at.from));
        for upper in 0..self.tensors.len() {
            let (below, rest) = self.tensors.split_at_mut(upper);
            let upper = &mut rest[0];
            let below = below
                .iter()
                .filter(|lower| lower.tensor.meets(upper.tensor) && lower.end.at_most(&upper.from));
            upper.level = below.map(At::next_level).max().unwrap_or(0);
        }
    }
}

/// What tensors take at most that are needed together.
fn needed_together(tensors: &[&Tensor]) -> i128 {
    let at = |position| {
        let there = tensors
            .iter()
            .filter(|tensor| (tensor.from..=tensor.to).contains(&position));
        there.map(|tensor| tensor.size.typical()).sum()
    };
    tensors
        .iter()
        .map(|tensor| at(tensor.from))
        .max()
        .unwrap_or(0)
}
