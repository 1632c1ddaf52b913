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
        func usual(_ variables: [String: String]) -> String? {
            StateDirectory.usual { name in variables[name].map { SystemText(Array($0.utf8)) } }
        }
        #expect(usual(["XDG_STATE_HOME": "/x", "HOME": "/h"]) == "/x/connector-host")
        #expect(usual(["XDG_STATE_HOME": "x", "HOME": "/h"]) == "/h/.local/state/connector-host")
        #expect(usual(["HOME": ""]) == nil)
    }

    @Test func `no other directory takes the place of one whose path is not UTF-8`() {
        let damaged = SystemText(Array("/st".utf8) + [0xFF])
        #expect(damaged.text == nil && damaged.shown == "/st\\xff")
        #expect(StateDirectory.usual { $0 == "XDG_STATE_HOME" ? damaged : SystemText(Array("/h".utf8)) } == nil)
        #expect(StateDirectory.usual { $0 == "HOME" ? damaged : nil } == nil)
        #expect(
            StateDirectory.usual { $0 == "HOME" ? damaged : SystemText(Array("/x".utf8)) } == "/x/connector-host"
        )
    }

    @Test(
        arguments: [
            ([], "", true), ([0x61, 0xC3, 0xA4], "aä", true), ([0xEF, 0xBF, 0xBD], "\u{FFFD}", true),
            ([0xFF, 0x61, 0xC3], "\\xffa\\xc3", false), ([0xC3, 0xA4, 0xED, 0xA0, 0x80], "ä\\xed\\xa0\\x80", false),
            ([0xF0, 0x9F, 0x98, 0x80, 0xF0, 0x9F], "😀\\xf0\\x9f", false),
        ] as [([UInt8], String, Bool)]
    )
    func `bytes of the system are a text only if they are UTF-8, and shown in any case`(
        _ bytes: [UInt8],
        _ shown: String,
        _ isText: Bool
    ) {
        let text = SystemText(bytes)
        #expect(text.shown == shown && text.text == (isText ? shown : nil))
        let terminated = bytes.map { CChar(bitPattern: $0) } + [0]
        #expect(unsafe SystemText(cString: terminated) == text)
    }
}
