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
