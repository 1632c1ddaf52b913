// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Three servers of NATS in processes of their own.
///
/// They end with this process, however that ends. Sendable: its stream is used by ``close()`` alone, once.
@safe struct Cluster: Sendable {
    private nonisolated(unsafe) let stream: UnsafeMutablePointer<FILE>
    /// Where they listen.
    let url: String
    private let folder: String

    /// Whether the programs are there; says what is missing.
    static func isInstalled(files: String) -> Bool {
        let check = ["sh", "-c", "command -v nats-server && test -x \(files)/cluster"]
        let isThere = (try? ChildProcess.output(check)) != nil
        if !isThere { print("NATS is not installed: apt-get install nats-server libnats-dev") }
        return isThere
    }

    /// Starts them, with nothing stored.
    init(files: String) throws {
        folder = "\(files)/servers"
        _ = try ChildProcess.output(["rm", "-rf", folder])
        _ = try ChildProcess.output(["mkdir", folder])
        guard let stream = unsafe popen("exec '\(files)/cluster' '\(folder)'", "r") else {
            throw Failure("the servers do not start")
        }
        unsafe self.stream = stream
        var line = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&line, 256, stream) != nil else { throw Failure("the servers name no port") }
        url = String(decoding: line.prefix { $0 > 32 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Ends them, and removes what they stored.
    func close() throws {
        _ = unsafe pclose(stream)
        _ = try ChildProcess.output(["rm", "-r", folder])
    }
}
