// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite struct NearbyPathTests {
    /// Runs a body with a directory that has `plugins/libhello.so` and `connectors.json`.
    private func withFiles(_ body: (_ directory: String) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            try #require(unsafe mkdir("\(directory.path)/plugins", 0o700) == 0)
            try directory.write("plugins/libhello.so", "")
            try directory.write("connectors.json", "")
            defer {
                unsafe unlink("\(directory.path)/plugins/libhello.so")
                unsafe rmdir("\(directory.path)/plugins")
            }
            try body(directory.path)
        }
    }

    @Test(arguments: [
        ("plugins/libhelo.so", "plugins/libhello.so"), ("plugin/libhello.so", "plugins/libhello.so"),
        ("./conectors.json", "./connectors.json"),
    ])
    func `the path that differs by one misspelt name is meant`(path: String, expected: String) throws {
        try withFiles { directory in
            #expect(NearbyPath.meant(by: "\(directory)/\(path)") == "\(directory)/\(expected)")
        }
    }

    @Test(arguments: [
        "connectors.json", "plugins/libhello.json", "plugins/libother.so", "plugin/libhelo.so", "a.json", "none/a/b",
        "",
    ])
    func `a path that exists, or that nothing resembles, is to be checked`(path: String) throws {
        try withFiles { directory in
            #expect(NearbyPath.meant(by: "\(directory)/\(path)") == nil)
            #expect(NearbyPath.remedy(for: "\(directory)/\(path)") == "check the path")
        }
    }
}
