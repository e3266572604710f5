//! `Poller`: a thread that polls a device while futures wait for it.
//!
//! wgpu calls back only where somebody polls the device or submits to it. A future holds a [`Ticket`] until its callback was called
//! or it is dropped. While there are tickets the thread waits for the device; it sleeps while there are none, and is started with
//! the first.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{JoinHandle, current};
use std::time::Duration;

use super::GpuError;
use super::device::lock;

/// Longest wait for the device in one poll: others must wait for it to give a buffer's memory back.
const TURN: Duration = Duration::from_millis(20);
/// Pause between polls after one that left somebody waiting although the device has nothing to do.
const PAUSE: Duration = Duration::from_millis(5);

#[derive(Default)]
struct Waiting {
    tickets: usize,
    /// How many tickets were made so far.
    made: u64,
    thread: Option<JoinHandle<()>>,
    closed: bool,
}

#[derive(Default)]
struct State {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    polls: AtomicU64,
}

/// The thread of one device.
#[derive(Default)]
pub(super) struct Poller(Arc<State>);

/// Somebody waits for a callback of the device.
pub(super) struct Ticket(Arc<State>);

impl Poller {
    /// Has the device polled while the ticket is there.
    pub(super) fn ticket(&self, device: &wgpu::Device) -> Result<Ticket, GpuError> {
        let mut waiting = lock(&self.0.waiting);
        if waiting.thread.is_none() {
            let (state, device) = (self.0.clone(), device.clone());
            let thread = std::thread::Builder::new()
                .name("weftile poll".to_owned())
                .spawn(move || state.run(&device))
                .map_err(|e| GpuError::Rejected {
                    during: "starting the thread that polls the device".to_owned(),
                    problem: e.to_string(),
                })?;
            waiting.thread = Some(thread);
        }
        waiting.tickets += 1;
        waiting.made += 1;
        self.0.changed.notify_all();
        Ok(Ticket(self.0.clone()))
    }

    /// How often the thread has polled the device.
    pub(super) fn polls(&self) -> u64 {
        self.0.polls.load(Ordering::Relaxed)
    }
}

/// Waits until the device has done what was submitted, and calls back; `None` if that has to be asked again.
///
/// wgpu 30 reads how far the device is, then whether its queue is empty, and panics if the second is newer than the first
/// (`Device::maintain`, "if the queue is empty"): another thread that polls, submits or destroys the device in between is enough.
/// The callbacks are then with that thread, so nothing is lost by asking again.
pub(super) fn wait(
    device: &wgpu::Device,
    timeout: Duration,
) -> Option<Result<wgpu::PollStatus, wgpu::PollError>> {
    let poll = || {
        device.poll(wgpu::PollType::Wait {
            submission_index: None,
            timeout: Some(timeout),
        })
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(poll)).ok()
}

impl Drop for Poller {
    fn drop(&mut self) {
        let thread = {
            let mut waiting = lock(&self.0.waiting);
            waiting.closed = true;
            waiting.thread.take()
        };
        self.0.changed.notify_all();
        // Its device must be gone when this one is: a process that ends while another thread closes a device may crash in the driver.
        // The thread itself may be who drops the last device, in a callback.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != current().id()) {
            // A panic of the thread was reported where it happened.
            let _ = thread.join();
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        lock(&self.0.waiting).tickets -= 1;
    }
}

impl State {
    fn run(&self, device: &wgpu::Device) {
        let mut waiting = lock(&self.waiting);
        while !waiting.closed {
            if waiting.tickets == 0 {
                let woken = self.changed.wait(waiting);
                waiting = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let made = waiting.made;
            drop(waiting);
            self.polls.fetch_add(1, Ordering::Relaxed);
            // What an error means the futures find out themselves: those that wait for a lost device are called back too.
            let polled = wait(device, TURN);
            waiting = lock(&self.waiting);
            let is_busy = matches!(polled, Some(Err(wgpu::PollError::Timeout)));
            if waiting.tickets > 0 && waiting.made == made && !is_busy {
                let woken = self.changed.wait_timeout(waiting, PAUSE);
                waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}
