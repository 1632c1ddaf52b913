// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! The background work of a plugin, and when it ends.

use connector::{sys, Error, Evidence, Host, Json, Plugin, Status};
use std::os::raw::c_void;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::ThreadId;
use std::time::Duration;

/// Counts while its gate is open.
struct Counter {
    host: Host,
    count: Arc<Mutex<i64>>,
    counting: OnceLock<()>,
}

/// Logs when it is dropped.
struct Ended(Host);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.log(connector::Level::Info, "ended");
    }
}

impl Plugin for Counter {
    fn create(host: Host, config: &Json) -> Result<Self, Error> {
        if config["fails"] == true.into() {
            let ended = Ended(host);
            host.spawn(async move {
                let _ended = ended;
                std::future::pending().await
            })?;
            return Err(Error::invalid("for a test"));
        }
        Ok(Counter { host, count: Arc::default(), counting: OnceLock::new() })
    }

    async fn open(&self) -> Result<Evidence, Error> {
        if self.counting.set(()).is_ok() {
            let (host, count, ended) = (self.host, self.count.clone(), Ended(self.host));
            self.host.spawn(async move {
                let _ended = ended;
                loop {
                    *count.lock().unwrap() += 1;
                    if *count.lock().unwrap() == 3 {
                        panic!("three is too many");
                    }
                    if host.sleep(Duration::from_secs(60)).await.is_err() {
                        return;
                    }
                }
            })?;
        }
        Ok(Evidence::configured(format!("counted {}", self.count.lock().unwrap())))
    }

    async fn close(&self) -> Result<(), Error> {
        self.host.log(connector::Level::Info, "closed");
        let refused = self.host.spawn(std::future::pending()).unwrap_err();
        assert_eq!(refused.status, Status::NOT_OPEN);
        Ok(())
    }
}

connector::plugin! {
    type: Counter,
    manifest: r#"{"manifest": 1}"#,
    entry: counter_plugin,
    operations: {}
}

extern "C" {
    fn counter_plugin() -> *const sys::Plugin;
}

/// A timer that has not fired: its number, its delay, and what it calls.
type Timer = (u64, u64, unsafe extern "C" fn(*mut c_void), usize);

/// A host that lends log/1 and, unless it has none, clock/1, whose timers fire when a test says so, or at once.
#[derive(Default)]
struct Lender {
    has_no_clock: bool,
    /// Whether a timer has fired, on another thread, before `start_timer` returns.
    fires_at_once: bool,
    started: Mutex<u64>,
    timers: Mutex<Vec<Timer>>,
    /// What was logged, and what calls were completed with.
    told: Mutex<Vec<String>>,
    /// The threads that did so.
    tellers: Mutex<Vec<ThreadId>>,
}

impl Lender {
    fn tell(&self, text: String) {
        self.told.lock().unwrap().push(text);
        self.tellers.lock().unwrap().push(std::thread::current().id());
    }

    /// Fires the only timer, on another thread; returns its delay in seconds.
    fn fire(&self) -> u64 {
        let (_, delay, fire, user) = self.timers.lock().unwrap().pop().unwrap();
        assert!(self.timers.lock().unwrap().is_empty());
        std::thread::spawn(move || unsafe { fire(user as *mut c_void) }).join().unwrap();
        delay / 1_000_000_000
    }

    fn is_idle(&self) -> bool {
        self.timers.lock().unwrap().is_empty()
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.told.lock().unwrap())
    }
}

unsafe fn text(data: *const u8, length: u64) -> String {
    if data.is_null() {
        return String::new();
    }
    String::from_utf8(unsafe { std::slice::from_raw_parts(data, length as usize) }.to_vec()).unwrap()
}
unsafe fn lender<'a>(context: *mut c_void) -> &'a Lender {
    unsafe { &*context.cast::<Lender>() }
}
unsafe extern "C" fn complete(
    context: *mut c_void, operation: u64, status: i32, data: *const u8, length: u64, _: *const sys::Error,
) -> i32 {
    unsafe { lender(context).tell(format!("{operation}: {status} {}", text(data, length))) };
    0
}
unsafe extern "C" fn progress(_: *mut c_void, _: u64, _: *const u8, _: u64) -> i32 {
    0
}
unsafe extern "C" fn service(context: *mut c_void, id: *const u8, length: u64) -> *const c_void {
    match unsafe { text(id, length) }.as_str() {
        "clock/1" if !unsafe { lender(context) }.has_no_clock => Box::leak(Box::new(sys::Clock {
            struct_size: 48, flags: 0, context, wall_ns, monotonic_ns: wall_ns, start_timer, cancel_timer,
        })) as *const sys::Clock as _,
        "log/1" => Box::leak(Box::new(sys::Log { struct_size: 24, level: 0, context, log })) as *const sys::Log as _,
        _ => std::ptr::null(),
    }
}
unsafe extern "C" fn wall_ns(_: *mut c_void) -> u64 {
    0
}
unsafe extern "C" fn start_timer(
    context: *mut c_void, delay: u64, fire: unsafe extern "C" fn(*mut c_void), user: *mut c_void, timer: *mut u64,
) -> i32 {
    let lender = unsafe { lender(context) };
    let number = {
        let mut started = lender.started.lock().unwrap();
        *started += 1;
        *started
    };
    unsafe { *timer = number };
    let user = user as usize;
    if lender.fires_at_once {
        std::thread::spawn(move || unsafe { fire(user as *mut c_void) }).join().unwrap();
    } else {
        lender.timers.lock().unwrap().push((number, delay, fire, user));
    }
    0
}
unsafe extern "C" fn cancel_timer(context: *mut c_void, timer: u64) -> i32 {
    let mut timers = unsafe { lender(context) }.timers.lock().unwrap();
    let count = timers.len();
    timers.retain(|pending| pending.0 != timer);
    if timers.len() < count { 0 } else { 100 }
}
unsafe extern "C" fn log(context: *mut c_void, _: i32, message: *const u8, length: u64, _: *const u8, _: u64) -> i32 {
    unsafe { lender(context).tell(text(message, length)) };
    0
}

/// Calls a body with an instance, or with the status of `create` if there is none.
fn with_instance(lender: &Lender, config: &str, body: impl FnOnce(i32, &sys::Plugin, *mut c_void)) {
    let context = (lender as *const Lender).cast_mut().cast();
    let host = sys::Host { struct_size: 40, abi_version: 1, context, service, complete, progress };
    unsafe {
        let plugin = &*counter_plugin();
        let mut instance = std::ptr::null_mut();
        let (data, length) = (config.as_ptr(), config.len() as u64);
        let status = (plugin.create)(&host, data, length, &mut instance, std::ptr::null_mut());
        body(status, plugin, instance);
        if !instance.is_null() {
            (plugin.destroy)(instance);
        }
    }
}

fn call(operation: u64) -> sys::Call {
    sys::Call { struct_size: 24, flags: 0, operation, deadline_ns: u64::MAX }
}

#[test]
fn work_begins_outside_the_call_and_goes_on_until_the_gate_closes() {
    let lender = Lender::default();
    with_instance(&lender, "{}", |_, plugin, instance| unsafe {
        assert_eq!((plugin.open)(instance, &call(1), std::ptr::null_mut()), 0);
        assert_eq!(lender.take(), [r#"1: 0 [{"kind":"configured","detail":"counted 0"}]"#]);
        assert_eq!(lender.fire(), 0);
        assert_eq!((plugin.probe.unwrap())(instance, &call(2), std::ptr::null_mut()), 0);
        assert_eq!(lender.fire(), 60);
        assert_eq!((plugin.probe.unwrap())(instance, &call(3), std::ptr::null_mut()), 0);
        let proofs = lender.take();
        assert!(proofs[0].contains("counted 1") && proofs[1].contains("counted 2"), "{proofs:?}");
        assert_eq!((plugin.close.unwrap())(instance, &call(4), std::ptr::null_mut()), 0);
        assert_eq!(lender.take(), ["ended", "closed", "4: 0 "]);
        assert!(lender.is_idle());
    });
    assert!(lender.take().is_empty());
}

#[test]
fn work_has_ended_before_the_instance_even_if_that_was_not_closed_or_not_made() {
    let lender = Lender::default();
    with_instance(&lender, "{}", |_, plugin, instance| unsafe {
        assert_eq!((plugin.open)(instance, &call(1), std::ptr::null_mut()), 0);
        lender.fire();
        lender.take();
    });
    assert_eq!(lender.take(), ["ended"]);
    with_instance(&lender, r#"{"fails": true}"#, |status, _, instance| {
        assert!(status == Status::INVALID.0 && instance.is_null());
    });
    assert_eq!(lender.take(), ["ended"]);
    assert!(lender.is_idle());
}

#[test]
fn a_panic_ends_the_work_and_is_logged() {
    let lender = Lender::default();
    with_instance(&lender, "{}", |_, plugin, instance| unsafe {
        assert_eq!((plugin.open)(instance, &call(1), std::ptr::null_mut()), 0);
        lender.take();
        assert_eq!((lender.fire(), lender.fire(), lender.fire()), (0, 60, 60));
        assert_eq!(lender.take(), ["ended", "the plugin panicked: three is too many"]);
        assert!(lender.is_idle());
    });
}

#[test]
fn work_never_runs_on_the_thread_that_began_it_even_if_the_timer_fires_before_that_goes_on() {
    let lender = Lender { fires_at_once: true, ..Lender::default() };
    with_instance(&lender, "{}", |_, plugin, instance| unsafe {
        assert_eq!((plugin.open)(instance, &call(1), std::ptr::null_mut()), 0);
        let opened = r#"1: 0 [{"kind":"configured","detail":"counted 3"}]"#;
        assert_eq!(lender.take(), ["ended", "the plugin panicked: three is too many", opened]);
        let this_thread = std::thread::current().id();
        let is_this_thread: Vec<bool> = lender.tellers.lock().unwrap().iter().map(|id| *id == this_thread).collect();
        assert_eq!(is_this_thread, [false, false, true]);
    });
}

#[test]
fn work_needs_a_clock() {
    let lender = Lender { has_no_clock: true, ..Lender::default() };
    with_instance(&lender, "{}", |_, plugin, instance| unsafe {
        assert_eq!((plugin.open)(instance, &call(1), std::ptr::null_mut()), 0);
        assert_eq!(lender.take(), ["ended", &format!("1: {} ", Status::UNSUPPORTED.0)]);
    });
}
