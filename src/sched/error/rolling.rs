//! Why `rolling_buffer` refuses.

/// TVM: `RollingBufferDependencyError`, `RollingBufferMatchError`, `RollingBufferInsertionError`, or not looked for.
#[derive(Clone, Debug, thiserror::Error)]
#[error("buffer `{buffer}`, which block `{block}` writes, cannot roll: {why}")]
pub struct RollingReason {
    /// The block's name.
    pub block: String,
    /// The buffer.
    pub buffer: String,
    /// The rule that is broken.
    pub why: &'static str,
}
