//! Tensors side by side in memory: where each of them starts, given how long it is needed.
//!
//! Large tensors are placed first, each in the smallest gap that is large enough (Pisarchyk and Lee, "Efficient Memory Management for
//! Deep Neural Net Inference", 2020, "greedy by size for offset calculation"). Besides the arena, which grows, there may be spare
//! memory: the memory of a result, which is free until the result is made. Compilers pack tensors of known sizes; where sizes are
//! open, a program packs its tensors when it is called (`weftile.pack_memory`).

use super::host_ops::{HostArgs, HostError, HostResult};

/// A tensor that needs memory at the positions `from..=to` of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// The first position at which it is needed.
    pub from: i64,
    /// The last one.
    pub to: i64,
    /// Its bytes.
    pub bytes: i64,
}

/// Memory that is there in any case, and free before a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// The position from which on all of it is taken.
    pub until: i64,
    /// Its bytes.
    pub bytes: i64,
}

/// Places for tenants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Bytes of the arena.
    pub arena: i64,
    /// Where each tenant starts. Positions count through the arena, then through the spare memory, one after the other.
    pub starts: Vec<i64>,
}

/// In which of memories one after the other a tensor lies that takes the bytes `start..end` of them all, and where it starts there:
/// the first in which it ends. `None` if it lies in none.
pub fn memory_of(
    sizes: impl IntoIterator<Item = usize>,
    start: usize,
    end: usize,
) -> Option<(usize, usize)> {
    let mut before = 0usize;
    for (at, size) in sizes.into_iter().enumerate() {
        let next = before.saturating_add(size);
        if end <= next {
            return Some((at, start.checked_sub(before)?));
        }
        before = next;
    }
    None
}

/// A budget for [`pack`], in comparisons of two tenants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// When a program is compiled.
    Compiling,
    /// When it is called with sizes that are new to it.
    Calling,
}

impl Effort {
    /// How often tenants are placed anew: less often where there are many.
    fn rounds(self, tenants: usize) -> usize {
        let pairs = match self {
            Self::Compiling => 1 << 22,
            Self::Calling => 1 << 17,
        };
        (pairs / (tenants * tenants).max(1)).clamp(1, 64)
    }
}

impl Tenant {
    fn meets(&self, other: &Self) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// Which memory a tenant is in, and the bytes there.
#[derive(Clone, Copy)]
struct At {
    tenant: usize,
    /// The arena is `None`.
    spare: Option<usize>,
    start: i64,
    end: i64,
}

/// Places the tenants at multiples of `align`, so that those that are needed together have no byte in common: large ones first, or
/// those that take much for long. While the arena is larger than it must be, the tenant that ends it is placed before all others.
pub fn pack(tenants: &[Tenant], spares: &[Spare], align: i64, effort: Effort) -> Packing {
    let least = least(tenants, spares);
    let for_long = |t: &Tenant| i128::from(t.bytes) * (i128::from(t.to) - i128::from(t.from) + 1);
    let large_first = sorted(tenants, |t| t.bytes.into());
    let mut best = place(&large_first, tenants, spares, align);
    for mut order in [large_first, sorted(tenants, for_long)] {
        for _ in 0..effort.rounds(tenants.len()) {
            if end_of_arena(&best) <= least {
                break;
            }
            let made = place(&order, tenants, spares, align);
            let top = end_of_arena(&made);
            // Places are in the order in which tenants were placed.
            let ends = |at: &At| at.spare.is_none() && at.end == top;
            let last = made.iter().position(ends);
            if top < end_of_arena(&best) {
                best = made;
            }
            match last {
                Some(last @ 1..) => order[..=last].rotate_right(1),
                _ => break,
            }
        }
    }
    let arena = end_of_arena(&best);
    let mut starts = vec![0; tenants.len()];
    for at in &best {
        let before = spares[..at.spare.unwrap_or(0)].iter();
        let memory = match at.spare {
            None => 0,
            Some(_) => before.fold(arena, |sum, spare| sum.saturating_add(spare.bytes.max(0))),
        };
        starts[at.tenant] = memory.saturating_add(at.start);
    }
    Packing { arena, starts }
}

/// Indices of the tenants, by falling key.
fn sorted(tenants: &[Tenant], of: impl Fn(&Tenant) -> i128) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tenants.len()).collect();
    order.sort_by_key(|&at| -of(&tenants[at]));
    order
}

fn end_of_arena(places: &[At]) -> i64 {
    let inside = places.iter().filter(|at| at.spare.is_none());
    inside.map(|at| at.end).max().unwrap_or(0)
}

/// What an arena takes at least: tenants that are needed together, without the spare memory that is free by then.
fn least(tenants: &[Tenant], spares: &[Spare]) -> i64 {
    let sum = |bytes: &mut dyn Iterator<Item = i64>| bytes.fold(0, i64::saturating_add);
    let at = |position: i64| {
        let there = tenants
            .iter()
            .filter(|t| t.from <= position && position <= t.to);
        let free = spares.iter().filter(|spare| spare.until > position);
        sum(&mut there.map(|t| t.bytes)) - sum(&mut free.map(|spare| spare.bytes))
    };
    let most = tenants.iter().map(|tenant| at(tenant.from)).max();
    most.unwrap_or(0).max(0)
}

fn place(order: &[usize], tenants: &[Tenant], spares: &[Spare], align: i64) -> Vec<At> {
    let mut places: Vec<At> = Vec::with_capacity(order.len());
    for &tenant in order {
        let Tenant { from: _, to, bytes } = tenants[tenant];
        let taken = |memory: Option<usize>| -> Vec<(i64, i64)> {
            let there = places.iter().filter(|at| at.spare == memory);
            let meeting = there.filter(|at| tenants[at.tenant].meets(&tenants[tenant]));
            let aligned = |end: i64| end.saturating_add(align - 1) / align * align;
            meeting.map(|at| (at.start, aligned(at.end))).collect()
        };
        let free = spares
            .iter()
            .enumerate()
            .filter(|(_, spare)| to < spare.until);
        let spare = free
            .filter_map(|(at, spare)| {
                let (room, start) = gap(taken(Some(at)), bytes, Some(spare.bytes))?;
                // Later tenants have less of the memory that is taken first.
                Some((spare.until, room, start, at))
            })
            .min();
        let (memory, start) = match spare {
            Some((_, _, start, at)) => (Some(at), start),
            None => {
                let found = gap(taken(None), bytes, None);
                (None, found.map_or(0, |(_, start)| start))
            }
        };
        places.push(At {
            tenant,
            spare: memory,
            start,
            end: start.saturating_add(bytes),
        });
    }
    places
}

/// The smallest gap between the taken parts of some memory that has room for so many bytes: its room, and where it starts.
fn gap(mut taken: Vec<(i64, i64)>, bytes: i64, size: Option<i64>) -> Option<(i64, i64)> {
    taken.sort_unstable();
    let limit = size.unwrap_or(i64::MAX);
    let (mut best, mut end): (Option<(i64, i64)>, i64) = (None, 0);
    for (next, above) in taken.into_iter().chain([(limit, limit)]) {
        let room = next.min(limit) - end;
        if room >= bytes && best.is_none_or(|best| (room, end) < best) {
            best = Some((room, end));
        }
        end = end.max(above);
    }
    best
}

/// How many tensors are packed when a function is called; no network has so many.
const MOST: usize = 1 << 14;

/// `weftile.pack_memory`: the shape `(bytes of the arena, start of each tenant, …)`. It takes the alignment and the numbers of spares
/// and tenants; position and size of each spare; both positions and size of each tenant; and the bytes that these sizes stand for.
pub(super) fn pack_memory(args: &HostArgs) -> Result<HostResult, HostError> {
    let numbers = &args.numbers[..];
    let wrong = || HostError::Arguments("an alignment, spares, tenants and their sizes");
    let [align, spares, tenants, rest @ ..] = numbers else {
        return Err(wrong());
    };
    let count = |n: &i64, each: usize| usize::try_from(*n).ok().and_then(|n| n.checked_mul(each));
    let (spares, tenants) = count(spares, 2).zip(count(tenants, 3)).ok_or_else(wrong)?;
    let end = spares.checked_add(tenants).filter(|end| *end <= rest.len());
    let sizes = &rest[end.ok_or_else(wrong)?..];
    let bytes = |size: i64| {
        let size = usize::try_from(size).ok().and_then(|at| sizes.get(at));
        size.map(|bytes| (*bytes).max(0)).ok_or_else(wrong)
    };
    let spare = |row: &[i64]| -> Result<Spare, HostError> {
        Ok(Spare {
            until: row[0],
            bytes: bytes(row[1])?,
        })
    };
    let tenant = |row: &[i64]| -> Result<Tenant, HostError> {
        Ok(Tenant {
            from: row[0],
            to: row[1],
            bytes: bytes(row[2])?,
        })
    };
    let (of_spares, rest) = rest.split_at(spares);
    let spares: Vec<Spare> = of_spares
        .chunks_exact(2)
        .map(spare)
        .collect::<Result<_, _>>()?;
    let rows = rest[..tenants].chunks_exact(3);
    let tenants: Vec<Tenant> = rows.map(tenant).collect::<Result<_, _>>()?;
    if tenants.len() > MOST || spares.len() > MOST || tenants.iter().any(|t| t.from > t.to) {
        return Err(wrong());
    }
    let Packing { arena, starts } = pack(&tenants, &spares, (*align).max(1), Effort::Calling);
    let mut shape = vec![arena];
    shape.extend(starts);
    Ok(HostResult::Shape(shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn tenant(from: i64, to: i64, bytes: i64) -> Tenant {
        Tenant { from, to, bytes }
    }

    /// Panics if tenants that are needed together share a byte, or one leaves its memory.
    fn check(tenants: &[Tenant], spares: &[Spare], align: i64) -> Packing {
        let packing = pack(tenants, spares, align, Effort::Compiling);
        let mut memories = vec![(0, packing.arena, i64::MAX)];
        for spare in spares {
            let start = memories[memories.len() - 1].1;
            memories.push((start, start + spare.bytes, spare.until));
        }
        for (at, (a, start)) in tenants.iter().zip(&packing.starts).enumerate() {
            let end = start + a.bytes;
            let inside = |(from, to, until): &&(i64, i64, i64)| {
                from <= start && end <= *to && a.to < *until && (start - from) % align == 0
            };
            assert!(
                memories.iter().any(|m| inside(&m)),
                "{tenants:?} {packing:?}"
            );
            for (b, other) in tenants.iter().zip(&packing.starts).skip(at + 1) {
                let apart = end <= *other || other + b.bytes <= *start;
                assert!(!a.meets(b) || apart, "{tenants:?} {packing:?}");
            }
        }
        packing
    }

    #[test]
    fn a_chain_takes_two_neighbours() {
        let chain = [tenant(0, 1, 64), tenant(1, 2, 128), tenant(2, 3, 64)];
        assert_eq!(check(&chain, &[], 64).arena, 192);
    }

    #[test]
    fn spare_memory_is_taken_until_it_is_needed() {
        let chain = [tenant(0, 1, 64), tenant(1, 2, 128), tenant(2, 3, 64)];
        let result = Spare {
            until: 3,
            bytes: 200,
        };
        assert_eq!(check(&chain, &[result], 64).arena, 64);
    }

    #[test]
    fn tenants_without_bytes_take_none() {
        assert_eq!(check(&[tenant(0, 3, 0), tenant(1, 2, 0)], &[], 64).arena, 0);
        assert_eq!(pack(&[], &[], 64, Effort::Calling).arena, 0);
    }

    #[test]
    fn random_tenants_never_overlap() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let spare = |random: &mut fastrand::Rng| Spare {
                until: random.i64(0..20),
                bytes: random.i64(0..600),
            };
            let spares: Vec<Spare> = (0..random.usize(0..3))
                .map(|_| spare(&mut random))
                .collect();
            let tenants: Vec<Tenant> = (0..random.usize(0..20))
                .map(|_| {
                    let from = random.i64(0..20);
                    tenant(from, from + random.i64(0..6), random.i64(0..300))
                })
                .collect();
            check(&tenants, &spares, [1, 64][random.usize(0..2)]);
        }
    }

    #[test]
    fn the_function_of_the_host_refuses_what_it_does_not_take() {
        let call = |numbers: &[i64]| {
            let args = HostArgs {
                numbers: numbers.to_vec(),
                ..HostArgs::default()
            };
            pack_memory(&args)
        };
        let Ok(HostResult::Shape(shape)) = call(&[64, 1, 2, 2, 1, 0, 1, 0, 1, 2, 0, 100, 128])
        else {
            panic!("a shape");
        };
        assert!(call(&[64, 0, 1, 0, i64::MAX, 0, 5]).is_ok(), "no overflow");
        // The first tenant is in the spare memory, which starts behind the arena.
        assert_eq!(shape, [100, 100, 0]);
        for wrong in [
            &[][..],
            &[64, 0, 1],
            &[64, 0, 1, 0, 1, 7, 5],
            &[64, i64::MAX, 1],
            &[64, -1, 0],
            &[64, 0, 1, 5, 4, 0, 1],
        ] {
            assert!(call(wrong).is_err(), "{wrong:?}");
        }
    }
}
