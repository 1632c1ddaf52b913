// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// frozen: a plugin in Rust, without crates, as it was written against version 1 of the ABI. Never changes.

use std::os::raw::c_void;

const OK: i32 = 0;
const FAILED: i32 = 1;

#[repr(C)]
pub struct Host {
    struct_size: u32,
    abi_version: u32,
    context: *mut c_void,
    service: extern "C" fn(*mut c_void, *const u8, u64) -> *const c_void,
    complete: extern "C" fn(*mut c_void, u64, i32, *const u8, u64, *const ConnectorError) -> i32,
    progress: extern "C" fn(*mut c_void, u64, *const u8, u64) -> i32,
}

#[repr(C)]
pub struct ConnectorError {
    struct_size: u32,
    code: i32,
    retryable: u32,
    detail: i32,
    retry_after_ns: u64,
    domain: [u8; 32],
    message: [u8; 968],
}

#[repr(C)]
pub struct Call {
    struct_size: u32,
    flags: u32,
    operation: u64,
    deadline_ns: u64,
}

type Start = extern "C" fn(*mut c_void, *const Call, *mut ConnectorError) -> i32;

#[repr(C)]
pub struct Plugin {
    struct_size: u32,
    abi_version: u32,
    create: extern "C" fn(*const Host, *const u8, u64, *mut *mut c_void, *mut ConnectorError) -> i32,
    open: Start,
    probe: Option<Start>,
    close: Option<Start>,
    destroy: extern "C" fn(*mut c_void),
    cancel: Option<extern "C" fn(*mut c_void, u64)>,
}

struct Instance {
    host: *const Host,
}

const TEXT: &[u8] = br#"{
  "manifest": 1,
  "id": "frozen-rust",
  "version": "1.0.0",
  "abi": [1, 1],
  "entry": "frozen_rust_entry",
  "language": "rust",
  "capabilities": {
    "frozen/1": {"product": {"symbol": "frozen_rust_product", "signature": "(a: i32, b: i32) -> i32"}}
  }
}"#;

#[repr(C, align(4))]
pub struct Note {
    name_size: u32,
    text_size: u32,
    kind: u32,
    name: [u8; 12],
    text: [u8; (TEXT.len() + 3) / 4 * 4],
}

const fn padded() -> [u8; (TEXT.len() + 3) / 4 * 4] {
    let mut bytes = [0; (TEXT.len() + 3) / 4 * 4];
    let mut index = 0;
    while index < TEXT.len() {
        bytes[index] = TEXT[index];
        index += 1;
    }
    bytes
}

#[used]
#[link_section = ".note.connector"]
pub static NOTE: Note = Note {
    name_size: 10,
    text_size: TEXT.len() as u32,
    kind: 1,
    name: *b"connector\0\0\0",
    text: padded(),
};

extern "C" fn create(
    host: *const Host,
    _config: *const u8,
    _length: u64,
    instance: *mut *mut c_void,
    _error: *mut ConnectorError,
) -> i32 {
    if host.is_null() {
        return FAILED;
    }
    unsafe { *instance = Box::into_raw(Box::new(Instance { host })).cast() };
    OK
}

extern "C" fn open(instance: *mut c_void, call: *const Call, _error: *mut ConnectorError) -> i32 {
    let evidence = br#"[{"kind":"configured","detail":"frozen"}]"#;
    unsafe {
        let host = &*(*instance.cast::<Instance>()).host;
        (host.complete)(
            host.context,
            (*call).operation,
            OK,
            evidence.as_ptr(),
            evidence.len() as u64,
            std::ptr::null(),
        );
    }
    OK
}

extern "C" fn destroy(instance: *mut c_void) {
    drop(unsafe { Box::from_raw(instance.cast::<Instance>()) });
}

#[no_mangle]
pub extern "C" fn frozen_rust_product(
    _instance: *mut c_void,
    a: i32,
    b: i32,
    result: *mut i32,
    _error: *mut ConnectorError,
) -> i32 {
    unsafe { *result = a.wrapping_mul(b) };
    OK
}

static PLUGIN: Plugin = Plugin {
    struct_size: std::mem::size_of::<Plugin>() as u32,
    abi_version: 1,
    create,
    open,
    probe: None,
    close: None,
    destroy,
    cancel: None,
};

#[no_mangle]
pub extern "C" fn frozen_rust_entry() -> *const Plugin {
    &PLUGIN
}
