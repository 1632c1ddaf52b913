// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

/// Places in JSON values.
@Suite struct JSONPointerTests {
    @Test(
        arguments: [
            ("", #"{"a/b":[10,{"~1":11}],"":12,"é":{"":13},"m~n":14}"#), ("/a~1b/0", "10"), ("/a~1b/1/~01", "11"),
            ("/", "12"),
            ("/é/", "13"), ("/m~0n", "14"), ("/a~1b/2", nil), ("/a~1b/01", nil), ("/a~1b/-", nil), ("/a~1b/", nil),
            ("/none/a", nil), ("/m~0n/a", nil), ("/a~1b/99999999999999999999", nil), ("/a~1b/+0", nil),
        ] as [(String, String?)]
    )
    func `a pointer leads to a value as RFC 6901 says`(_ text: String, _ expected: String?) throws {
        let json = try JSONValue(parsing: #"{"a/b":[10,{"~1":11}],"":12,"é":{"":13},"m~n":14}"#)
        let pointer = try #require(JSONPointer(text))
        #expect(pointer.value(in: json)?.serialized() == expected)
    }

    @Test(arguments: ["foo", "a/b", "/~", "/a~2", "/~~"])
    func `a malformed pointer is refused`(_ text: String) {
        #expect(JSONPointer(text) == nil)
    }
}
