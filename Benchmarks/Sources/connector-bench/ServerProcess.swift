// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A server in a process of its own, which says in one line where it listens.
///
/// It ends with this process, however that ends. Sendable: its stream is used by ``close()`` alone, once.
@safe struct ServerProcess: Sendable {
    private nonisolated(unsafe) let stream: UnsafeMutablePointer<FILE>
    /// What it said.
    let line: String

    /// Starts a server, and waits until it listens.
    ///
    /// - Parameter command: As a shell takes it.
    init(_ command: String) throws {
        guard let stream = unsafe popen("exec \(command)", "r") else { throw Failure("\(command) does not start") }
        unsafe self.stream = stream
        var line = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&line, 256, stream) != nil else { throw Failure("\(command) names no port") }
        self.line = String(decoding: line.prefix { $0 > 32 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The port, if the server's line is only that.
    func port() throws -> Int {
        guard let port = Int(line) else { throw Failure("\(line) is no port") }
        return port
    }

    /// Ends it.
    ///
    /// - Returns: Whether it ended well.
    @discardableResult
    func close() -> Bool { unsafe pclose(stream) == 0 }
}
