// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorLoading
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the package builds beside the tests' program.
enum BuiltProducts {
    /// The image of one of the package's own plugins.
    static func library(_ name: String) throws -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        try #require(count > 0 && count < buffer.count)
        let program = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(program.parentPath)/lib\(name).so"
    }
}
