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
