// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
package import ConnectorBase

/// The failure of a service call, as the plugin receives it.
package struct ServiceFailure: Error, Sendable, Hashable {
    /// One of CONNECTOR_STATUSES.
    package var status: Int32
    /// One sentence for a person, without secrets.
    package var message: String
    /// The source of the failure and of ``detail``: `host`, `http`, `tls`, `proxy` or `errno`.
    package var domain: String
    /// The system's error number, or the proxy's status.
    package var detail: Int32
    /// Whether the same call may succeed later.
    package var isRetryable: Bool
    /// The wait before the next attempt, in nanoseconds; 0 if unknown.
    package var retryAfter: UInt64

    /// Creates a failure; by default, the host's own and not retryable.
    package init(
        status: Int32,
        message: String,
        domain: String = ServiceFailure.hostDomain,
        detail: Int32 = 0,
        isRetryable: Bool = false,
        retryAfter: UInt64 = 0
    ) {
        self.status = status
        self.message = message
        self.domain = domain
        self.detail = detail
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
    }

    /// The domain of the host's own refusals of what a plugin asks for; if a plugin passes one on, it blames no event.
    package static let hostDomain = "host"

    /// The code of the status.
    package var code: ConnectorError.Code { ConnectorError.Code(abiStatus: status) ?? .failed }

    /// The arguments are wrong.
    package static func invalid(_ message: String) -> Self {
        Self(status: Int32(CONNECTOR_INVALID), message: message)
    }

    /// The plugin broke the ABI.
    package static func misuse(_ message: String) -> Self {
        Self(status: Int32(CONNECTOR_MISUSE), message: message)
    }

    /// Something exceeds a limit.
    package static func tooLarge(_ message: String) -> Self {
        Self(status: Int32(CONNECTOR_TOO_LARGE), message: message)
    }

    /// The host does not permit it.
    package static func denied(_ message: String) -> Self {
        Self(status: Int32(CONNECTOR_DENIED), message: message)
    }

    /// The work was cancelled.
    package static func cancelled(_ message: String) -> Self {
        Self(status: Int32(CONNECTOR_CANCELLED), message: message)
    }

    /// The deadline passed.
    package static func timedOut(_ message: String) -> Self {
        Self(status: Int32(CONNECTOR_TIMED_OUT), message: message, domain: "http", isRetryable: true)
    }

    /// The gate is closing or closed.
    package static var notOpen: Self {
        Self(status: Int32(CONNECTOR_NOT_OPEN), message: "the gate is being closed")
    }
}

extension ServiceFailure {
    /// The failure as the ABI's struct.
    package var error: connector_error {
        var error = connector_error()
        error.struct_size = UInt32(MemoryLayout<connector_error>.size)
        error.code = status
        error.retryable = isRetryable ? 1 : 0
        error.detail = detail
        error.retry_after_ns = retryAfter
        Self.copy(domain, to: &error.domain)
        Self.copy(message, to: &error.message)
        return error
    }

    /// Fills in an error object that the plugin owns, up to its `struct_size`.
    ///
    /// - Returns: The status to return to the plugin.
    package func write(to pointer: UnsafeMutablePointer<connector_error>?) -> Int32 {
        unsafe error.write(to: pointer)
        return status
    }

    /// Reads a failure that the host of a runner has written; without an object, the message has only the status.
    package init(status: Int32, _ error: connector_error?) {
        let message = error.map { Self.text($0.message) } ?? ""
        self.init(
            status: status,
            message: message.isEmpty ? "the host refuses without a reason (status \(status))" : message,
            domain: error.map { Self.text($0.domain) } ?? Self.hostDomain,
            detail: error?.detail ?? 0,
            isRetryable: (error?.retryable ?? 0) != 0,
            retryAfter: error?.retry_after_ns ?? 0
        )
    }

    /// The text in a C character array, up to its first NUL.
    private static func text<Tuple>(_ tuple: Tuple) -> String {
        unsafe withUnsafeBytes(of: tuple) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// Copies text into a C character array, cut at a character boundary, with a terminating NUL.
    private static func copy<Tuple>(_ text: String, to tuple: inout Tuple) {
        unsafe withUnsafeMutableBytes(of: &tuple) { buffer in
            let bytes = text.utf8Prefix(buffer.count - 1)
            unsafe buffer.copyBytes(from: bytes)
            unsafe buffer[bytes.count] = 0
        }
    }
}

extension connector_error {
    /// Copies the object into one that the plugin owns, up to its `struct_size`, which stays as its owner set it.
    fileprivate func write(to pointer: UnsafeMutablePointer<connector_error>?) {
        guard let pointer = unsafe pointer else { return }
        let start = MemoryLayout<UInt32>.size
        let size = unsafe min(Int(pointer.pointee.struct_size), MemoryLayout<connector_error>.size)
        guard size > start else { return }
        unsafe withUnsafeBytes(of: self) { bytes in
            guard let source = bytes.baseAddress else { return }
            unsafe UnsafeMutableRawPointer(pointer).advanced(by: start)
                .copyMemory(from: source + start, byteCount: size - start)
        }
    }
}
