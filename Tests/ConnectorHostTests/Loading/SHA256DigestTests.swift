// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorDigest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Known answers: the examples of FIPS 180-4, published by NIST.
@Suite struct SHA256DigestTests {
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ]
    )
    func `a text hashes to the digest that the standard gives`(_ text: String, _ expected: String) {
        #expect(SHA256Digest(of: text).description == expected)
    }

    @Test func `other bytes have another digest, the same bytes the same`() {
        #expect(SHA256Digest(of: "abc") == SHA256Digest(of: "abc"))
        #expect(SHA256Digest(of: "abc") != SHA256Digest(of: "abd"))
    }
}
