// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! Every form of parameter and result, called as the host calls them.

use connector::{sys, Error, Evidence, Host, Json, Plugin};
use std::future::Future;
use std::os::raw::c_void;
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::Mutex;
use std::task::{Context, Poll};

struct Forms {
    kept: AtomicI32,
}

/// Never ready, and panics when it is dropped.
struct Trap;

impl Future for Trap {
    type Output = Result<(), Error>;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Pending
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        panic!("for a test")
    }
}

impl Plugin for Forms {
    fn create(_: Host, configuration: &Json) -> Result<Self, Error> {
        if configuration["fails"].as_bool() == Some(true) {
            return Err(Error::invalid("as it was told"));
        }
        Ok(Forms { kept: AtomicI32::new(0) })
    }

    async fn open(&self) -> Result<Evidence, Error> {
        Ok(Evidence::configured("forms"))
    }
}

impl Forms {
    fn sum(&self, a: i32, b: f64) -> Result<f64, Error> {
        if a < 0 { Err(Error::invalid("negative")) } else { Ok(f64::from(a) + b) }
    }

    fn join(&self, text: String, rest: Option<String>) -> Result<String, Error> {
        Ok(text + rest.as_deref().unwrap_or("-"))
    }

    fn twice(&self, number: Option<u32>) -> Result<f64, Error> {
        Ok(number.map_or(-1.0, |number| f64::from(number) * 2.0))
    }

    fn reversed(&self, mut bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
        bytes.reverse();
        Ok(bytes)
    }

    fn empty(&self) -> Result<Vec<u8>, Error> {
        Ok(vec![])
    }

    fn keep(&self, number: i32, _reason: Option<String>) -> Result<(), Error> {
        if number < 0 {
            return Err(Error::invalid("negative"));
        }
        self.kept.store(number, Ordering::Relaxed);
        Ok(())
    }

    fn forget(&self) -> Result<(), Error> {
        self.keep(0, None)
    }

    fn kept(&self) -> Result<i32, Error> {
        Ok(self.kept.load(Ordering::Relaxed))
    }

    fn panics(&self) -> Result<Json, Error> {
        panic!("for a test")
    }

    async fn size(&self, bytes: Vec<u8>, json: Json, factor: u8, none: Option<Json>) -> Result<Json, Error> {
        let size = (bytes.len() as i64 + json["n"].as_i64().unwrap_or(0)) * i64::from(factor);
        Ok(if none.is_none() { size.into() } else { Json::Null })
    }

    async fn nothing(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn trap(&self) -> Result<(), Error> {
        Trap.await
    }
}

connector::plugin! {
    type: Forms,
    manifest: r#"{"manifest": 1}"#,
    entry: forms_plugin,
    operations: {
        fn forms_sum(a: i32, b: f64) -> f64 = Forms::sum;
        fn forms_join(text: String, rest: Option<String>) -> String = Forms::join;
        fn forms_twice(number: Option<u32>) -> f64 = Forms::twice;
        fn forms_reversed(bytes: Vec<u8>) -> Vec<u8> = Forms::reversed;
        fn forms_empty() -> Vec<u8> = Forms::empty;
        fn forms_keep(number: i32, reason: Option<String>) = Forms::keep;
        fn forms_forget() -> () = Forms::forget;
        fn forms_kept() -> i32 = Forms::kept;
        fn forms_panics() -> Json = Forms::panics;
        async fn forms_size(bytes: Vec<u8>, json: Json, factor: u8, none: Option<Json>) -> Json = Forms::size;
        async fn forms_nothing() = Forms::nothing;
        async fn forms_trap() = Forms::trap;
    }
}

extern "C" {
    fn forms_plugin() -> *const sys::Plugin;
    fn forms_sum(instance: *mut c_void, a: i32, b: f64, result: *mut f64, error: *mut sys::Error) -> i32;
    fn forms_join(
        instance: *mut c_void, text: *const u8, length: u64, rest: *const u8, rest_length: u64,
        result: *mut sys::BytesOwned, error: *mut sys::Error,
    ) -> i32;
    fn forms_twice(instance: *mut c_void, number: *const u32, result: *mut f64, error: *mut sys::Error) -> i32;
    fn forms_reversed(
        instance: *mut c_void, bytes: *const u8, length: u64, result: *mut sys::BytesOwned, error: *mut sys::Error,
    ) -> i32;
    fn forms_empty(instance: *mut c_void, result: *mut sys::BytesOwned, error: *mut sys::Error) -> i32;
    fn forms_keep(
        instance: *mut c_void, number: i32, reason: *const u8, length: u64, error: *mut sys::Error,
    ) -> i32;
    fn forms_forget(instance: *mut c_void, error: *mut sys::Error) -> i32;
    fn forms_kept(instance: *mut c_void, result: *mut i32, error: *mut sys::Error) -> i32;
    fn forms_panics(instance: *mut c_void, result: *mut sys::BytesOwned, error: *mut sys::Error) -> i32;
    fn forms_size(
        instance: *mut c_void, call: *const sys::Call, bytes: *const u8, length: u64, json: *const u8, json_length: u64,
        factor: u8, none: *const u8, none_length: u64, error: *mut sys::Error,
    ) -> i32;
    fn forms_nothing(instance: *mut c_void, call: *const sys::Call, error: *mut sys::Error) -> i32;
    fn forms_trap(instance: *mut c_void, call: *const sys::Call, error: *mut sys::Error) -> i32;
}

type Completed = Mutex<Vec<(u64, i32, Option<Vec<u8>>)>>;

unsafe extern "C" fn complete(
    context: *mut c_void, operation: u64, status: i32, data: *const u8, length: u64, _: *const sys::Error,
) -> i32 {
    let bytes = (!data.is_null()).then(|| unsafe { std::slice::from_raw_parts(data, length as usize) }.to_vec());
    unsafe { &*context.cast::<Completed>() }.lock().unwrap().push((operation, status, bytes));
    0
}
unsafe extern "C" fn service(_: *mut c_void, _: *const u8, _: u64) -> *const c_void {
    std::ptr::null()
}
unsafe extern "C" fn progress(_: *mut c_void, _: u64, _: *const u8, _: u64) -> i32 {
    0
}

fn error() -> sys::Error {
    sys::Error { struct_size: 1024, code: 0, retryable: 0, detail: 0, retry_after_ns: 0, domain: [0; 32], message: [0; 968] }
}

fn message(error: &sys::Error) -> String {
    String::from_utf8_lossy(&error.message).trim_end_matches('\0').to_owned()
}

unsafe fn text(result: &sys::BytesOwned) -> String {
    let bytes = unsafe { std::slice::from_raw_parts(result.data, result.length as usize) };
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    unsafe { result.release.unwrap()(result.context) };
    text
}

#[test]
fn every_form_crosses_the_line() {
    unsafe {
        let completed: Box<Completed> = Box::default();
        let context = (&*completed as *const Completed).cast_mut().cast();
        let host = sys::Host { struct_size: 40, abi_version: 1, context, service, complete, progress };
        let plugin = &*forms_plugin();
        let (mut instance, mut failure) = (std::ptr::null_mut(), error());
        let refused = br#"{"fails": true}"#;
        assert_eq!((plugin.create)(&host, refused.as_ptr(), refused.len() as u64, &mut instance, &mut failure), 2);
        assert_eq!((failure.code, message(&failure).as_str()), (2, "as it was told"));
        assert_eq!((plugin.create)(&host, b"{}".as_ptr(), 2, &mut instance, &mut failure), 0);

        let mut sum = 0.0;
        assert_eq!(forms_sum(instance, 1, 0.5, &mut sum, &mut failure), 0);
        assert_eq!(sum, 1.5);
        assert_eq!(forms_sum(instance, -1, 0.5, &mut sum, &mut failure), 2);

        for (number, twice) in [(&7u32 as *const u32, 14.0), (std::ptr::null(), -1.0)] {
            assert_eq!(forms_twice(instance, number, &mut sum, &mut failure), 0);
            assert_eq!(sum, twice);
        }

        let none = std::ptr::null();
        let mut owned =
            sys::BytesOwned { struct_size: 40, flags: 0, data: none, length: 0, context: std::ptr::null_mut(), release: None };
        assert_eq!(forms_join(instance, b"a".as_ptr(), 1, none, 0, &mut owned, &mut failure), 0);
        assert_eq!(text(&owned), "a-");
        assert_eq!(forms_join(instance, b"a".as_ptr(), 1, b"bc".as_ptr(), 2, &mut owned, &mut failure), 0);
        assert_eq!(text(&owned), "abc");
        assert_eq!(forms_join(instance, b"\xFF".as_ptr(), 1, none, 0, &mut owned, &mut failure), 2);
        assert_eq!(message(&failure), "a text is not UTF-8");
        assert_eq!(forms_panics(instance, &mut owned, &mut failure), 1);
        assert_eq!(message(&failure), "the plugin panicked: for a test");

        assert_eq!(forms_reversed(instance, b"abc".as_ptr(), 3, &mut owned, &mut failure), 0);
        assert_eq!(text(&owned), "cba");
        assert_eq!(forms_empty(instance, &mut owned, &mut failure), 0);
        assert_eq!((owned.data.is_null(), owned.length), (true, 0));
        owned.release.unwrap()(owned.context);

        let mut kept = -1;
        assert_eq!(forms_keep(instance, 7, none, 0, &mut failure), 0);
        assert_eq!((forms_kept(instance, &mut kept, &mut failure), kept), (0, 7));
        assert_eq!(forms_keep(instance, -7, b"why".as_ptr(), 3, &mut failure), 2);
        assert_eq!(message(&failure), "negative");
        assert_eq!(forms_forget(instance, &mut failure), 0);
        assert_eq!((forms_kept(instance, &mut kept, &mut failure), kept), (0, 0));

        let call = |operation| sys::Call { struct_size: 24, flags: 0, operation, deadline_ns: u64::MAX };
        let json = br#"{"n": 4}"#;
        assert_eq!(
            forms_size(instance, &call(7), b"xyz".as_ptr(), 3, json.as_ptr(), 8, 2, none, 0, &mut failure),
            0
        );
        assert_eq!(forms_size(instance, &call(8), none, 0, b"{".as_ptr(), 1, 2, none, 0, &mut failure), 2);
        assert_eq!(forms_nothing(instance, &call(9), &mut failure), 0);
        assert_eq!((plugin.open)(instance, &call(10), &mut failure), 0);
        for operation in 11..=13 {
            assert_eq!(forms_trap(instance, &call(operation), &mut failure), 0);
        }
        (plugin.cancel.unwrap())(instance, 11);
        (plugin.destroy)(instance);
        let evidence = br#"[{"kind":"configured","detail":"forms"}]"#.to_vec();
        let expected = [(7, 0, Some(b"14".to_vec())), (9, 0, None), (10, 0, Some(evidence))];
        assert_eq!(*completed.lock().unwrap(), expected);
    }
}
