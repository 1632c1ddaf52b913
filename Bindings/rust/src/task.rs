// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! The calls of an instance as futures. There is no thread and no queue here: whatever wakes a future, such as the end of a
//! request on a thread of the host, runs it on.

use crate::{sys, Error, Host, Status};
use std::cell::Cell;
use std::collections::HashMap;
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

type Completion = Result<Option<Vec<u8>>, Error>;
type BoxedFuture = Pin<Box<dyn Future<Output = Completion> + Send>>;

thread_local! {
    static DEADLINE: Cell<u64> = const { Cell::new(sys::NO_DEADLINE) };
}

/// The deadline of the call that this thread runs.
pub(crate) fn deadline() -> u64 {
    DEADLINE.get()
}

/// A lock that another thread's panic does not keep.
pub(crate) fn lock<Value>(mutex: &Mutex<Value>) -> MutexGuard<'_, Value> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The pending calls of an instance.
#[derive(Default)]
pub(crate) struct Tasks {
    pending: Mutex<HashMap<u64, Arc<Task>>>,
}

impl Tasks {
    /// Runs a future until it waits, and completes the call with what it returns.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        host: Host,
        call: &sys::Call,
        future: impl Future<Output = Completion> + Send + 'static,
    ) {
        let task = Arc::new(Task {
            tasks: self.clone(),
            host,
            operation: call.operation,
            deadline: call.deadline_ns,
            state: Mutex::new(State { future: Some(Box::pin(future)), ..State::default() }),
            idle: Condvar::new(),
        });
        lock(&self.pending).insert(call.operation, task.clone());
        task.run();
    }

    /// Drops a call's future, which ends its requests.
    pub(crate) fn cancel(&self, operation: u64) {
        let task = lock(&self.pending).remove(&operation);
        if let Some(task) = task {
            task.cancel();
        }
    }

    /// Drops every future, and returns once none runs.
    pub(crate) fn end(&self) {
        let tasks: Vec<Arc<Task>> = lock(&self.pending).drain().map(|entry| entry.1).collect();
        for task in tasks {
            task.cancel();
            let mut state = lock(&task.state);
            while state.is_running {
                state = task.idle.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        }
    }
}

struct Task {
    tasks: Arc<Tasks>,
    host: Host,
    operation: u64,
    deadline: u64,
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    /// Taken out while it runs; none after its end.
    future: Option<BoxedFuture>,
    is_running: bool,
    /// Woken while it ran.
    is_woken: bool,
    is_cancelled: bool,
}

impl Task {
    fn run(self: &Arc<Self>) {
        let mut future = {
            let mut state = lock(&self.state);
            if state.is_running {
                state.is_woken = true;
                return;
            }
            let Some(future) = state.future.take() else { return };
            state.is_running = true;
            future
        };
        let waker = Waker::from(self.clone());
        let mut context = Context::from_waker(&waker);
        loop {
            // A future may run inside another's, when a request of that one is refused.
            let outer = DEADLINE.replace(self.deadline);
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context)));
            DEADLINE.set(outer);
            let completion = match polled {
                Ok(Poll::Ready(completion)) => Some(completion),
                Ok(Poll::Pending) => None,
                Err(panic) => Some(Err(panicked(panic))),
            };
            let mut state = lock(&self.state);
            if completion.is_none() && !state.is_cancelled {
                if std::mem::take(&mut state.is_woken) {
                    continue;
                }
                state.future = Some(future);
                state.is_running = false;
                self.idle.notify_all();
                return;
            }
            let is_cancelled = state.is_cancelled;
            drop(state);
            drop(future);
            lock(&self.tasks.pending).remove(&self.operation);
            if let Some(completion) = completion.filter(|_| !is_cancelled) {
                self.host.complete(self.operation, completion);
            }
            lock(&self.state).is_running = false;
            self.idle.notify_all();
            return;
        }
    }

    fn cancel(&self) {
        let future = {
            let mut state = lock(&self.state);
            state.is_cancelled = true;
            state.future.take()
        };
        drop(future);
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.run();
    }
}

/// What a panic says.
pub(crate) fn panicked(panic: Box<dyn std::any::Any + Send>) -> Error {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    Error::new(Status::FAILED, format!("the plugin panicked: {}", text.unwrap_or("for an unknown reason")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::raw::c_void;
    use std::sync::mpsc;

    type Completed = Mutex<Vec<(u64, i32)>>;

    unsafe extern "C" fn complete(
        context: *mut c_void,
        operation: u64,
        status: i32,
        _: *const u8,
        _: u64,
        _: *const sys::Error,
    ) -> i32 {
        lock(unsafe { &*context.cast::<Completed>() }).push((operation, status));
        0
    }
    unsafe extern "C" fn service(_: *mut c_void, _: *const u8, _: u64) -> *const c_void {
        std::ptr::null()
    }
    unsafe extern "C" fn progress(_: *mut c_void, _: u64, _: *const u8, _: u64) -> i32 {
        0
    }

    /// A host that never ends, and what it was told.
    fn host() -> (Host, &'static Completed) {
        let completed: &'static Completed = Box::leak(Box::default());
        let context = (completed as *const Completed).cast_mut().cast();
        let table = sys::Host { struct_size: 40, abi_version: 1, context, service, complete, progress };
        (Host { raw: Box::leak(Box::new(table)) }, completed)
    }

    fn call(operation: u64) -> sys::Call {
        sys::Call { struct_size: 24, flags: 0, operation, deadline_ns: operation * 100 }
    }

    /// Waits until it is sent something.
    struct Gate(Arc<Mutex<(bool, Option<Waker>)>>);
    impl Future for Gate {
        type Output = ();
        fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            let mut state = lock(&self.0);
            state.1 = Some(context.waker().clone());
            if state.0 { Poll::Ready(()) } else { Poll::Pending }
        }
    }
    fn open(gate: &Arc<Mutex<(bool, Option<Waker>)>>) {
        let waker = {
            let mut state = lock(gate);
            state.0 = true;
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    #[test]
    fn a_call_completes_when_its_future_is_woken() {
        let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
        let gate = Arc::default();
        let waiting = Gate(Arc::clone(&gate));
        tasks.spawn(host, &call(1), async move {
            assert_eq!(deadline(), 100);
            waiting.await;
            assert_eq!(deadline(), 100);
            Ok(None)
        });
        assert!(lock(completed).is_empty());
        std::thread::spawn(move || open(&gate)).join().unwrap();
        assert_eq!(*lock(completed), [(1, 0)]);
        assert!(lock(&tasks.pending).is_empty());
        assert_eq!(deadline(), sys::NO_DEADLINE);
    }

    #[test]
    fn a_panic_is_an_error() {
        let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
        tasks.spawn(host, &call(1), async { panic!("for a test") });
        assert_eq!(*lock(completed), [(1, 1)]);
    }

    #[test]
    fn a_cancelled_call_is_dropped_and_never_completes() {
        struct Dropped(mpsc::Sender<()>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                self.0.send(()).unwrap();
            }
        }
        let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
        let gate = Arc::default();
        let (waiting, (sender, receiver)) = (Gate(Arc::clone(&gate)), mpsc::channel());
        let dropped = Dropped(sender);
        tasks.spawn(host, &call(1), async move {
            waiting.await;
            drop(dropped);
            Ok(None)
        });
        tasks.cancel(1);
        receiver.try_recv().unwrap();
        open(&gate);
        tasks.cancel(1);
        tasks.cancel(2);
        assert!(lock(completed).is_empty());
    }

    #[test]
    fn the_end_waits_for_what_runs_on_another_thread() {
        let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
        let (entered, enter) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let other = Arc::clone(&tasks);
        let thread = std::thread::spawn(move || {
            other.spawn(host, &call(1), async move {
                entered.send(()).unwrap();
                let _ = released.recv();
                Ok(None)
            });
        });
        enter.recv().unwrap();
        let ender = {
            let tasks = Arc::clone(&tasks);
            std::thread::spawn(move || tasks.end())
        };
        drop(release);
        ender.join().unwrap();
        thread.join().unwrap();
        assert!(lock(completed).len() <= 1);
    }
}
