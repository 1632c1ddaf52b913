// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The built `connector-host`, run as a child process.
struct Program: Sendable {
    /// The working directory of the child.
    var directory: String
    /// The program's file.
    var file = Self.path
    /// The child's whole environment; no color, English in UTF-8, a home directory of the test's own, unless a test says otherwise.
    var environment = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]

    /// The file that is the child's standard input.
    var input = "/dev/null"
    /// Whether standard output is a terminal.
    var isOnTerminal = false
    /// Whether standard output is a pipe that holds 4 KiB and does not block its writer.
    var isNonblocking = false
    /// Whether standard error is a pipe that is full until somebody reads it.
    var isErrorFull = false
    /// Kept while the child may run.
    let workspace: Workspace?

    /// What a run left behind.
    struct Result: Sendable {
        /// Standard output.
        var output: String
        /// Standard error.
        var error: String
        /// The exit status; 128 and the signal if the child was killed by one.
        var status: Int32

        /// The lines of standard output.
        var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
    }

    /// Where the test's own program was built, and everything else with it.
    static let buildDirectory: String = {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            return unsafe readlink("/proc/self/exe", start.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        let path = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }()

    /// Where the program is, beside the images of all adapters.
    static let path = "\(buildDirectory)/connector-host"

    /// The program and its runner in a folder of their own.
    private static let pathAlone: String = {
        let directory = "\(buildDirectory)/bin"
        shell("mkdir -p '\(directory)' && ln -f '\(path)' '\(buildDirectory)/connector-runner' '\(directory)/'")
        return "\(directory)/connector-host"
    }()

    /// The same without the adapters beside it: `plugins` examines every image there, which takes seconds.
    var alone: Program {
        var program = self
        program.file = Self.pathAlone
        return program
    }

    /// The program in a directory.
    ///
    /// - Parameter workspace: The directory's owner; nil for a directory that is not a test's own.
    init(directory: String, workspace: Workspace? = nil) {
        self.directory = directory
        self.workspace = workspace ?? (try? Workspace())
        environment["HOME"] = self.workspace?.home
    }

    /// Runs the program to its end.
    func run(_ arguments: String...) async throws -> Result {
        try await start(arguments).finish()
    }

    /// Starts the program, for tests that talk to it while it runs.
    func start(_ arguments: [String]) throws -> Child {
        try Child(start: file, arguments, self)
    }
}

extension Program {
    /// Whether tests may mount file systems.
    static let mayMount = geteuid() == 0 && shell("unshare -m true 2> /dev/null") == 0

    /// Starts a shell with mounts of its own, in which `$0` is the program.
    func startMounting(_ script: String) throws -> Child {
        try Child(start: "/usr/bin/unshare", ["-m", "sh", "-c", script, Self.path], self)
    }
}
