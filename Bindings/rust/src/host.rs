// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

use crate::http::{Request, Url};
use crate::sys;
use std::os::raw::c_void;
use std::time::Duration;

/// The host as one instance sees it: what the manifest names under "services". Copies are the same host,
/// and none may be kept beyond its gate, in a static or by a thread of your own.
#[derive(Clone, Copy)]
pub struct Host {
    pub(crate) raw: *const sys::Host,
}

// The functions of the host may be called from any thread, and the table lives as long as the instance: the tasks of an
// instance, and so what they hold, end before it does.
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

    /// Writes a line to the application's log by `log/1`, unless the application does not record that level, or the manifest
    /// does not name the service.
    pub fn log(&self, level: Level, message: &str) {
        let Some(log) = self.service::<sys::Log>("log/1") else { return };
        if level as i32 >= log.level {
            let length = message.len() as u64;
            unsafe { (log.log)(log.context, level as i32, message.as_ptr(), length, std::ptr::null(), 0) };
        }
    }

    /// The table of a service, whose type is the caller's to know.
    pub(crate) fn service<Table>(&self, id: &str) -> Option<&Table> {
        unsafe {
            let host = &*self.raw;
            (host.service)(host.context, id.as_ptr(), id.len() as u64).cast::<Table>().as_ref()
        }
    }

    /// Completes a call; harmless if it has ended.
    pub(crate) fn complete(&self, operation: u64, result: Result<Option<Vec<u8>>, crate::Error>) {
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
