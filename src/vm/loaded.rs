//! `Loaded`: an executable decoded and compiled, once for all machines that run it, on whatever threads they are.
//!
//! Machines that are given the same `Arc<Executable>` share one `Loaded`. A table of the process finds it by the address of the
//! executable; its weak reference keeps that address from being given to another executable, and keeps `Arc::get_mut` from
//! changing the executable behind its code.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::decode::{Program, decode};
#[cfg(feature = "cpu")]
use super::launch_cpu::NativeCode;
#[cfg(feature = "gpu")]
use super::launch_gpu::DeviceCodes;
use crate::artifact::{BytecodeError, Executable};

/// What machines share of an executable. Each part is made when the first machine needs it.
#[derive(Default)]
pub(super) struct Loaded {
    program: OnceLock<Result<Arc<Program>, BytecodeError>>,
    #[cfg(feature = "cpu")]
    pub(super) native: NativeCode,
    #[cfg(feature = "gpu")]
    pub(super) devices: DeviceCodes,
}

impl Loaded {
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
    pub(super) fn new(exec: Arc<Executable>) -> Result<Self, BytecodeError> {
        let loaded = find(&exec);
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
    loaded: Arc<Loaded>,
}

fn table() -> MutexGuard<'static, Vec<Entry>> {
    static LOADED: Mutex<Vec<Entry>> = Mutex::new(vec![]);
    // A vector is whole between its operations, so a panic elsewhere leaves nothing half done.
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What machines share of this executable.
fn find(exec: &Arc<Executable>) -> Arc<Loaded> {
    let mut table = table();
    table.retain(|entry| entry.exec.strong_count() > 0);
    let found = table
        .iter()
        .find(|entry| entry.exec.as_ptr() == Arc::as_ptr(exec));
    if let Some(entry) = found {
        return entry.loaded.clone();
    }
    let loaded = Arc::<Loaded>::default();
    table.push(Entry {
        exec: Arc::downgrade(exec),
        loaded: loaded.clone(),
    });
    loaded
}
