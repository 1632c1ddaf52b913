// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorLoading
@testable import ConnectorManifest

/// Damaged manifests and sidecars are problems with a reason; reading them ends, and never traps.
@Suite(.timeLimit(.minutes(30))) struct ManifestMutationTests {
    private static let original = """
        {"manifest": 1, "id": "mutant", "version": "1.2.3", "abi": [1, 1], "entry": "fixture_entry", "language": "c",
         "documentation": "A plugin", "thread": "serial", "services": {"required": ["log/1"], "optional": ["http/1"]},
         "egress": ["https://example.com", "{config:endpoint}"],
         "configuration": {"endpoint": {"type": "url", "required": true}, "key": {"type": "string", "secret": true}},
         "capabilities": {"geocoder/1": {}, "own/2": {"add": {"symbol": "own_add", "signature": "(a: i32, b: i32) -> i32"}}}}
        """

    /// Texts that JSON and signatures give a meaning to.
    private static let fragments = [
        "{", "}", "[", "]", "\"", ",", ":", "null", "1e999", "-1", "99999999999999999999", "\\u0000", "\\ud800",
        "\u{FF}", "{}", "[[[[",
        "true", "\"\"", "(a: i32)", "(a: json?) async -> json", "\"id\": 1,", "1.2.3-", "capabilities", "\u{202E}",
        "\r",
    ].map { Array($0.utf8) }

    private static func mutant(using random: inout SeededGenerator) -> [UInt8] {
        var text = Array(original.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) where !text.isEmpty {
            let place = Int.random(in: 0..<text.count, using: &random)
            let end = min(text.count, place + Int.random(in: 1...24, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: text[place] = .random(in: 0...255, using: &random)
            case 1: text.removeSubrange(place..<end)
            case 2: text.insert(contentsOf: text[place..<end], at: Int.random(in: 0...text.count, using: &random))
            case 3:
                let fragment = fragments[Int.random(in: 0..<fragments.count, using: &random)]
                let count = [1, 1, 1, 300][Int.random(in: 0..<4, using: &random)]
                text.insert(contentsOf: (0..<count).flatMap { _ in fragment }, at: place)
            case 4: text.removeLast(text.count - place)
            default:
                text.replaceSubrange(place..<end, with: fragments[Int.random(in: 0..<fragments.count, using: &random)])
            }
        }
        return text
    }

    @Test func `a damaged manifest either has problems or can be read`() {
        var random = SeededGenerator(seed: fuzzSeed)
        for _ in 0..<(fuzzRounds * 20) {
            let text = Self.mutant(using: &random)
            let (manifest, problems) = Manifest.read(text, file: "mutant.connector.json")
            #expect(manifest != nil || !problems.isEmpty, "seed \(fuzzSeed): \(String(decoding: text, as: UTF8.self))")
            if problems.isEmpty, let manifest { #expect(!manifest.id.isEmpty) }
        }
    }

    @Test func `a damaged sidecar is an entry with its reason, and is inspected`() throws {
        var random = SeededGenerator(seed: fuzzSeed &+ 1)
        try Fixtures.withDirectory { directory in
            try Fixtures.write(Fixtures.bytes(Fixtures.broken("no-manifest")), to: "\(directory)/libmutant.so")
            for _ in 0..<fuzzRounds {
                let sidecar = "\(directory)/mutant.connector.json"
                try Fixtures.write(Self.mutant(using: &random), to: sidecar)
                let entry = PluginCatalog.entry(path: sidecar)
                #expect((entry.candidate == nil) == (entry.error != nil))
                let inspection = PluginInspection(path: sidecar)
                #expect(entry.candidate != nil || !inspection.problems.isEmpty)
                _ = inspection.json.serialized(pretty: true)
            }
        }
    }
}
