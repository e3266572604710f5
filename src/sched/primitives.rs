//! The table of primitives: what a step of a trace or of a text file calls.

use super::step::{Args, LoopOrBlocks, StepError};
use super::{Schedule, StepResults};
use crate::ir::Place;

/// A primitive as a step sees it.
pub struct Primitive {
    /// TVM's name.
    pub name: &'static str,
    /// Names of its arguments, in order.
    pub params: &'static [&'static str],
    /// Applies it.
    pub(super) run: fn(&mut Schedule, &Args<'_>) -> Result<Vec<Place>, StepError>,
}

/// All primitives that steps can name.
pub const PRIMITIVES: &[Primitive] = &[
    Primitive {
        name: "get_block",
        params: &["name"],
        run: |s, a| places(s.get_block(a.text(0)?)),
    },
    Primitive {
        name: "get_loops",
        params: &["block"],
        run: |s, a| places(s.get_loops(a.block(s, 0)?)),
    },
    Primitive {
        name: "get_child_blocks",
        params: &["block_or_loop"],
        run: |s, a| places(s.get_child_blocks(a.place(s, 0)?)),
    },
    Primitive {
        name: "get_producers",
        params: &["block"],
        run: |s, a| places(s.get_producers(a.block(s, 0)?)),
    },
    Primitive {
        name: "get_consumers",
        params: &["block"],
        run: |s, a| places(s.get_consumers(a.block(s, 0)?)),
    },
    Primitive {
        name: "split",
        params: &["loop", "factors", "preserve_unit_iters"],
        run: |s, a| places(s.split_with(a.loop_(s, 0)?, &a.factors(1)?, a.units(2)?)),
    },
    Primitive {
        name: "fuse",
        params: &["loops", "preserve_unit_iters"],
        run: |s, a| places(s.fuse_with(&a.loops(s, 0)?, a.units(1)?)),
    },
    Primitive {
        name: "reorder",
        params: &["loops"],
        run: |s, a| places(s.reorder(&a.loops(s, 0)?)),
    },
    Primitive {
        name: "parallel",
        params: &["loop"],
        run: |s, a| places(s.parallel(a.loop_(s, 0)?)),
    },
    Primitive {
        name: "vectorize",
        params: &["loop"],
        run: |s, a| places(s.vectorize(a.loop_(s, 0)?)),
    },
    Primitive {
        name: "unroll",
        params: &["loop"],
        run: |s, a| places(s.unroll(a.loop_(s, 0)?)),
    },
    Primitive {
        name: "bind",
        params: &["loop", "thread_axis"],
        run: |s, a| places(s.bind(a.loop_(s, 0)?, a.axis(1)?)),
    },
    Primitive {
        name: "add_unit_loop",
        params: &["block_or_loop"],
        run: |s, a| places(s.add_unit_loop(a.place(s, 0)?)),
    },
    Primitive {
        name: "annotate",
        params: &["block_or_loop", "ann_key", "ann_val"],
        run: |s, a| places(s.annotate(a.place(s, 0)?, a.text(1)?, a.value(2)?)),
    },
    Primitive {
        name: "cache_read",
        params: &[
            "block",
            "read_buffer_index",
            "storage_scope",
            "consumer_blocks",
        ],
        run: |s, a| places(s.cache_read(a.block(s, 0)?, a.index(1)?, a.text(2)?, &a.blocks(s, 3)?)),
    },
    Primitive {
        name: "cache_write",
        params: &[
            "block",
            "write_buffer_index",
            "storage_scope",
            "consumer_blocks",
        ],
        run: |s, a| {
            places(s.cache_write(a.block(s, 0)?, a.index(1)?, a.text(2)?, &a.blocks(s, 3)?))
        },
    },
    Primitive {
        name: "reindex_cache_read",
        params: &["block", "read_buffer_index", "storage_scope", "index_map"],
        run: |s, a| {
            let block = a.block(s, 0)?;
            places(s.reindex_cache_read(block, a.index(1)?, a.text(2)?, &a.index_map(3)?))
        },
    },
    Primitive {
        name: "reindex_cache_write",
        params: &["block", "write_buffer_index", "storage_scope", "index_map"],
        run: |s, a| {
            let block = a.block(s, 0)?;
            places(s.reindex_cache_write(block, a.index(1)?, a.text(2)?, &a.index_map(3)?))
        },
    },
    Primitive {
        name: "storage_align",
        params: &["block", "buffer_index", "axis", "factor", "offset"],
        run: |s, a| {
            let block = a.block(s, 0)?;
            places(s.storage_align(block, a.index(1)?, a.int(2)?, a.int(3)?, a.int(4)?))
        },
    },
    Primitive {
        name: "transform_block_layout",
        params: &["block", "index_map"],
        run: |s, a| places(s.transform_block_layout(a.block(s, 0)?, &a.index_map(1)?)),
    },
    Primitive {
        name: "compute_at",
        params: &["block", "loop", "preserve_unit_loops", "index"],
        run: |s, a| {
            let units = a.flag_or(2, false)?.into();
            places(s.compute_at(a.block(s, 0)?, a.loop_(s, 1)?, units, a.insert_at(3)?))
        },
    },
    Primitive {
        name: "reverse_compute_at",
        params: &["block", "loop", "preserve_unit_loops", "index"],
        run: |s, a| {
            let units = a.flag_or(2, false)?.into();
            places(s.reverse_compute_at(a.block(s, 0)?, a.loop_(s, 1)?, units, a.insert_at(3)?))
        },
    },
    Primitive {
        name: "compute_inline",
        params: &["block"],
        run: |s, a| places(s.compute_inline(a.block(s, 0)?)),
    },
    Primitive {
        name: "reverse_compute_inline",
        params: &["block"],
        run: |s, a| places(s.reverse_compute_inline(a.block(s, 0)?)),
    },
    Primitive {
        name: "decompose_reduction",
        params: &["block", "loop"],
        run: |s, a| places(s.decompose_reduction(a.block(s, 0)?, a.loop_(s, 1)?)),
    },
    Primitive {
        name: "loop_partition",
        params: &["loop", "factors", "preserve_unit_iters"],
        run: |s, a| places(s.loop_partition(a.loop_(s, 0)?, &a.factors(1)?)),
    },
    Primitive {
        name: "merge",
        params: &["loops"],
        run: |s, a| places(s.merge(&a.loops(s, 0)?)),
    },
    Primitive {
        name: "reorder_block_iter_var",
        params: &["block", "new_order"],
        run: |s, a| places(s.reorder_block_iter_var(a.block(s, 0)?, &a.ints(1)?)),
    },
    Primitive {
        name: "pad_einsum",
        params: &["block", "padding"],
        run: |s, a| places(s.pad_einsum(a.block(s, 0)?, &a.ints(1)?)),
    },
    Primitive {
        name: "decompose_padding",
        params: &["block", "loop"],
        run: |s, a| places(s.decompose_padding(a.block(s, 0)?, a.loop_(s, 1)?)),
    },
    Primitive {
        name: "cache_index",
        params: &["block", "storage_scope", "cse_thresh"],
        run: |s, a| places(s.cache_index(a.block(s, 0)?, a.text(1)?, a.index_or(2, 0)?)),
    },
    Primitive {
        name: "rolling_buffer",
        params: &["block", "write_buffer_index"],
        run: |s, a| places(s.rolling_buffer(a.block(s, 0)?, a.index(1)?)),
    },
    Primitive {
        name: "cache_inplace",
        params: &["block", "read_buffer_index", "storage_scope"],
        run: |s, a| {
            let blocks = s.cache_inplace(a.block(s, 0)?, a.index(1)?, a.text(2)?);
            places(blocks.map(Vec::from))
        },
    },
    Primitive {
        name: "fuse_reduction_epilogue",
        params: &["reduction_block", "epilogue_block"],
        run: |s, a| places(s.fuse_reduction_epilogue(a.block(s, 0)?, a.block(s, 1)?)),
    },
    Primitive {
        name: "unsafe_set_dtype",
        params: &["block", "buffer_index", "dtype"],
        run: |s, a| places(s.unsafe_set_dtype(a.block(s, 0)?, a.index(1)?, a.text(2)?)),
    },
    Primitive {
        name: "unsafe_hide_buffer_access",
        params: &["block", "buf_type", "buf_index_array"],
        run: |s, a| {
            let block = a.block(s, 0)?;
            places(s.unsafe_hide_buffer_access(block, a.text(1)?, &a.ints(2)?))
        },
    },
    Primitive {
        name: "blockize",
        params: &["target", "preserve_unit_iters"],
        run: |s, a| match a.loop_or_blocks(s, 0)? {
            LoopOrBlocks::Loop(target) => places(s.blockize(target, a.units(1)?)),
            LoopOrBlocks::Blocks(blocks) => places(s.blockize_blocks(&blocks, a.units(1)?)),
        },
    },
    Primitive {
        name: "tensorize",
        params: &["block_or_loop", "tensor_intrin", "preserve_unit_iters"],
        run: |s, a| places(s.tensorize(a.place(s, 0)?, a.text(1)?, a.units(2)?)),
    },
    Primitive {
        name: "rfactor",
        params: &["loop", "factor_axis"],
        run: |s, a| places(s.rfactor(a.loop_(s, 0)?, a.int(1)?)),
    },
    Primitive {
        name: "reindex",
        params: &["block", "buffer_index_type", "buffer_index"],
        run: |s, a| places(s.reindex(a.block(s, 0)?, a.access(1)?, a.index(2)?)),
    },
    Primitive {
        name: "transform_layout",
        params: &[
            "block",
            "buffer_index_type",
            "buffer_index",
            "index_map",
            "pad_value",
            "assume_injective_transform",
        ],
        run: |s, a| {
            let (block, access, index) = (a.block(s, 0)?, a.access(1)?, a.index(2)?);
            let (map, pad) = (a.index_map(3)?, a.number(4)?);
            let injectivity = a.flag_or(5, false)?.into();
            places(s.transform_layout(block, access, index, &map, pad.as_ref(), injectivity))
        },
    },
    Primitive {
        name: "set_scope",
        params: &["block", "buffer_index", "storage_scope"],
        run: |s, a| places(s.set_scope(a.block(s, 0)?, a.index(1)?, a.text(2)?)),
    },
];

/// The primitive with this name.
pub fn primitive(name: &str) -> Option<&'static Primitive> {
    PRIMITIVES.iter().find(|p| p.name == name)
}

/// The loops and blocks of a result.
fn places<R: StepResults>(
    result: Result<R, super::ScheduleError>,
) -> Result<Vec<Place>, StepError> {
    Ok(result?.places())
}
