// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! What a plugin asks of the host, and when.

use connector::{sys, Error, Evidence, Host, Json, Plugin, Status, Url};
use std::os::raw::c_void;
use std::sync::Mutex;
use std::time::Duration;

/// Asks what a test wants to know.
struct Asks {
    host: Host,
}

impl Plugin for Asks {
    fn create(host: Host, _: &Json) -> Result<Self, Error> {
        Ok(Asks { host })
    }

    async fn open(&self) -> Result<Evidence, Error> {
        let error = self.host.get(Url::new("https://x")).send_to("vendor").await.unwrap_err();
        Ok(Evidence::configured(format!("{:?}", error.retry_after)))
    }
}

impl Asks {
    async fn nothing(&self) -> Result<String, Error> {
        let (host, storage, value) = (&self.host, self.host.storage(), Json::Null);
        let errors = [
            host.get(Url::new("https://x")).send().await.err(),
            host.sleep(Duration::ZERO).await.err(),
            host.gate("inner").call("x", &value).await.err(),
            host.emit("x", &value).err(),
            storage.get("x").err(),
            storage.set("x", b"").err(),
            storage.replace("x", None, b"").err(),
            storage.remove("x").err(),
            storage.keys("").err(),
        ];
        assert!(host.optional_gate("inner").is_none());
        assert!(errors.iter().all(|error| error.as_ref().is_some_and(|error| error.status == Status::UNSUPPORTED)));
        let messages: Vec<String> = errors.into_iter().flatten().map(|error| error.message).collect();
        Ok(messages.join("; "))
    }

    async fn fetch(&self, name: String) -> Result<Json, Error> {
        let url = Url::new("https://x/a/../b").path(&name).query("at", "..");
        self.host.get(url).send().await.map(|response| i64::from(response.status).into())
    }

    async fn bound(&self) -> Result<Json, Error> {
        Ok(self.host.optional_gate("inner").is_some().into())
    }
}

connector::plugin! {
    type: Asks,
    manifest: r#"{"manifest": 1}"#,
    entry: asks_plugin,
    operations: {
        async fn asks_nothing() -> String = Asks::nothing;
        async fn asks_fetch(name: String) -> Json = Asks::fetch;
        async fn asks_bound() -> Json = Asks::bound;
    }
}

extern "C" {
    fn asks_plugin() -> *const sys::Plugin;
    fn asks_nothing(instance: *mut c_void, call: *const sys::Call, error: *mut sys::Error) -> i32;
    fn asks_fetch(
        instance: *mut c_void, call: *const sys::Call, name: *const u8, length: u64, error: *mut sys::Error,
    ) -> i32;
    fn asks_bound(instance: *mut c_void, call: *const sys::Call, error: *mut sys::Error) -> i32;
}

/// A host that lends http/1, clock/1 and gates/1, or nothing.
#[derive(Default)]
struct Lender {
    lends: bool,
    /// The size of gates/1.
    gates: u32,
    /// The answer's Retry-After.
    retry_after: &'static str,
    asked: Mutex<Vec<String>>,
    completed: Mutex<String>,
}

unsafe extern "C" fn complete(
    context: *mut c_void, _: u64, status: i32, data: *const u8, length: u64, _: *const sys::Error,
) -> i32 {
    let text = match status {
        0 => String::from_utf8(unsafe { std::slice::from_raw_parts(data, length as usize) }.to_vec()).unwrap(),
        _ => format!("status {status}"),
    };
    *unsafe { &*context.cast::<Lender>() }.completed.lock().unwrap() = text;
    0
}
unsafe extern "C" fn progress(_: *mut c_void, _: u64, _: *const u8, _: u64) -> i32 {
    0
}
unsafe extern "C" fn service(context: *mut c_void, id: *const u8, length: u64) -> *const c_void {
    let lender = unsafe { &*context.cast::<Lender>() };
    let id = String::from_utf8(unsafe { std::slice::from_raw_parts(id, length as usize) }.to_vec()).unwrap();
    let table: *const c_void = match id.as_str() {
        _ if !lender.lends => std::ptr::null(),
        "http/1" => Box::leak(Box::new(sys::Http {
            struct_size: 56, flags: 0, context, request, cancel, stream, resume: cancel, write,
        })) as *const sys::Http as _,
        "clock/1" => Box::leak(Box::new(sys::Clock {
            struct_size: 48, flags: 0, context, wall_ns, monotonic_ns: wall_ns, start_timer, cancel_timer,
        })) as *const sys::Clock as _,
        "gates/1" => Box::leak(Box::new(sys::Gates {
            struct_size: lender.gates, flags: 0, context, call: call_gate, cancel, bound,
        })) as *const sys::Gates as _,
        _ => std::ptr::null(),
    };
    lender.asked.lock().unwrap().push(id);
    table
}

unsafe extern "C" fn request(
    context: *mut c_void, _: *const sys::HttpRequest, done: sys::HttpDone, user: *mut c_void, _: *mut u64, _: *mut sys::Error,
) -> i32 {
    let (lender, user) = (unsafe { &*context.cast::<Lender>() }, user as usize);
    let (name, value) = ("Retry-After", lender.retry_after);
    // Not within `request` on its thread (services/http.h).
    let answer = move || unsafe {
        let header = sys::HttpHeader {
            name: name.as_ptr(), name_length: name.len() as u64, value: value.as_ptr(), value_length: value.len() as u64,
        };
        let none = std::ptr::null();
        let response =
            sys::HttpResponse { struct_size: 40, status: 503, headers: &header, header_count: 1, body: none, body_length: 0 };
        done(user as *mut c_void, 0, &response, std::ptr::null());
    };
    std::thread::spawn(answer).join().unwrap();
    0
}
unsafe extern "C" fn cancel(_: *mut c_void, _: u64) {}
unsafe extern "C" fn stream(
    _: *mut c_void, _: *const sys::HttpRequest, _: *const sys::HttpReceiver, _: *mut u64, _: *mut sys::Error,
) -> i32 {
    1
}
unsafe extern "C" fn write(_: *mut c_void, _: u64, _: *const u8, _: u64, _: u32, _: *mut sys::Error) -> i32 {
    1
}
unsafe extern "C" fn call_gate(
    _: *mut c_void, _: *const sys::GatesCall, _: sys::GatesDone, _: *mut c_void, _: *mut u64, _: *mut sys::Error,
) -> i32 {
    1
}
unsafe extern "C" fn bound(_: *mut c_void, _: *const u8, _: u64) -> i32 {
    Status::NOT_FOUND.0
}
unsafe extern "C" fn wall_ns(_: *mut c_void) -> u64 {
    784_111_772_000_000_000
}
unsafe extern "C" fn start_timer(
    _: *mut c_void, _: u64, _: unsafe extern "C" fn(*mut c_void), _: *mut c_void, _: *mut u64,
) -> i32 {
    1
}
unsafe extern "C" fn cancel_timer(_: *mut c_void, _: u64) -> i32 {
    100
}

/// What an instance completes a call with, and the services that it has asked for meanwhile.
fn outcome(lender: Lender, call: impl FnOnce(*mut c_void, &sys::Call)) -> (String, Vec<String>) {
    let context = (&lender as *const Lender).cast_mut().cast();
    let host = sys::Host { struct_size: 40, abi_version: 1, context, service, complete, progress };
    unsafe {
        let plugin = &*asks_plugin();
        let mut instance = std::ptr::null_mut();
        assert_eq!((plugin.create)(&host, b"{}".as_ptr(), 2, &mut instance, std::ptr::null_mut()), 0);
        call(instance, &sys::Call { struct_size: 24, flags: 0, operation: 1, deadline_ns: u64::MAX });
        (plugin.destroy)(instance);
    }
    let Lender { asked, completed, .. } = lender;
    (completed.into_inner().unwrap(), asked.into_inner().unwrap())
}

#[test]
fn the_time_is_asked_for_only_to_measure_a_date() {
    for (retry_after, wait, asks) in [
        ("7", "Some(7s)", false),
        ("", "None", false),
        ("soon", "None", false),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Some(5s)", true),
    ] {
        let lender = Lender { lends: true, retry_after, ..Lender::default() };
        let (evidence, asked) = outcome(lender, |instance, call| unsafe {
            assert_eq!(((*asks_plugin()).open)(instance, call, std::ptr::null_mut()), 0);
        });
        assert!(evidence.contains(wait), "{evidence}");
        assert_eq!(asked.iter().any(|id| id == "clock/1"), asks, "{retry_after}");
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_host_is_asked_whether_an_optional_gate_is_bound_unless_its_table_ends_before_that() {
    for (gates, is_there) in [(32, "true"), (40, "false"), (48, "false")] {
        let lender = Lender { lends: true, gates, ..Lender::default() };
        let (completed, _) = outcome(lender, |instance, call| unsafe {
            assert_eq!(asks_bound(instance, call, std::ptr::null_mut()), 0);
        });
        assert_eq!(completed, is_there, "{gates}");
    }
}

#[test]
fn text_of_others_stays_within_its_component_of_the_path() {
    for (name, result) in [("..", "status 2"), (".", "status 2"), ("...", "503"), ("../b", "503"), ("", "503")] {
        let lender = Lender { lends: true, ..Lender::default() };
        let (completed, _) = outcome(lender, |instance, call| unsafe {
            assert_eq!(asks_fetch(instance, call, name.as_ptr(), name.len() as u64, std::ptr::null_mut()), 0);
        });
        assert_eq!(completed, result, "{name}");
    }
}

#[test]
fn a_service_that_the_manifest_does_not_name_is_an_error_that_says_so() {
    let (messages, asked) = outcome(Lender::default(), |instance, call| unsafe {
        assert_eq!(asks_nothing(instance, call, std::ptr::null_mut()), 0);
    });
    let expected = ["http/1", "clock/1", "gates/1", "events/1", "storage/1", "storage/1", "storage/1", "storage/1", "storage/1", "gates/1"];
    assert_eq!(asked, expected);
    let required = |id: &str| format!("the manifest must require {id}");
    let mut words = vec![required("http/1"), required("clock/1"), "the manifest has no \"uses\"".to_owned()];
    words.push(required("events/1"));
    words.extend([(); 5].map(|()| required("storage/1")));
    assert_eq!(messages, words.join("; "));
}
