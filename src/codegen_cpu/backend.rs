//! What makes native code.

use std::str::FromStr;
use std::sync::OnceLock;

use crate::codegen_x86::Isa;

/// What makes native code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Backend {
    /// Cranelift: vectors of 128 bits, on every machine.
    Cranelift,
    /// `codegen_x86`: vectors as wide as the machine's.
    FullWidth(Isa),
}

/// The text is no back end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no back end has this name")]
pub struct UnknownBackend;

/// The one that this process was told to use.
static CHOSEN: OnceLock<Backend> = OnceLock::new();

impl Backend {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Cranelift,
        Self::FullWidth(Isa::Avx2),
        Self::FullWidth(Isa::Avx512),
        Self::FullWidth(Isa::Avx512Vnni),
    ];

    /// Name, as `WEFTILE_CPU` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cranelift => "cranelift",
            Self::FullWidth(isa) => isa.name(),
        }
    }

    /// Bytes of a vector register of its code.
    pub fn vector_bytes(self) -> usize {
        match self {
            Self::Cranelift => 16,
            Self::FullWidth(isa) => isa.vector_bytes(),
        }
    }

    /// Whether its code runs on this machine.
    pub fn is_here(self) -> bool {
        match self {
            Self::Cranelift => true,
            Self::FullWidth(isa) => isa.is_here(),
        }
    }

    /// The one that this process uses unless it says otherwise from now on. Programs choose once, before anything is compiled;
    /// without a choice it is the last of [`Self::ALL`] that the machine has.
    ///
    /// # Errors
    /// The one in use, if a choice was made or needed before.
    pub fn choose(self) -> Result<(), Self> {
        CHOSEN.set(self).map_err(|_| Self::default())
    }
}

impl Default for Backend {
    fn default() -> Self {
        *CHOSEN.get_or_init(|| Isa::best().map_or(Self::Cranelift, Self::FullWidth))
    }
}

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(text: &str) -> Result<Self, UnknownBackend> {
        let mut all = Self::ALL.into_iter();
        all.find(|backend| backend.name() == text)
            .ok_or(UnknownBackend)
    }
}
