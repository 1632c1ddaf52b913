// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import ConnectorTestSupport
import Testing

@Suite struct ConfigurationFuzzTests {
    @Test(arguments: 0..<12 as Range<UInt64>)
    func `no text traps the reading of a configuration, and every fault has a place`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let environment = Configuration.Environment(["SEGMENT_WRITE_KEY": "sk-1234", "POSTHOG_KEY": "phc-99"])
        let text = Array(exampleText.utf8)
        for _ in 0..<150 {
            let mutated = random.mutate(text)
            let lines = mutated.count { $0 == UInt8(ascii: "\n") } + 1
            let (configuration, problems, _) = Configuration.examine(
                mutated,
                file: "c",
                base: BaseDirectory("."),
                environment: environment
            )
            var all = problems
            do throws(ConfigurationErrors) {
                _ = try configuration?.resolved(environment: environment, manifest: manifest(of:))
                    .pointing { _, _ in .local }
            } catch {
                #expect(!error.errors.isEmpty)
                all += error.errors
            }
            #expect(all.allSatisfy { (1...lines).contains($0.position?.line ?? 0) })
            #expect(configuration != nil || !problems.isEmpty)
        }
    }
}

extension SeededGenerator {
    /// A text with some parts dropped, doubled, or swapped for others of the same text.
    fileprivate mutating func mutate(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            let from = Int.random(in: 0..<text.count, using: &self)
            let to = Int.random(in: 0..<text.count, using: &self)
            let length = Int.random(in: 1...12, using: &self)
            let part = Array(text[from..<min(text.count, from + length)])
            switch Int.random(in: 0..<4, using: &self) {
            case 0: text.removeSubrange(from..<min(text.count - 1, from + length))
            case 1: text.insert(contentsOf: part, at: to)
            case 2: text.replaceSubrange(to..<min(text.count, to + part.count), with: part)
            default: text[to] = Array("{}[],:\"/.$-0a é".utf8).randomElement(using: &self) ?? 0x20
            }
        }
        return text
    }
}
