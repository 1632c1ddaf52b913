// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// Written by `make embed`; not edited.
// swift-format-ignore-file

extension Embedded {
    /// The crate for authors in Rust.
    static let crate: [String: String] = [
"Cargo.toml": ##"""
[package]
name = "connector"
version = "0.1.0"
edition = "2021"
rust-version = "1.75"
license = "Apache-2.0"
description = "Plugins for connector-host, without unsafe code and without a runtime"

[lib]
path = "src/lib.rs"

"""##,
"src/error.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

use crate::{sys, Response};
use std::time::Duration;

/// A kind of failure: the statuses of the ABI (connector/error.h), in the words that all vendors share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(pub i32);

impl Status {
    /// Failed, for a reason that no other status names.
    pub const FAILED: Status = Status(1);
    /// The caller's arguments or configuration are wrong; the same call will fail again.
    pub const INVALID: Status = Status(2);
    /// The vendor or the plugin cannot do this.
    pub const UNSUPPORTED: Status = Status(3);
    /// The vendor refused the credentials.
    pub const UNAUTHORIZED: Status = Status(4);
    /// The requested object does not exist.
    pub const NOT_FOUND: Status = Status(5);
    /// The object has changed since it was read, or exists already.
    pub const CONFLICT: Status = Status(6);
    /// Too many calls.
    pub const RATE_LIMITED: Status = Status(7);
    /// The vendor could not be reached, or says that it is temporarily unavailable.
    pub const UNAVAILABLE: Status = Status(8);
    /// The deadline passed.
    pub const TIMED_OUT: Status = Status(9);
    /// The caller cancelled the call.
    pub const CANCELLED: Status = Status(10);
    /// The host does not permit this.
    pub const DENIED: Status = Status(11);
    /// More bytes than a limit allows.
    pub const TOO_LARGE: Status = Status(12);
    /// The vendor's answer was not what its protocol says.
    pub const PROTOCOL: Status = Status(13);
    /// The gate is not open.
    pub const NOT_OPEN: Status = Status(14);

    fn is_usually_retryable(self) -> bool {
        [Status::RATE_LIMITED, Status::UNAVAILABLE, Status::TIMED_OUT, Status::PROTOCOL].contains(&self)
    }
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of failure.
    pub status: Status,
    /// One sentence for a person, never a secret; cut to 967 bytes.
    pub message: String,
    /// Whether the same call may succeed later.
    pub is_retryable: bool,
    /// The wait before the next attempt, if the vendor gave one.
    pub retry_after: Option<Duration>,
    /// The source of the failure, such as a vendor's name; cut to 31 bytes.
    pub domain: String,
    /// The vendor's own number, such as the HTTP status; 0 if there is none.
    pub detail: i32,
}

impl Error {
    /// An error of a kind, which is retryable if its kind usually is.
    pub fn new(status: Status, message: impl Into<String>) -> Error {
        Error {
            status,
            message: message.into(),
            is_retryable: status.is_usually_retryable(),
            retry_after: None,
            domain: String::new(),
            detail: 0,
        }
    }

    /// The caller's arguments or configuration are wrong.
    pub fn invalid(message: impl Into<String>) -> Error {
        Error::new(Status::INVALID, message)
    }

    /// The vendor's answer was not what its protocol says.
    pub fn protocol(message: impl Into<String>) -> Error {
        Error::new(Status::PROTOCOL, message)
    }

    /// The same error from a source, such as a vendor's name.
    pub fn in_domain(mut self, domain: &str) -> Error {
        self.domain = domain.to_owned();
        self
    }

    /// The error for a response other than success, with its Retry-After. A redirect is the answer of a proxy or a captive
    /// portal, and so is a web page under 400, 413 or 422; the call may be tried again.
    pub(crate) fn of_response(response: &Response, vendor: &str) -> Error {
        let foreign = match response.status {
            300..=399 => Some("a redirect"),
            400 | 413 | 422 if response.is_page() => Some("a web page"),
            _ => None,
        };
        if let Some(foreign) = foreign {
            let (status, origin) = match response.status {
                413 => (Status::TOO_LARGE, "a gateway on the way takes only smaller requests: raise its limit"),
                _ => (Status::PROTOCOL, "a proxy or a captive portal may have sent it"),
            };
            let message = format!("{foreign} (HTTP {}) came instead of {vendor}'s answer; {origin}", response.status);
            let detail = response.status as i32;
            return Error { is_retryable: true, detail, ..Error::new(status, message).in_domain(vendor) };
        }
        let status = match response.status {
            400 | 422 => Status::INVALID,
            401 | 403 => Status::UNAUTHORIZED,
            404 | 410 => Status::NOT_FOUND,
            405 | 501 => Status::UNSUPPORTED,
            408 | 504 => Status::TIMED_OUT,
            409 | 412 => Status::CONFLICT,
            413 => Status::TOO_LARGE,
            429 => Status::RATE_LIMITED,
            402 | 407 | 421 | 425 | 500..=599 => Status::UNAVAILABLE,
            400..=499 => Status::FAILED,
            _ => Status::PROTOCOL,
        };
        let mut error = Error::new(status, format!("{vendor} answered HTTP {}", response.status)).in_domain(vendor);
        error.is_retryable &= !matches!(response.status, 402 | 407 | 505);
        error.retry_after = response.retry_after();
        // Temporary: RFC 9110, section 15.5.14.
        error.is_retryable |= response.status == 413 && error.retry_after.is_some();
        error.detail = response.status as i32;
        error
    }

    /// The error with the host's explanation, if it gave one.
    pub(crate) fn of_host(status: i32, error: Option<&sys::Error>) -> Error {
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        let mut result = Error::new(Status(status), format!("the host answered with status {status}"));
        if let Some(error) = error.filter(|error| error.code != 0) {
            result.message = text(&error.message);
            result.domain = text(&error.domain);
            result.is_retryable = error.retryable != 0;
            result.retry_after = (error.retry_after_ns > 0).then(|| Duration::from_nanos(error.retry_after_ns));
            result.detail = error.detail;
        }
        result
    }

    /// The error in the form that crosses the ABI.
    pub(crate) fn to_sys(&self) -> sys::Error {
        let mut error = sys::Error::empty();
        error.code = if self.status.0 == 0 { Status::FAILED.0 } else { self.status.0 };
        error.retryable = self.is_retryable.into();
        error.detail = self.detail;
        error.retry_after_ns = self.retry_after.map_or(0, |wait| wait.as_nanos().try_into().unwrap_or(u64::MAX));
        copy(&self.domain, &mut error.domain);
        copy(&self.message, &mut error.message);
        error
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl sys::Error {
    /// An empty error for the other side to fill in.
    pub(crate) fn empty() -> sys::Error {
        sys::Error {
            struct_size: std::mem::size_of::<sys::Error>() as u32,
            code: 0,
            retryable: 0,
            detail: 0,
            retry_after_ns: 0,
            domain: [0; 32],
            message: [0; 968],
        }
    }
}

/// Copies as many whole characters as fit, with a NUL after them.
fn copy(text: &str, bytes: &mut [u8]) {
    let mut end = text.len().min(bytes.len() - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    for (byte, source) in bytes.iter_mut().zip(&text.as_bytes()[..end]) {
        *byte = if *source == 0 { b' ' } else { *source };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_between_characters() {
        let error = Error::invalid("x".repeat(966) + "é").to_sys();
        assert_eq!(error.message[966], 0);
        assert_eq!(Error::of_host(2, Some(&error)).message, "x".repeat(966));
    }

    #[test]
    fn responses_mean_what_all_vendors_mean() {
        for (status, code, is_retryable) in [
            (302, Status::PROTOCOL, true),
            (400, Status::INVALID, false),
            (401, Status::UNAUTHORIZED, false),
            (402, Status::UNAVAILABLE, false),
            (407, Status::UNAVAILABLE, false),
            (421, Status::UNAVAILABLE, true),
            (425, Status::UNAVAILABLE, true),
            (404, Status::NOT_FOUND, false),
            (412, Status::CONFLICT, false),
            (413, Status::TOO_LARGE, true),
            (418, Status::FAILED, false),
            (429, Status::RATE_LIMITED, true),
            (501, Status::UNSUPPORTED, false),
            (503, Status::UNAVAILABLE, true),
            (505, Status::UNAVAILABLE, false),
        ] {
            let headers = vec![("retry-AFTER".to_owned(), "7".to_owned())];
            let response = Response { status, headers, body: vec![], now: Duration::from_secs(1) };
            let error = Error::of_response(&response, "vendor");
            assert_eq!((error.status, error.is_retryable, error.detail), (code, is_retryable, status as i32));
            assert_eq!(error.retry_after, (status >= 400).then(|| Duration::from_secs(7)));
        }
    }

    #[test]
    fn a_web_page_is_not_the_vendors_refusal() {
        for (status, content_type, body, is_foreign) in [
            (400, "text/html; charset=utf-8", "Bad request", true),
            (413, "text/html", "<html>", true),
            (422, "Application/XHTML+xml", "Bad request", true),
            (400, "application/json", " \u{FEFF}<html>", true),
            (400, "", "<html>", true),
            (400, "text/html", " {\"error\": 1}", false),
            (400, "text/html", "[]", false),
            (400, "text/html", " \r\n", false),
            (400, "text/plain; format=html", "Bad request", false),
            (404, "text/html", "<html>", false),
        ] {
            let headers = [("content-type", content_type), ("Retry-After", "7")];
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
            let response = Response { status, headers, body: body.into(), now: Duration::ZERO };
            let error = Error::of_response(&response, "vendor");
            let foreign_status = if status == 413 { Status::TOO_LARGE } else { Status::PROTOCOL };
            assert_eq!(error.is_retryable, is_foreign, "{body:?}");
            assert!(!is_foreign || error.status == foreign_status, "{body:?}");
            assert!(is_foreign || error.status != Status::PROTOCOL, "{body:?}");
            assert_eq!(error.message.starts_with("a web page (HTTP 4"), is_foreign, "{}", error.message);
            assert_eq!(error.retry_after.is_none(), is_foreign);
        }
    }
}

"""##,
"src/gate.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

use crate::waiting::{finish, Pending};
use crate::{http, sys, task, Error, Host, Json};
use std::os::raw::c_void;

/// A gate that the plugin uses, over `gates/1`. It offers the capability that the manifest names, and nothing else.
///
/// ```no_run
/// # use connector::Json;
/// // "uses": { "settings": "settings/1" }
/// # async fn example(host: connector::Host) -> Result<(), connector::Error> {
/// let theme = host.gate("settings").call("get", &Json::object([("key", "theme".into())])).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct UsedGate {
    pub(crate) host: Host,
    pub(crate) name: String,
}

impl UsedGate {
    /// Calls an operation, and awaits its result, which is null if it has none. Dropping the future cancels the call.
    ///
    /// `arguments` is an object of arguments by name, an array of them in order, or null for none. `bytes` are
    /// `{"base64": "…"}`, also in a result; an argument may be a string, which means its own UTF-8 bytes. The deadline is
    /// that of the call that awaits it, and the error that of the used gate, which names its connector.
    pub async fn call(&self, operation: &str, arguments: &Json) -> Result<Json, Error> {
        let result = self.start(operation, arguments)?.await?;
        if result.is_empty() {
            return Ok(Json::Null);
        }
        Json::parse(&result).map_err(|error| Error::protocol(format!("the result of the used gate: {}", error.message)))
    }

    fn start(&self, operation: &str, arguments: &Json) -> Result<Pending<Result<Vec<u8>, Error>>, Error> {
        let gates = self.host.gates()?;
        let arguments = if *arguments == Json::Null { String::new() } else { arguments.to_string() };
        let call = sys::GatesCall {
            struct_size: std::mem::size_of::<sys::GatesCall>() as u32,
            flags: 0,
            r#use: self.name.as_ptr(),
            use_length: self.name.len() as u64,
            operation: operation.as_ptr(),
            operation_length: operation.len() as u64,
            arguments: if arguments.is_empty() { std::ptr::null() } else { arguments.as_ptr() },
            arguments_length: arguments.len() as u64,
            deadline_ns: task::deadline(),
            during: task::operation(),
        };
        Pending::start(self.host, cancel, |user| {
            let (mut error, mut identifier) = (sys::Error::empty(), 0);
            match unsafe { (gates.call)(gates.context, &call, done, user, &mut identifier, &mut error) } {
                0 => Ok(identifier),
                status => Err(Error::of_host(status, Some(&error))),
            }
        })
    }
}

/// `done` still runs.
fn cancel(host: Host, identifier: u64) -> bool {
    if let Ok(gates) = host.gates() {
        unsafe { (gates.cancel)(gates.context, identifier) };
    }
    false
}

unsafe extern "C" fn done(user: *mut c_void, status: i32, json: *const u8, length: u64, error: *const sys::Error) {
    let result = match status {
        0 => Ok(unsafe { http::bytes(json, length) }.to_vec()),
        _ => Err(Error::of_host(status, unsafe { error.as_ref() })),
    };
    unsafe { finish(user, result) };
}

"""##,
"src/host.rs": ##"""
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

"""##,
"src/http.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

use crate::waiting::{finish, Pending};
use crate::{sys, task, Error, Host, Json};
use std::os::raw::c_void;
use std::time::Duration;

/// A growing URL, whose parts are percent-encoded unless they are secrets.
///
/// Only `.` and `..` keep their meaning as a component of the path, however they are encoded: a request to a URL with such a
/// component is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    text: String,
    has_query: bool,
    /// Whether a component that was appended is `.` or `..`.
    has_dot_segment: bool,
}

impl Url {
    /// Begins with a URL without a query, such as a field of the configuration.
    pub fn new(base: &str) -> Url {
        Url { text: base.trim_end_matches('/').to_owned(), has_query: base.contains('?'), has_dot_segment: false }
    }

    /// Appends one component to the path.
    pub fn path(mut self, component: &str) -> Url {
        self.has_dot_segment |= matches!(component, "." | "..");
        self.text.push('/');
        self.text.push_str(&percent_encode(component));
        self
    }

    /// Appends a name and its value to the query.
    pub fn query(mut self, name: &str, value: &str) -> Url {
        self.begin(name);
        self.text.push_str(&percent_encode(value));
        self
    }

    /// Appends a name and its value to the query, if there is a value.
    pub fn optional_query(self, name: &str, value: Option<&str>) -> Url {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Appends a secret of the configuration to the query. The host inserts its value as it sends the request.
    pub fn query_secret(mut self, name: &str, field: &str) -> Url {
        self.begin(name);
        self.text.push_str(&secret(field));
        self
    }

    /// The URL, in which secrets are placeholders.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn begin(&mut self, name: &str) {
        self.text.push(if self.has_query { '&' } else { '?' });
        self.has_query = true;
        self.text.push_str(&percent_encode(name));
        self.text.push('=');
    }
}

/// A placeholder that the host replaces with the value of a secret field, in headers and bodies: `Bearer {}`, for instance.
pub fn secret(field: &str) -> String {
    format!("{{{{secret:{field}}}}}")
}

/// Encodes all but letters, digits and `-._~` as `%XX` (RFC 3986).
pub fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte as char),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// A request that has not been sent.
#[must_use = "a request is sent by send"]
pub struct Request {
    host: Host,
    method: String,
    url: Url,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    flags: u32,
}

impl Request {
    pub(crate) fn new(host: Host, method: &str, url: Url) -> Request {
        Request { host, method: method.to_owned(), url, headers: vec![], body: vec![], flags: 0 }
    }

    /// Adds a header; {{secret:FIELD}} in its value becomes a secret.
    pub fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends JSON, in which {{secret:FIELD}} becomes a secret.
    pub fn json(self, body: &Json) -> Request {
        self.body("application/json", body.to_string().into_bytes())
    }

    /// Sends a body with a content type.
    pub fn body(mut self, content_type: &str, body: Vec<u8>) -> Request {
        self.body = body;
        self.header("Content-Type", content_type)
    }

    /// Sends the body as it is: the host inserts no secrets. For text from others, which may contain what looks like a
    /// placeholder.
    pub fn verbatim(mut self) -> Request {
        self.flags |= sys::HTTP_VERBATIM_BODY;
        self
    }

    /// Sends the request, and awaits the response, whatever its HTTP status. Dropping the future cancels the request.
    ///
    /// The deadline is that of the call that awaits it.
    pub async fn send(self) -> Result<Response, Error> {
        let mut response = self.start()?.await?;
        if response.header("Retry-After").and_then(date).is_some() {
            response.now = self.host.now();
        }
        Ok(response)
    }

    /// Like `send`, for a vendor whose answer must be HTTP 2xx: any other is an error, with its Retry-After.
    pub async fn send_to(self, vendor: &str) -> Result<Response, Error> {
        let response = self.send().await?;
        if (200..300).contains(&response.status) {
            Ok(response)
        } else {
            Err(Error::of_response(&response, vendor))
        }
    }

    fn start(&self) -> Result<Pending<Result<Response, Error>>, Error> {
        let http = self.host.required::<sys::Http>("http/1")?;
        if self.url.has_dot_segment {
            return Err(Error::invalid(r#"a segment of the path is "." or "..""#));
        }
        let headers: Vec<sys::HttpHeader> = self
            .headers
            .iter()
            .map(|(name, value)| sys::HttpHeader {
                name: name.as_ptr(),
                name_length: name.len() as u64,
                value: value.as_ptr(),
                value_length: value.len() as u64,
            })
            .collect();
        let request = sys::HttpRequest {
            struct_size: std::mem::size_of::<sys::HttpRequest>() as u32,
            flags: self.flags,
            method: self.method.as_ptr(),
            method_length: self.method.len() as u64,
            url: self.url.text.as_ptr(),
            url_length: self.url.text.len() as u64,
            headers: if headers.is_empty() { std::ptr::null() } else { headers.as_ptr() },
            header_count: headers.len() as u64,
            body: if self.body.is_empty() { std::ptr::null() } else { self.body.as_ptr() },
            body_length: self.body.len() as u64,
            deadline_ns: task::deadline(),
            // Dropping the future cancels the request.
            during: 0,
        };
        Pending::start(self.host, cancel, |user| {
            let (mut error, mut identifier) = (sys::Error::empty(), 0);
            match unsafe { (http.request)(http.context, &request, done, user, &mut identifier, &mut error) } {
                0 => Ok(identifier),
                status => Err(Error::of_host(status, Some(&error))),
            }
        })
    }
}

/// `done` still runs.
fn cancel(host: Host, request: u64) -> bool {
    if let Some(http) = host.service::<sys::Http>("http/1") {
        unsafe { (http.cancel)(http.context, request) };
    }
    false
}

unsafe extern "C" fn done(
    user: *mut c_void,
    status: i32,
    response: *const sys::HttpResponse,
    error: *const sys::Error,
) {
    let response = match unsafe { response.as_ref() } {
        Some(response) if status == 0 => Ok(unsafe { Response::copy(response) }),
        _ => Err(Error::of_host(status, unsafe { error.as_ref() })),
    };
    unsafe { finish(user, response) };
}

/// A response to a request.
#[derive(Clone, Debug)]
pub struct Response {
    /// 100 to 999.
    pub status: u32,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The bytes of the body.
    pub body: Vec<u8>,
    /// When it arrived, since 1970: what a date in its Retry-After is measured from. Zero if there is none, or if the manifest
    /// does not name `clock/1`.
    pub(crate) now: Duration,
}

impl Response {
    /// The body as JSON.
    pub fn json(&self) -> Result<Json, Error> {
        Json::parse(&self.body)
    }

    /// The value of a header; its name is matched without regard to case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0.eq_ignore_ascii_case(name)).map(|header| header.1.as_str())
    }

    /// Whether the body is a web page, which no vendor's API returns.
    pub fn is_page(&self) -> bool {
        let content_type = self.header("Content-Type").and_then(|value| value.split(';').next()).unwrap_or_default();
        match self.body.iter().find(|byte| **byte > b' ' && ![0xEF, 0xBB, 0xBF].contains(*byte)) {
            None | Some(b'{' | b'[') => false,
            Some(start) => *start == b'<' || content_type.to_ascii_lowercase().contains("html"),
        }
    }

    /// The wait that the vendor asks for (RFC 9110, section 10.2.3), at most a year. A date is measured from the response's own
    /// `Date`, since the machine's clock may be wrong; without one it needs `clock/1`.
    pub fn retry_after(&self) -> Option<Duration> {
        let value = self.header("Retry-After")?;
        let wait = match seconds(value) {
            Some(wait) => wait,
            None => match self.header("Date").and_then(date) {
                Some(sent) => date(value)?.saturating_sub(sent),
                None if self.now.is_zero() => return None,
                None => date(value)?.saturating_sub(self.now),
            },
        };
        Some(wait.min(Duration::from_secs(31_536_000)))
    }

    unsafe fn copy(response: &sys::HttpResponse) -> Response {
        let text = |data, length| String::from_utf8_lossy(unsafe { bytes(data, length) }).into_owned();
        let headers = if response.headers.is_null() || response.header_count == 0 {
            &[]
        } else {
            unsafe { std::slice::from_raw_parts(response.headers, response.header_count as usize) }
        };
        Response {
            status: response.status,
            headers: headers
                .iter()
                .map(|header| (text(header.name, header.name_length), text(header.value, header.value_length)))
                .collect(),
            body: unsafe { bytes(response.body, response.body_length) }.to_vec(),
            now: Duration::ZERO,
        }
    }
}

/// The bytes of the other side; empty if the pointer is null.
///
/// # Safety
/// The bytes must not change as long as the result is used.
pub(crate) unsafe fn bytes<'a>(data: *const u8, length: u64) -> &'a [u8] {
    if data.is_null() || length == 0 {
        &[]
    } else {
        unsafe { std::slice::from_raw_parts(data, length as usize) }
    }
}

/// The wait of a Retry-After in seconds; as long as possible if it has too many digits.
fn seconds(text: &str) -> Option<Duration> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().map_or(Duration::MAX, Duration::from_secs))
}

/// The moment of "Sun, 06 Nov 1994 08:49:37 GMT", since 1970.
fn date(text: &str) -> Option<Duration> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words[..] else { return None };
    let number = |text: &str, limit: u64| text.parse::<u64>().ok().filter(|number| *number <= limit);
    let (day, year) = (number(day, 31)?, number(year, 9999).filter(|year| *year >= 1970)?);
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let mut parts = time.split(':');
    let mut part = |limit| parts.next().and_then(|text| number(text, limit));
    let seconds = part(23)? * 3600 + part(59)? * 60 + part(60)?;
    // Days since 1970 in the Gregorian calendar, of years that begin in March.
    let shifted = year - u64::from(month <= 2);
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day.checked_sub(1)?;
    let days = (shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + day_of_year).checked_sub(719468)?;
    Some(Duration::from_secs(days * 86400 + seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_encoded_but_for_secrets() {
        let url = Url::new("https://x/api/").path("a/b é").query("q", "1&2").query_secret("key", "appId");
        assert_eq!(url.as_str(), "https://x/api/a%2Fb%20%C3%A9?q=1%262&key={{secret:appId}}");
        let url = Url::new("https://x").optional_query("a", None).optional_query("b", Some("{{secret:appId}}"));
        assert_eq!(url.as_str(), "https://x?b=%7B%7Bsecret%3AappId%7D%7D");
    }

    #[test]
    fn a_date_to_wait_for_is_measured_from_that_of_the_response() {
        let after = |date: &str, now| {
            let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
            let headers = vec![header("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"), header("date", date)];
            let response = Response { status: 503, headers, body: vec![], now: Duration::from_secs(now) };
            response.retry_after().map(|wait| wait.as_secs())
        };
        assert_eq!(after("Sun, 06 Nov 1994 08:49:34 GMT", 783000000), Some(3));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:34 GMT", 0), Some(3));
        assert_eq!(after("soon", 784111772), Some(5));
        assert_eq!(after("soon", 0), None);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let after = |value: &str, now| {
            let headers = vec![("Retry-After".to_owned(), value.to_owned())];
            Response { status: 503, headers, body: vec![], now: Duration::from_secs(now) }
                .retry_after()
                .map(|wait| wait.as_secs())
        };
        assert_eq!(after("7", 0), Some(7));
        assert_eq!(after("99999999999999999999", 1), Some(31_536_000));
        assert_eq!(after("Fri, 31 Dec 2100 00:00:00 GMT", 784111777), Some(31_536_000));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:37 GMT", 784111772), Some(5));
        assert_eq!(after("Thu, 29 Feb 2024 00:00:01 GMT", 1709164800), Some(1));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:37 GMT", 784111778), Some(0));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:37 GMT", 0), None);
        for value in ["", "soon", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 onN 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8 GMT"] {
            assert_eq!(after(value, 784111772), None, "{value}");
        }
    }
}

"""##,
"src/json.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! JSON (RFC 8259), as values.

use crate::{Error, Status};
use std::collections::HashSet;
use std::fmt::{self, Write};
use std::ops::Index;

/// How deeply arrays and objects may be nested: as deeply as in the host, in an array of events or a record around them.
const DEPTH: usize = 136;

/// A JSON value. Numbers keep their digits.
///
/// It is written so that the host accepts it: of members with equal names only the first, and `null` for a [`Json::Number`]
/// that is not a JSON number, or is beyond a double.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`, and a missing member or element.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The text of a number.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// The members of an object, in order; the first of equal names counts.
    Object(Vec<(String, Json)>),
}

static NULL: Json = Json::Null;

impl Json {
    /// Reads a whole text. As in the host, a number beyond a double is an error, and so is half of a surrogate pair.
    pub fn parse(text: &[u8]) -> Result<Json, Error> {
        let text = std::str::from_utf8(text).map_err(|_| Error::protocol("the text is not UTF-8"))?;
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at == text.len() { Ok(value) } else { Err(reader.fault()) }
    }

    /// An object.
    pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
        Json::Object(members.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// The member of an object, if there is one.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|member| member.0 == name).map(|member| &member.1),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Json::String(text) = self { Some(text) } else { None }
    }

    /// The nearest double of a number.
    pub fn as_f64(&self) -> Option<f64> {
        if let Json::Number(digits) = self { digits.parse().ok() } else { None }
    }

    /// A whole number, written in digits alone, that fits.
    pub fn as_i64(&self) -> Option<i64> {
        if let Json::Number(digits) = self { digits.parse().ok() } else { None }
    }

    /// `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        if let Json::Bool(value) = self { Some(*value) } else { None }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(elements) = self { Some(elements) } else { None }
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Json::Object(_))
    }

    /// A text of the configuration, such as a URL. The host has checked it against the manifest.
    pub fn text(&self, field: &str) -> Result<String, Error> {
        let text = self.get(field).and_then(Json::as_str).map(str::to_owned);
        text.ok_or_else(|| Error::new(Status::INVALID, format!("the configuration has no text {field:?}")))
    }
}

/// `json["a"]["b"]`: the member, or null.
impl Index<&str> for Json {
    type Output = Json;
    fn index(&self, name: &str) -> &Json {
        self.get(name).unwrap_or(&NULL)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::String(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Json {
        Json::Number(number.to_string())
    }
}

/// Null if the number is not finite.
impl From<f64> for Json {
    fn from(number: f64) -> Json {
        if number.is_finite() { Json::Number(number.to_string()) } else { Json::Null }
    }
}

impl From<Vec<Json>> for Json {
    fn from(elements: Vec<Json>) -> Json {
        Json::Array(elements)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => formatter.write_str("null"),
            Json::Bool(value) => write!(formatter, "{value}"),
            Json::Number(digits) => formatter.write_str(if is_number(digits) { digits } else { "null" }),
            Json::String(text) => write_string(text, formatter),
            Json::Array(elements) => {
                formatter.write_char('[')?;
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        formatter.write_char(',')?;
                    }
                    write!(formatter, "{element}")?;
                }
                formatter.write_char(']')
            }
            Json::Object(members) => {
                formatter.write_char('{')?;
                let mut names = HashSet::new();
                let first = members.iter().filter(|member| names.insert(member.0.as_str()));
                for (index, (name, value)) in first.enumerate() {
                    if index > 0 {
                        formatter.write_char(',')?;
                    }
                    write_string(name, formatter)?;
                    write!(formatter, ":{value}")?;
                }
                formatter.write_char('}')
            }
        }
    }
}

/// Whether a text is a number as JSON writes it, and within a double.
fn is_number(text: &str) -> bool {
    let mut reader = Reader { text, at: 0 };
    reader.number().is_ok() && reader.at == text.len()
}

fn write_string(text: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    formatter.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(formatter, "\\{character}")?,
            '\0'..='\x1F' => write!(formatter, "\\u{:04x}", character as u32)?,
            _ => formatter.write_char(character)?,
        }
    }
    formatter.write_char('"')
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn fault(&self) -> Error {
        Error::protocol(format!("the text is not JSON at byte {}", self.at))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, part: &str) -> bool {
        let is_there = self.text.as_bytes()[self.at..].starts_with(part.as_bytes());
        self.at += if is_there { part.len() } else { 0 };
        is_there
    }

    fn value(&mut self, depth: usize) -> Result<Json, Error> {
        self.space();
        if depth > DEPTH {
            return Err(self.fault());
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b't') if self.take("true") => Ok(Json::Bool(true)),
            Some(b'f') if self.take("false") => Ok(Json::Bool(false)),
            Some(b'n') if self.take("null") => Ok(Json::Null),
            _ => Ok(Json::Number(self.number()?.to_owned())),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, Error> {
        let mut members = vec![];
        self.at += 1;
        self.space();
        if self.take("}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            let name = self.string()?;
            self.space();
            if !self.take(":") {
                return Err(self.fault());
            }
            members.push((name, self.value(depth + 1)?));
            self.space();
            if self.take("}") {
                return Ok(Json::Object(members));
            }
            if !self.take(",") {
                return Err(self.fault());
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, Error> {
        let mut elements = vec![];
        self.at += 1;
        self.space();
        if self.take("]") {
            return Ok(Json::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.space();
            if self.take("]") {
                return Ok(Json::Array(elements));
            }
            if !self.take(",") {
                return Err(self.fault());
            }
        }
    }

    fn digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.fault()) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<&'a str, Error> {
        let start = self.at;
        self.take("-");
        if !self.take("0") {
            self.digits()?;
        }
        if self.take(".") {
            self.digits()?;
        }
        if self.take("e") || self.take("E") {
            if !self.take("+") {
                self.take("-");
            }
            self.digits()?;
        }
        let digits = &self.text[start..self.at];
        if !digits.parse().is_ok_and(f64::is_finite) {
            return Err(Error::protocol(format!("the number at byte {start} is out of range")));
        }
        Ok(digits)
    }

    fn string(&mut self) -> Result<String, Error> {
        let mut text = String::new();
        if !self.take("\"") {
            return Err(self.fault());
        }
        loop {
            let start = self.at;
            while matches!(self.peek(), Some(byte) if byte >= 0x20 && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            text.push_str(&self.text[start..self.at]);
            if self.take("\"") {
                return Ok(text);
            }
            if !self.take("\\") {
                return Err(self.fault());
            }
            let escape = self.peek().ok_or_else(|| self.fault())?;
            self.at += 1;
            text.push(match escape {
                b'"' | b'\\' | b'/' => escape as char,
                b'b' => '\x08',
                b'f' => '\x0C',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => self.unicode()?,
                _ => return Err(self.fault()),
            });
        }
    }

    /// Reads what follows `\u`; half of a surrogate pair is an error.
    fn unicode(&mut self) -> Result<char, Error> {
        let mut code = self.hex()?;
        if (0xD800..0xDC00).contains(&code) && self.take("\\u") {
            let second = self.hex()?;
            if !(0xDC00..0xE000).contains(&second) {
                return Err(self.fault());
            }
            code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
        }
        char::from_u32(code).ok_or_else(|| self.fault())
    }

    fn hex(&mut self) -> Result<u32, Error> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).ok_or_else(|| self.fault())?;
        let mut code = 0;
        for digit in digits {
            code = code << 4 | (*digit as char).to_digit(16).ok_or_else(|| self.fault())?;
        }
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_as_they_were_written() {
        for text in ["null", "-0.5e+3", "\"\\u0001\\\"é😀\"", "[]", "{}", "[1,[true,{\"a\":null}],\"\"]", "{\"a\":{\"b\":[1]},\"c\":2}"] {
            assert_eq!(Json::parse(text.as_bytes()).map(|json| json.to_string()), Ok(text.to_owned()));
        }
        let json = Json::parse(br#" {"a" : [ "\ud83d\ude00!\u00e9\n" ] } "#).unwrap();
        assert_eq!(json["a"].as_array().unwrap()[0].as_str(), Some("😀!é\n"));
        assert_eq!(json["b"]["c"], Json::Null);
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "", "nul", "01", "-", "1.", ".5", "1e", "+1", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "[", "[1,", "[1,]", "[,1]",
            "{", "{\"a\"", "{\"a\":1,}", "{a:1}", "[}", "1 2", "]", "\"a\\", "\"\\u12", "\"\\ué\"",
            "\"\\ud800\"", "\"\\ud800!\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "\"\\ude00\"", "\"\\ude00\\ud83d\"",
            "1e400", "[-1e400]", "NaN", "inf",
        ] {
            assert!(Json::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Json::parse(b"\"\xFF\"").is_err());
        assert!(Json::parse(("[".repeat(DEPTH + 2) + &"]".repeat(DEPTH + 2)).as_bytes()).is_err());
        assert!(Json::parse(("[".repeat(DEPTH) + &"]".repeat(DEPTH)).as_bytes()).is_ok());
        assert!(Json::parse("[".repeat(1 << 20).as_bytes()).is_err());
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(Json::parse(b"9007199254740993").unwrap().as_i64(), Some(9007199254740993));
        assert_eq!(Json::parse(b"9223372036854775808").unwrap().as_i64(), None);
        assert_eq!(Json::from(0.1).to_string(), "0.1");
        assert_eq!(Json::from(f64::NAN), Json::Null);
        assert_eq!(Json::parse(("1".repeat(400)).as_bytes()).unwrap_err().message, "the number at byte 0 is out of range");
        for text in ["1e308", "1e-400", "-0", "123456789012345678901234567890"] {
            assert_eq!(Json::parse(text.as_bytes()).map(|json| json.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_written_is_what_the_host_reads() {
        let json = Json::parse(br#"{"a":1,"b":{"c":2,"c":3},"\u0061":4,"d":5}"#).unwrap();
        assert_eq!(json.to_string(), r#"{"a":1,"b":{"c":2},"d":5}"#);
        let twice = Json::object([("a", true.into()), ("a", false.into())]);
        assert_eq!((twice.to_string(), &twice["a"]), (r#"{"a":true}"#.to_owned(), &Json::Bool(true)));
        for text in ["1e400", "NaN", "inf", "", "01", "1 ", " 1", "+1", ".5", "1,2", "é"] {
            assert_eq!(Json::Number(text.to_owned()).to_string(), "null", "{text}");
        }
    }
}

"""##,
"src/lib.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! Plugins for connector-host: a type that implements [`Plugin`], and one [`plugin!`] that names its operations.
//!
//! Nothing here is unsafe to use. Operations are asynchronous without a runtime: the end of a request, on a thread of the
//! host, resumes the future that awaits it. A panic becomes an error of the call.
//!
//! [`Host`] has a function for each service that the manifest names: requests over `http/1`, the time and [`Host::sleep`],
//! [`Host::log`], [`Host::emit`] for events, [`Host::storage`] for values that survive a restart, and [`Host::gate`] for the
//! gates under `uses`. [`Host::spawn`] runs a future in the background.
//!
//! ```
//! use connector::{Error, Evidence, Host, Json, Plugin, Url};
//!
//! struct Rates {
//!     host: Host,
//!     endpoint: String,
//! }
//!
//! impl Plugin for Rates {
//!     fn create(host: Host, configuration: &Json) -> Result<Self, Error> {
//!         Ok(Rates { host, endpoint: configuration.text("endpoint")? })
//!     }
//!
//!     async fn open(&self) -> Result<Evidence, Error> {
//!         let url = Url::new(&self.endpoint).path("usage.json").query_secret("app_id", "appId");
//!         let answer = self.host.get(url).send_to("rates").await?.json()?;
//!         let rest = answer["requests_remaining"].as_i64().ok_or(Error::protocol("no requests_remaining"))?;
//!         Ok(Evidence::authenticated(format!("requests left: {rest}")))
//!     }
//! }
//! ```

#![warn(missing_docs)]

mod error;
mod gate;
mod host;
mod http;
mod json;
mod manifest;
mod plugin;
#[doc(hidden)]
pub mod sys;
mod storage;
mod task;
mod waiting;

pub use error::{Error, Status};
pub use gate::UsedGate;
pub use host::{Host, Level};
pub use http::{percent_encode, secret, Request, Response, Url};
pub use json::Json;
pub use plugin::{Evidence, OperationResult, Plugin};
pub use storage::Storage;

/// What [`plugin!`] expands to; not for other use.
#[doc(hidden)]
pub mod private {
    pub use crate::manifest::{padded, Note};
    pub use crate::plugin::{answer, blob, hand_over, json, perform, table, text};
}

/// Exports a plugin: its manifest, its entry and its operations, in a crate of the type `cdylib`.
///
/// ```ignore
/// connector::plugin! {
///     type: Rates,
///     manifest: include_str!("../rates.connector.json"),
///     entry: rates_plugin,
///     operations: {
///         async fn rates_rate(currency: String) -> Json = Rates::rate;
///         fn rates_currencies() -> Json = Rates::currencies;
///         fn rates_forget(currency: String) = Rates::forget;
///     }
/// }
/// ```
///
/// Each operation has the symbol and the signature that the manifest says: `string` is `String`, `json` is `Json`, `bytes` is
/// `Vec<u8>`, `i64` is `i64` and so on, and `T?` is `Option<T>`. An asynchronous operation names an async method, any other a
/// plain method. An operation without a result has no `->`, and its method returns `Result<(), Error>`.
///
/// A method that returns another type does not compile:
///
/// ```compile_fail,E0308
/// # use connector::{Error, Evidence, Host, Json, Plugin};
/// # struct Gate;
/// # impl Plugin for Gate {
/// #     fn create(_: Host, _: &Json) -> Result<Self, Error> {
/// #         Ok(Gate)
/// #     }
/// #     async fn open(&self) -> Result<Evidence, Error> {
/// #         Ok(Evidence::configured(""))
/// #     }
/// # }
/// impl Gate {
///     async fn value(&self) -> Result<Json, Error> {
///         Ok(Json::Null)
///     }
/// }
/// # connector::plugin! {
/// #     type: Gate,
/// #     manifest: "{}",
/// #     entry: gate_plugin,
/// #     operations: {
/// // In the manifest: "() async -> bytes".
/// async fn gate_value() -> Vec<u8> = Gate::value;
/// #     }
/// # }
/// ```
#[macro_export]
macro_rules! plugin {
    (type: $gate:ty, manifest: $manifest:expr, entry: $entry:ident, operations: { $($operations:tt)* } $(,)?) => {
        const _: () = {
            const MANIFEST: &str = $manifest;
            #[used]
            #[link_section = ".note.connector"]
            static NOTE: $crate::private::Note<{ $crate::private::padded(MANIFEST) }> =
                $crate::private::Note::new(MANIFEST);

            static PLUGIN: $crate::sys::Plugin = $crate::private::table::<$gate>();

            #[no_mangle]
            extern "C" fn $entry() -> *const $crate::sys::Plugin {
                &PLUGIN
            }

            $crate::__operations! { $gate; $($operations)* }
        };
    };
}

/// Expands one operation after another.
#[doc(hidden)]
#[macro_export]
macro_rules! __operations {
    ($gate:ty;) => {};
    ($gate:ty; async fn $symbol:ident($($parameters:tt)*) $(-> $result:ty)? = $method:path; $($rest:tt)*) => {
        $crate::__parameters! { (async $gate; $symbol; ($($result)?); $method) [] [] $($parameters)*, }
        $crate::__operations! { $gate; $($rest)* }
    };
    ($gate:ty; fn $symbol:ident($($parameters:tt)*) = $method:path; $($rest:tt)*) => {
        $crate::__parameters! { (sync (); $gate; $symbol; $method) [] [] $($parameters)*, }
        $crate::__operations! { $gate; $($rest)* }
    };
    ($gate:ty; fn $symbol:ident($($parameters:tt)*) -> Vec<u8> = $method:path; $($rest:tt)*) => {
        $crate::__parameters! { (sync Bytes; $gate; $symbol; $method) [] [] $($parameters)*, }
        $crate::__operations! { $gate; $($rest)* }
    };
    ($gate:ty; fn $symbol:ident($($parameters:tt)*) -> $result:tt = $method:path; $($rest:tt)*) => {
        $crate::__parameters! { (sync $result; $gate; $symbol; $method) [] [] $($parameters)*, }
        $crate::__operations! { $gate; $($rest)* }
    };
}

/// Turns parameters into those of C, and into the arguments of a method. Each step has its own `length`.
#[doc(hidden)]
#[macro_export]
macro_rules! __parameters {
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : String, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, unsafe { $crate::private::text($name, length) }?),] $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Json, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, unsafe { $crate::private::json($name, length) }?),] $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Vec<u8>, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, unsafe { $crate::private::blob($name, length) }?),] $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Option<String>, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, if $name.is_null() { None } else { Some(unsafe { $crate::private::text($name, length) }?) }),]
            $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Option<Json>, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, if $name.is_null() { None } else { Some(unsafe { $crate::private::json($name, length) }?) }),]
            $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Option<Vec<u8>>, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, if $name.is_null() { None } else { Some(unsafe { $crate::private::blob($name, length) }?) }),]
            $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Option<$scalar:ident>, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const $scalar,]
            [$($argument)* ($name, unsafe { $name.as_ref() }.copied()),] $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : $scalar:ident, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: $scalar,] [$($argument)* ($name, $name),] $($rest)* }
    };
    ((async $gate:ty; $symbol:ident; $result:ty; $method:path) [$($c:tt)*] [$(($name:ident, $argument:expr),)*] $(,)?) => {
        #[no_mangle]
        unsafe extern "C" fn $symbol(
            instance: *mut ::std::os::raw::c_void,
            call: *const $crate::sys::Call,
            $($c)*
            error: *mut $crate::sys::Error,
        ) -> i32 {
            unsafe {
                $crate::private::perform(instance, call, error, |gate: ::std::sync::Arc<$gate>| {
                    // Copied here: what the host lent is gone when the future continues.
                    $(let $name = $argument;)*
                    Ok(async move {
                        let result: ::std::result::Result<$result, $crate::Error> = $method(&gate, $($name),*).await;
                        result
                    })
                })
            }
        }
    };
    ((sync (); $($rest:tt)*) $($more:tt)*) => { $crate::__synchronous! { ($($rest)*) $($more)* nothing } };
    ((sync Bytes; $($rest:tt)*) $($more:tt)*) => {
        $crate::__synchronous! { ($($rest)*) $($more)* bytes ::std::vec::Vec<u8> }
    };
    ((sync String; $($rest:tt)*) $($more:tt)*) => {
        $crate::__synchronous! { ($($rest)*) $($more)* bytes ::std::string::String }
    };
    ((sync Json; $($rest:tt)*) $($more:tt)*) => { $crate::__synchronous! { ($($rest)*) $($more)* bytes $crate::Json } };
    ((sync $scalar:ident; $($rest:tt)*) $($more:tt)*) => {
        $crate::__synchronous! { ($($rest)*) $($more)* $scalar }
    };
}

/// A synchronous operation, whose method returns the type of the result:
///
/// ```compile_fail,E0308
/// # use connector::{Error, Evidence, Host, Json, Plugin};
/// # struct Gate;
/// # impl Plugin for Gate {
/// #     fn create(_: Host, _: &Json) -> Result<Self, Error> {
/// #         Ok(Gate)
/// #     }
/// #     async fn open(&self) -> Result<Evidence, Error> {
/// #         Ok(Evidence::configured(""))
/// #     }
/// # }
/// impl Gate {
///     fn value(&self) -> Result<Json, Error> {
///         Ok(Json::Null)
///     }
/// }
/// # connector::plugin! {
/// #     type: Gate,
/// #     manifest: "{}",
/// #     entry: gate_plugin,
/// #     operations: {
/// // In the manifest: "() -> bytes".
/// fn gate_value() -> Vec<u8> = Gate::value;
/// #     }
/// # }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __synchronous {
    (($gate:ty; $symbol:ident; $method:path) [$($c:tt)*] [$(($name:ident, $argument:expr),)*] $(,)? nothing) => {
        #[no_mangle]
        unsafe extern "C" fn $symbol(
            instance: *mut ::std::os::raw::c_void,
            $($c)*
            error: *mut $crate::sys::Error,
        ) -> i32 {
            unsafe {
                $crate::private::answer(
                    instance,
                    error,
                    |gate: &$gate| {
                        $(let $name = $argument;)*
                        $method(gate, $($name),*)
                    },
                    |()| (),
                )
            }
        }
    };
    (($gate:ty; $symbol:ident; $method:path) [$($c:tt)*] [$(($name:ident, $argument:expr),)*] $(,)? bytes $result:ty) => {
        #[no_mangle]
        unsafe extern "C" fn $symbol(
            instance: *mut ::std::os::raw::c_void,
            $($c)*
            result: *mut $crate::sys::BytesOwned,
            error: *mut $crate::sys::Error,
        ) -> i32 {
            unsafe {
                $crate::private::answer(
                    instance,
                    error,
                    |gate: &$gate| {
                        $(let $name = $argument;)*
                        let result: ::std::result::Result<$result, $crate::Error> = $method(gate, $($name),*);
                        result.map($crate::OperationResult::into_bytes)
                    },
                    |bytes| $crate::private::hand_over(bytes, result),
                )
            }
        }
    };
    (($gate:ty; $symbol:ident; $method:path) [$($c:tt)*] [$(($name:ident, $argument:expr),)*] $(,)? $scalar:ident) => {
        #[no_mangle]
        unsafe extern "C" fn $symbol(
            instance: *mut ::std::os::raw::c_void,
            $($c)*
            result: *mut $scalar,
            error: *mut $crate::sys::Error,
        ) -> i32 {
            unsafe {
                $crate::private::answer(
                    instance,
                    error,
                    |gate: &$gate| {
                        $(let $name = $argument;)*
                        $method(gate, $($name),*)
                    },
                    |value| result.write(value),
                )
            }
        }
    };
}

"""##,
"src/manifest.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! The manifest as an ELF note (connector/manifest.h), which the host reads without running any code.

/// A note whose text, with its padding, has `SIZE` bytes.
#[repr(C, align(4))]
pub struct Note<const SIZE: usize> {
    name_size: u32,
    text_size: u32,
    kind: u32,
    name: [u8; 12],
    text: [u8; SIZE],
}

/// The size of a text with its padding.
pub const fn padded(text: &str) -> usize {
    (text.len() + 3) & !3
}

impl<const SIZE: usize> Note<SIZE> {
    /// The note of a manifest.
    pub const fn new(manifest: &str) -> Note<SIZE> {
        let source = manifest.as_bytes();
        let mut text = [0; SIZE];
        let mut index = 0;
        while index < source.len() {
            text[index] = source[index];
            index += 1;
        }
        Note { name_size: 10, text_size: source.len() as u32, kind: 1, name: *b"connector\0\0\0", text }
    }
}

"""##,
"src/plugin.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

use crate::task::{panicked, Tasks};
use crate::{http, sys, Error, Host, Json};
use std::future::Future;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

/// A gate: one instance of the plugin. The host uses it from several threads at once.
pub trait Plugin: Sized + Send + Sync + 'static {
    /// Creates an instance from its configuration, without I/O. Secrets are placeholders: see [`secret`](crate::secret).
    fn create(host: Host, configuration: &Json) -> Result<Self, Error>;

    /// Connects to the outside world, and returns what that proved. The host calls it again later to renew the proof.
    fn open(&self) -> impl Future<Output = Result<Evidence, Error>> + Send;

    /// Finishes pending work, and disconnects; does nothing by default. What [`Host::spawn`] began has been cancelled by then.
    fn close(&self) -> impl Future<Output = Result<(), Error>> + Send {
        async { Ok(()) }
    }
}

/// What a plugin has just proved: never more than that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    kind: &'static str,
    detail: String,
}

impl Evidence {
    /// The configuration is complete; nobody was asked.
    pub fn configured(detail: impl Into<String>) -> Evidence {
        Evidence { kind: "configured", detail: detail.into() }
    }

    /// The vendor answered.
    pub fn reachable(detail: impl Into<String>) -> Evidence {
        Evidence { kind: "reachable", detail: detail.into() }
    }

    /// The vendor accepted the credentials.
    pub fn authenticated(detail: impl Into<String>) -> Evidence {
        Evidence { kind: "authenticated", detail: detail.into() }
    }

    fn to_json(&self) -> Json {
        vec![Json::object([("kind", self.kind.into()), ("detail", self.detail.as_str().into())])].into()
    }
}

/// What an operation may return: nothing, a string, JSON or bytes.
pub trait OperationResult {
    /// The bytes that cross the ABI.
    fn into_bytes(self) -> Option<Vec<u8>>;
}

impl OperationResult for () {
    fn into_bytes(self) -> Option<Vec<u8>> {
        None
    }
}

impl OperationResult for String {
    fn into_bytes(self) -> Option<Vec<u8>> {
        Some(self.into_bytes())
    }
}

impl OperationResult for Json {
    fn into_bytes(self) -> Option<Vec<u8>> {
        Some(self.to_string().into_bytes())
    }
}

impl OperationResult for Vec<u8> {
    fn into_bytes(self) -> Option<Vec<u8>> {
        Some(self)
    }
}

/// What the host holds.
struct Instance<Gate> {
    gate: Arc<Gate>,
    host: Host,
    tasks: Arc<Tasks>,
}

/// The table of a type, which an entry function returns.
pub const fn table<Gate: Plugin>() -> sys::Plugin {
    sys::Plugin {
        struct_size: std::mem::size_of::<sys::Plugin>() as u32,
        abi_version: sys::ABI_VERSION,
        create: create::<Gate>,
        open: open::<Gate>,
        probe: Some(open::<Gate>),
        close: Some(close::<Gate>),
        destroy: destroy::<Gate>,
        cancel: Some(cancel::<Gate>),
    }
}

/// Fills in an error, if there is one.
unsafe fn fail(failure: Error, error: *mut sys::Error) -> i32 {
    let failure = failure.to_sys();
    let code = failure.code;
    if !error.is_null() && unsafe { (*error).struct_size } >= failure.struct_size {
        let size = unsafe { (*error).struct_size };
        unsafe { error.write(sys::Error { struct_size: size, ..failure }) };
    }
    code
}

unsafe extern "C" fn create<Gate: Plugin>(
    host: *const sys::Host,
    config: *const u8,
    length: u64,
    instance: *mut *mut c_void,
    error: *mut sys::Error,
) -> i32 {
    let tasks = Arc::<Tasks>::default();
    let host = Host { raw: host, tasks: Arc::as_ptr(&tasks) };
    let configuration = unsafe { http::bytes(config, length) };
    let gate = catch_unwind(AssertUnwindSafe(|| Gate::create(host, &Json::parse(configuration)?)));
    match gate.unwrap_or_else(|panic| Err(panicked(panic))) {
        Ok(gate) => {
            let made = Instance { gate: Arc::new(gate), host, tasks };
            unsafe { *instance = Box::into_raw(Box::new(made)).cast() };
            0
        }
        Err(failure) => {
            let _ = catch_unwind(AssertUnwindSafe(|| tasks.end()));
            unsafe { fail(failure, error) }
        }
    }
}

unsafe extern "C" fn destroy<Gate: Plugin>(instance: *mut c_void) {
    let instance = unsafe { Box::from_raw(instance.cast::<Instance<Gate>>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| instance.tasks.end()));
    let _ = catch_unwind(AssertUnwindSafe(|| drop(instance)));
}

unsafe extern "C" fn cancel<Gate: Plugin>(instance: *mut c_void, operation: u64) {
    let instance = unsafe { &*instance.cast::<Instance<Gate>>() };
    let _ = catch_unwind(AssertUnwindSafe(|| instance.tasks.cancel(operation)));
}

unsafe extern "C" fn open<Gate: Plugin>(instance: *mut c_void, call: *const sys::Call, _: *mut sys::Error) -> i32 {
    unsafe {
        perform::<Gate, _, _>(instance, call, std::ptr::null_mut(), |gate: Arc<Gate>| {
            Ok(async move { Ok(gate.open().await?.to_json()) })
        })
    }
}

unsafe extern "C" fn close<Gate: Plugin>(instance: *mut c_void, call: *const sys::Call, _: *mut sys::Error) -> i32 {
    unsafe {
        let tasks = &(*instance.cast::<Instance<Gate>>()).tasks;
        let _ = catch_unwind(AssertUnwindSafe(|| tasks.end_work()));
        perform::<Gate, _, _>(instance, call, std::ptr::null_mut(), |gate: Arc<Gate>| {
            Ok(async move { gate.close().await })
        })
    }
}

/// Starts an asynchronous operation: for [`plugin!`](crate::plugin).
///
/// # Safety
/// The arguments must be those of the host.
pub unsafe fn perform<Gate, Value, Started>(
    instance: *mut c_void,
    call: *const sys::Call,
    error: *mut sys::Error,
    start: impl FnOnce(Arc<Gate>) -> Result<Started, Error>,
) -> i32
where
    Gate: Plugin,
    Value: OperationResult,
    Started: Future<Output = Result<Value, Error>> + Send + 'static,
{
    let (instance, call) = unsafe { (&*instance.cast::<Instance<Gate>>(), &*call) };
    match start(instance.gate.clone()) {
        Ok(future) => {
            instance.tasks.spawn(instance.host, call, async move { future.await.map(OperationResult::into_bytes) });
            0
        }
        Err(failure) => unsafe { fail(failure, error) },
    }
}

/// Answers a synchronous operation: for [`plugin!`](crate::plugin).
///
/// # Safety
/// The arguments must be those of the host.
pub unsafe fn answer<Gate: Plugin, Value>(
    instance: *mut c_void,
    error: *mut sys::Error,
    body: impl FnOnce(&Gate) -> Result<Value, Error>,
    write: impl FnOnce(Value),
) -> i32 {
    let instance = unsafe { &*instance.cast::<Instance<Gate>>() };
    let value = catch_unwind(AssertUnwindSafe(|| body(&instance.gate)));
    match value.unwrap_or_else(|panic| Err(panicked(panic))) {
        Ok(value) => {
            write(value);
            0
        }
        Err(failure) => unsafe { fail(failure, error) },
    }
}

/// Hands bytes to the host, which releases them: for [`plugin!`](crate::plugin).
///
/// # Safety
/// `result` must be the host's.
pub unsafe fn hand_over(bytes: Option<Vec<u8>>, result: *mut sys::BytesOwned) {
    unsafe extern "C" fn release(context: *mut c_void) {
        drop(unsafe { Box::from_raw(context.cast::<Vec<u8>>()) });
    }
    let bytes = Box::new(bytes.unwrap_or_default());
    unsafe {
        (*result).data = if bytes.is_empty() { std::ptr::null() } else { bytes.as_ptr() };
        (*result).length = bytes.len() as u64;
        (*result).context = Box::into_raw(bytes).cast();
        (*result).release = Some(release);
    }
}

/// A text of the host: for [`plugin!`](crate::plugin).
///
/// # Safety
/// The bytes must be the host's.
pub unsafe fn text(data: *const u8, length: u64) -> Result<String, Error> {
    String::from_utf8(unsafe { http::bytes(data, length) }.to_vec()).map_err(|_| Error::invalid("a text is not UTF-8"))
}

/// JSON of the host: for [`plugin!`](crate::plugin).
///
/// # Safety
/// The bytes must be the host's.
pub unsafe fn json(data: *const u8, length: u64) -> Result<Json, Error> {
    Json::parse(unsafe { http::bytes(data, length) }).map_err(|error| Error::invalid(error.message))
}

/// Bytes of the host: for [`plugin!`](crate::plugin).
///
/// # Safety
/// The bytes must be the host's.
pub unsafe fn blob(data: *const u8, length: u64) -> Result<Vec<u8>, Error> {
    Ok(unsafe { http::bytes(data, length) }.to_vec())
}

"""##,
"src/storage.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

use crate::{http, sys, Error, Host, Json, Status};
use std::os::raw::c_void;

/// A few values of the gate that survive a restart, over `storage/1`: a cursor, a token, a setting.
///
/// A key has 1 to 128 bytes, a value at most 64 KiB, and everything together at most 1 MiB. The first function that runs
/// reads a file. `set`, `remove` and `replace` return once the change is on the disk, which takes milliseconds: keep few of
/// them between the end of a request and that of the call.
///
/// ```no_run
/// # fn example(host: connector::Host) -> Result<(), connector::Error> {
/// let storage = host.storage();
/// storage.set("cursor", b"42")?;
/// assert_eq!(storage.get("cursor")?, Some(b"42".to_vec()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Storage {
    pub(crate) host: Host,
}

impl Storage {
    /// The value of a key, if there is one.
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        let found = self.owned(key, |table| table.get);
        found.map(Some).or_else(unless_missing)
    }

    /// Writes a value, which may be empty.
    pub fn set(&self, key: &str, value: &[u8]) -> Result<(), Error> {
        let table = self.table()?;
        let (length, value_length) = (key.len() as u64, value.len() as u64);
        checked(|error| unsafe { (table.set)(table.context, key.as_ptr(), length, value.as_ptr(), value_length, error) })
    }

    /// Writes a value if the key still has the expected one, or still has none; says whether it did.
    ///
    /// To change a part of a value, `get` it, change it and `replace` it, and begin again if that says false. A plain `set`
    /// would undo what others write in between: another instance of the gate, because a reload opens the next one before
    /// the earlier one ends, or another host of the application. In an older host, whose table has no such function, the
    /// comparison and the change are two steps.
    pub fn replace(&self, key: &str, expected: Option<&[u8]>, value: &[u8]) -> Result<bool, Error> {
        let table = self.table()?;
        let field = std::ptr::addr_of!(table.replace) as usize - table as *const sys::Storage as usize;
        if table.struct_size as usize <= field {
            let is_expected = self.get(key)?.as_deref() == expected;
            return if is_expected { self.set(key, value).map(|()| true) } else { Ok(false) };
        }
        let (start, length) = (key.as_ptr(), key.len() as u64);
        let (old, old_length) = expected.map_or((std::ptr::null(), 0), |old| (old.as_ptr(), old.len() as u64));
        let (new, new_length) = (value.as_ptr(), value.len() as u64);
        checked(|error| unsafe {
            (table.replace)(table.context, start, length, old, old_length, new, new_length, error)
        })
        .map(|()| true)
        .or_else(|error| if error.status == Status::CONFLICT { Ok(false) } else { Err(error) })
    }

    /// Removes a value, if there is one.
    pub fn remove(&self, key: &str) -> Result<(), Error> {
        let table = self.table()?;
        checked(|error| unsafe { (table.remove)(table.context, key.as_ptr(), key.len() as u64, error) })
            .or_else(unless_missing)
    }

    /// The keys that start with a prefix, all for an empty one, in the order of their bytes.
    pub fn keys(&self, prefix: &str) -> Result<Vec<String>, Error> {
        let keys = Json::parse(&self.owned(prefix, |table| table.list)?)?;
        Ok(keys.as_array().unwrap_or_default().iter().filter_map(Json::as_str).map(str::to_owned).collect())
    }

    fn table(&self) -> Result<&sys::Storage, Error> {
        self.host.required("storage/1")
    }

    /// Copies bytes that the host passed, and releases the original.
    fn owned(&self, text: &str, function: impl FnOnce(&sys::Storage) -> Owned) -> Result<Vec<u8>, Error> {
        let table = self.table()?;
        let mut bytes = sys::BytesOwned {
            struct_size: std::mem::size_of::<sys::BytesOwned>() as u32,
            flags: 0,
            data: std::ptr::null(),
            length: 0,
            context: std::ptr::null_mut(),
            release: None,
        };
        let function = function(table);
        checked(|error| unsafe { function(table.context, text.as_ptr(), text.len() as u64, &mut bytes, error) })?;
        let copy = unsafe { http::bytes(bytes.data, bytes.length) }.to_vec();
        if let Some(release) = bytes.release {
            unsafe { release(bytes.context) };
        }
        Ok(copy)
    }
}

/// A function of the table that passes bytes for a key or a prefix.
type Owned = unsafe extern "C" fn(*mut c_void, *const u8, u64, *mut sys::BytesOwned, *mut sys::Error) -> i32;

/// Calls a function of the host that fills in an error.
fn checked(function: impl FnOnce(*mut sys::Error) -> i32) -> Result<(), Error> {
    let mut error = sys::Error::empty();
    match function(&mut error) {
        0 => Ok(()),
        status => Err(Error::of_host(status, Some(&error))),
    }
}

/// The result of a missing value.
fn unless_missing<Value: Default>(error: Error) -> Result<Value, Error> {
    if error.status == Status::NOT_FOUND { Ok(Value::default()) } else { Err(error) }
}

"""##,
"src/sys/layout.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// Written by `make layout` from the table in connector/layout.h; not edited.

use super::*;
use std::mem::{offset_of, size_of};

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Error>() == 1024);
    assert!(offset_of!(Error, struct_size) == 0);
    assert!(offset_of!(Error, code) == 4);
    assert!(offset_of!(Error, retryable) == 8);
    assert!(offset_of!(Error, detail) == 12);
    assert!(offset_of!(Error, retry_after_ns) == 16);
    assert!(offset_of!(Error, domain) == 24);
    assert!(offset_of!(Error, message) == 56);
    assert!(size_of::<Call>() == 24);
    assert!(offset_of!(Call, struct_size) == 0);
    assert!(offset_of!(Call, flags) == 4);
    assert!(offset_of!(Call, operation) == 8);
    assert!(offset_of!(Call, deadline_ns) == 16);
    assert!(size_of::<BytesOwned>() == 40);
    assert!(offset_of!(BytesOwned, struct_size) == 0);
    assert!(offset_of!(BytesOwned, flags) == 4);
    assert!(offset_of!(BytesOwned, data) == 8);
    assert!(offset_of!(BytesOwned, length) == 16);
    assert!(offset_of!(BytesOwned, context) == 24);
    assert!(offset_of!(BytesOwned, release) == 32);
    assert!(size_of::<Host>() == 40);
    assert!(offset_of!(Host, struct_size) == 0);
    assert!(offset_of!(Host, abi_version) == 4);
    assert!(offset_of!(Host, context) == 8);
    assert!(offset_of!(Host, service) == 16);
    assert!(offset_of!(Host, complete) == 24);
    assert!(offset_of!(Host, progress) == 32);
    assert!(size_of::<Plugin>() == 56);
    assert!(offset_of!(Plugin, struct_size) == 0);
    assert!(offset_of!(Plugin, abi_version) == 4);
    assert!(offset_of!(Plugin, create) == 8);
    assert!(offset_of!(Plugin, open) == 16);
    assert!(offset_of!(Plugin, probe) == 24);
    assert!(offset_of!(Plugin, close) == 32);
    assert!(offset_of!(Plugin, destroy) == 40);
    assert!(offset_of!(Plugin, cancel) == 48);
    assert!(size_of::<Log>() == 24);
    assert!(offset_of!(Log, struct_size) == 0);
    assert!(offset_of!(Log, level) == 4);
    assert!(offset_of!(Log, context) == 8);
    assert!(offset_of!(Log, log) == 16);
    assert!(size_of::<Clock>() == 48);
    assert!(offset_of!(Clock, struct_size) == 0);
    assert!(offset_of!(Clock, flags) == 4);
    assert!(offset_of!(Clock, context) == 8);
    assert!(offset_of!(Clock, wall_ns) == 16);
    assert!(offset_of!(Clock, monotonic_ns) == 24);
    assert!(offset_of!(Clock, start_timer) == 32);
    assert!(offset_of!(Clock, cancel_timer) == 40);
    assert!(size_of::<HttpHeader>() == 32);
    assert!(offset_of!(HttpHeader, name) == 0);
    assert!(offset_of!(HttpHeader, name_length) == 8);
    assert!(offset_of!(HttpHeader, value) == 16);
    assert!(offset_of!(HttpHeader, value_length) == 24);
    assert!(size_of::<HttpRequest>() == 88);
    assert!(offset_of!(HttpRequest, struct_size) == 0);
    assert!(offset_of!(HttpRequest, flags) == 4);
    assert!(offset_of!(HttpRequest, method) == 8);
    assert!(offset_of!(HttpRequest, method_length) == 16);
    assert!(offset_of!(HttpRequest, url) == 24);
    assert!(offset_of!(HttpRequest, url_length) == 32);
    assert!(offset_of!(HttpRequest, headers) == 40);
    assert!(offset_of!(HttpRequest, header_count) == 48);
    assert!(offset_of!(HttpRequest, body) == 56);
    assert!(offset_of!(HttpRequest, body_length) == 64);
    assert!(offset_of!(HttpRequest, deadline_ns) == 72);
    assert!(offset_of!(HttpRequest, during) == 80);
    assert!(size_of::<HttpResponse>() == 40);
    assert!(offset_of!(HttpResponse, struct_size) == 0);
    assert!(offset_of!(HttpResponse, status) == 4);
    assert!(offset_of!(HttpResponse, headers) == 8);
    assert!(offset_of!(HttpResponse, header_count) == 16);
    assert!(offset_of!(HttpResponse, body) == 24);
    assert!(offset_of!(HttpResponse, body_length) == 32);
    assert!(size_of::<Http>() == 56);
    assert!(offset_of!(Http, struct_size) == 0);
    assert!(offset_of!(Http, flags) == 4);
    assert!(offset_of!(Http, context) == 8);
    assert!(offset_of!(Http, request) == 16);
    assert!(offset_of!(Http, cancel) == 24);
    assert!(offset_of!(Http, stream) == 32);
    assert!(offset_of!(Http, resume) == 40);
    assert!(offset_of!(Http, write) == 48);
    assert!(size_of::<HttpReceiver>() == 48);
    assert!(offset_of!(HttpReceiver, struct_size) == 0);
    assert!(offset_of!(HttpReceiver, flags) == 4);
    assert!(offset_of!(HttpReceiver, part) == 8);
    assert!(offset_of!(HttpReceiver, done) == 16);
    assert!(offset_of!(HttpReceiver, user) == 24);
    assert!(offset_of!(HttpReceiver, silence_ns) == 32);
    assert!(offset_of!(HttpReceiver, room) == 40);
    assert!(size_of::<GatesCall>() == 72);
    assert!(offset_of!(GatesCall, struct_size) == 0);
    assert!(offset_of!(GatesCall, flags) == 4);
    assert!(offset_of!(GatesCall, r#use) == 8);
    assert!(offset_of!(GatesCall, use_length) == 16);
    assert!(offset_of!(GatesCall, operation) == 24);
    assert!(offset_of!(GatesCall, operation_length) == 32);
    assert!(offset_of!(GatesCall, arguments) == 40);
    assert!(offset_of!(GatesCall, arguments_length) == 48);
    assert!(offset_of!(GatesCall, deadline_ns) == 56);
    assert!(offset_of!(GatesCall, during) == 64);
    assert!(size_of::<Gates>() == 40);
    assert!(offset_of!(Gates, struct_size) == 0);
    assert!(offset_of!(Gates, flags) == 4);
    assert!(offset_of!(Gates, context) == 8);
    assert!(offset_of!(Gates, call) == 16);
    assert!(offset_of!(Gates, cancel) == 24);
    assert!(offset_of!(Gates, bound) == 32);
    assert!(size_of::<Events>() == 24);
    assert!(offset_of!(Events, struct_size) == 0);
    assert!(offset_of!(Events, flags) == 4);
    assert!(offset_of!(Events, context) == 8);
    assert!(offset_of!(Events, emit) == 16);
    assert!(size_of::<Storage>() == 56);
    assert!(offset_of!(Storage, struct_size) == 0);
    assert!(offset_of!(Storage, flags) == 4);
    assert!(offset_of!(Storage, context) == 8);
    assert!(offset_of!(Storage, get) == 16);
    assert!(offset_of!(Storage, set) == 24);
    assert!(offset_of!(Storage, remove) == 32);
    assert!(offset_of!(Storage, list) == 40);
    assert!(offset_of!(Storage, replace) == 48);
};

"""##,
"src/sys/mod.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! The structs of the ABI, as the C headers define and explain them. Authors do not need them.

#![allow(missing_docs)]

use std::os::raw::c_void;

// Only for tests: `offset_of!` needs Rust 1.77, and plugins may be built with 1.75, the cargo of Ubuntu 24.04.
#[cfg(test)]
mod layout;

pub const ABI_VERSION: u32 = 1;
pub const NO_DEADLINE: u64 = u64::MAX;
pub const HTTP_VERBATIM_BODY: u32 = 1;

#[repr(C)]
pub struct Error {
    pub struct_size: u32,
    pub code: i32,
    pub retryable: u32,
    pub detail: i32,
    pub retry_after_ns: u64,
    pub domain: [u8; 32],
    pub message: [u8; 968],
}

#[repr(C)]
pub struct Call {
    pub struct_size: u32,
    pub flags: u32,
    pub operation: u64,
    pub deadline_ns: u64,
}

#[repr(C)]
pub struct BytesOwned {
    pub struct_size: u32,
    pub flags: u32,
    pub data: *const u8,
    pub length: u64,
    pub context: *mut c_void,
    pub release: Option<unsafe extern "C" fn(*mut c_void)>,
}

#[repr(C)]
pub struct Host {
    pub struct_size: u32,
    pub abi_version: u32,
    pub context: *mut c_void,
    pub service: unsafe extern "C" fn(*mut c_void, *const u8, u64) -> *const c_void,
    pub complete: unsafe extern "C" fn(*mut c_void, u64, i32, *const u8, u64, *const Error) -> i32,
    pub progress: unsafe extern "C" fn(*mut c_void, u64, *const u8, u64) -> i32,
}

pub type Create = unsafe extern "C" fn(*const Host, *const u8, u64, *mut *mut c_void, *mut Error) -> i32;
pub type Start = unsafe extern "C" fn(*mut c_void, *const Call, *mut Error) -> i32;

#[repr(C)]
pub struct Plugin {
    pub struct_size: u32,
    pub abi_version: u32,
    pub create: Create,
    pub open: Start,
    pub probe: Option<Start>,
    pub close: Option<Start>,
    pub destroy: unsafe extern "C" fn(*mut c_void),
    pub cancel: Option<unsafe extern "C" fn(*mut c_void, u64)>,
}

#[repr(C)]
pub struct Log {
    pub struct_size: u32,
    pub level: i32,
    pub context: *mut c_void,
    pub log: unsafe extern "C" fn(*mut c_void, i32, *const u8, u64, *const u8, u64) -> i32,
}

#[repr(C)]
pub struct Clock {
    pub struct_size: u32,
    pub flags: u32,
    pub context: *mut c_void,
    pub wall_ns: unsafe extern "C" fn(*mut c_void) -> u64,
    pub monotonic_ns: unsafe extern "C" fn(*mut c_void) -> u64,
    pub start_timer:
        unsafe extern "C" fn(*mut c_void, u64, unsafe extern "C" fn(*mut c_void), *mut c_void, *mut u64) -> i32,
    pub cancel_timer: unsafe extern "C" fn(*mut c_void, u64) -> i32,
}

#[repr(C)]
pub struct HttpHeader {
    pub name: *const u8,
    pub name_length: u64,
    pub value: *const u8,
    pub value_length: u64,
}

#[repr(C)]
pub struct HttpRequest {
    pub struct_size: u32,
    pub flags: u32,
    pub method: *const u8,
    pub method_length: u64,
    pub url: *const u8,
    pub url_length: u64,
    pub headers: *const HttpHeader,
    pub header_count: u64,
    pub body: *const u8,
    pub body_length: u64,
    pub deadline_ns: u64,
    pub during: u64,
}

#[repr(C)]
pub struct HttpResponse {
    pub struct_size: u32,
    pub status: u32,
    pub headers: *const HttpHeader,
    pub header_count: u64,
    pub body: *const u8,
    pub body_length: u64,
}

pub type HttpDone = unsafe extern "C" fn(*mut c_void, i32, *const HttpResponse, *const Error);
pub type HttpPart = unsafe extern "C" fn(*mut c_void, *const HttpResponse);

#[repr(C)]
pub struct HttpReceiver {
    pub struct_size: u32,
    pub flags: u32,
    pub part: HttpPart,
    pub done: HttpDone,
    pub user: *mut c_void,
    pub silence_ns: u64,
    pub room: Option<unsafe extern "C" fn(*mut c_void)>,
}

#[repr(C)]
pub struct Http {
    pub struct_size: u32,
    pub flags: u32,
    pub context: *mut c_void,
    pub request:
        unsafe extern "C" fn(*mut c_void, *const HttpRequest, HttpDone, *mut c_void, *mut u64, *mut Error) -> i32,
    pub cancel: unsafe extern "C" fn(*mut c_void, u64),
    pub stream:
        unsafe extern "C" fn(*mut c_void, *const HttpRequest, *const HttpReceiver, *mut u64, *mut Error) -> i32,
    pub resume: unsafe extern "C" fn(*mut c_void, u64),
    pub write: unsafe extern "C" fn(*mut c_void, u64, *const u8, u64, u32, *mut Error) -> i32,
}

#[repr(C)]
pub struct GatesCall {
    pub struct_size: u32,
    pub flags: u32,
    pub r#use: *const u8,
    pub use_length: u64,
    pub operation: *const u8,
    pub operation_length: u64,
    pub arguments: *const u8,
    pub arguments_length: u64,
    pub deadline_ns: u64,
    pub during: u64,
}

pub type GatesDone = unsafe extern "C" fn(*mut c_void, i32, *const u8, u64, *const Error);

#[repr(C)]
pub struct Gates {
    pub struct_size: u32,
    pub flags: u32,
    pub context: *mut c_void,
    pub call: unsafe extern "C" fn(*mut c_void, *const GatesCall, GatesDone, *mut c_void, *mut u64, *mut Error) -> i32,
    pub cancel: unsafe extern "C" fn(*mut c_void, u64),
    pub bound: unsafe extern "C" fn(*mut c_void, *const u8, u64) -> i32,
}

#[repr(C)]
pub struct Events {
    pub struct_size: u32,
    pub flags: u32,
    pub context: *mut c_void,
    pub emit: unsafe extern "C" fn(*mut c_void, *const u8, u64, *const u8, u64) -> i32,
}

#[repr(C)]
pub struct Storage {
    pub struct_size: u32,
    pub flags: u32,
    pub context: *mut c_void,
    pub get: unsafe extern "C" fn(*mut c_void, *const u8, u64, *mut BytesOwned, *mut Error) -> i32,
    pub set: unsafe extern "C" fn(*mut c_void, *const u8, u64, *const u8, u64, *mut Error) -> i32,
    pub remove: unsafe extern "C" fn(*mut c_void, *const u8, u64, *mut Error) -> i32,
    pub list: unsafe extern "C" fn(*mut c_void, *const u8, u64, *mut BytesOwned, *mut Error) -> i32,
    pub replace:
        unsafe extern "C" fn(*mut c_void, *const u8, u64, *const u8, u64, *const u8, u64, *mut Error) -> i32,
}

"""##,
"src/task.rs": ##"""
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

"""##,
"src/waiting.rs": ##"""
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

"""##,
    ]
}
