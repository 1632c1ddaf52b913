// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
package import ConnectorBase

extension ConnectorError.Code {
    /// The code of a status; `failed` for an unknown status.
    ///
    /// A call that its caller gives up fails with `cancelled` before the plugin can answer. A plugin that answers
    /// `CONNECTOR_CANCELLED` therefore gave up by itself: `aborted`.
    package init(status: Int32) {
        let code = Self(abiStatus: status) ?? .failed
        self = code == .cancelled ? .aborted : code
    }

    /// The status of a code, for the plugin's side of the line.
    package var status: Int32 {
        (self == .aborted ? Self.cancelled : self).abiStatus ?? Int32(CONNECTOR_FAILED)
    }
}

extension ConnectorError {
    /// The longest retry delay that a plugin can ask for: a day.
    private static let longestRetryAfter: UInt64 = 86_400_000_000_000

    /// Converts the failure that a plugin reported.
    ///
    /// - Parameters:
    ///   - status: The status that the function returned or the completion carried.
    ///   - error: The object that explains the failure, if any. Malformed UTF-8 in its texts is repaired.
    ///   - what: The attempted work, for a plugin that explains nothing.
    package init(status: Int32, error: connector_error?, attempting what: String) {
        let message = error.map { Self.text($0.message) } ?? ""
        let domain = error.map { Self.text($0.domain) } ?? ""
        let detail = error?.detail ?? 0
        self.init(
            Code(status: status),
            message.isEmpty ? "\(what) failed without an explanation (status \(status))" : message,
            cause: domain.isEmpty && detail == 0 ? nil : "\(domain)\(detail == 0 ? "" : " \(detail)")",
            isRetryable: (error?.retryable ?? 0) != 0,
            retryAfter: error.flatMap {
                $0.retry_after_ns == 0
                    ? nil : .nanoseconds(Int64(min($0.retry_after_ns, Self.longestRetryAfter)))
            }
        )
    }

    /// Converts the failure that a plugin reported in an object of its own.
    package init(status: Int32, reading error: UnsafePointer<connector_error>?, attempting what: String) {
        self.init(status: status, error: unsafe error.map { unsafe connector_error(covered: $0) }, attempting: what)
    }

    /// The text in a fixed array, up to its first NUL; `…` at its end if the plugin probably cut it, so that a secret
    /// cut there is known for one.
    private static func text<Storage>(_ storage: Storage) -> String {
        unsafe withUnsafeBytes(of: storage) { bytes in
            let text = unsafe bytes.prefix { $0 != 0 }
            // A character of up to four bytes and the NUL did not fit.
            let isFull = unsafe text.count > bytes.count - 5
            return unsafe String(decoding: text, as: UTF8.self) + (isFull ? "…" : "")
        }
    }
}

extension connector_error {
    /// Copies the bytes of an object that its `struct_size` covers; the others are 0, and never read.
    package init(covered pointer: UnsafePointer<connector_error>) {
        self.init()
        let bytes = unsafe UnsafeRawPointer(pointer)
        let size = min(Int(unsafe bytes.loadUnaligned(as: UInt32.self)), MemoryLayout<connector_error>.size)
        guard size >= MemoryLayout<UInt32>.size else { return }
        unsafe withUnsafeMutableBytes(of: &self) { copy in
            unsafe copy.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: size))
        }
    }
}
