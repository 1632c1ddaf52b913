// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The plugins of `Tests/Fixtures`, built by their Makefile when a test first asks for one.
package enum Fixtures {
    private static let build: String = {
        let tests = #filePath.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" }
        let status = unsafe system("flock '\(tests)/Fixtures/.lock' make -s -C '\(tests)/Fixtures'")
        precondition(status == 0, "the fixtures cannot be built")
        return "\(tests)/Fixtures/build"
    }()

    /// A plugin that keeps the rules.
    package static func good(_ name: String) -> String { "\(build)/plugins/lib\(name).so" }

    /// A program.
    package static func tool(_ name: String) -> String { "\(build)/tools/\(name)" }

    /// A plugin that does what a test tells it to.
    package static func contract(_ name: String) -> String { "\(build)/contract/lib\(name).so" }
}
