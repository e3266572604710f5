//! `oneshot`: one value from a callback of wgpu to the future that waits for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::device::lock;
use super::poller::Ticket;

/// What the two ends share.
struct Shared<T> {
    value: Option<T>,
    waker: Option<Waker>,
    /// Whether the callback is over: it was called, or nobody will call it.
    over: bool,
    /// Keeps the device polled until the value is there, or nobody waits for it.
    ticket: Option<Ticket>,
}

/// Where the callback puts the value.
pub(super) struct Sender<T>(Arc<Mutex<Shared<T>>>);

/// The future.
pub(super) struct Receiver<T>(Arc<Mutex<Shared<T>>>);

/// Both ends. Without a ticket somebody else must poll the device.
pub(super) fn oneshot<T>(ticket: Option<Ticket>) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Mutex::new(Shared {
        value: None,
        waker: None,
        over: false,
        ticket,
    }));
    (Sender(shared.clone()), Receiver(shared))
}

impl<T> Sender<T> {
    /// Hands the value over and wakes the future.
    pub(super) fn send(self, value: T) {
        lock(&self.0).value = Some(value);
    }
}

impl<T> Drop for Sender<T> {
    /// Also of a sender that is dropped with its callback: the future must not wait for ever.
    fn drop(&mut self) {
        let (waker, ticket) = {
            let mut shared = lock(&self.0);
            shared.over = true;
            (shared.waker.take(), shared.ticket.take())
        };
        drop(ticket);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Receiver<T> {
    /// `None` if the callback was dropped and not called.
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut shared = lock(&self.0);
        if shared.over {
            return Poll::Ready(shared.value.take());
        }
        shared.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let left = {
            let mut shared = lock(&self.0);
            (
                shared.ticket.take(),
                shared.waker.take(),
                shared.value.take(),
            )
        };
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_goes_to_the_future_and_a_dropped_callback_ends_it() {
        let (sender, receiver) = oneshot(None);
        let thread = std::thread::spawn(move || sender.send(7));
        assert_eq!(pollster::block_on(receiver), Some(7));
        thread.join().expect("it ends");
        let (sender, receiver) = oneshot::<i32>(None);
        let thread = std::thread::spawn(move || drop(sender));
        assert_eq!(pollster::block_on(receiver), None);
        thread.join().expect("it ends");
        let (sender, receiver) = oneshot(None);
        drop(receiver);
        sender.send(7);
    }
}
