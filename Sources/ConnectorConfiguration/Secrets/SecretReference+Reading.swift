// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform
package import ConnectorServices

/// A secret as it was read, and when it last changed.
struct SecretReading: Sendable, Hashable {
    /// The value.
    var secret: Secret
    /// When its file was modified; nil for a value without a file.
    var modified: Timestamp?
}

extension SecretReference {
    /// Whether it reads a file, and that is there, although perhaps it cannot be read.
    func isPresent(environment: Configuration.Environment) -> Bool {
        guard let file = file(environment: environment) else { return false }
        do throws(ConnectorError) {
            _ = try SmallFile(reading: file, limit: Self.sizeLimit)
            return true
        } catch {
            return error.code != .notFound
        }
    }

    /// Reads the secret.
    ///
    /// Cancelling the task kills a command that prints the secret.
    ///
    /// - Throws: `missing-variable`; `secret-unavailable` for an empty value; for a file that is absent, unreadable, too
    ///   large, not text, or accessible to users other than its owner; and for a command that fails; `cancelled`.
    func secret(environment: Configuration.Environment) throws(ConnectorError) -> Secret {
        try reading(environment: environment).secret
    }

    /// Reads the secret, with the time of its last change.
    func reading(environment: Configuration.Environment) throws(ConnectorError) -> SecretReading {
        switch self {
        case .environment(let name):
            guard let value = environment[name] else {
                throw ConnectorError(
                    .missingVariable,
                    "the environment variable \(name.excerpt), which contains a secret, is not set",
                    fix: "set it, or write {\"secret\": \"file:PATH\"}"
                )
            }
            let label = "the environment variable \(name.excerpt), which contains a secret,"
            let fix = "set it to the secret, as UTF-8 text"
            guard !value.isEmpty else { throw ConnectorError(.secretUnavailable, "\(label) is empty", fix: fix) }
            guard !environment.isDamaged(name) else {
                throw ConnectorError(.secretUnavailable, "\(label) is not UTF-8 text", fix: fix)
            }
            return SecretReading(secret: try Self.secret(of: value, label))
        case .file(let path): return try Self.reading(path, "the secret file")
        case .credential(let name):
            guard let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") else {
                throw ConnectorError(
                    .secretUnavailable,
                    "there is no credential \(name.excerpt): the variable CREDENTIALS_DIRECTORY is not set",
                    fix: "start the application as a service of systemd with LoadCredential=\(name.excerpt):PATH"
                )
            }
            guard !environment.isDamaged("CREDENTIALS_DIRECTORY") else {
                throw ConnectorError(
                    .secretUnavailable,
                    "there is no credential \(name.excerpt): the variable CREDENTIALS_DIRECTORY is not UTF-8 text",
                    fix: "rename the directory"
                )
            }
            // systemd lets the service's user read them by an access list, which shows as permissions of the group.
            return try Self.reading(
                "\(directory)/\(name)",
                "the credential",
                source: "the file that LoadCredential=\(name.excerpt):PATH names",
                forbidden: 0o007
            )
        case .command(let words, let timeout, let base):
            return try SecretReading(secret: Self.output(of: words, timeout, in: base, environment))
        }
    }

    /// Reads a file that contains only secrets.
    ///
    /// - Parameter name: What to call the file in errors.
    static func read(_ path: String, _ name: String) throws(ConnectorError) -> Secret {
        try reading(path, name).secret
    }

    /// - Parameter source: Where to write the secret; nil for the file itself.
    private static func reading(
        _ path: String,
        _ name: String,
        source: String? = nil,
        forbidden: UInt32 = 0o077
    ) throws(ConnectorError) -> SecretReading {
        let file: SmallFile
        do throws(ConnectorError) {
            file = try SmallFile(reading: path, limit: sizeLimit)
        } catch {
            throw ConnectorError(
                .secretUnavailable,
                error.code == .notFound
                    ? "\(name) \(path.withGivenPaths.excerpt) does not exist" : "\(name) \(error.message)",
                fix: error.code == .notFound
                    ? "write the secret to \(source ?? "that file, and chmod 600 it")" : error.fix,
                cause: error.cause
            )
        }
        guard file.permissions & forbidden == 0 else {
            let mode = String(file.permissions & 0o777, radix: 8)
            throw ConnectorError(
                .secretUnavailable,
                "users other than the owner have access to \(name) \(path.withGivenPaths.excerpt) (mode \(mode))",
                fix: "chmod 600 \(path.withGivenPaths.excerpt)"
            )
        }
        let fix = "write the secret to \(source ?? "that file"), as UTF-8 text"
        let secret = try Self.secret(in: file.bytes, "\(name) \(path.withGivenPaths.excerpt)", fix: fix)
        return SecretReading(secret: secret, modified: file.modified)
    }

    /// The secret in a file's or a command's bytes: their text without the last line break.
    ///
    /// - Parameter fix: What to do about bytes that are no secret.
    private static func secret(in bytes: [UInt8], _ name: String, fix: String) throws(ConnectorError) -> Secret {
        var bytes = bytes[...]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw ConnectorError(.secretUnavailable, "\(name) is empty", fix: fix) }
        guard !bytes.contains(0) else {
            throw ConnectorError(
                .secretUnavailable,
                "\(name) contains a NUL byte, as UTF-16 and binary data do",
                fix: fix
            )
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConnectorError(.secretUnavailable, "\(name) is not UTF-8 text", fix: fix)
        }
        return try secret(of: text, name)
    }

    /// A text as a secret, unless it begins with a mark that no editor shows and no vendor accepts.
    private static func secret(of text: String, _ name: String) throws(ConnectorError) -> Secret {
        guard text.unicodeScalars.first != "\u{FEFF}" else {
            throw ConnectorError(
                .secretUnavailable,
                "\(name) begins with a byte order mark, which would be part of the secret",
                fix: "write it again as UTF-8 without the mark"
            )
        }
        return Secret(text)
    }

    // MARK: Commands

    /// The variables of this process that a command gets: who runs it, and where its files are.
    private static let passedVariables = ["HOME", "LOGNAME", "USER", "LANG", "XDG_RUNTIME_DIR", "GNUPGHOME"]

    private static func output(
        of words: [String],
        _ timeout: Duration,
        in base: BaseDirectory,
        _ environment: Configuration.Environment
    ) throws(ConnectorError) -> Secret {
        var variables = ProcessEnvironment()
        variables["PATH"] = environment.systemText("PATH") ?? SystemText("/usr/local/bin:/usr/bin:/bin")
        for name in passedVariables { variables[name] = environment.systemText(name) }
        let command = ChildCommand(
            words,
            environment: variables,
            directory: base.path,
            timeout: timeout,
            limit: sizeLimit
        )
        let name = "the command \(words.first?.excerpt ?? "")"
        let bytes: [UInt8]
        do throws(ChildCommand.Failure) {
            bytes = try command.output(unless: { Task.isCancelled })
        } catch {
            guard !Task.isCancelled else {
                throw ConnectorError(.cancelled, "\(name), which prints a secret, was cancelled")
            }
            // Neither output nor arguments are shown: they may contain secrets.
            let (message, fix): (String, String) =
                switch error {
                case .notStarted(let number):
                    (
                        "cannot be started in the directory \(base.given.excerpt): \(SystemError(number).text)",
                        "install it, or write its path; the directory of the file that names it must exist, too"
                    )
                case .status(let status): ("ended with status \(status)", "run it in a shell to see why")
                case .signal(let signal): ("was ended by signal \(signal)", "run it in a shell to see why")
                case .unknownEnd: ("ended, but its status is not known", ChildProcess.unknownEndRemedy)
                case .overdue:
                    (
                        "did not end within \(timeout.brief)",
                        "it must not ask for anything; else increase its \"timeout\""
                    )
                case .tooLong:
                    ("wrote more than \(sizeLimit >> 10) KiB", "it must write the secret and nothing else")
                }
            throw ConnectorError(.secretUnavailable, "\(name), which prints a secret, \(message)", fix: fix)
        }
        return try secret(
            in: bytes,
            "the output of \(name)",
            fix: "it must write the secret, as UTF-8 text, and nothing else"
        )
    }
}

extension Secret {
    /// Reads a secret by the reference in a command line, such as `env:NAME` or `file:PATH`.
    ///
    /// - Throws: `invalid-value` for any other text; `missing-variable` or `secret-unavailable`.
    package init(reference: String, environment: Configuration.Environment) throws(ConnectorError) {
        guard let reference = SecretReference(reference, base: BaseDirectory(".")) else {
            throw ConnectorError(
                .invalidValue,
                "a secret must be given as env:NAME, file:PATH or credential:NAME, so that no command line contains it",
                fix: "write it to a file, chmod 600 the file, and pass file:PATH"
            )
        }
        self = try reference.secret(environment: environment)
    }
}
