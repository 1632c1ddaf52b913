// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The plugins of `Tests/Fixtures`, built once by their Makefile when a test first asks for one.
enum Fixtures {
    /// Where the sources are.
    static let sources = "\(#filePath.parentPath.parentPath.parentPath)/Fixtures"
    /// Where the images are; every call after the first costs nothing.
    static let build: String = {
        let lock = unsafe open("\(sources)/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        flock(lock, LOCK_EX)
        let status = run("make -s -C '\(sources)'")
        if status != 0 { Issue.record("make -C \(sources) failed with status \(status)") }
        return "\(sources)/build"
    }()

    /// Plugins that keep the rules.
    static var plugins: String { "\(build)/plugins" }
    /// Plugins that load, and break a rule when they run.
    static var misbehaving: String { "\(build)/misbehaving" }
    /// Images that do not load.
    static var broken: String { "\(build)/broken" }

    /// The image of a plugin that keeps the rules.
    static func plugin(_ name: String) -> String { "\(plugins)/lib\(name).so" }
    /// The image of a plugin that does not load.
    static func broken(_ name: String) -> String { "\(broken)/lib\(name).so" }
    /// The image of a plugin that loads, and breaks a rule when it runs.
    static func misbehaving(_ name: String) -> String { "\(misbehaving)/lib\(name).so" }
    /// The image of a plugin for the call contract.
    static func contract(_ name: String) -> String { "\(build)/contract/lib\(name).so" }

    /// Runs a command of the shell.
    ///
    /// - Returns: Its exit status; 128 and the signal if it was killed.
    @discardableResult
    static func run(_ command: String) -> Int32 {
        // What tests have preloaded for a sanitizer is not for other programs, of which some have a sanitizer of their own.
        let status = unsafe system("unset LD_PRELOAD; \(command)")
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Whether a program is in the search path.
    static func has(_ program: String) -> Bool {
        run("command -v \(program) > /dev/null 2>&1") == 0
    }

    /// A new directory below the system's temporary one, removed again after the body.
    static func withDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        return try body(directory.path)
    }

    /// The same for a body that awaits.
    static func withDirectory<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        return try await body(directory.path)
    }

    /// The bytes of a file.
    static func bytes(_ path: String) throws -> [UInt8] {
        let bytes = try ImageBytes(path: path)
        return try #require(bytes.copy(at: 0, count: bytes.count))
    }

    /// Writes a file in place, over what is there.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try unsafe bytes.withUnsafeBytes { try unsafe OutputFile.write($0, to: descriptor) }
    }

    /// Writes a file that only this user may read, as one with a secret has to be.
    static func writeSecret(_ text: String, to path: String) throws {
        try write(Array(text.utf8), to: path)
        #expect(run("chmod 600 '\(path)'") == 0)
    }

    /// A small plugin in C, compiled for a test; two of them differ in their bytes by their file name.
    static func plugin(_ id: String, _ version: String, in directory: String, as name: String) throws -> String {
        try compile(
            """
            #include "fixture.h"
            CONNECTOR_MANIFEST(\(manifest(id, version)));
            CONNECTOR_EXPORT const char *fixture_name(void) { return "\(name)"; }
            FIXTURE_PLUGIN(fixture_open)
            """,
            into: directory,
            as: name
        )
    }

    /// The shortest manifest.
    static func manifest(_ id: String, _ version: String) -> String {
        #"{"manifest": 1, "id": "\#(id)", "version": "\#(version)", "abi": [1, 1], "entry": "fixture_entry"}"#
    }

    /// Compiles a shared library.
    static func compile(_ source: String, into directory: String, as name: String, flags: String = "") throws -> String
    {
        let path = "\(directory)/lib\(name).so"
        try write(Array(source.utf8), to: "\(directory)/\(name).c")
        let include = "\(sources.parentPath.parentPath)/Sources/CConnector/include"
        try #require(
            run(
                "cc -std=c99 -fPIC -shared -fvisibility=hidden -I'\(include)' -I'\(sources)' \(flags) '\(directory)/\(name).c' -o '\(path)'"
            ) == 0
        )
        return path
    }
}
