//! `Loaded`: an executable decoded and compiled, once for all machines that run it, on whatever threads they are.
//!
//! Machines that are given the same `Arc<Executable>`, and whose native code the same back end makes, share one `Loaded`. A table
//! of the process finds it by the address of the executable; its weak reference keeps that address from being given to another executable, and keeps `Arc::get_mut` from
//! changing the executable behind its code.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::decode::decode;
#[cfg(feature = "gpu")]
use super::device_code::DeviceCodes;
#[cfg(feature = "cpu")]
use super::launch_cpu::NativeCode;
use super::program::Program;
use crate::artifact::{BytecodeError, Executable};

/// What makes the native code of a machine.
#[cfg(feature = "cpu")]
pub(super) type NativeBackend = crate::codegen_cpu::Backend;
#[cfg(not(feature = "cpu"))]
pub(super) type NativeBackend = ();

/// What machines share of an executable. Each part is made when the first machine needs it.
pub(super) struct Loaded {
    program: OnceLock<Result<Arc<Program>, BytecodeError>>,
    #[cfg(feature = "cpu")]
    pub(super) native: NativeCode,
    #[cfg(feature = "gpu")]
    pub(super) devices: DeviceCodes,
}

impl Loaded {
    fn new(native: NativeBackend) -> Self {
        #[cfg(not(feature = "cpu"))]
        let () = native;
        Self {
            program: OnceLock::new(),
            #[cfg(feature = "cpu")]
            native: NativeCode::new(native),
            #[cfg(feature = "gpu")]
            devices: DeviceCodes::default(),
        }
    }

    /// The decoded functions.
    pub(super) fn program(&self, exec: &Executable) -> Result<Arc<Program>, BytecodeError> {
        let decoded = self.program.get_or_init(|| decode(exec).map(Arc::new));
        decoded.clone()
    }
}

/// An executable that a machine holds, with what it shares with other machines.
pub(super) struct Lease {
    pub(super) exec: Arc<Executable>,
    pub(super) loaded: Arc<Loaded>,
    pub(super) program: Arc<Program>,
}

impl Lease {
    pub(super) fn new(exec: Arc<Executable>, native: NativeBackend) -> Result<Self, BytecodeError> {
        let loaded = find(&exec, native);
        let program = loaded.program(&exec)?;
        Ok(Self {
            exec,
            loaded,
            program,
        })
    }
}

impl Drop for Lease {
    /// The last holder of the executable drops its code with it. Where two drop it at once, the next search does.
    fn drop(&mut self) {
        if Arc::strong_count(&self.exec) == 1 {
            table().retain(|entry| entry.exec.as_ptr() != Arc::as_ptr(&self.exec));
        }
    }
}

struct Entry {
    exec: Weak<Executable>,
    native: NativeBackend,
    loaded: Arc<Loaded>,
}

fn table() -> MutexGuard<'static, Vec<Entry>> {
    static LOADED: Mutex<Vec<Entry>> = Mutex::new(vec![]);
    // A vector is whole between its operations, so a panic elsewhere leaves nothing half done.
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What machines share of this executable and this back end.
fn find(exec: &Arc<Executable>, native: NativeBackend) -> Arc<Loaded> {
    let mut table = table();
    table.retain(|entry| entry.exec.strong_count() > 0);
    let found = table
        .iter()
        .find(|entry| entry.exec.as_ptr() == Arc::as_ptr(exec) && entry.native == native);
    if let Some(entry) = found {
        return entry.loaded.clone();
    }
    let loaded = Arc::new(Loaded::new(native));
    table.push(Entry {
        exec: Arc::downgrade(exec),
        native,
        loaded: loaded.clone(),
    });
    loaded
}
