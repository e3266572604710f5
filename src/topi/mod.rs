//! Layer 3: tensor operators in tensor expressions (TVM's `topi`), as far as the operators of graphs need them.
//!
//! A function takes tensors and gives a tensor; shapes and element types are those of its arguments, checked by who calls it.

pub mod activation;
pub mod attention;
mod broadcast;
pub mod conv;
mod det;
pub mod extent;
mod index;
mod manipulate;
mod math;
pub mod nn;
pub mod norm;
pub mod pad;
pub mod pool;
pub mod recurrent;
mod reduce;
pub mod resize;
pub mod roi;
pub mod rotary;
pub mod sample;
mod scan;
mod scatter;
mod sort;
pub mod window;

pub use broadcast::{binary, broadcast_shape, broadcast_to, broadcasts, compare, element, select};
pub use det::det;
pub use index::{bounded, clipped, from_start, guarded, wide_index};
pub use manipulate::{
    astype, concat, full, permute, ravel, reindex, reshape, slice, stack, unravel, volume,
};
pub use math::{float, map, map_at};
pub use reduce::{
    ArgReduce, Reduced, accumulated, accumulator, arg_reduce, mean, mean_accumulator, reduce,
    reduced_shape, variance,
};
pub use scan::{Scan, cumulative};
pub use scatter::{
    Threads, Update, Workgroups, index_put, masked_scatter, scatter_elements, scatter_nd,
};
pub use sort::{Order, Sort, Sorted, first_positions};
