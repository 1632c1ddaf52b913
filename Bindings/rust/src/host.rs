// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

use crate::http::{Request, Url};
use crate::task::{lock, Tasks};
use crate::waiting::{finish, Pending};
use crate::{sys, Error, Json, Status, Storage, UsedGate};
use std::future::Future;
use std::os::raw::c_void;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

/// The host as one instance sees it: what the manifest names under "services". Copies are the same host; do not keep one
/// beyond its gate, in a static or on a thread of your own.
#[derive(Clone, Copy)]
pub struct Host {
    pub(crate) raw: *const sys::Host,
    /// The instance's; of an `Arc`.
    pub(crate) tasks: *const Tasks,
}

// The functions of the host may be called from any thread, and the table lives as long as the instance: the instance's tasks,
// and so whatever they hold, end before it does. So do the tasks themselves, which are used from any thread, too.
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

impl Host {
    /// A GET to a URL, over `http/1`.
    pub fn get(&self, url: Url) -> Request {
        self.request("GET", url)
    }

    /// A POST to a URL, over `http/1`.
    pub fn post(&self, url: Url) -> Request {
        self.request("POST", url)
    }

    /// A request of any method, over `http/1`.
    pub fn request(&self, method: &str, url: Url) -> Request {
        Request::new(*self, method, url)
    }

    /// The time of day since 1970 by `clock/1`; zero if the manifest does not name it.
    pub fn now(&self) -> Duration {
        let Some(clock) = self.service::<sys::Clock>("clock/1") else { return Duration::ZERO };
        Duration::from_nanos(unsafe { (clock.wall_ns)(clock.context) })
    }

    /// Writes a line to the application's log by `log/1`, unless the application does not record that level or the manifest
    /// does not name the service.
    pub fn log(&self, level: Level, message: &str) {
        let Some(log) = self.service::<sys::Log>("log/1") else { return };
        if level as i32 >= log.level {
            let length = message.len() as u64;
            unsafe { (log.log)(log.context, level as i32, message.as_ptr(), length, std::ptr::null(), 0) };
        }
    }

    /// Waits, by a timer of `clock/1`. Dropping the future cancels the timer.
    pub async fn sleep(&self, delay: Duration) -> Result<(), Error> {
        self.start_timer(delay, None)?.await;
        Ok(())
    }

    /// Runs a future in the background, for instance one that polls a vendor, on threads of the host: it must not block them.
    /// The manifest must require `clock/1`.
    ///
    /// It is cancelled when the gate closes, before [`Plugin::close`](crate::Plugin::close) begins: dropped, or if it runs just
    /// then, as soon as it waits. None can begin after that, and all have ended before the instance does. It has no deadline; a
    /// panic ends it, and is logged.
    ///
    /// [`Plugin::open`](crate::Plugin::open) is called again to renew the proof, so it begins the work once:
    ///
    /// ```
    /// # use connector::{Error, Evidence, Host, Json, Plugin, Url};
    /// use std::sync::{Arc, Mutex, OnceLock};
    /// use std::time::Duration;
    ///
    /// struct Poll {
    ///     host: Host,
    ///     latest: Arc<Mutex<Option<Json>>>,
    ///     polling: OnceLock<()>,
    /// }
    ///
    /// impl Plugin for Poll {
    ///     // …
    /// #    fn create(host: Host, _: &Json) -> Result<Self, Error> {
    /// #        Ok(Poll { host, latest: Arc::default(), polling: OnceLock::new() })
    /// #    }
    ///     async fn open(&self) -> Result<Evidence, Error> {
    ///         if self.polling.set(()).is_ok() {
    ///             let (host, latest) = (self.host, self.latest.clone());
    ///             self.host.spawn(async move {
    ///                 while host.sleep(Duration::from_secs(60)).await.is_ok() {
    ///                     let answer = host.get(Url::new("https://example.com/value")).send_to("example").await;
    ///                     *latest.lock().unwrap() = answer.and_then(|answer| answer.json()).ok();
    ///                 }
    ///             })?;
    ///         }
    ///         Ok(Evidence::configured(""))
    ///     }
    /// }
    /// ```
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Result<(), Error> {
        let tasks = unsafe {
            Arc::increment_strong_count(self.tasks);
            Arc::from_raw(self.tasks)
        };
        // The task must exist before the timer, whose thread may run it before this one goes on. This thread never does: it may
        // hold a lock that the future takes. The future has the timer, which ends with it.
        let timer = Arc::new(Mutex::new(None));
        let start = timer.clone();
        let task = tasks.begin(*self, async move {
            drop(start);
            future.await;
        });
        let task = task.ok_or_else(Self::closing)?;
        match self.start_timer(Duration::ZERO, Some(task.clone().into())) {
            Ok(started) => *lock(&timer) = Some(started),
            Err(error) => {
                task.cancel();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Sends an event to the application, such as `settings-changed`, over `events/1`; null is an event without a value.
    ///
    /// Never waits for a listener. A name is a letter followed by letters, digits, `.`, `_` and `-`, 64 bytes at most; the
    /// value has at most 64 KiB as JSON.
    ///
    /// ```no_run
    /// # use connector::Json;
    /// # fn example(host: connector::Host) -> Result<(), connector::Error> {
    /// host.emit("settings-changed", &Json::object([("theme", "dark".into())]))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn emit(&self, name: &str, value: &Json) -> Result<(), Error> {
        let events = self.required::<sys::Events>("events/1")?;
        let json = if *value == Json::Null { String::new() } else { value.to_string() };
        let data = if json.is_empty() { std::ptr::null() } else { json.as_ptr() };
        match unsafe { (events.emit)(events.context, name.as_ptr(), name.len() as u64, data, json.len() as u64) } {
            0 => Ok(()),
            status => {
                let mut message = format!("the host refused the event {name:?}");
                if Status(status) == Status::TOO_LARGE {
                    message += &format!(
                        ": its name has {} bytes, and may have 64; its JSON has {}, and may have 65536",
                        name.len(),
                        json.len()
                    );
                }
                Err(Error::new(Status(status), message).in_domain("host"))
            }
        }
    }

    /// The values that the gate keeps, over `storage/1`.
    pub fn storage(&self) -> Storage {
        Storage { host: *self }
    }

    /// A gate that the plugin uses, by the name in its manifest's `uses`.
    pub fn gate(&self, name: &str) -> UsedGate {
        UsedGate { host: *self, name: name.to_owned() }
    }

    /// The gate of an optional use; nothing if no connector is bound to it.
    pub fn optional_gate(&self, name: &str) -> Option<UsedGate> {
        let gates = self.gates().ok()?;
        // The table of an older host, which has no optional uses, ends before `bound`.
        let field = std::ptr::addr_of!(gates.bound) as usize - gates as *const sys::Gates as usize;
        let is_bound = gates.struct_size as usize <= field
            || unsafe { (gates.bound)(gates.context, name.as_ptr(), name.len() as u64) } == 0;
        is_bound.then(|| self.gate(name))
    }

    /// The error of a gate that is closing.
    fn closing() -> Error {
        Error::new(Status::NOT_OPEN, "the gate is closing")
    }

    /// Starts a timer that also wakes a task, if there is one.
    fn start_timer(&self, delay: Duration, waker: Option<Waker>) -> Result<Pending<()>, Error> {
        let clock = self.required::<sys::Clock>("clock/1")?;
        let delay = delay.as_nanos().try_into().unwrap_or(u64::MAX);
        Pending::start_waking(waker, *self, cancel_timer, |user| {
            let mut timer = 0;
            match Status(unsafe { (clock.start_timer)(clock.context, delay, fire, user, &mut timer) }) {
                Status(0) => Ok(timer),
                Status::NOT_OPEN => Err(Self::closing()),
                Status::TOO_LARGE => Err(Error::new(Status::RATE_LIMITED, "the gate has too many timers")),
                status => Err(Error::new(status, "the host cannot start a timer")),
            }
        })
    }

    /// The table of a service that the manifest must name; the caller must know its type.
    pub(crate) fn required<Table>(&self, id: &str) -> Result<&Table, Error> {
        self.service(id).ok_or_else(|| Error::new(Status::UNSUPPORTED, format!("the manifest must require {id}")))
    }

    /// The table of `gates/1`.
    pub(crate) fn gates(&self) -> Result<&sys::Gates, Error> {
        self.service("gates/1").ok_or_else(|| Error::new(Status::UNSUPPORTED, "the manifest has no \"uses\""))
    }

    /// The table of a service; the caller must know its type.
    pub(crate) fn service<Table>(&self, id: &str) -> Option<&Table> {
        unsafe {
            let host = &*self.raw;
            (host.service)(host.context, id.as_ptr(), id.len() as u64).cast::<Table>().as_ref()
        }
    }

    /// Completes a call; harmless if it has ended.
    pub(crate) fn complete(&self, operation: u64, result: Result<Option<Vec<u8>>, Error>) {
        let host = unsafe { &*self.raw };
        let context: *mut c_void = host.context;
        match result {
            Ok(bytes) => {
                let (data, length) = bytes.as_ref().map_or((std::ptr::null(), 0), |bytes| (bytes.as_ptr(), bytes.len()));
                unsafe { (host.complete)(context, operation, 0, data, length as u64, std::ptr::null()) };
            }
            Err(error) => {
                let error = error.to_sys();
                unsafe { (host.complete)(context, operation, error.code, std::ptr::null(), 0, &error) };
            }
        }
    }
}

/// Whether the host has stopped the timer before it fired.
fn cancel_timer(host: Host, timer: u64) -> bool {
    host.service::<sys::Clock>("clock/1")
        .is_some_and(|clock| unsafe { (clock.cancel_timer)(clock.context, timer) } == 0)
}

unsafe extern "C" fn fire(user: *mut c_void) {
    unsafe { finish(user, ()) };
}

/// Levels of the application's log.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Trace = 0,
    Debug = 1,
    Info = 2,
    Notice = 3,
    Warning = 4,
    Error = 5,
    Critical = 6,
}
