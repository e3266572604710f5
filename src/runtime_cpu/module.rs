//! `CpuModule`: lowered functions as native code, and their launches.

use crate::codegen_cpu::{
    Backend, CodegenError, CompileOptions, KernelArgs, LINE, NativeModule, Segment, compile,
    is_streamed,
};
use crate::kernel::{Access, BufferRef, HostExpr, Kernel, LoweredFunc};
use crate::support::timing::Timing;
use crate::tensor::scalar::EvalError;

use super::Team;

/// Work from which threads help: below, the region itself would cost as much (in floating-point operations, in bytes moved).
const PARALLEL_FLOPS: i64 = 1 << 18;
const PARALLEL_BYTES: i64 = 1 << 17;

/// Work that threads take from each other, at least: some 40 µs. Each grain is a call, which clears the local arrays first, up to some
/// microseconds.
const GRAIN_FLOPS: i64 = 1 << 21;
const GRAIN_BYTES: i64 = 1 << 19;

/// Grains of a thread, at most.
const MOST_GRAINS: i64 = 8;

/// Arrays and scalars of a launch that are kept on the stack; kernels with more allocate.
const INLINE: usize = 16;

/// Why a launch was refused. Nothing has run then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// There is no such buffer.
    #[error("kernel `{kernel}` uses {buffer}, which was not given")]
    Missing {
        /// Name of the kernel.
        kernel: String,
        /// The buffer.
        buffer: BufferRef,
    },
    /// An array of the kernel would have fewer elements than none.
    #[error("kernel `{kernel}` takes {len} elements of {buffer}")]
    Length {
        /// Name of the kernel.
        kernel: String,
        /// The buffer.
        buffer: BufferRef,
        /// Its number of elements.
        len: i64,
    },
    /// A buffer is smaller than the kernel says.
    #[error("kernel `{kernel}` needs {needed} bytes in {buffer}, got {got}")]
    TooSmall {
        /// Name of the kernel.
        kernel: String,
        /// The buffer.
        buffer: BufferRef,
        /// Bytes it needs.
        needed: i64,
        /// Bytes that are there.
        got: usize,
    },
    /// A large buffer that the kernel writes starts within a line.
    #[error(
        "kernel `{kernel}` writes whole lines of {buffer}, which does not start at a multiple of {LINE} bytes"
    )]
    Unaligned {
        /// Name of the kernel.
        kernel: String,
        /// The buffer.
        buffer: BufferRef,
    },
    /// A buffer that the kernel writes overlaps another one; it was compiled for separate ones.
    #[error("kernel `{kernel}` writes {written}, which overlaps {other}")]
    Overlap {
        /// Name of the kernel.
        kernel: String,
        /// The one that is written.
        written: BufferRef,
        /// The other one.
        other: BufferRef,
    },
    /// The number of dims is not that of the function.
    #[error("expected {expected} dims, got {got}")]
    Dims {
        /// How many the function has.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// A size has no value for these dims.
    #[error("a size of kernel `{kernel}` has no value")]
    Eval {
        /// Name of the kernel.
        kernel: String,
        /// Why.
        #[source]
        source: EvalError,
    },
}

/// Memory of a tensor or a temporary.
#[derive(Clone, Copy, Debug)]
pub struct RawBuffer {
    /// First byte.
    pub pointer: *mut u8,
    /// How many bytes.
    pub bytes: usize,
}

impl RawBuffer {
    /// Memory that the launch may write.
    pub fn of(bytes: &mut [u8]) -> Self {
        Self {
            pointer: bytes.as_mut_ptr(),
            bytes: bytes.len(),
        }
    }

    /// Memory that the launch only reads.
    pub fn read_only(bytes: &[u8]) -> Self {
        Self {
            pointer: bytes.as_ptr().cast_mut(),
            bytes: bytes.len(),
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.pointer.addr(), other.pointer.addr());
        a < b + other.bytes && b < a + self.bytes
    }
}

/// A global array of a kernel.
#[derive(Debug)]
struct Binding {
    buffer: BufferRef,
    written: bool,
    /// Whether it may be written past the caches.
    streamed: bool,
    len: HostExpr,
    element_bytes: i64,
}

/// All that a launch must know, so that it looks nothing up.
#[derive(Debug)]
struct CpuKernel {
    name: String,
    segments: Vec<Segment>,
    bindings: Vec<Binding>,
    scalars: Vec<HostExpr>,
    flops: HostExpr,
    bytes: HostExpr,
}

/// The kernels of one lowered function.
#[derive(Debug)]
struct CpuFunc {
    dims: usize,
    kernels: Vec<CpuKernel>,
}

/// Native code of lowered functions.
#[derive(Debug)]
pub struct CpuModule {
    funcs: Vec<CpuFunc>,
    /// Owns the code that the kernels' entries point into.
    code: NativeModule,
}

impl CpuModule {
    /// Compiles the functions.
    ///
    /// # Errors
    /// If a kernel has no native code.
    pub fn new(funcs: &[&LoweredFunc], options: CompileOptions) -> Result<Self, CodegenError> {
        let kernels: Vec<&Kernel> = funcs.iter().flat_map(|f| &f.kernels).collect();
        let code = compile(&kernels, options)?;
        let mut native = code.kernels().iter();
        let funcs = funcs
            .iter()
            .map(|func| CpuFunc {
                dims: func.dims.len(),
                kernels: func
                    .kernels
                    .iter()
                    .zip(&mut native)
                    .map(|(kernel, native)| CpuKernel {
                        name: kernel.name.clone(),
                        segments: native.segments.clone(),
                        bindings: bindings(kernel),
                        scalars: kernel.scalars.iter().map(|(_, e)| e.clone()).collect(),
                        flops: kernel.flops.clone(),
                        bytes: kernel.bytes.clone(),
                    })
                    .collect(),
            })
            .collect();
        Ok(Self { funcs, code })
    }

    /// What made the code of a kernel; Cranelift if it made a part of it.
    pub fn code_name(&self, func: usize, kernel: usize) -> &'static str {
        let segments = &self.funcs[func].kernels[kernel].segments;
        let by_cranelift = |segment: &&Segment| segment.backend == Backend::Cranelift;
        let segment = segments.iter().find(by_cranelift).or(segments.first());
        segment.map_or("", |segment| segment.backend.name())
    }

    /// How long the stages of the code generators took.
    pub fn timing(&self) -> &Timing {
        self.code.timing()
    }

    /// Names of the kernels of a function.
    pub fn kernel_names(&self, func: usize) -> impl Iterator<Item = &str> {
        self.funcs[func].kernels.iter().map(|k| k.name.as_str())
    }

    /// Runs all kernels of function number `func` in order.
    ///
    /// # Safety
    /// As for [`launch`](Self::launch).
    ///
    /// # Errors
    /// If a kernel cannot be launched; those before it have run.
    pub unsafe fn run(
        &self,
        func: usize,
        params: &[RawBuffer],
        temps: &[RawBuffer],
        dims: &[i64],
        team: &Team,
    ) -> Result<(), LaunchError> {
        for kernel in 0..self.funcs[func].kernels.len() {
            // SAFETY: the caller promises the same.
            unsafe { self.launch(func, kernel, params, temps, dims, team)? };
        }
        Ok(())
    }

    /// Runs kernel number `kernel` of function number `func`, and returns when it is done.
    ///
    /// # Safety
    /// Every buffer is valid for its bytes, aligned to its elements, and nobody else writes it (or, if the kernel writes it,
    /// reads it) meanwhile. A kernel that claims to be `in_bounds` is so for these dims.
    ///
    /// # Errors
    /// If buffers are missing, too small, or overlap, or one of at least 32 MiB that is only written does not start at a multiple of 64
    /// bytes.
    pub unsafe fn launch(
        &self,
        func: usize,
        kernel: usize,
        params: &[RawBuffer],
        temps: &[RawBuffer],
        dims: &[i64],
        team: &Team,
    ) -> Result<(), LaunchError> {
        let func = &self.funcs[func];
        if dims.len() != func.dims {
            return Err(LaunchError::Dims {
                expected: func.dims,
                got: dims.len(),
            });
        }
        let kernel = &func.kernels[kernel];
        let mut buffers = Inline::<RawBuffer>::new(kernel.bindings.len(), NO_BUFFER);
        let mut lens = Inline::new(kernel.bindings.len(), 0);
        kernel.bind(params, temps, dims, buffers.slice(), lens.slice())?;
        let mut pointers = Inline::new(kernel.bindings.len(), std::ptr::null_mut());
        for (pointer, buffer) in pointers.slice().iter_mut().zip(buffers.slice()) {
            *pointer = buffer.pointer;
        }
        let mut scalars = Inline::new(kernel.scalars.len(), 0);
        for (scalar, value) in scalars.slice().iter_mut().zip(&kernel.scalars) {
            *scalar = kernel.eval(value, dims)?;
        }
        let args = Shared(KernelArgs {
            buffers: pointers.slice().as_ptr(),
            lens: lens.slice().as_ptr(),
            scalars: scalars.slice().as_ptr(),
        });
        for segment in &kernel.segments {
            let call = |begin, end| {
                // SAFETY: the arguments are those that the kernel declares, checked above as far as they can be; the rest is
                // promised by the caller. The code is alive as long as `self`.
                unsafe { (segment.entry)(args.get(), begin, end) }
            };
            match &segment.parallel {
                None => call(0, 1),
                Some(extent) => {
                    let extent = kernel.eval_exact(extent, dims)?;
                    let flops = kernel.eval(&kernel.flops, dims)?;
                    let bytes = kernel.eval(&kernel.bytes, dims)?;
                    if flops >= PARALLEL_FLOPS || bytes >= PARALLEL_BYTES {
                        let grains = (flops / GRAIN_FLOPS).max(bytes / GRAIN_BYTES);
                        let grains = grains / team.threads() as i64;
                        team.run(extent, grains.clamp(1, MOST_GRAINS) as u32, &call);
                    } else if extent > 0 {
                        call(0, extent);
                    }
                }
            }
        }
        Ok(())
    }
}

fn bindings(kernel: &Kernel) -> Vec<Binding> {
    kernel
        .bindings()
        .map(|(_, array, buffer, access)| Binding {
            buffer,
            written: access != Access::Read,
            streamed: is_streamed(array),
            len: array.len.clone(),
            element_bytes: array.dtype.bytes() as i64,
        })
        .collect()
}

impl CpuKernel {
    fn eval(&self, e: &HostExpr, dims: &[i64]) -> Result<i64, LaunchError> {
        e.eval(dims).map_err(|source| LaunchError::Eval {
            kernel: self.name.clone(),
            source,
        })
    }

    /// The same for a number of elements or iterations, which must not wrap.
    fn eval_exact(&self, e: &HostExpr, dims: &[i64]) -> Result<i64, LaunchError> {
        e.eval_exact(dims).map_err(|source| LaunchError::Eval {
            kernel: self.name.clone(),
            source,
        })
    }

    /// Finds the buffers and checks their sizes and that they are apart.
    fn bind(
        &self,
        params: &[RawBuffer],
        temps: &[RawBuffer],
        dims: &[i64],
        buffers: &mut [RawBuffer],
        lens: &mut [i64],
    ) -> Result<(), LaunchError> {
        for (i, binding) in self.bindings.iter().enumerate() {
            let found = match binding.buffer {
                BufferRef::Param(at) => params.get(at),
                BufferRef::Temp(at) => temps.get(at),
            };
            let Some(&buffer) = found else {
                return Err(LaunchError::Missing {
                    kernel: self.name.clone(),
                    buffer: binding.buffer,
                });
            };
            let len = self.eval_exact(&binding.len, dims)?;
            if len < 0 {
                return Err(LaunchError::Length {
                    kernel: self.name.clone(),
                    buffer: binding.buffer,
                    len,
                });
            }
            lens[i] = len;
            let needed = len.saturating_mul(binding.element_bytes);
            if i64::try_from(buffer.bytes).is_ok_and(|bytes| bytes < needed) {
                return Err(LaunchError::TooSmall {
                    kernel: self.name.clone(),
                    buffer: binding.buffer,
                    needed,
                    got: buffer.bytes,
                });
            }
            if binding.streamed && !buffer.pointer.addr().is_multiple_of(LINE) {
                return Err(LaunchError::Unaligned {
                    kernel: self.name.clone(),
                    buffer: binding.buffer,
                });
            }
            buffers[i] = buffer;
        }
        for (i, binding) in self.bindings.iter().enumerate().filter(|(_, b)| b.written) {
            for (j, other) in self.bindings.iter().enumerate() {
                if i != j && buffers[i].overlaps(&buffers[j]) {
                    return Err(LaunchError::Overlap {
                        kernel: self.name.clone(),
                        written: binding.buffer,
                        other: other.buffer,
                    });
                }
            }
        }
        Ok(())
    }
}

const NO_BUFFER: RawBuffer = RawBuffer {
    pointer: std::ptr::null_mut(),
    bytes: 0,
};

/// A few values on the stack, or many on the heap.
struct Inline<T> {
    few: [T; INLINE],
    many: Vec<T>,
    len: usize,
}

impl<T: Copy> Inline<T> {
    fn new(len: usize, value: T) -> Self {
        Self {
            few: [value; INLINE],
            many: if len > INLINE {
                vec![value; len]
            } else {
                vec![]
            },
            len,
        }
    }

    fn slice(&mut self) -> &mut [T] {
        if self.len > INLINE {
            &mut self.many
        } else {
            &mut self.few[..self.len]
        }
    }
}

/// Arguments that all threads of a launch read.
struct Shared(KernelArgs);

// SAFETY: the threads only read the arguments; that they may work on the memory behind them together is the caller's promise.
unsafe impl Sync for Shared {}

impl Shared {
    fn get(&self) -> *const KernelArgs {
        &raw const self.0
    }
}
