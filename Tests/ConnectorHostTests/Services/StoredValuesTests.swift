// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The form of stored values in a file, and the names of files.
@Suite struct StoredValuesTests {
    private var sample: StoredValues {
        get throws {
            var values = StoredValues()
            try values.set(Array("cursor".utf8), to: [1, 2, 3])
            try values.set(Array("empty".utf8), to: [])
            try values.set([0xC3, 0xA9], to: [UInt8](repeating: 9, count: 300))
            return values
        }
    }

    @Test func `what is written is read back`() throws {
        #expect(try StoredValues(decoding: sample.encoded) == sample)
        #expect(try StoredValues(decoding: StoredValues().encoded) == StoredValues())
    }

    @Test func `every truncation and every changed byte is detected`() throws {
        let bytes = try sample.encoded
        for end in bytes.indices {
            #expect(throws: StoredValues.Fault.self) { try StoredValues(decoding: Array(bytes[..<end])) }
        }
        for index in bytes.indices {
            var broken = bytes
            broken[index] ^= 1
            #expect(throws: StoredValues.Fault.self) { try StoredValues(decoding: broken) }
        }
    }

    @Test(arguments: [
        ("analytics/segment", "analytics%2Fsegment.storage"), ("a", "a.storage"), ("..", "%2E%2E.storage"),
        ("A b", "%41%20b.storage"), ("é", "%C3%A9.storage"),
    ])
    func `a path becomes a file's name`(path: String, name: String) {
        #expect(StateDirectory.fileName(for: path) == name)
    }

    @Test func `long paths get file names that fit and differ`() {
        let first = StateDirectory.fileName(for: String(repeating: "a/", count: 1000) + "b")
        let second = StateDirectory.fileName(for: String(repeating: "a/", count: 1000) + "c")
        #expect(first != second)
        #expect(first.utf8.count < 200)
    }

    @Test func `the default directory follows the XDG specification`() {
        #expect(StateDirectory.usual { ["XDG_STATE_HOME": "/x", "HOME": "/h"][$0] } == "/x/connector-host")
        #expect(
            StateDirectory.usual { ["XDG_STATE_HOME": "x", "HOME": "/h"][$0] } == "/h/.local/state/connector-host"
        )
        #expect(StateDirectory.usual { ["HOME": ""][$0] } == nil)
    }
}
