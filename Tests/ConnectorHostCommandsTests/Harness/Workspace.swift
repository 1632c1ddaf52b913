// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A directory of a test's own, in which the program runs; removed with the value.
final class Workspace: Sendable {
    /// Where it is.
    let path: String
    /// The home directory of the programs that run in it. It is elsewhere, because tests look at all that is in the directory.
    let home: String

    /// The directory could not be made.
    struct Failure: Error {}

    init() throws {
        path = try Self.make("/tmp/connector-host-tests-XXXXXX")
        home = try Self.make("/tmp/connector-host-home-XXXXXX")
    }

    deinit {
        shell("rm -rf '\(path)' '\(home)'")
    }

    private static func make(_ name: String) throws -> String {
        var template = Array(name.utf8CString)
        guard let path = unsafe mkdtemp(&template) else { throw Failure() }
        return unsafe String(cString: path)
    }

    /// Writes a file in one step, as programs may read it meanwhile, and the directories above it.
    func write(_ text: String, to name: String) throws {
        let file = "\(path)/\(name)"
        let new = "\(file).new"
        shell("mkdir -p \"$(dirname '\(file)')\"")
        let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure() }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count, unsafe rename(new, file) == 0
        else { throw Failure() }
    }

    /// Writes `connectors.json` with some connectors in it.
    func configure(_ connectors: JSONValue, plugins: [String] = []) throws {
        let file: JSONValue = [
            "version": 1, "plugins": .array(plugins.map(JSONValue.string)), "connectors": connectors,
        ]
        try write(file.serialized(pretty: true), to: "connectors.json")
    }

    /// The program, to be run in this directory.
    var program: Program { Program(directory: path, workspace: self) }
}

/// Whether a process has ended, even if nobody has reaped it yet.
func hasEnded(_ process: String) -> Bool {
    shell("kill -0 \(process) 2> /dev/null && ! grep -q ') Z ' /proc/\(process)/stat 2> /dev/null") != 0
}

/// Runs a command of the shell; its exit status.
@discardableResult
func shell(_ command: String) -> Int32 {
    let status = unsafe system(command)
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
}
