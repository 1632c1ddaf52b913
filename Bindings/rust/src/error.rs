// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

use crate::{sys, Response};
use std::time::Duration;

/// A kind of failure: the statuses of the ABI (connector/error.h), in the words that all vendors share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(pub i32);

impl Status {
    /// Failed, for a reason that no other status names.
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
    /// The gate is not open.
    pub const NOT_OPEN: Status = Status(14);

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
    /// An error of a kind, which is retryable if its kind usually is.
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

    /// The same error from a source, such as a vendor's name.
    pub fn in_domain(mut self, domain: &str) -> Error {
        self.domain = domain.to_owned();
        self
    }

    /// The error for a response other than success, with its Retry-After. A redirect is the answer of a proxy or a captive
    /// portal, and so is a web page under 400, 413 or 422; the call may be tried again.
    pub(crate) fn of_response(response: &Response, vendor: &str) -> Error {
        let foreign = match response.status {
            300..=399 => Some("a redirect"),
            400 | 413 | 422 if response.is_page() => Some("a web page"),
            _ => None,
        };
        if let Some(foreign) = foreign {
            let (status, origin) = match response.status {
                413 => (Status::TOO_LARGE, "a gateway on the way takes only smaller requests: raise its limit"),
                _ => (Status::PROTOCOL, "a proxy or a captive portal may have sent it"),
            };
            let message = format!("{foreign} (HTTP {}) came instead of {vendor}'s answer; {origin}", response.status);
            let detail = response.status as i32;
            return Error { is_retryable: true, detail, ..Error::new(status, message).in_domain(vendor) };
        }
        let status = match response.status {
            400 | 422 => Status::INVALID,
            401 | 403 => Status::UNAUTHORIZED,
            404 | 410 => Status::NOT_FOUND,
            405 | 501 => Status::UNSUPPORTED,
            408 | 504 => Status::TIMED_OUT,
            409 | 412 => Status::CONFLICT,
            413 => Status::TOO_LARGE,
            429 => Status::RATE_LIMITED,
            402 | 407 | 421 | 425 | 500..=599 => Status::UNAVAILABLE,
            400..=499 => Status::FAILED,
            _ => Status::PROTOCOL,
        };
        let mut error = Error::new(status, format!("{vendor} answered HTTP {}", response.status)).in_domain(vendor);
        error.is_retryable &= !matches!(response.status, 402 | 407 | 505);
        error.retry_after = response.retry_after();
        // Temporary: RFC 9110, section 15.5.14.
        error.is_retryable |= response.status == 413 && error.retry_after.is_some();
        error.detail = response.status as i32;
        error
    }

    /// The error with the host's explanation, if it gave one.
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

    /// The error in the form that crosses the ABI.
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
    /// An empty error for the other side to fill in.
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

/// Copies as many whole characters as fit, with a NUL after them.
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
            (402, Status::UNAVAILABLE, false),
            (407, Status::UNAVAILABLE, false),
            (421, Status::UNAVAILABLE, true),
            (425, Status::UNAVAILABLE, true),
            (404, Status::NOT_FOUND, false),
            (412, Status::CONFLICT, false),
            (413, Status::TOO_LARGE, true),
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

    #[test]
    fn a_web_page_is_not_the_vendors_refusal() {
        for (status, content_type, body, is_foreign) in [
            (400, "text/html; charset=utf-8", "Bad request", true),
            (413, "text/html", "<html>", true),
            (422, "Application/XHTML+xml", "Bad request", true),
            (400, "application/json", " \u{FEFF}<html>", true),
            (400, "", "<html>", true),
            (400, "text/html", " {\"error\": 1}", false),
            (400, "text/html", "[]", false),
            (400, "text/html", " \r\n", false),
            (400, "text/plain; format=html", "Bad request", false),
            (404, "text/html", "<html>", false),
        ] {
            let headers = [("content-type", content_type), ("Retry-After", "7")];
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
            let response = Response { status, headers, body: body.into(), now: Duration::ZERO };
            let error = Error::of_response(&response, "vendor");
            let foreign_status = if status == 413 { Status::TOO_LARGE } else { Status::PROTOCOL };
            assert_eq!(error.is_retryable, is_foreign, "{body:?}");
            assert!(!is_foreign || error.status == foreign_status, "{body:?}");
            assert!(is_foreign || error.status != Status::PROTOCOL, "{body:?}");
            assert_eq!(error.message.starts_with("a web page (HTTP 4"), is_foreign, "{}", error.message);
            assert_eq!(error.retry_after.is_none(), is_foreign);
        }
    }
}
