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
