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
    /// For a reason that no other status names.
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
    /// An error of a kind, which may be tried again if its kind usually may.
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

    /// The same error of a source, such as a vendor's name.
    pub fn in_domain(mut self, domain: &str) -> Error {
        self.domain = domain.to_owned();
        self
    }

    /// The error that a response means which is not a success, with its Retry-After.
    pub(crate) fn of_response(response: &Response, vendor: &str) -> Error {
        let status = match response.status {
            400 | 422 => Status::INVALID,
            401 | 403 => Status::UNAUTHORIZED,
            404 | 410 => Status::NOT_FOUND,
            405 | 501 => Status::UNSUPPORTED,
            408 | 504 => Status::TIMED_OUT,
            409 | 412 => Status::CONFLICT,
            413 => Status::TOO_LARGE,
            429 => Status::RATE_LIMITED,
            500..=599 => Status::UNAVAILABLE,
            400..=499 => Status::FAILED,
            _ => Status::PROTOCOL,
        };
        let is_redirect = (300..400).contains(&response.status);
        let message = if is_redirect {
            format!(
                "a redirect (HTTP {}) came instead of {vendor}'s answer; a proxy or a captive portal may have sent it",
                response.status
            )
        } else {
            format!("{vendor} answered HTTP {}", response.status)
        };
        let mut error = Error::new(status, message).in_domain(vendor);
        error.is_retryable &= response.status != 505;
        error.retry_after = if is_redirect { None } else { response.retry_after() };
        error.detail = response.status as i32;
        error
    }

    /// The error that the host explained, if it did.
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

    /// The error as it crosses the ABI.
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
    /// For the other side to fill in.
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

/// Copies as many whole characters as fit with a NUL after them.
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
            (404, Status::NOT_FOUND, false),
            (412, Status::CONFLICT, false),
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
}

"""##,
"src/host.rs": ##"""
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

"""##,
"src/http.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

use crate::{sys, task, Error, Host, Json, Status};
use std::future::Future;
use std::os::raw::c_void;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A URL that grows, whose parts are percent-encoded unless they are secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    text: String,
    has_query: bool,
}

impl Url {
    /// Begins with a URL without a query, such as a field of the configuration.
    pub fn new(base: &str) -> Url {
        Url { text: base.trim_end_matches('/').to_owned(), has_query: base.contains('?') }
    }

    /// Appends one component to the path.
    pub fn path(mut self, component: &str) -> Url {
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

/// What the host replaces by the value of a secret field, in headers and bodies: "Bearer {}", for instance.
pub fn secret(field: &str) -> String {
    format!("{{{{secret:{field}}}}}")
}

/// All but letters, digits and `-._~` as `%XX` (RFC 3986).
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

    /// Sends a body of a content type.
    pub fn body(mut self, content_type: &str, body: Vec<u8>) -> Request {
        self.body = body;
        self.header("Content-Type", content_type)
    }

    /// Sends the body as it is: the host inserts no secrets. For text of others, which may look like a placeholder.
    pub fn verbatim(mut self) -> Request {
        self.flags |= sys::HTTP_VERBATIM_BODY;
        self
    }

    /// Sends the request, and awaits the response, of any HTTP status. Dropping the future cancels the request.
    ///
    /// The deadline is that of the call that awaits.
    pub async fn send(self) -> Result<Response, Error> {
        let exchange = Arc::new(Mutex::new(Exchange { response: None, waker: None, host: self.host }));
        let request = self.start(&exchange)?;
        Pending { host: self.host, request, exchange }.await
    }

    /// The same for a vendor whose answer must be of HTTP 2xx: any other is an error, with its Retry-After.
    pub async fn send_to(self, vendor: &str) -> Result<Response, Error> {
        let response = self.send().await?;
        if (200..300).contains(&response.status) {
            Ok(response)
        } else {
            Err(Error::of_response(&response, vendor))
        }
    }

    fn start(&self, exchange: &Arc<Mutex<Exchange>>) -> Result<u64, Error> {
        let Some(http) = self.host.service::<sys::Http>("http/1") else {
            return Err(Error::new(Status::UNSUPPORTED, "the manifest must require http/1"));
        };
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
        };
        let mut error = sys::Error::empty();
        let mut identifier = 0;
        let user = Arc::into_raw(exchange.clone());
        let status = unsafe {
            (http.request)(http.context, &request, done, user.cast_mut().cast(), &mut identifier, &mut error)
        };
        if status == 0 {
            return Ok(identifier);
        }
        // `done` never runs for a request that was refused.
        drop(unsafe { Arc::from_raw(user) });
        Err(Error::of_host(status, Some(&error)))
    }
}

/// What a request and its `done` share.
struct Exchange {
    response: Option<Result<Response, Error>>,
    waker: Option<Waker>,
    host: Host,
}

/// A response that has not come.
struct Pending {
    host: Host,
    request: u64,
    exchange: Arc<Mutex<Exchange>>,
}

impl Future for Pending {
    type Output = Result<Response, Error>;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut exchange = task::lock(&self.exchange);
        match exchange.response.take() {
            Some(response) => Poll::Ready(response),
            None => {
                exchange.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // Idempotent, and without effect on a request that has ended.
        if let Some(http) = self.host.service::<sys::Http>("http/1") {
            unsafe { (http.cancel)(http.context, self.request) };
        }
    }
}

unsafe extern "C" fn done(
    user: *mut c_void,
    status: i32,
    response: *const sys::HttpResponse,
    error: *const sys::Error,
) {
    let exchange: Arc<Mutex<Exchange>> = unsafe { Arc::from_raw(user.cast_const().cast()) };
    let host = task::lock(&exchange).host;
    let response = match unsafe { response.as_ref() } {
        Some(response) if status == 0 => Ok(unsafe { Response::copy(response, host.now()) }),
        _ => Err(Error::of_host(status, unsafe { error.as_ref() })),
    };
    let waker = {
        let mut exchange = task::lock(&exchange);
        exchange.response = Some(response);
        exchange.waker.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
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
    /// When it came, since 1970; zero if that is not known.
    pub now: Duration,
}

impl Response {
    /// The body as JSON.
    pub fn json(&self) -> Result<Json, Error> {
        Json::parse(&self.body)
    }

    /// The value of a header, whose name ignores case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.0.eq_ignore_ascii_case(name)).map(|header| header.1.as_str())
    }

    /// The wait that the vendor asks for (RFC 9110, section 10.2.3), a week at most. A date needs `clock/1`.
    pub fn retry_after(&self) -> Option<Duration> {
        let value = self.header("Retry-After")?;
        let week = Duration::from_secs(604800);
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(value.parse().map_or(week, Duration::from_secs).min(week));
        }
        if self.now.is_zero() {
            return None;
        }
        Some(date(value)?.saturating_sub(self.now).min(week))
    }

    unsafe fn copy(response: &sys::HttpResponse, now: Duration) -> Response {
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
            now,
        }
    }
}

/// The bytes of the other side; empty if the pointer is null.
///
/// # Safety
/// The bytes must stay as they are as long as the result is used.
pub(crate) unsafe fn bytes<'a>(data: *const u8, length: u64) -> &'a [u8] {
    if data.is_null() || length == 0 {
        &[]
    } else {
        unsafe { std::slice::from_raw_parts(data, length as usize) }
    }
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
    fn retry_after_is_seconds_or_a_date() {
        let after = |value: &str, now| {
            let headers = vec![("Retry-After".to_owned(), value.to_owned())];
            Response { status: 503, headers, body: vec![], now: Duration::from_secs(now) }
                .retry_after()
                .map(|wait| wait.as_secs())
        };
        assert_eq!(after("7", 0), Some(7));
        assert_eq!(after("99999999999999999999", 1), Some(604800));
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

/// How deeply arrays and objects may be nested.
const DEPTH: usize = 64;

/// A value of JSON. Numbers keep their digits.
///
/// It is written so that the host reads it: of members with equal names only the first, and `null` for a [`Json::Number`]
/// that is no number of JSON, or beyond a double.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`, and what is not there.
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

    /// A number without a fraction that fits.
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

/// Whether a text is a number as JSON writes it, and not beyond a double.
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

    /// What follows `\u`; half of a pair stands for no character.
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
//! Nothing here is unsafe to use. Operations are asynchronous without a runtime: the end of a request, on a thread of the host,
//! runs the future on that awaits it. A panic is an error of the call.
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
mod host;
mod http;
mod json;
mod manifest;
mod plugin;
#[doc(hidden)]
pub mod sys;
mod task;

pub use error::{Error, Status};
pub use host::{Host, Level};
pub use http::{percent_encode, secret, Request, Response, Url};
pub use json::Json;
pub use plugin::{Evidence, OperationResult, Plugin};

/// What [`plugin!`] expands to; for nobody else.
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
/// `Vec<u8>`, `i64` is `i64` and so on, and `T?` is `Option<T>`. An asynchronous one names an async method, any
/// other one a plain method. One without a result has no `->`, and its method returns `Result<(), Error>`.
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

/// One operation after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! __operations {
    ($gate:ty;) => {};
    ($gate:ty; async fn $symbol:ident($($parameters:tt)*) $(-> $result:ty)? = $method:path; $($rest:tt)*) => {
        $crate::__parameters! { (async $gate; $symbol; $method) [] [] $($parameters)*, }
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

/// Turns parameters into those of C, and into the arguments of a method. Each step has a `length` of its own.
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
    ((async $gate:ty; $symbol:ident; $method:path) [$($c:tt)*] [$(($name:ident, $argument:expr),)*] $(,)?) => {
        #[no_mangle]
        unsafe extern "C" fn $symbol(
            instance: *mut ::std::os::raw::c_void,
            call: *const $crate::sys::Call,
            $($c)*
            error: *mut $crate::sys::Error,
        ) -> i32 {
            unsafe {
                $crate::private::perform(instance, call, error, |gate: ::std::sync::Arc<$gate>| {
                    // Copied here: what the host lent is not there any more when the future runs on.
                    $(let $name = $argument;)*
                    Ok(async move { $method(&gate, $($name),*).await })
                })
            }
        }
    };
    ((sync (); $($rest:tt)*) $($more:tt)*) => { $crate::__synchronous! { ($($rest)*) $($more)* nothing } };
    ((sync Bytes; $($rest:tt)*) $($more:tt)*) => { $crate::__synchronous! { ($($rest)*) $($more)* bytes } };
    ((sync String; $($rest:tt)*) $($more:tt)*) => { $crate::__synchronous! { ($($rest)*) $($more)* bytes } };
    ((sync Json; $($rest:tt)*) $($more:tt)*) => { $crate::__synchronous! { ($($rest)*) $($more)* bytes } };
    ((sync $scalar:ident; $($rest:tt)*) $($more:tt)*) => {
        $crate::__synchronous! { ($($rest)*) $($more)* $scalar }
    };
}

/// A synchronous operation.
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
    (($gate:ty; $symbol:ident; $method:path) [$($c:tt)*] [$(($name:ident, $argument:expr),)*] $(,)? bytes) => {
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
                        $method(gate, $($name),*).map($crate::OperationResult::into_bytes)
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

/// A note whose text has `SIZE` bytes with its padding.
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
    /// Creates an instance from its configuration, without I/O. Secrets are placeholders, see [`secret`](crate::secret).
    fn create(host: Host, configuration: &Json) -> Result<Self, Error>;

    /// Connects to the outside world, and says what that proved. The host calls it again to prove the same later.
    fn open(&self) -> impl Future<Output = Result<Evidence, Error>> + Send;

    /// Finishes pending work, and disconnects; by default there is none.
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
    /// The configuration is complete; nothing was asked.
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
    let host = Host { raw: host };
    let configuration = unsafe { http::bytes(config, length) };
    let gate = catch_unwind(AssertUnwindSafe(|| Gate::create(host, &Json::parse(configuration)?)));
    match gate.unwrap_or_else(|panic| Err(panicked(panic))) {
        Ok(gate) => {
            let made = Instance { gate: Arc::new(gate), host, tasks: Arc::default() };
            unsafe { *instance = Box::into_raw(Box::new(made)).cast() };
            0
        }
        Err(failure) => unsafe { fail(failure, error) },
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
    assert!(size_of::<HttpRequest>() == 80);
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
    assert!(size_of::<Storage>() == 48);
    assert!(offset_of!(Storage, struct_size) == 0);
    assert!(offset_of!(Storage, flags) == 4);
    assert!(offset_of!(Storage, context) == 8);
    assert!(offset_of!(Storage, get) == 16);
    assert!(offset_of!(Storage, set) == 24);
    assert!(offset_of!(Storage, remove) == 32);
    assert!(offset_of!(Storage, list) == 40);
};

"""##,
"src/sys/mod.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! The structs of the ABI, as the C headers define and explain them. Authors need none of them.

#![allow(missing_docs)]

use std::os::raw::c_void;

// For tests alone: `offset_of!` needs Rust 1.77, and plugins may be built with 1.75, the cargo of Ubuntu 24.04.
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
}

"""##,
"src/task.rs": ##"""
// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! The calls of an instance as futures. There is no thread and no queue here: whatever wakes a future, such as the end of a
//! request on a thread of the host, runs it on.

use crate::{sys, Error, Host, Status};
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
    static DEADLINE: Cell<u64> = const { Cell::new(sys::NO_DEADLINE) };
}

/// The deadline of the call that this thread runs.
pub(crate) fn deadline() -> u64 {
    DEADLINE.get()
}

/// What tells this thread from all others that live: the address of a variable that each has of its own. Unlike
/// `std::thread::current()` it leaves nothing behind in threads, which are the host's.
fn this_thread() -> usize {
    DEADLINE.with(|deadline| deadline as *const Cell<u64> as usize)
}

/// A lock that another thread's panic does not keep.
pub(crate) fn lock<Value>(mutex: &Mutex<Value>) -> MutexGuard<'_, Value> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The pending calls of an instance.
///
/// A task stays in `pending` as long as any thread runs it: polls or drops its future, or completes its call. That thread, its
/// runner, removes it last of all; `end` waits for the runners of what it finds there. What others do to a task meanwhile:
///
/// - `cancel` finds a runner and marks the task, which is not polled again then. The runner may be the thread that cancels: the
///   host may do that in `complete`, or in what a future asks of it. Without a runner, it becomes the runner and drops the future.
/// - A wake finds a runner and marks the task; the runner polls again, unless it is past that. So a wake never waits, neither in
///   a poll, nor in a drop, nor in `complete`. One that comes after the end finds no future.
/// - `end` cancels all tasks before it waits for any, since one may wait for another. It does not wait for a task that its own
///   thread runs, below it on the stack, which would be for ever; that task completes no call any more.
///
/// Nobody holds a lock while a future is polled or dropped, nor while the host runs.
#[derive(Default)]
pub(crate) struct Tasks {
    pending: Mutex<BTreeMap<u64, Arc<Task>>>,
}

impl Tasks {
    /// Runs a future until it waits, and completes the call with what it returns.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        host: Host,
        call: &sys::Call,
        future: impl Future<Output = Completion> + Send + 'static,
    ) {
        let task = Arc::new(Task {
            tasks: self.clone(),
            host,
            operation: call.operation,
            deadline: call.deadline_ns,
            state: Mutex::new(State { future: Some(Box::pin(future)), ..State::default() }),
            idle: Condvar::new(),
        });
        lock(&self.pending).insert(call.operation, task.clone());
        task.run();
    }

    /// Drops a call's future, which ends its requests.
    pub(crate) fn cancel(&self, operation: u64) {
        let task = lock(&self.pending).get(&operation).cloned();
        if let Some(task) = task {
            task.cancel();
        }
    }

    /// Drops every future, the oldest first, and returns once none runs.
    pub(crate) fn end(&self) {
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

struct Task {
    tasks: Arc<Tasks>,
    host: Host,
    operation: u64,
    deadline: u64,
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    /// Taken out while it runs; none after its end.
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
            // A future may run inside another's, when a request of that one is refused.
            let outer = DEADLINE.replace(self.deadline);
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context)));
            DEADLINE.set(outer);
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
            // Asked for only now, since the drop may have ended the instance.
            let is_cancelled = lock(&self.state).is_cancelled;
            if let Some(completion) = completion.filter(|_| !is_cancelled) {
                self.host.complete(self.operation, completion);
            }
            self.finish();
            return;
        }
    }

    fn cancel(&self) {
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
        lock(&self.tasks.pending).remove(&self.operation);
    }
}

/// Drops a future. A panic of that is nobody's to hear about: the call has ended, or has a result.
fn discard(future: BoxedFuture) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.run();
    }
}

/// What a panic says.
pub(crate) fn panicked(panic: Box<dyn std::any::Any + Send>) -> Error {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    Error::new(Status::FAILED, format!("the plugin panicked: {}", text.unwrap_or("for an unknown reason")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::raw::c_void;
    use std::sync::mpsc;

    /// What the host was told, and what it does while it is told of a call.
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

    /// A host that never ends, and what it was told.
    fn host() -> (Host, &'static Mutex<Vec<(u64, i32)>>) {
        let (host, told) = telling_host();
        (host, &told.completed)
    }
    fn telling_host() -> (Host, &'static Told) {
        let told: &'static Told = Box::leak(Box::default());
        let context = (told as *const Told).cast_mut().cast();
        let table = sys::Host { struct_size: 40, abi_version: 1, context, service, complete, progress };
        (Host { raw: Box::leak(Box::new(table)) }, told)
    }

    fn call(operation: u64) -> sys::Call {
        sys::Call { struct_size: 24, flags: 0, operation, deadline_ns: operation * 100 }
    }

    /// Waits until it is sent something.
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

    /// Tells when it is dropped, and may panic then.
    struct Dropped(mpsc::Sender<u64>, u64, bool);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.send(self.1).unwrap();
            if self.2 {
                panic!("for a test");
            }
        }
    }

    /// Ends the instance on a thread of its own. Returns once that is under way: it has dropped the last call,
    /// which waits, and so cancelled all.
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
            assert_eq!(deadline(), 100);
            waiting.await;
            assert_eq!(deadline(), 100);
            Ok(None)
        });
        assert!(lock(completed).is_empty());
        std::thread::spawn(move || open(&gate)).join().unwrap();
        assert_eq!(*lock(completed), [(1, 0)]);
        assert!(lock(&tasks.pending).is_empty());
        assert_eq!(deadline(), sys::NO_DEADLINE);
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
            // The thread ends: a wake does not wait for what runs.
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
                assert!(lock(&tasks.pending).contains_key(&1));
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
        assert!(lock(&tasks.pending).contains_key(&1));
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
            // In a poll: the call completes no more.
            let ((host, told), tasks) = (telling_host(), Arc::new(Tasks::default()));
            let within = Arc::clone(&tasks);
            tasks.spawn(host, &call(1), async move {
                act(&within);
                Ok(None)
            });
            assert!(lock(&told.completed).is_empty());
            assert!(lock(&tasks.pending).is_empty());

            // While a future is dropped, ready or not: as before.
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

            // While the host is told of the call, and the call is woken then.
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
        // Cancelled, one while it waits, one in its own poll.
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
    ]
}
