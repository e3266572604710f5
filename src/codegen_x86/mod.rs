//! Kernel IR to x86-64 code at the machine's full width: AVX2 with FMA, or AVX-512.
//!
//! [`generate`] makes position-independent code of one piece of a kernel, or says why it does not ([`Refusal`]): Cranelift takes
//! such a piece. The way of a kernel: `emit` walks it and builds machine instructions in SSA form (`inst`, `build`), which
//! come out hoisted and numbered by value; `prune` removes the dead ones; `constants` keeps what innermost loops read in registers;
//! `exits` copies what leaves a loop; `alloc` gives them registers; `encode` writes bytes. Vectors of any number of lanes are split
//! into registers (`value`); which instruction does what is a table (`forms`).
//!
//! A value without effects is placed once, before the outermost loop that does not change it, while code is built; vectors are registers
//! of the full width and then halves; regalloc2 assigns registers, and debug builds check its result.

mod ahead;
mod alloc;
mod assemble;
mod build;
mod cast;
mod constants;
mod divide;
mod dot;
mod emit;
mod encode;
mod exits;
mod expr;
mod float;
mod flow;
mod forms;
mod inst;
mod int;
mod lanes;
mod live;
mod locals;
mod masked;
mod memory;
mod prune;
mod reciprocal;
mod rows;
mod strided;
#[cfg(test)]
mod tests;
mod text;
mod transposed;
mod value;
mod whole;

use crate::kernel::Kernel;
use crate::support::timing::Timing;
use inst::Width;

pub use text::disassemble;

/// The instructions that code may use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Isa {
    /// AVX2, FMA, F16C and BMI2: sixteen vector registers of 256 bits.
    Avx2,
    /// AVX-512 F, VL, BW and DQ: 32 vector registers of 512 bits.
    Avx512,
    /// These, and AVX-512 VNNI: dot products of bytes.
    Avx512Vnni,
}

impl Isa {
    /// The last one that this machine has; `None` if it has none.
    pub fn best() -> Option<Self> {
        [Self::Avx512Vnni, Self::Avx512, Self::Avx2]
            .into_iter()
            .find(|isa| isa.is_here())
    }

    /// Whether this machine has them.
    pub fn is_here(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("bmi2");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq");
            match self {
                Self::Avx2 => avx2,
                Self::Avx512 => avx512,
                Self::Avx512Vnni => avx512 && is_x86_feature_detected!("avx512vnni"),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    /// Name, as options and reports give it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Vnni => "avx512vnni",
        }
    }

    /// Bytes of a vector register.
    pub fn vector_bytes(self) -> usize {
        self.width().bytes()
    }

    /// Number of vector registers.
    pub fn registers(self) -> usize {
        match self {
            Self::Avx2 => 16,
            Self::Avx512 | Self::Avx512Vnni => 32,
        }
    }

    /// Whether one instruction adds up the products of the bytes of words.
    pub fn has_dot_bytes(self) -> bool {
        self == Self::Avx512Vnni
    }

    /// Whether code has EVEX forms, whose masks are registers of their own.
    fn is_evex(self) -> bool {
        self.width() == Width::Z
    }

    /// The widest register.
    fn width(self) -> Width {
        match self {
            Self::Avx2 => Width::Y,
            Self::Avx512 | Self::Avx512Vnni => Width::Z,
        }
    }
}

/// Why a piece of a kernel is not compiled here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It has a form that is not covered, or that has no meaning (Cranelift's code generator names the latter).
    #[error("no full-width code for {what}")]
    Form {
        /// What it has.
        what: &'static str,
    },
    /// The register allocator or the encoder refused it.
    #[error("the {stage} refuses the code")]
    Stage {
        /// Which one.
        stage: &'static str,
    },
}

fn refuse<T>(what: &'static str) -> Result<T, Refusal> {
    Err(Refusal::Form { what })
}

/// Machine code of one function, which runs wherever it is placed at a multiple of 64 bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    /// Instructions, then constants.
    pub bytes: Vec<u8>,
    /// How many bytes are instructions.
    pub instructions: usize,
}

/// The code of a piece of a kernel, whose function has the signature of native kernels under the System V convention. The
/// kernel is to be optimised already. Its stages are timed.
///
/// # Errors
/// If the piece has a form that is not covered.
pub fn generate(kernel: &Kernel, isa: Isa, timing: &mut Timing) -> Result<Code, Refusal> {
    let func = timing.time("native: emit", || {
        let kernel = &*kernel.without_active(&|scalar| !masked::is_covered(scalar));
        let kernel = &whole::without_masks(rows::read_rows(kernel, isa), isa);
        let mut func = emit::emit(kernel, isa)?;
        prune::prune(&mut func);
        constants::hoist(&mut func, isa);
        exits::copy_exits(&mut func, isa);
        Ok(func)
    })?;
    let numbered = alloc::Numbered::new(&func, isa);
    let output = timing.time("native: registers", || alloc::allocate(&numbered, isa));
    let output = output.map_err(|_| Refusal::Stage {
        stage: "register allocator",
    })?;
    let encoded = timing.time("native: encode", || encode::encode(&numbered, &output, isa));
    let (bytes, instructions) = encoded.map_err(|_| Refusal::Stage { stage: "encoder" })?;
    Ok(Code {
        bytes,
        instructions,
    })
}
