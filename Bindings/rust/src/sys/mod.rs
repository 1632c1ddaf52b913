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
