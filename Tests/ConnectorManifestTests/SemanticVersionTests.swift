// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@Suite struct SemanticVersionTests {
    @Test(arguments: ["0.0.0", "1.2.3", "4294967295.0.1", "1.0.0-alpha", "1.0.0-0.3.7", "1.0.0-x-y.7z", "1.0.0--"])
    func `a version survives a round trip`(text: String) {
        #expect(SemanticVersion(text)?.description == text)
    }

    @Test(arguments: [
        "", "1", "1.2", "1.2.3.4", "v1.2.3", "1.2.x", "01.2.3", "1.02.3", "1..3", "-1.2.3", "+1.2.3", "1.2.3-",
        "1.2.3-a..b",
        "1.2.3-a_b", "1.2.3-01", "1.2.3-ä", "1.2.3+build", " 1.2.3", "1.2.3 ", "4294967296.0.0", "1.2.٣",
    ])
    func `anything else is not a version`(text: String) {
        #expect(SemanticVersion(text) == nil)
    }

    @Test func `precedence follows the standard`() throws {
        let texts = [
            "0.9.9", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
            "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0-a", "2.0.0",
        ]
        let versions = try texts.map { try #require(SemanticVersion($0)) }
        #expect(versions.shuffled().sorted() == versions)
        for (index, version) in versions.enumerated() {
            #expect(versions.enumerated().allSatisfy { (version < $1) == (index < $0) })
        }
        #expect(SemanticVersion(1, 2, 3) == SemanticVersion("1.2.3"))
    }
}
