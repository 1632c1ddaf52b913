// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The plugins of `Tests/Fixtures`, built by their Makefile when a test first asks for one.
enum FixturePlugins {
    /// Where the project is.
    static let root = #filePath.split(separator: "/").dropLast(4).reduce(into: "") { $0 += "/\($1)" }

    /// Where the images are.
    static let build: String = {
        let sources = "\(root)/Tests/Fixtures"
        let lock = unsafe open("\(sources)/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        flock(lock, LOCK_EX)
        if shell("make -s -C '\(sources)'") != 0 { Issue.record("the fixtures cannot be built") }
        return "\(sources)/build"
    }()

    /// A plugin that keeps the rules.
    static func good(_ name: String) -> String { "\(build)/plugins/lib\(name).so" }

    /// A plugin that does not load.
    static func broken(_ name: String) -> String { "\(build)/broken/lib\(name).so" }

    /// A plugin that does what a test tells it to.
    static func contract(_ name: String) -> String { "\(build)/contract/lib\(name).so" }

    /// A program that tests run.
    static func tool(_ name: String) -> String { "\(build)/tools/\(name)" }

    /// A plugin that loads, and breaks a rule when it runs.
    static func misbehaving(_ name: String) -> String { "\(build)/misbehaving/lib\(name).so" }
}

/// A file of the project as text.
func readFile(_ name: String) throws -> String { try readFile(at: "\(FixturePlugins.root)/\(name)") }

/// A file as text.
func readFile(at path: String) throws -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0, "there is no \(path)")
    defer { close(descriptor) }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
        count = max(0, unsafe read(descriptor, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
}
