//! How tensors of a function share memory: in which storages they are, and where.
//!
//! There are two ways (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020). A storage may hold one
//! tensor at a time and be as large as its largest: the best fit, as TVM chooses it in the order of the program, or large tensors
//! first. Or tensors lie side by side, in an arena and in the memory of results that are not made yet: only where none but loop
//! programs see them, since others may keep a tensor longer than is planned. The way that takes fewest bytes counts, in this order.
//! On a GPU tensors side by side must save a sixteenth: kernels that use one buffer wait for each other there, also where one needs
//! nothing of the other, while those with buffers of their own may overlap.

use std::cmp::Reverse;

use super::size::Size;
use crate::ir::graph::ValueId;
use crate::kernel::{PART_ALIGN, Target};
use crate::tensor::pack::{Effort, Packing, Spare, Tenant, pack};

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
    /// Only loop programs see it, and it may lie beside others.
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

    /// What packing knows of it, with these bytes.
    fn tenant(&self, bytes: i64) -> Tenant {
        Tenant {
            from: position(self.from),
            to: position(self.to),
            bytes,
        }
    }

    fn spare(&self, bytes: i64) -> Spare {
        Spare {
            until: position(self.from),
            bytes,
        }
    }
}

fn position(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

/// Memory for one tensor after the other.
pub(super) struct Turns<'a> {
    /// The largest.
    pub(super) size: Size,
    pub(super) tensors: Vec<&'a Tensor>,
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
}

/// Tensors side by side: in an arena, and in the memory of results.
pub(super) struct Packed<'a> {
    pub(super) tenants: Vec<&'a Tensor>,
    /// The results, in whose memory tenants may be before; the last one first.
    pub(super) hosts: Vec<&'a Tensor>,
    pub(super) align: i64,
}

impl Packed<'_> {
    /// Where the tensors are if each takes the bytes that `bytes` says of its size.
    pub(super) fn places(&self, bytes: &dyn Fn(&Size) -> i64) -> Packing {
        let tenants = self.tenants.iter().map(|t| t.tenant(bytes(&t.size)));
        let hosts = self.hosts.iter().map(|host| host.spare(bytes(&host.size)));
        let (tenants, hosts): (Vec<_>, Vec<_>) = (tenants.collect(), hosts.collect());
        pack(&tenants, &hosts, self.align, Effort::Compiling)
    }

    /// Whether all sizes are numbers.
    pub(super) fn is_fixed(&self) -> bool {
        let mut all = self.tenants.iter().chain(&self.hosts);
        all.all(|tensor| tensor.size.symbols.is_empty())
    }

    /// By tenant: how many of the results are made after its last use.
    pub(super) fn hosts_after(&self) -> Vec<usize> {
        let after = |tenant: &&Tensor| {
            let made = self.hosts.iter();
            made.filter(|host| host.from > tenant.to).count()
        };
        self.tenants.iter().map(after).collect()
    }

    /// Positions and sizes as [`crate::tensor::PACK_MEMORY`] takes them, before the sizes; a size is its place among `sizes`.
    pub(super) fn numbers(&self, sizes: &mut Vec<Size>) -> Vec<i64> {
        let mut size = |size: &Size| {
            let known = sizes.iter().position(|known| known == size);
            let at = known.unwrap_or_else(|| {
                sizes.push(size.clone());
                sizes.len() - 1
            });
            position(at)
        };
        let counts = [self.hosts.len(), self.tenants.len()].map(position);
        let mut numbers = vec![self.align, counts[0], counts[1]];
        for host in &self.hosts {
            numbers.extend([position(host.from), size(&host.size)]);
        }
        for tenant in &self.tenants {
            numbers.extend([
                position(tenant.from),
                position(tenant.to),
                size(&tenant.size),
            ]);
        }
        numbers
    }
}

/// How tensors share memory. A result that is in neither has memory of its own.
#[derive(Default)]
pub(super) struct Sharing<'a> {
    pub(super) turns: Vec<Turns<'a>>,
    pub(super) packed: Option<Packed<'a>>,
}

/// The way that takes fewest bytes for tensors in program order. What the function gives back has memory that no plan makes smaller
/// or larger; others may be in it before.
pub(super) fn best<'a>(tensors: &[&'a Tensor], target: &Target) -> Sharing<'a> {
    let (given, others): (Vec<&Tensor>, Vec<&Tensor>) =
        tensors.iter().copied().partition(|tensor| tensor.given);
    let in_turns = in_turns(&given, &others);
    let Some((packed, rest)) = side_by_side(&given, &others, align(target)) else {
        return in_turns;
    };
    let arena = packed.places(&|size| i64::try_from(size.typical()).unwrap_or(i64::MAX));
    let side_by_side = i128::from(arena.arena) + typical(&rest);
    let alone = typical(&in_turns.turns);
    let worth = match target {
        Target::Cpu(_) => side_by_side < alone,
        Target::Gpu(_) => side_by_side < alone - alone / 16,
    };
    match worth {
        true => Sharing {
            turns: rest,
            packed: Some(packed),
        },
        false => in_turns,
    }
}

/// Bytes of storages without those of results, with [`Size::typical`] sizes.
fn typical(turns: &[Turns]) -> i128 {
    let own = turns.iter().filter(|turns| !turns.tensors[0].given);
    own.map(|turns| turns.size.typical()).sum()
}

/// One tensor at a time, in the memory of results where that takes fewer bytes.
fn in_turns<'a>(given: &[&'a Tensor], others: &[&'a Tensor]) -> Sharing<'a> {
    let apart = smallest(others);
    let (mut hosts, rest) = hosted(given, others);
    let rest = smallest(&rest);
    let turns = match typical(&rest) < typical(&apart) {
        true => {
            hosts.extend(rest);
            hosts
        }
        false => apart,
    };
    Sharing {
        turns,
        packed: None,
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

/// Storages that take tensors in program order, or large ones first.
fn smallest<'a>(tensors: &[&'a Tensor]) -> Vec<Turns<'a>> {
    let mut large_first = tensors.to_vec();
    large_first.sort_by_key(|tensor| -tensor.size.typical());
    let ways = [one_at_a_time(tensors), one_at_a_time(&large_first)];
    let smallest = ways.into_iter().min_by_key(|way| typical(way));
    smallest.unwrap_or_default()
}

/// Bytes that tensors side by side start at multiples of: a line of the cache, or what a GPU binds.
fn align(target: &Target) -> i64 {
    match target {
        Target::Cpu(_) => 64,
        Target::Gpu(_) => PART_ALIGN as i64,
    }
}

/// Storage for one tensor after the other: the smallest that is large enough, else the largest, which grows.
fn one_at_a_time<'a>(tensors: &[&'a Tensor]) -> Vec<Turns<'a>> {
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
    storages
}

/// The tensors that may lie side by side, in the body of the first of them and its branches, and storages for the others. Sizes that
/// have no value where the function starts are not compared.
fn side_by_side<'a>(
    given: &[&'a Tensor],
    others: &[&'a Tensor],
    align: i64,
) -> Option<(Packed<'a>, Vec<Turns<'a>>)> {
    let private = || {
        others
            .iter()
            .filter(|tensor| tensor.private && tensor.known)
    };
    let first = private().min_by_key(|tensor| tensor.from)?;
    let inside =
        |tensor: &&Tensor| tensor.private && tensor.known && tensor.path.starts_with(&first.path);
    let (tenants, rest): (Vec<&Tensor>, Vec<&Tensor>) = others.iter().copied().partition(inside);
    let takes_one = |host: &&&Tensor| {
        let before = tenants.iter().any(|tenant| tenant.to < host.from);
        // Of a branch that is not taken nothing would be given.
        host.known && host.path == first.path && host.path.len() == 1 && before
    };
    // A result of an open size helps none but open sizes: a plan of numbers stays one.
    let open = tenants.iter().any(|tenant| !tenant.size.symbols.is_empty());
    let fits = |host: &&&Tensor| open || host.size.symbols.is_empty();
    let hosts = given.iter().filter(takes_one).filter(fits).copied();
    let mut hosts: Vec<&Tensor> = hosts.collect();
    // The last one first: what is made after a result lies in those before it.
    hosts.sort_by_key(|host| Reverse(host.from));
    let packed = Packed {
        tenants,
        hosts,
        align,
    };
    Some((packed, smallest(&rest)))
}
