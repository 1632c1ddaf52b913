// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A log of the calls that a check and the plugin make, one line each, in a file so that it outlives a crash of the process.
struct RuleTrace: Sendable {
    /// The file's descriptor, which stays open; negative for none.
    private let descriptor: Int32

    /// A trace that keeps nothing.
    static let none = RuleTrace(descriptor: -1)

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Creates a trace that appends to a file; it keeps nothing if the file cannot be opened.
    init(file: String) {
        descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    }

    /// Appends a line, in one system call.
    func add(_ line: @autoclosure () -> String) {
        guard descriptor >= 0 else { return }
        try? OutputFile.write(Array((line() + "\n").utf8), to: descriptor)
    }
}
