//! Why a primitive refused.
//!
//! A [`Reason`] is what was broken, with the names and numbers; a [`Refusal`] adds the loops and blocks to underline; a
//! [`ScheduleError`] adds the primitive.

mod blocks;
mod buffers;
mod epilogue;
mod layout;
mod loops;
mod padding;
mod reduction;
mod rolling;

pub use blocks::BlocksReason;
pub use buffers::BufferReason;
pub use epilogue::EpilogueReason;
pub use layout::LayoutReason;
pub use loops::LoopReason;
pub use padding::PaddingReason;
pub use reduction::ReductionReason;
pub use rolling::RollingReason;

use crate::ir::{BlockId, Expr, LoopId, Place};

/// A primitive refused; the function is as it was.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{primitive}: {reason}")]
pub struct ScheduleError {
    /// Name of the primitive.
    pub primitive: &'static str,
    /// What was broken.
    #[source]
    pub reason: Box<Reason>,
    /// Where: loops and blocks of the function, the most telling first.
    pub places: Vec<Place>,
}

/// A broken rule and where. What a check gives back before the primitive's name is added.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What was broken.
    pub reason: Reason,
    /// Where.
    pub places: Vec<Place>,
}

impl Refusal {
    /// The error of this primitive.
    pub fn of(self, primitive: &'static str) -> ScheduleError {
        ScheduleError {
            primitive,
            reason: Box::new(self.reason),
            places: self.places,
        }
    }
}

/// The rule of one or several primitives that was broken.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The handle is of a loop that an earlier step removed, or of another function.
    #[error("{loop_id} names no loop of this function; an earlier step removed it")]
    StaleLoop {
        /// The handle.
        loop_id: LoopId,
    },
    /// The handle is of a block that an earlier step removed, or of another function.
    #[error("{block} names no block of this function; an earlier step removed it")]
    StaleBlock {
        /// The handle.
        block: BlockId,
    },
    /// No block, or several, have the name.
    #[error("{found} blocks have the name `{name}`, exactly one is required")]
    NotSingleBlock {
        /// The name.
        name: String,
        /// How many have it.
        found: usize,
    },
    /// TVM: `HasAnnotationOrThreadBindingError`.
    #[error("loop `{var}` has annotations or is bound to a thread axis")]
    HasAnnotationOrThreadBinding {
        /// Its variable.
        var: String,
    },
    /// TVM: `LoopNotStartWithZeroError`.
    #[error("loop `{var}` starts with {min:#}, not with 0")]
    LoopNotStartWithZero {
        /// Its variable.
        var: String,
        /// Its first value.
        min: Expr,
    },
    /// TVM: `NotSingleInferFactorError`.
    #[error("{count} factors are to be inferred, at most one can be")]
    NotSingleInferFactor {
        /// How many.
        count: usize,
    },
    /// TVM: `NonPositiveFactorError`.
    #[error("factor {factor} at position {index} is not positive")]
    NonPositiveFactor {
        /// The factor.
        factor: i64,
        /// Its position.
        index: usize,
    },
    /// TVM does not look.
    #[error(
        "factor {factor} at position {index} makes the product of the factors larger than the loop's type holds"
    )]
    FactorTooLarge {
        /// The factor.
        factor: i64,
        /// Its position.
        index: usize,
    },
    /// TVM: `WrongFactorError`.
    #[error(
        "the product of the factors, {product:#}, is not known to reach the extent of loop `{var}`, {extent:#}"
    )]
    FactorsTooSmall {
        /// The loop's variable.
        var: String,
        /// The product.
        product: Expr,
        /// The extent.
        extent: Expr,
    },
    /// `fuse` of nothing.
    #[error("no loop is given")]
    NoLoops,
    /// TVM: `OuterNotInnerParent`.
    #[error("loop `{outer}` is not the parent of loop `{inner}`")]
    OuterNotInnerParent {
        /// Variable of the loop given first.
        outer: String,
        /// Variable of the next one.
        inner: String,
    },
    /// TVM: `NotOnlyChildError`.
    #[error("loop `{inner}` is not the only statement of loop `{outer}`")]
    NotOnlyChild {
        /// Variable of the loop given first.
        outer: String,
        /// Variable of the next one.
        inner: String,
    },
    /// TVM: `DependentLoopError`.
    #[error("the range of loop `{var}` depends on loop `{on}`")]
    DependentLoop {
        /// Variable of the loop.
        var: String,
        /// Variable of the other one.
        on: String,
    },
    /// TVM has no such rule.
    #[error(
        "loops `{var}` and `{other}` choose elements and terms of block `{block}` together: in another order its init would \
         run after some terms"
    )]
    MixedLoops {
        /// Variable of the loop that is outside now.
        var: String,
        /// Variable of the one that would be.
        other: String,
        /// The reduction.
        block: String,
    },
    /// TVM: `LoopMultiAppearanceError`.
    #[error("loop `{var}` is given more than once")]
    LoopMultiAppearance {
        /// Its variable.
        var: String,
    },
    /// TVM: `LoopsNotAChainError`.
    #[error("the loops are not in a chain: it breaks at loop `{var}`")]
    LoopsNotAChain {
        /// Where it breaks.
        var: String,
    },
    /// TVM: `BlockPropertyError`.
    #[error("iter variable `{iter}` of block `{block}` is neither spatial nor reduce")]
    NotSpatialOrReduce {
        /// The block.
        block: String,
        /// The iter variable.
        iter: String,
    },
    /// TVM: `NotAffineBindingError`.
    #[error("the bindings of block `{block}` are not affine in the loops around it")]
    NotAffineBinding {
        /// The block.
        block: String,
    },
    /// TVM: `WrongBlockIterTypeError`.
    #[error(
        "loop `{var}` cannot be {kind}: it is part of `{iter}` of block `{block}`, which is not a data parallel iter variable"
    )]
    WrongBlockIterKind {
        /// The loop.
        var: String,
        /// What it was to be: `made parallel`, `bound to blockIdx.x`.
        kind: String,
        /// The iter variable.
        iter: String,
        /// The block.
        block: String,
    },
    /// TVM: `IncompleteBlockError`.
    #[error("block `{block}` is not a complete block: it violates condition #{condition}")]
    IncompleteBlock {
        /// Its name.
        block: String,
        /// 1: only spatial iter variables; 2: only writer of what it writes; 3: reads nothing that it writes.
        condition: u8,
    },
    /// TVM: `NotReductionBlockError`.
    #[error("block `{block}` is not a reduction block: it violates condition #{condition}")]
    NotReductionBlock {
        /// Its name.
        block: String,
        /// 1: an init; 2: affine bindings; 3: only spatial and reduce iter variables; 4: only writer of what it writes; 5: no
        /// reduce iter variable in the indices of what it writes.
        condition: u8,
    },
    /// TVM: `NotCompleteOrReductionBlockError`.
    #[error(
        "block `{block}` is neither a complete block (it violates condition #{complete}) nor a reduction block (it violates condition #{reduction})"
    )]
    NotCompleteOrReductionBlock {
        /// Its name.
        block: String,
        /// Broken condition of complete blocks.
        complete: u8,
        /// Broken condition of reduction blocks.
        reduction: u8,
    },
    /// TVM: `NotCompactDataFlowError`.
    #[error(
        "the blocks below do not have compact dataflow: `{block}` is neither complete nor a reduction there"
    )]
    NotCompactDataflow {
        /// The first such block.
        block: String,
    },
    /// TVM: `OutputBlockError`.
    #[error("block `{block}` is an output block of its scope")]
    OutputBlock {
        /// Its name.
        block: String,
    },
    /// TVM: `NotStagePipelineError`.
    #[error(
        "scope `{scope}` is not a stage pipeline: `{consumer}` may read elements of `{buffer}` that its producers do not write before"
    )]
    NotStagePipeline {
        /// The block that is the scope.
        scope: String,
        /// The block that reads.
        consumer: String,
        /// What it reads.
        buffer: String,
    },
    /// TVM: `NotStagePipelineError`.
    #[error("{statement} stands outside of blocks, where primitives do not look")]
    StatementOutsideBlocks {
        /// What it is: `a store`.
        statement: &'static str,
    },
    /// TVM: `NotStagePipelineError`.
    #[error(
        "the iterations of loop `{var}` are not known to be independent: one may run `{block}` on elements that others use in \
         `{other}`"
    )]
    IterationsDepend {
        /// The loop.
        var: String,
        /// The block that runs later in an iteration.
        block: String,
        /// The block that runs earlier in an iteration.
        other: String,
    },
    /// TVM has no such rule.
    #[error(
        "loop `{var}` cannot be {kind}: its iterations would each compute the sums of block `{block}`, all at once in the same \
         place"
    )]
    RepeatedReduction {
        /// The loop.
        var: String,
        /// What it was to be.
        kind: String,
        /// The reduction.
        block: String,
    },
    /// TVM has no such rule.
    #[error(
        "loop `{var}` cannot be {kind}: it chooses elements and terms of block `{block}` together"
    )]
    MixedLoop {
        /// The loop.
        var: String,
        /// What it was to be.
        kind: String,
        /// The reduction.
        block: String,
    },
    /// TVM has no such rule.
    #[error(
        "loops `{outer}` and `{inner}` cannot both be bound to {axis}, which has one value: block `{block}` depends on both"
    )]
    AxisBoundTwice {
        /// Variable of the outer loop.
        outer: String,
        /// Variable of the inner loop.
        inner: String,
        /// The launch axis.
        axis: &'static str,
        /// The block.
        block: String,
    },
    /// TVM: `RootBlockError`.
    #[error("the root block cannot be moved or cached")]
    RootBlock,
    /// TVM: `OnlyLeafError`.
    #[error("block `{block}` is all that its scope holds, so it cannot be taken out")]
    OnlyLeaf {
        /// Its name.
        block: String,
    },
    /// TVM: `InvalidStorageScopeError`.
    #[error("there is no storage scope \"{scope}\"")]
    InvalidStorageScope {
        /// What was asked for.
        scope: String,
    },
    /// TVM: `BufferIndexOutOfRangeError`.
    #[error("buffer index {index} is out of range: block `{block}` has {count} such regions")]
    BufferIndexOutOfRange {
        /// The block's name.
        block: String,
        /// What was asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// TVM: `StorageAlignInvalidFactorError`.
    #[error("a stride is aligned to a multiple of a positive number of elements, not of {factor}")]
    AlignFactor {
        /// What was asked for.
        factor: i64,
    },
    /// TVM: `StorageAlignAxisOutOfRangeError`.
    #[error("buffer `{buffer}` has {dimensions} dimensions, and no axis {axis}")]
    AxisOutOfRange {
        /// The buffer.
        buffer: String,
        /// What was asked for.
        axis: i64,
        /// How many there are.
        dimensions: usize,
    },
    /// TVM: `NonAllocatedBufferError`.
    #[error(
        "buffer `{buffer}` is not allocated in this function, so its storage is not ours to choose"
    )]
    NotAllocated {
        /// The buffer.
        buffer: String,
    },
    /// TVM: `StorageAlignInvalidAnnotationError`.
    #[error(
        "the block has an annotation \"buffer_dim_align\" that is no list of [buffer, axis, factor, offset]"
    )]
    AlignAnnotation,
    /// TVM: `NotSingleWriteBlock`.
    #[error("{count} blocks write buffer `{buffer}`, at most one may")]
    NotSingleWriter {
        /// The buffer's name.
        buffer: String,
        /// How many write it.
        count: usize,
    },
    /// TVM: `NotSinglePointAccess`.
    #[error("block `{block}` does not touch a single element of `{buffer}` in each instance")]
    NotSinglePoint {
        /// The block's name.
        block: String,
        /// The buffer's name.
        buffer: String,
    },
    /// A copy would be made of what is no element; TVM does not look.
    #[error(
        "block `{block}` is not known to stay inside of `{buffer}` where it does not look before"
    )]
    OutsideBuffer {
        /// The block's name.
        block: String,
        /// The buffer's name.
        buffer: String,
    },
    /// TVM: `ReindexCacheReadWriteNotMatchError`.
    #[error("iter variable `{var}` of block `{block}` is missing among the indices of {missing}")]
    ReindexMismatch {
        /// The block's name.
        block: String,
        /// The iter variable.
        var: String,
        /// Whose indices do not use it.
        missing: &'static str,
    },
    /// A map of another number of iter variables.
    #[error("`{map}` is no map of the {iters} iter variables of block `{block}`")]
    MapArity {
        /// The map.
        map: String,
        /// The block's name.
        block: String,
        /// How many it has.
        iters: usize,
    },
    /// Elements would share a place, or lie before the first one; TVM does not look for the former.
    #[error(
        "`{map}` is not known to give each element that block `{block}` touches a place of its own, from 0 on"
    )]
    NotInjective {
        /// The map.
        map: String,
        /// The block's name.
        block: String,
    },
    /// TVM: `NotBijectiveAffineIndexMapError`.
    #[error("`{map}` is no affine bijection of the iter variables of block `{block}`")]
    NotBijective {
        /// The map.
        map: String,
        /// The block's name.
        block: String,
    },
    /// TVM: `OpaqueNewIterTypeError`.
    #[error("`{value:#}` mixes spatial and reduce iter variables of block `{block}`")]
    MixedIterKinds {
        /// A result of the map.
        value: Expr,
        /// The block's name.
        block: String,
    },
    /// TVM: `NotTrivialBindingError`.
    #[error(
        "the iter variables of block `{block}` are not the variables of the loops around it, or these hold more, or it has a predicate"
    )]
    NotTrivialBinding {
        /// The block's name.
        block: String,
    },
    /// A copy would hold elements that were never written; TVM does not look.
    #[error(
        "block `{block}` is not known to write all of the region of `{buffer}` that would be copied"
    )]
    NotWrittenWholly {
        /// The writer's name.
        block: String,
        /// The buffer's name.
        buffer: String,
    },
    /// A block reads what another one overwrites, and would do so at another time; TVM does not look.
    #[error("block `{other}` overwrites what block `{block}` reads, and would do so too early")]
    InputOverwritten {
        /// The reader's name.
        block: String,
        /// The other block's name.
        other: String,
    },
    /// A copy that is written only would be read; TVM does not look.
    #[error("block `{block}` reads `{buffer}` before it writes it, so it cannot write a copy")]
    ReadsBeforeWriting {
        /// The block's name.
        block: String,
        /// The buffer's name.
        buffer: String,
    },
    /// A block that is to read a copy does not read the buffer after it was written; TVM does not look.
    #[error("block `{block}` does not read `{buffer}` after it is written")]
    NotAReader {
        /// The block's name.
        block: String,
        /// The buffer's name.
        buffer: String,
    },
    /// TVM: `HasInitBlock`.
    #[error("block `{block}` has an init")]
    HasInit {
        /// Its name.
        block: String,
    },
    /// TVM: `NotSingleReadWriteBuffer`.
    #[error("block `{block}` writes {count} regions, exactly one is required")]
    NotSingleWrite {
        /// Its name.
        block: String,
        /// How many it writes.
        count: usize,
    },
    /// TVM: `NotSingleReadWriteBuffer`.
    #[error("block `{block}` reads {count} buffers that its scope writes, exactly one is required")]
    NotSingleRead {
        /// Its name.
        block: String,
        /// How many it reads.
        count: usize,
    },
    /// TVM: `NonSingleProducerError`.
    #[error(
        "block `{block}` has not exactly one producer that is a complete block without other consumers"
    )]
    NonSingleProducer {
        /// The consumer's name.
        block: String,
    },
    /// TVM: `BodyAnalysisError`.
    #[error("the body of block `{block}` is not a store of the form that can be inlined")]
    BodyNotInlinable {
        /// Its name.
        block: String,
    },
    /// TVM: `OpaqueAccessError`.
    #[error("a block views buffer `{buffer}` under another name")]
    OpaqueAccess {
        /// The buffer's name.
        buffer: String,
    },
    /// TVM: `ProducerHasNonTrivialPredicateError`.
    #[error(
        "the predicate `{predicate:#}` of producer `{block}` does not follow from the domains of its consumer"
    )]
    ProducerHasPredicate {
        /// The producer's name.
        block: String,
        /// Its predicate.
        predicate: Expr,
    },
    /// TVM: `NotInSameScopeError`.
    #[error(
        "block `{block}` and loop `{var}` are not in the same scope, or the loop is above the block"
    )]
    NotInSameScope {
        /// The block's name.
        block: String,
        /// The loop's variable.
        var: String,
    },
    /// TVM: `NotAllRequiredBlocksAreVisitedError`.
    #[error("{count} {role}(s) of block `{block}` are not below loop `{var}`")]
    NotAllRequiredBlocksBelow {
        /// The block's name.
        block: String,
        /// The loop's variable.
        var: String,
        /// `producer` or `consumer`.
        role: &'static str,
        /// How many are elsewhere.
        count: usize,
    },
    /// TVM: `InsertionPointNotFoundError`.
    #[error("block `{block}` can stand at positions {first} to {last} of the loop, not at {asked}")]
    InsertionPointNotFound {
        /// The block's name.
        block: String,
        /// First position after its producers.
        first: usize,
        /// Last position before its consumers.
        last: usize,
        /// Where it was to be put.
        asked: usize,
    },
    /// Instances of a moved consumer would never run; TVM does not look.
    #[error(
        "under the loop, not all values of `{var}` of block `{block}` are reached: some read nothing of the producers"
    )]
    NotAllConsumed {
        /// The block's name.
        block: String,
        /// The iter variable's name.
        var: String,
    },
    /// A moved block would run where its predicate kept it from running; TVM does not look.
    #[error(
        "the predicate {predicate:#} of block `{block}` says more than the domains of its iter variables, and would be lost"
    )]
    PredicateLost {
        /// The block's name.
        block: String,
        /// The part of its predicate that would be lost.
        predicate: Expr,
    },
    /// A moved reduction would add a term twice, or begin after its first term; TVM does not look.
    #[error(
        "under loop `{var}`, reduction `{block}` would not add each term once, or not begin with the first"
    )]
    TermsNotOnce {
        /// The block's name.
        block: String,
        /// The loop's variable.
        var: String,
    },
    /// A sum of no terms is its init, which would be lost; in TVM it is left unwritten anyway.
    #[error(
        "loop `{var}` may have no iteration, and then nothing would write the elements of block `{block}`"
    )]
    MayBeEmpty {
        /// The loop's variable.
        var: String,
        /// The block's name.
        block: String,
    },
    /// A moved block would lose a loop that its domains depend on; TVM does not look.
    #[error("the domain of an iter variable of block `{block}` depends on loop `{var}`")]
    DomainDependsOnLoop {
        /// The block's name.
        block: String,
        /// The loop's variable.
        var: String,
    },
    /// Two blocks that depend on each other would change places; TVM does not look.
    #[error("under loop `{var}`, block `{block}` would run on the wrong side of `{other}`")]
    WouldReorder {
        /// The moved block's name.
        block: String,
        /// The other block's name.
        other: String,
        /// The loop's variable.
        var: String,
    },
    /// TVM: an internal check, "BufferRegion pattern match failed".
    #[error(
        "the indices at which block `{block}` uses `{buffer}` cannot be solved for its iter variables"
    )]
    RegionNotSolvable {
        /// The block's name.
        block: String,
        /// The buffer's name.
        buffer: String,
    },
    /// TVM: `LoopPositionError`.
    #[error("loop `{var}` is not above block `{block}`")]
    LoopNotAboveBlock {
        /// The loop's variable.
        var: String,
        /// The block's name.
        block: String,
    },
    /// TVM: `LoopHeightError`.
    #[error("a loop above `{var}` belongs to a reduce iter variable of block `{block}`")]
    LoopBelowReduceLoop {
        /// The loop's variable.
        var: String,
        /// The block's name.
        block: String,
    },
    /// A rule about nests of loops and iter variables.
    #[error(transparent)]
    Loop(Box<LoopReason>),
    /// An epilogue that is no part of the sum.
    #[error(transparent)]
    Epilogue(Box<EpilogueReason>),
    /// A buffer that cannot roll.
    #[error(transparent)]
    Rolling(Box<RollingReason>),
    /// A rule about padding.
    #[error(transparent)]
    Padding(Box<PaddingReason>),
    /// A rule about the buffers of a block.
    #[error(transparent)]
    Buffer(Box<BufferReason>),
    /// A rule of primitives that make blocks of blocks.
    #[error(transparent)]
    Blocks(Box<BlocksReason>),
    /// A rule of primitives that take reductions apart.
    #[error(transparent)]
    Reduction(Box<ReductionReason>),
    /// A rule of primitives that give a buffer another layout or place.
    #[error(transparent)]
    Layout(Box<LayoutReason>),
}

impl Reason {
    /// The refusal that underlines these loops and blocks.
    pub fn at(self, places: impl IntoIterator<Item = Place>) -> Refusal {
        Refusal {
            reason: self,
            places: places.into_iter().collect(),
        }
    }
}

macro_rules! families {
    ($($variant:ident($family:ty),)*) => {
        $(impl From<$family> for Reason {
            fn from(reason: $family) -> Self {
                Self::$variant(Box::new(reason))
            }
        }

        impl $family {
            /// The refusal that underlines these loops and blocks.
            pub fn at(self, places: impl IntoIterator<Item = Place>) -> Refusal {
                Reason::from(self).at(places)
            }
        })*
    };
}

families!(
    Blocks(BlocksReason),
    Buffer(BufferReason),
    Epilogue(EpilogueReason),
    Layout(LayoutReason),
    Loop(LoopReason),
    Padding(PaddingReason),
    Reduction(ReductionReason),
    Rolling(RollingReason),
);
