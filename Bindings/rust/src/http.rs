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
