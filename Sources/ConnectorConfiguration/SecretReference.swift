// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorServices

/// The source of a secret: `env:NAME` or `file:PATH`, with a resolved path.
enum SecretReference: Sendable, Hashable {
    case environment(String)
    case file(String)

    /// The maximum size of a file with a secret, in bytes.
    static let sizeLimit = 64 << 10

    /// Parses the text of `{"secret": …}`; nil if it is malformed.
    ///
    /// - Parameter base: The directory that a relative path is resolved against.
    init?(_ text: String, base: BaseDirectory) {
        if text.hasPrefix("env:"), text.dropFirst(4).isCIdentifier {
            self = .environment(String(text.dropFirst(4)))
        } else if text.hasPrefix("file:"), text.utf8.count > 5 {
            self = .file(base.resolve(String(text.dropFirst(5))))
        } else {
            return nil
        }
    }

    /// Reads the secret.
    ///
    /// - Throws: `missing-variable`; `secret-unavailable` for an empty value, or for a file that is absent, unreadable, too
    ///   large, not text, or accessible to users other than its owner.
    func secret(environment: Configuration.Environment) throws(ConnectorError) -> Secret {
        switch self {
        case .environment(let name):
            guard let value = environment[name] else {
                throw ConnectorError(
                    .missingVariable,
                    "the environment variable \(name.excerpt), which contains a secret, is not set",
                    fix: "set it, or write {\"secret\": \"file:PATH\"}"
                )
            }
            guard !value.isEmpty else {
                throw ConnectorError(
                    .secretUnavailable,
                    "the environment variable \(name.excerpt), which contains a secret, is empty"
                )
            }
            return Secret(value)
        case .file(let path): return try Self.read(path, "the secret file")
        }
    }

    /// Reads a file that contains only secrets.
    ///
    /// - Parameter name: What to call the file in errors.
    static func read(_ path: String, _ name: String) throws(ConnectorError) -> Secret {
        let file: SmallFile
        do throws(ConnectorError) {
            file = try SmallFile(reading: path, limit: sizeLimit)
        } catch {
            throw ConnectorError(
                .secretUnavailable,
                error.code == .notFound
                    ? "\(name) \(path.excerpt) does not exist" : "\(name): \(error.message)",
                fix: error.code == .notFound ? "write the secret to that file, and chmod 600 it" : error.fix,
                cause: error.cause
            )
        }
        guard file.permissions & 0o077 == 0 else {
            let mode = String(file.permissions & 0o777, radix: 8)
            throw ConnectorError(
                .secretUnavailable,
                "users other than the owner have access to \(name) \(path.excerpt) (mode \(mode))",
                fix: "chmod 600 \(path.excerpt)"
            )
        }
        var bytes = file.bytes[...]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else {
            throw ConnectorError(.secretUnavailable, "\(name) \(path.excerpt) is empty")
        }
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw ConnectorError(.secretUnavailable, "\(name) \(path.excerpt) is not UTF-8 text")
        }
        return Secret(text)
    }
}

extension Secret {
    /// Reads a secret by the reference in a command line, `env:NAME` or `file:PATH`.
    ///
    /// - Throws: `invalid-value` for any other text; `missing-variable` or `secret-unavailable`.
    package init(reference: String, environment: Configuration.Environment) throws(ConnectorError) {
        guard let reference = SecretReference(reference, base: BaseDirectory(".")) else {
            throw ConnectorError(
                .invalidValue,
                "a secret must be given as env:NAME or file:PATH, so that no command line contains it",
                fix: "write it to a file, chmod 600 the file, and pass file:PATH"
            )
        }
        self = try reference.secret(environment: environment)
    }
}
