// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
package import ConnectorBase
internal import ConnectorPlatform

extension ConnectorError.Code {
    /// The code of a status; `failed` for an unknown status.
    ///
    /// A call that its caller cancels fails with `cancelled` before the plugin can respond. So a plugin that returns
    /// `CONNECTOR_CANCELLED` gave up on its own: `aborted`.
    package init(status: Int32) {
        let code = Self(abiStatus: status) ?? .failed
        self = code == .cancelled ? .aborted : code
    }

    /// The ABI status of the code.
    package var status: Int32 {
        (self == .aborted ? Self.cancelled : self).abiStatus ?? Int32(CONNECTOR_FAILED)
    }
}

extension ConnectorError {
    /// Converts a failure reported by a plugin.
    ///
    /// - Parameters:
    ///   - status: The status of the function or of the completion.
    ///   - error: The plugin's error object, if any. Malformed UTF-8 in its texts is repaired.
    ///   - what: What was attempted, for a failure without a message.
    package init(status: Int32, error: connector_error?, attempting what: String) {
        let message = error.map { Self.text($0.message) } ?? ""
        let domain = error.map { Self.text($0.domain) } ?? ""
        let detail = error?.detail ?? 0
        self.init(
            Code(status: status),
            message.isEmpty ? "\(what) failed without an error message (status \(status))" : message,
            fix: Self.remedy(domain, detail),
            cause: detail == 0 ? (domain.isEmpty ? nil : domain) : domain.isEmpty ? "\(detail)" : "\(domain) \(detail)",
            isRetryable: (error?.retryable ?? 0) != 0,
            retryAfter: error.flatMap {
                $0.retry_after_ns == 0
                    ? nil : .nanoseconds(Int64(min($0.retry_after_ns, Self.longestRetryAfter)))
            }
        )
        if domain == ServiceFailure.hostDomain { isServiceRefusal = true }
    }

    /// The remedies that the host's own code gives whatever the plugin, also in a runner.
    package static let remedies: [String] =
        SystemError.remedies + HostThread.remedies
        + [remedy("proxy", 0), remedy("tls", 0), remedy(forStatus: 423), remedy(forStatus: 507)].compactMap(\.self)

    /// The remedy for a failure that the usual remedy of the code is not about; nil if there is none.
    static func remedy(_ domain: String, _ detail: Int32) -> String? {
        switch domain {
        case "errno": SystemError(detail).diskRemedy ?? SystemError(detail).limitRemedy
        case "proxy":
            "check https_proxy and http_proxy, and that the proxy works; no_proxy names the hosts that are reached without it"
        case "tls":
            "check that the endpoint is correct, the certificate and the TLS settings of its server, and SSL_CERT_FILE here"
        case "", "host", "http": nil
        default: remedy(forStatus: detail)
        }
    }

    /// The remedy for a vendor's HTTP status whose code covers more than it; nil if there is none.
    private static func remedy(forStatus status: Int32) -> String? {
        switch status {
        case 423: "wait until whoever locked it unlocks it, or the lock expires"
        case 507: "make room at the vendor, or ask for a higher quota"
        default: nil
        }
    }

    /// Converts a failure that a plugin reported in its own error object.
    package init(status: Int32, reading error: UnsafePointer<connector_error>?, attempting what: String) {
        self.init(status: status, error: unsafe error.map { unsafe connector_error(covered: $0) }, attempting: what)
    }

    /// The text in a fixed array, up to its first NUL. It ends with `…` if the plugin probably truncated it, so that a truncated
    /// secret is still recognized.
    private static func text<Storage>(_ storage: Storage) -> String {
        unsafe withUnsafeBytes(of: storage) { bytes in
            let text = unsafe bytes.prefix { $0 != 0 }
            // No room left for another character of up to four bytes and the NUL.
            let isFull = unsafe text.count > bytes.count - 5
            return unsafe String(decoding: text, as: UTF8.self) + (isFull ? "…" : "")
        }
    }
}

extension connector_error {
    /// Copies the part of an object that its `struct_size` covers, reads nothing beyond it, and zeroes the rest.
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
