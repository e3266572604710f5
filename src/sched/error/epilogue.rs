//! Why `fuse_reduction_epilogue` refuses.

/// TVM: `BodyAnalysisError`, or not looked for.
#[derive(Clone, Debug, thiserror::Error)]
#[error("block `{epilogue}` cannot go into the init of reduction `{reduction}`: {why}")]
pub struct EpilogueReason {
    /// The reduction's name.
    pub reduction: String,
    /// The epilogue's name.
    pub epilogue: String,
    /// The rule that is broken.
    pub why: &'static str,
}
