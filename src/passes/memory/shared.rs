//! Memory that tensors share: what is planned of it, and the allocations in the function that the plan becomes.

use super::alloc_storage;
use super::size::Size;
use super::static_plan::Alloc;
use super::storages::{Packed, Tensor};
use crate::ir::graph::{Arg, Callee, Def, GraphBuilder};
use crate::ir::{Attrs, Expr, ShapeInfo, StructInfo, Var};
use crate::tensor::pack::{Packing, memory_of};
use crate::tensor::{DType, PACK_MEMORY};

/// Memory that several tensors share.
pub(super) enum Shared {
    /// One storage for one after the other.
    Turns(Expr),
    /// An arena of so many bytes, and storages of so many for results: in which of them each tensor is, and where.
    Fixed {
        sizes: Vec<Expr>,
        places: Vec<(usize, usize)>,
    },
    /// The same for sizes that are known when the function is called: what is asked then, and of which sizes.
    Open {
        numbers: Vec<i64>,
        sizes: Vec<Size>,
        hosts: Vec<Size>,
        /// By tensor: how many of the results are made after its last use. It is in the memory of none of the others.
        hosts_after: Vec<usize>,
    },
}

impl Shared {
    pub(super) fn of(packed: &Packed<'_>) -> Self {
        let hosts = || packed.hosts.iter().map(|host| host.size.clone());
        if !packed.is_fixed() {
            let mut sizes = vec![];
            return Self::Open {
                numbers: packed.numbers(&mut sizes),
                sizes,
                hosts: hosts().collect(),
                hosts_after: packed.hosts_after(),
            };
        }
        let Packing { arena, starts } = packed.places(&|size| size.factor);
        let memories = [arena].into_iter().chain(hosts().map(|host| host.factor));
        let memories: Vec<i64> = memories.collect();
        let place = |(start, tenant): (i64, &&Tensor)| {
            let bytes = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
            let end = bytes(start.saturating_add(tenant.size.factor));
            let sizes = memories.iter().map(|size| bytes(*size));
            let found = memory_of(sizes, bytes(start), end);
            found.expect("what is packed lies in one of the memories")
        };
        let starts = starts.into_iter().zip(&packed.tenants);
        let own = (1..memories.len()).map(|host| (host, 0));
        Self::Fixed {
            places: starts.map(place).chain(own).collect(),
            sizes: memories.into_iter().map(Expr::i64).collect(),
        }
    }
}

/// Shared memory as the function has it: storages, and in which of them and where each tensor starts.
pub(super) enum Memory {
    Turns(Arg),
    Fixed(Vec<Option<Arg>>, Vec<(usize, usize)>),
    Open {
        arena: Vec<Arg>,
        /// By tensor: where it starts, and in how many of the storages it may be.
        places: Vec<(Expr, usize)>,
    },
}

impl Memory {
    /// Allocates the memory. An arena in which nothing is takes no storage.
    pub(super) fn of(shared: &Shared, builder: &mut GraphBuilder, alloc: &Alloc<'_>) -> Self {
        let storage = |builder: &mut GraphBuilder, size: &Expr| {
            let (def, info) = alloc_storage(size, alloc.device, alloc.scope, alloc.dtype);
            Arg::Value(builder.bind_as("storage", def, info))
        };
        match shared {
            Shared::Turns(size) => Self::Turns(storage(builder, size)),
            Shared::Fixed { sizes, places } => {
                let used = |at: usize| places.iter().any(|(memory, _)| *memory == at);
                let storages = sizes.iter().enumerate();
                let storages = storages.map(|(at, size)| used(at).then(|| storage(builder, size)));
                Self::Fixed(storages.collect(), places.clone())
            }
            Shared::Open {
                numbers,
                sizes,
                hosts,
                hosts_after,
            } => {
                let (bytes, offsets) = packing(builder, numbers, sizes, hosts_after.len());
                let mut arena = vec![storage(builder, &bytes)];
                arena.extend(hosts.iter().map(|host| storage(builder, &host.expr())));
                let places = offsets.into_iter().zip(hosts_after);
                let places = places.map(|(offset, hosts)| (offset, 1 + hosts)).collect();
                Self::Open { arena, places }
            }
        }
    }

    /// The storage of a tensor, and where it starts there.
    pub(super) fn place(&self, at: usize) -> (Arg, Expr) {
        match self {
            Self::Turns(storage) => (storage.clone(), Expr::i64(0)),
            Self::Fixed(storages, places) => {
                let (memory, start) = places[at];
                let storage = storages[memory].clone();
                let storage = storage.expect("storages in which tensors are, are made");
                // Not more than the bytes of an arena, which are an `i64`.
                (storage, Expr::i64(start as i64))
            }
            Self::Open { arena, places } => match places.get(at) {
                Some((offset, 1)) => (arena[0].clone(), offset.clone()),
                Some((offset, storages)) => {
                    (Arg::Tuple(arena[..*storages].to_vec()), offset.clone())
                }
                None => (arena[1 + at - places.len()].clone(), Expr::i64(0)),
            },
        }
    }
}

/// Asks the host how to pack tensors of these sizes: the bytes of the arena and the start of each tensor, as variables.
fn packing(
    builder: &mut GraphBuilder,
    numbers: &[i64],
    sizes: &[Size],
    tenants: usize,
) -> (Expr, Vec<Expr>) {
    let numbers = numbers.iter().map(|number| Expr::i64(*number)).collect();
    let sizes = sizes.iter().map(Size::expr).collect();
    let ndim = ShapeInfo::Ndim(tenants + 1);
    let def = Def::Call {
        callee: Callee::Packed(PACK_MEMORY.to_owned()),
        args: vec![Arg::Shape(numbers), Arg::Shape(sizes)],
        attrs: Attrs::new(),
        sinfo_args: vec![StructInfo::Shape(ndim.clone())],
    };
    let packed = builder.bind_as("packing", def, StructInfo::Shape(ndim));
    let bytes = Var::new("arena_bytes", DType::I64).expr();
    let offsets = (0..tenants).map(|at| Var::new(format!("offset_{at}"), DType::I64).expr());
    let offsets: Vec<Expr> = offsets.collect();
    let dims = [vec![bytes.clone()], offsets.clone()].concat();
    let named = StructInfo::Shape(ShapeInfo::Known(dims));
    let cast = Def::MatchCast(Arg::Value(packed), named.clone());
    builder.bind_as("packed", cast, named);
    (bytes, offsets)
}
