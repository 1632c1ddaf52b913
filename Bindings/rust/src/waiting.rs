// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! What callbacks of the host leave for the futures that await them.

use crate::task::lock;
use crate::{Error, Host};
use std::future::Future;
use std::os::raw::c_void;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// What a future and its callback share.
struct Waiting<Value> {
    value: Option<Value>,
    waker: Option<Waker>,
}

/// Work of the host that ends with a callback, as a future. Dropping it cancels the work.
pub(crate) struct Pending<Value> {
    waiting: Arc<Mutex<Waiting<Value>>>,
    host: Host,
    identifier: u64,
    cancel: Cancel,
}

/// Cancels work of the host, without effect on work that has ended; returns whether its callback will no longer run.
pub(crate) type Cancel = fn(Host, u64) -> bool;

impl<Value> Pending<Value> {
    /// Starts work whose callback passes the pointer to [`finish`], once. After a failure, the callback never runs.
    pub(crate) fn start(
        host: Host,
        cancel: Cancel,
        start: impl FnOnce(*mut c_void) -> Result<u64, Error>,
    ) -> Result<Self, Error> {
        Self::start_waking(None, host, cancel, start)
    }

    /// Starts work as [`Pending::start`] does; its callback wakes a task even if nothing awaits it yet.
    pub(crate) fn start_waking(
        waker: Option<Waker>,
        host: Host,
        cancel: Cancel,
        start: impl FnOnce(*mut c_void) -> Result<u64, Error>,
    ) -> Result<Self, Error> {
        let waiting = Arc::new(Mutex::new(Waiting { value: None, waker }));
        let user = Arc::into_raw(waiting.clone());
        match start(user.cast_mut().cast()) {
            Ok(identifier) => Ok(Pending { waiting, host, identifier, cancel }),
            Err(error) => {
                drop(unsafe { Arc::from_raw(user) });
                Err(error)
            }
        }
    }
}

/// Hands the value of a callback to the future that awaits it.
///
/// # Safety
/// The pointer must be that of [`Pending::start`], with the same type of value, and is used once.
pub(crate) unsafe fn finish<Value>(user: *mut c_void, value: Value) {
    let waiting: Arc<Mutex<Waiting<Value>>> = unsafe { Arc::from_raw(user.cast_const().cast()) };
    let waker = {
        let mut waiting = lock(&waiting);
        waiting.value = Some(value);
        waiting.waker.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl<Value> Future for Pending<Value> {
    type Output = Value;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Value> {
        let mut waiting = lock(&self.waiting);
        match waiting.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                waiting.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<Value> Drop for Pending<Value> {
    fn drop(&mut self) {
        if (self.cancel)(self.host, self.identifier) {
            unsafe { Arc::decrement_strong_count(Arc::as_ptr(&self.waiting)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use std::cell::Cell;

    thread_local! {
        static CANCELLED: Cell<u64> = const { Cell::new(0) };
    }

    fn host() -> Host {
        Host { raw: std::ptr::null(), tasks: std::ptr::null() }
    }

    fn cancel(_: Host, identifier: u64) -> bool {
        CANCELLED.set(identifier);
        identifier == 1
    }

    #[test]
    fn what_the_callback_holds_is_released_once_whether_or_not_it_runs() {
        for (identifier, is_finished) in [(1, false), (2, false), (2, true)] {
            let mut user = std::ptr::null_mut();
            let started = Pending::<String>::start(host(), cancel, |pointer| {
                user = pointer;
                Ok(identifier)
            });
            let pending = started.unwrap();
            let waiting = Arc::downgrade(&pending.waiting);
            if is_finished {
                unsafe { finish(user, "value".to_owned()) };
            }
            assert_eq!(waiting.strong_count(), if is_finished { 1 } else { 2 });
            drop(pending);
            assert_eq!(CANCELLED.get(), identifier);
            // The host still calls back for what it could not stop.
            let is_heard = identifier == 2 && !is_finished;
            assert_eq!(waiting.strong_count(), is_heard.into());
            if is_heard {
                unsafe { finish(user, "late".to_owned()) };
            }
            assert_eq!(waiting.strong_count(), 0);
        }
    }

    #[test]
    fn what_is_refused_has_no_callback_and_is_not_cancelled() {
        CANCELLED.set(0);
        let mut waiting = std::sync::Weak::new();
        let refused = Pending::<()>::start(host(), cancel, |user| {
            let shared = unsafe { Arc::from_raw(user.cast_const().cast::<Mutex<Waiting<()>>>()) };
            waiting = Arc::downgrade(&shared);
            std::mem::forget(shared);
            Err(Error::new(Status::DENIED, "for a test"))
        });
        assert!(refused.is_err_and(|error| error.status == Status::DENIED));
        assert_eq!((CANCELLED.get(), waiting.strong_count()), (0, 0));
    }
}
