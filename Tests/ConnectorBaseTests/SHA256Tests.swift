// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorDigest
import Testing

/// SHA-256, by the examples that NIST gives with FIPS 180-4.
@Suite struct SHA256Tests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `a digest matches the standard's, whether fed in one piece or many`(_ text: String, _ digest: String) {
        var whole = SHA256()
        whole.update(Array(text.utf8))
        #expect(whole.hexadecimal == digest)
        var pieces = SHA256()
        for byte in text.utf8 { pieces.update([byte]) }
        #expect(pieces.hexadecimal == digest)
    }

    @Test func `a copy continues independently`() {
        var first = SHA256()
        first.update(Array("ab".utf8))
        var second = first
        second.update(Array("x".utf8))
        #expect(first.hexadecimal != second.hexadecimal)
        first.update(Array("c".utf8))
        #expect(first.hexadecimal == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}
