// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
    // The compiler may take `stat` from this module.
    import SwiftOverlayShims
#else
    import Darwin
#endif

/// The program `connector-runner`, held open so that it can be started again whatever happens to its path.
package final class RunnerProgram: Sendable {
    /// The path that it was opened by.
    package let path: String
    /// The program's file, open for reading.
    let file: OwnedDescriptor
    /// Its size and when its content changed last, as they were when it was opened. To replace or remove a file changes neither.
    private let content: [Int]?

    /// The environment variable that names the program.
    package static let variable = "CONNECTOR_RUNNER"
    private static let name = "connector-runner"

    /// Opens a program.
    ///
    /// - Throws: `unavailable` if the file cannot be opened.
    package init(path: String) throws(ConnectorError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        self.path = path
        file = OwnedDescriptor(descriptor)
        content = Self.content(of: descriptor)
    }

    private static func content(of descriptor: Int32) -> [Int]? {
        FileIdentity(descriptor: descriptor).map { [$0.size, $0.modified] }
    }

    /// Checks that nobody has written into the program since it was opened: it would run with the rights of the host.
    ///
    /// - Throws: `unavailable` if somebody has.
    func checkUnchanged() throws(ConnectorError) {
        guard Self.content(of: file.number) != content else { return }
        throw ConnectorError(
            .unavailable,
            "\(path) has been overwritten since the host opened it",
            fix: "start the host again; to install a program, write another file and rename it",
            isRetryable: true
        )
    }

    /// Finds and opens the program: at the given path, by the environment, beside this program, in `libexec`, or in `PATH`.
    ///
    /// - Parameters:
    ///   - path: The path that the application names; nil if it names none.
    ///   - environment: Reads a variable.
    ///   - directory: The directory of this program.
    /// - Throws: `not-found`, with every place that was searched.
    package static func find(
        path: String?,
        environment: (String) -> String?,
        directory: String?
    ) throws(ConnectorError) -> RunnerProgram {
        if let path { return try existing(path, "the option \"runner\"") }
        if let path = environment(variable), !path.isEmpty { return try existing(path, "the variable \(variable)") }
        var places: [String] = []
        if let directory {
            places = [
                "\(directory)/\(name)", "\(directory)/../libexec/\(name)",
                "\(directory)/../libexec/connector-host/\(name)",
            ]
        }
        for folder in (environment("PATH") ?? "").split(separator: ":") where folder.hasPrefix("/") {
            places.append("\(folder)/\(name)")
        }
        if let found = places.first(where: isProgram) { return try RunnerProgram(path: found) }
        throw ConnectorError(
            .notFound,
            "there is no \(name), which connectors with \"isolation\": \"process\" run in",
            fix: "install it beside the program, or name it in the variable \(variable)",
            cause: "searched: \(places.joined(separator: ", "))"
        )
    }

    private static func existing(_ path: String, _ source: String) throws(ConnectorError) -> RunnerProgram {
        guard isProgram(path) else {
            throw ConnectorError(
                .notFound,
                "\(source) names \(path), which is not a program",
                fix: "name the file \(name)"
            )
        }
        return try RunnerProgram(path: path)
    }

    /// Why a program does not start, according to the system's error number.
    static func failure(_ path: String, _ number: Int32) -> ConnectorError {
        if number == ETIMEDOUT {
            return ConnectorError(
                .timedOut,
                "\(path) does not start",
                fix: "check that it is connector-runner, and that the machine is not overloaded",
                isRetryable: true
            )
        }
        let fix =
            switch number {
            case ENOSYS: "write \"isolation\": \"none\": only Linux has runners"
            case EMFILE, ENFILE: "raise the limit of open files (ulimit -n, LimitNOFILE)"
            case EAGAIN, ENOMEM: "raise the limits of processes and memory (ulimit -u, TasksMax)"
            default: "check that it is connector-runner, and may be executed"
            }
        return ConnectorError(
            number == ENOSYS ? .unsupported : .unavailable,
            "\(path) cannot be started",
            fix: fix,
            cause: SystemError(number).description,
            isRetryable: number != ENOSYS
        )
    }

    /// Why there is nothing that a runner could read as its input, according to the system's error number.
    static func noInput(_ number: Int32) -> ConnectorError {
        ConnectorError(
            .unavailable,
            "no runner can be started: /dev/null cannot be opened",
            fix: "make /dev/null a device that everybody may read and write",
            cause: SystemError(number).description,
            isRetryable: true
        )
    }

    private static func isProgram(_ path: String) -> Bool {
        var state = stat()
        guard unsafe stat(path, &state) == 0, state.st_mode & S_IFMT == S_IFREG else { return false }
        return unsafe access(path, X_OK) == 0
    }

    /// The directory of the program that this process runs; nil if the system does not report it.
    package static var ownDirectory: String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let path = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }
}
