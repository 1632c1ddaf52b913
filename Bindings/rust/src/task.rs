// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! The calls of an instance, and its background work, as futures. There is no thread and no queue here: whatever wakes a
//! future, such as the end of a request on a thread of the host, continues it.

use crate::{sys, Error, Host, Level, Status};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

type Completion = Result<Option<Vec<u8>>, Error>;
type BoxedFuture = Pin<Box<dyn Future<Output = Completion> + Send>>;

thread_local! {
    /// The operation and the deadline of the task that this thread is running; 0 and no deadline if it runs none.
    static CALL: Cell<(u64, u64)> = const { Cell::new((0, sys::NO_DEADLINE)) };
}

/// The operation of the call that this thread runs; for background work, a number that no call has; 0 if no task runs.
pub(crate) fn operation() -> u64 {
    CALL.get().0
}

/// The deadline of the call that this thread runs.
pub(crate) fn deadline() -> u64 {
    CALL.get().1
}

/// Identifies this thread among the live ones: the address of a thread-local variable. Unlike `std::thread::current()`, it
/// leaves nothing behind in threads, which are the host's.
fn this_thread() -> usize {
    CALL.with(|call| call as *const Cell<(u64, u64)> as usize)
}

/// Locks a mutex, even one that another thread's panic has poisoned.
pub(crate) fn lock<Value>(mutex: &Mutex<Value>) -> MutexGuard<'_, Value> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What a task is for. Background tasks are numbered in the order in which they began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    Call(u64),
    Work(u64),
}

impl Purpose {
    /// The operation of the call. Background work has a number that no call has, because 0 would stand for the call that began it:
    /// the callbacks that continue the work belong to that call.
    fn operation(self) -> u64 {
        match self {
            Purpose::Call(operation) => operation,
            Purpose::Work(_) => u64::MAX,
        }
    }
}

/// The pending calls of an instance, and its background work.
///
/// A task stays in `pending` as long as any thread runs it: polls or drops its future, or completes its call. That thread,
/// its runner, removes it as its last step; `end` waits for the runners of the tasks that it finds there. What other threads do to
/// a task meanwhile:
///
/// - `cancel` finds a runner and marks the task, which is not polled again then. The runner may be the thread that cancels:
///   the host may do that in `complete`, or in what a future asks of it. Without a runner, it becomes the runner and drops
///   the future.
/// - A wake finds a runner and marks the task; the runner polls again, unless it is past that. So a wake never waits, neither
///   in a poll, nor in a drop, nor in `complete`. One that comes after the end finds no future.
/// - `end` cancels all tasks before it waits for any, since one may wait for another. It does not wait for a task that its
///   own thread runs, further down its stack, because it would wait forever; that task no longer completes its call.
///
/// No lock is held while a future is polled or dropped, nor while the host runs.
#[derive(Default)]
pub(crate) struct Tasks {
    pending: Mutex<BTreeMap<Purpose, Arc<Task>>>,
    work: Mutex<Work>,
}

/// The background work.
#[derive(Default)]
struct Work {
    /// How many background tasks were started.
    count: u64,
    /// Whether new ones are refused.
    is_over: bool,
}

impl Tasks {
    /// Runs a future until it waits, and completes the call with what it returns.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        host: Host,
        call: &sys::Call,
        future: impl Future<Output = Completion> + Send + 'static,
    ) {
        self.add(host, Purpose::Call(call.operation), call.deadline_ns, Box::pin(future)).run();
    }

    /// Adds a future that runs in the background, from its first wake on.
    ///
    /// Drops the future and returns `None` once new work is refused.
    pub(crate) fn begin(
        self: &Arc<Self>,
        host: Host,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> Option<Arc<Task>> {
        let future = Box::pin(async move {
            future.await;
            Ok(None)
        });
        let mut work = lock(&self.work);
        if work.is_over {
            return None;
        }
        work.count += 1;
        Some(self.add(host, Purpose::Work(work.count), sys::NO_DEADLINE, future))
    }

    /// Adds a task, which does not run yet.
    fn add(self: &Arc<Self>, host: Host, purpose: Purpose, deadline: u64, future: BoxedFuture) -> Arc<Task> {
        let task = Arc::new(Task {
            tasks: self.clone(),
            host,
            purpose,
            deadline,
            state: Mutex::new(State { future: Some(future), ..State::default() }),
            idle: Condvar::new(),
        });
        lock(&self.pending).insert(purpose, task.clone());
        task
    }

    /// Drops a call's future, which ends its requests.
    pub(crate) fn cancel(&self, operation: u64) {
        let task = lock(&self.pending).get(&Purpose::Call(operation)).cloned();
        if let Some(task) = task {
            task.cancel();
        }
    }

    /// Drops the background work, and refuses new work; returns even if another thread still runs some.
    pub(crate) fn end_work(&self) {
        lock(&self.work).is_over = true;
        let work = Purpose::Work(0)..;
        let tasks: Vec<Arc<Task>> = lock(&self.pending).range(work).map(|(_, task)| task.clone()).collect();
        for task in &tasks {
            task.cancel();
        }
    }

    /// Drops every future, the calls before the work, each in the order in which they began, and returns once none runs.
    pub(crate) fn end(&self) {
        lock(&self.work).is_over = true;
        let tasks: Vec<Arc<Task>> = lock(&self.pending).values().cloned().collect();
        for task in &tasks {
            task.cancel();
        }
        for task in &tasks {
            let mut state = lock(&task.state);
            while state.runner.is_some_and(|runner| runner != this_thread()) {
                state = task.idle.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        }
    }
}

/// A call, or background work.
pub(crate) struct Task {
    tasks: Arc<Tasks>,
    host: Host,
    purpose: Purpose,
    deadline: u64,
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    /// Taken out while it runs; none after it has ended.
    future: Option<BoxedFuture>,
    /// The thread that polls or drops the future, or completes the call.
    runner: Option<usize>,
    /// Woken while it ran.
    is_woken: bool,
    is_cancelled: bool,
}

impl Task {
    fn run(self: &Arc<Self>) {
        let mut future = {
            let mut state = lock(&self.state);
            if state.runner.is_some() {
                state.is_woken = true;
                return;
            }
            let Some(future) = state.future.take() else { return };
            state.runner = Some(this_thread());
            future
        };
        let waker = Waker::from(self.clone());
        let mut context = Context::from_waker(&waker);
        loop {
            // A future may run inside another future, when a request of that one is refused.
            let outer = CALL.replace((self.purpose.operation(), self.deadline));
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context)));
            CALL.set(outer);
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
                state.runner = None;
                self.idle.notify_all();
                return;
            }
            drop(state);
            discard(future);
            // Asked only now, since the drop may have ended the instance.
            let is_cancelled = lock(&self.state).is_cancelled;
            if let Some(completion) = completion.filter(|_| !is_cancelled) {
                self.complete(completion);
            }
            self.finish();
            return;
        }
    }

    /// Completes the call. Background work has no caller, so its panics are logged.
    fn complete(&self, completion: Completion) {
        match (self.purpose, completion) {
            (Purpose::Call(operation), completion) => self.host.complete(operation, completion),
            (Purpose::Work(_), Err(error)) => self.host.log(Level::Error, &error.message),
            (Purpose::Work(_), Ok(_)) => {}
        }
    }

    /// Drops the future, or lets the thread that runs it do so.
    pub(crate) fn cancel(&self) {
        let future = {
            let mut state = lock(&self.state);
            state.is_cancelled = true;
            if state.runner.is_some() {
                return;
            }
            state.runner = Some(this_thread());
            state.future.take()
        };
        if let Some(future) = future {
            discard(future);
        }
        self.finish();
    }

    /// The runner's last step.
    fn finish(&self) {
        lock(&self.state).runner = None;
        self.idle.notify_all();
        lock(&self.tasks.pending).remove(&self.purpose);
    }
}

/// Drops a future. A panic there is ignored: the call has ended, or has a result.
fn discard(future: BoxedFuture) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.run();
    }
}

/// The error that a panic becomes.
pub(crate) fn panicked(panic: Box<dyn std::any::Any + Send>) -> Error {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    Error::new(Status::FAILED, format!("the plugin panicked: {}", text.unwrap_or("for an unknown reason")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::raw::c_void;
    use std::sync::mpsc;

    /// What the host was told, and what it does while it is told of a call's end.
    #[derive(Default)]
    struct Told {
        completed: Mutex<Vec<(u64, i32)>>,
        meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    }

    unsafe extern "C" fn complete(
        context: *mut c_void,
        operation: u64,
        status: i32,
        _: *const u8,
        _: u64,
        _: *const sys::Error,
    ) -> i32 {
        let told = unsafe { &*context.cast::<Told>() };
        let meanwhile = lock(&told.meanwhile).take();
        if let Some(meanwhile) = meanwhile {
            meanwhile();
        }
        lock(&told.completed).push((operation, status));
        0
    }
    unsafe extern "C" fn service(_: *mut c_void, _: *const u8, _: u64) -> *const c_void {
        std::ptr::null()
    }
    unsafe extern "C" fn progress(_: *mut c_void, _: u64, _: *const u8, _: u64) -> i32 {
        0
    }

    /// A host that never ends, and what it is told.
    fn host() -> (Host, &'static Mutex<Vec<(u64, i32)>>) {
        let (host, told) = telling_host();
        (host, &told.completed)
    }
    fn telling_host() -> (Host, &'static Told) {
        let told: &'static Told = Box::leak(Box::default());
        let context = (told as *const Told).cast_mut().cast();
        let table = sys::Host { struct_size: 40, abi_version: 1, context, service, complete, progress };
        (Host { raw: Box::leak(Box::new(table)), tasks: std::ptr::null() }, told)
    }

    fn call(operation: u64) -> sys::Call {
        sys::Call { struct_size: 24, flags: 0, operation, deadline_ns: operation * 100 }
    }

    /// Waits until it is opened.
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

    /// Reports when it is dropped, and may then panic.
    struct Dropped(mpsc::Sender<u64>, u64, bool);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.send(self.1).unwrap();
            if self.2 {
                panic!("for a test");
            }
        }
    }

    /// Ends the instance on a thread of its own. Returns once that is under way: the last call, which waits, has been
    /// dropped, and so all calls are cancelled; the work follows.
    fn ending(tasks: &Arc<Tasks>, host: Host, then: impl FnOnce() + Send + 'static) -> std::thread::JoinHandle<()> {
        let (sender, receiver) = mpsc::channel();
        let dropped = Dropped(sender, 99, false);
        tasks.spawn(host, &call(99), async move {
            let _dropped = dropped;
            std::future::pending().await
        });
        let tasks = Arc::clone(tasks);
        let thread = std::thread::spawn(move || {
            tasks.end();
            then();
        });
        assert_eq!(receiver.recv(), Ok(99));
        thread
    }

    #[test]
    fn a_call_completes_when_its_future_is_woken() {
        let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
        let gate = Arc::default();
        let waiting = Gate(Arc::clone(&gate));
        tasks.spawn(host, &call(1), async move {
            assert_eq!((operation(), deadline()), (1, 100));
            waiting.await;
            assert_eq!((operation(), deadline()), (1, 100));
            Ok(None)
        });
        assert!(lock(completed).is_empty());
        std::thread::spawn(move || open(&gate)).join().unwrap();
        assert_eq!(*lock(completed), [(1, 0)]);
        assert!(lock(&tasks.pending).is_empty());
        assert_eq!((operation(), deadline()), (0, sys::NO_DEADLINE));
    }

    #[test]
    fn work_runs_beside_the_calls_until_it_is_over() {
        let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
        let gate = Arc::default();
        let (waiting, (sender, receiver)) = (Gate(Arc::clone(&gate)), mpsc::channel());
        let (again, dropped) = (Arc::clone(&tasks), Dropped(sender.clone(), 2, false));
        let work = tasks.begin(host, async move {
            assert_eq!((operation(), deadline()), (u64::MAX, sys::NO_DEADLINE));
            waiting.await;
            assert_eq!((operation(), deadline()), (u64::MAX, sys::NO_DEADLINE));
            sender.send(1).unwrap();
            again.begin(host, async { panic!("for a test") }).unwrap().run();
            let _dropped = dropped;
            std::future::pending().await
        });
        work.unwrap().run();
        // A call whose number is that of the work.
        let gone = Gate(Arc::default());
        tasks.spawn(host, &call(1), async move {
            gone.await;
            Ok(None)
        });
        tasks.cancel(1);
        std::thread::spawn(move || open(&gate)).join().unwrap();
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
        tasks.spawn(host, &call(2), std::future::pending());
        tasks.end_work();
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2]);
        assert!(tasks.begin(host, async { panic!("for a test") }).is_none());
        assert_eq!(lock(&tasks.pending).keys().collect::<Vec<_>>(), [&Purpose::Call(2)]);
        tasks.end();
        assert!(lock(completed).is_empty() && lock(&tasks.pending).is_empty());
    }

    #[test]
    fn the_end_waits_for_work_on_another_thread_and_lets_none_begin_there() {
        let ((host, _), tasks) = (host(), Arc::new(Tasks::default()));
        let (entered, enter) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let (order, ordered) = mpsc::channel();
        let (other, dropped) = (Arc::clone(&tasks), Dropped(order.clone(), 1, false));
        let thread = std::thread::spawn(move || {
            let again = Arc::clone(&other);
            let work = other.begin(host, async move {
                let _dropped = dropped;
                entered.send(()).unwrap();
                released.recv().unwrap();
                assert!(again.begin(host, std::future::pending()).is_none());
            });
            work.unwrap().run();
        });
        enter.recv().unwrap();
        let ender = ending(&tasks, host, move || order.send(2).unwrap());
        assert!(ordered.try_recv().is_err());
        release.send(()).unwrap();
        ender.join().unwrap();
        assert_eq!(ordered.try_iter().collect::<Vec<_>>(), [1, 2]);
        thread.join().unwrap();
        assert!(lock(&tasks.pending).is_empty());
    }

    #[test]
    fn a_panic_is_an_error() {
        let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
        tasks.spawn(host, &call(1), async { panic!("for a test") });
        assert_eq!(*lock(completed), [(1, 1)]);
    }

    #[test]
    fn a_cancelled_call_is_dropped_and_never_completes() {
        let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
        let gate = Arc::default();
        let (waiting, (sender, receiver)) = (Gate(Arc::clone(&gate)), mpsc::channel());
        let dropped = Dropped(sender, 1, false);
        tasks.spawn(host, &call(1), async move {
            waiting.await;
            drop(dropped);
            Ok(None)
        });
        tasks.cancel(1);
        assert_eq!(receiver.try_recv(), Ok(1));
        assert!(lock(&tasks.pending).is_empty());
        open(&gate);
        tasks.cancel(1);
        tasks.cancel(2);
        assert!(lock(completed).is_empty());
    }

    #[test]
    fn a_future_that_is_woken_while_it_runs_runs_on() {
        let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
        let mut polls = 0;
        let future = std::future::poll_fn(move |context| {
            polls += 1;
            if polls == 3 {
                return Poll::Ready(Ok(None));
            }
            let waker = context.waker().clone();
            // The thread ends: a wake does not wait for the task that runs.
            std::thread::spawn(|| waker.wake()).join().unwrap();
            Poll::Pending
        });
        tasks.spawn(host, &call(1), future);
        assert_eq!(*lock(completed), [(1, 0)]);
        assert!(lock(&tasks.pending).is_empty());
    }

    #[test]
    fn the_end_waits_for_a_poll_on_another_thread_even_of_a_cancelled_call() {
        for is_cancelled in [false, true] {
            let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
            let (entered, enter) = mpsc::channel();
            let (release, released) = mpsc::channel();
            let (order, ordered) = mpsc::channel();
            let (other, dropped) = (Arc::clone(&tasks), Dropped(order.clone(), 1, false));
            let thread = std::thread::spawn(move || {
                other.spawn(host, &call(1), async move {
                    let _dropped = dropped;
                    entered.send(()).unwrap();
                    released.recv().unwrap();
                    Ok(None)
                });
            });
            enter.recv().unwrap();
            if is_cancelled {
                tasks.cancel(1);
                assert!(lock(&tasks.pending).contains_key(&Purpose::Call(1)));
            }
            let ender = ending(&tasks, host, move || order.send(2).unwrap());
            assert!(ordered.try_recv().is_err());
            release.send(()).unwrap();
            ender.join().unwrap();
            assert_eq!(ordered.try_iter().collect::<Vec<_>>(), [1, 2]);
            thread.join().unwrap();
            assert!(lock(completed).is_empty());
            assert!(lock(&tasks.pending).is_empty());
        }
    }

    #[test]
    fn the_end_waits_for_a_completion_on_another_thread() {
        let ((host, told), tasks) = (telling_host(), Arc::new(Tasks::default()));
        let (entered, enter) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        *lock(&told.meanwhile) = Some(Box::new(move || {
            entered.send(()).unwrap();
            released.recv().unwrap();
        }));
        let other = Arc::clone(&tasks);
        let thread = std::thread::spawn(move || other.spawn(host, &call(1), async { Ok(None) }));
        enter.recv().unwrap();
        assert!(lock(&tasks.pending).contains_key(&Purpose::Call(1)));
        let (order, ordered) = mpsc::channel();
        let ender = ending(&tasks, host, move || order.send(lock(&told.completed).clone()).unwrap());
        assert!(ordered.try_recv().is_err());
        release.send(()).unwrap();
        assert_eq!(ordered.recv().unwrap(), [(1, 0)]);
        ender.join().unwrap();
        thread.join().unwrap();
        assert!(lock(&tasks.pending).is_empty());
    }

    #[test]
    fn the_end_waits_for_a_drop_on_another_thread() {
        struct Blocked(mpsc::Sender<()>, mpsc::Receiver<()>, mpsc::Sender<u64>);
        impl Drop for Blocked {
            fn drop(&mut self) {
                self.0.send(()).unwrap();
                self.1.recv().unwrap();
                self.2.send(1).unwrap();
            }
        }
        let ((host, _), tasks) = (host(), Arc::new(Tasks::default()));
        let (entered, enter) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let (order, ordered) = mpsc::channel();
        let blocked = Blocked(entered, released, order.clone());
        tasks.spawn(host, &call(1), async move {
            let _blocked = blocked;
            std::future::pending().await
        });
        let other = Arc::clone(&tasks);
        let canceller = std::thread::spawn(move || other.cancel(1));
        enter.recv().unwrap();
        let ender = ending(&tasks, host, move || order.send(2).unwrap());
        assert!(ordered.try_recv().is_err());
        release.send(()).unwrap();
        ender.join().unwrap();
        canceller.join().unwrap();
        assert_eq!(ordered.try_iter().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn nothing_waits_for_its_own_thread() {
        type Act = fn(&Tasks);
        for act in [(|tasks| tasks.cancel(1)) as Act, |tasks| tasks.end()] {
            // In a poll: the call no longer completes.
            let ((host, told), tasks) = (telling_host(), Arc::new(Tasks::default()));
            let within = Arc::clone(&tasks);
            tasks.spawn(host, &call(1), async move {
                act(&within);
                Ok(None)
            });
            assert!(lock(&told.completed).is_empty());
            assert!(lock(&tasks.pending).is_empty());

            // While a future is dropped, whether ready or not: the same.
            struct Acts(Arc<Tasks>, Act, bool);
            impl Future for Acts {
                type Output = Completion;
                fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Completion> {
                    if self.2 { Poll::Ready(Ok(None)) } else { Poll::Pending }
                }
            }
            impl Drop for Acts {
                fn drop(&mut self) {
                    (self.1)(&self.0);
                }
            }
            tasks.spawn(host, &call(1), Acts(Arc::clone(&tasks), act, true));
            tasks.spawn(host, &call(1), Acts(Arc::clone(&tasks), act, false));
            act(&tasks);
            assert!(lock(&told.completed).is_empty());
            assert!(lock(&tasks.pending).is_empty());

            // While the host is told of the call, which is then woken.
            let (within, gate) = (Arc::clone(&tasks), Arc::default());
            let (waiting, waker) = (Gate(Arc::clone(&gate)), Arc::<Mutex<Option<Waker>>>::default());
            let kept = Arc::clone(&waker);
            *lock(&told.meanwhile) = Some(Box::new(move || {
                act(&within);
                lock(&kept).take().unwrap().wake();
            }));
            let kept = Arc::clone(&waker);
            tasks.spawn(host, &call(1), async move {
                waiting.await;
                std::future::poll_fn(|context| {
                    *lock(&kept) = Some(context.waker().clone());
                    Poll::Ready(())
                })
                .await;
                Ok(None)
            });
            open(&gate);
            assert_eq!(*lock(&told.completed), [(1, 0)]);
            assert!(lock(&waker).is_none());
            assert!(lock(&tasks.pending).is_empty());
        }
    }

    #[test]
    fn a_panic_in_a_drop_ends_nothing_but_the_drop() {
        let ((host, completed), tasks) = (host(), Arc::new(Tasks::default()));
        let (sender, receiver) = mpsc::channel();
        let gate = Arc::default();
        // Ready, and then dropped.
        struct Ready {
            _dropped: Dropped,
        }
        impl Future for Ready {
            type Output = Completion;
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Completion> {
                Poll::Ready(Ok(None))
            }
        }
        tasks.spawn(host, &call(1), Ready { _dropped: Dropped(sender.clone(), 1, true) });
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(*lock(completed), [(1, 0)]);
        // Cancelled: one while it waits, one in its own poll.
        for operation in 2..=5 {
            let (waiting, dropped) = (Gate(Arc::clone(&gate)), Dropped(sender.clone(), operation, true));
            let within = Arc::clone(&tasks);
            tasks.spawn(host, &call(operation), async move {
                let _dropped = dropped;
                if operation == 3 {
                    within.cancel(3);
                }
                waiting.await;
                Ok(None)
            });
        }
        assert_eq!(receiver.try_recv(), Ok(3));
        tasks.cancel(2);
        assert_eq!(receiver.try_recv(), Ok(2));
        // At the end, which still waits for what another thread runs.
        let (entered, enter) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let (other, dropped) = (Arc::clone(&tasks), Dropped(sender.clone(), 6, false));
        let thread = std::thread::spawn(move || {
            other.spawn(host, &call(6), async move {
                let _dropped = dropped;
                entered.send(()).unwrap();
                released.recv().unwrap();
                Ok(None)
            });
        });
        enter.recv().unwrap();
        let ender = ending(&tasks, host, move || sender.send(7).unwrap());
        release.send(()).unwrap();
        ender.join().unwrap();
        thread.join().unwrap();
        let mut told: Vec<u64> = receiver.try_iter().collect();
        assert_eq!(told.pop(), Some(7));
        told.sort();
        assert_eq!(told, [4, 5, 6]);
        assert_eq!(*lock(completed), [(1, 0)]);
        assert!(lock(&tasks.pending).is_empty());
    }
}
