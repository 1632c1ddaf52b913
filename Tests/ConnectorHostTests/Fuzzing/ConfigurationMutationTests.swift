// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import ConnectorTestSupport
import Testing

/// Configurations that nobody would write: whatever they say, the answer is short, bounded, and has positions.
@Suite struct ConfigurationMutationTests {
    private static let environment = Configuration.Environment([
        "SEGMENT_WRITE_KEY": "sk-1234", "POSTHOG_KEY": "phc-99", "BIG": String(repeating: "x", count: 100_000),
    ])

    @Test func `no mutated text traps, and every fault has a place and few words`() {
        for round in 0..<fuzzRounds {
            var random = SeededGenerator(seed: fuzzSeed &+ UInt64(round))
            check(random.mutated(Array(exampleText.utf8)))
        }
    }

    @Test func `no mutated tree traps, and every fault has a place and few words`() throws {
        let value = try JSONValue(parsing: exampleText)
        for round in 0..<fuzzRounds {
            var random = SeededGenerator(seed: fuzzSeed ^ 0xABCD &+ UInt64(round))
            var mutated = value
            for _ in 0..<Int.random(in: 1...3, using: &random) { mutated = random.mutated(mutated) }
            check(mutated.utf8())
        }
    }

    @Test func `no mutated files that include one another trap, and every fault has a place`() throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        func leaf(_ name: String, after: String) -> String {
            #"{"name": "\#(name)", "plugin": "segment", "config": {"writeKey": "k"}, "after": [\#(after)]}"#
        }
        let texts = [
            #"{"version": 1, "include": ["b", "c", "./b", "${C:-c}"], "connectors": [\#(leaf("a", after: #""b", "c""#))]}"#,
            #"{"version": 1, "include": ["c"], "connectors": [\#(leaf("b", after: #""c""#))]}"#,
            #"{"version": 1, "connectors": [\#(leaf("c", after: ""))]}"#,
        ]
        for round in 0..<fuzzRounds {
            var random = SeededGenerator(seed: fuzzSeed &+ UInt64(round))
            for (name, text) in zip(["a", "b", "c"], texts) {
                var bytes = Array(text.utf8)
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[index] = Array("{}[],:\"/.$-0abc".utf8).randomElement(using: &random) ?? 0x20
                }
                try directory.write(name, bytes)
            }
            let (configuration, problems, _) = Configuration.examine(
                file: "\(directory.path)/a",
                environment: .init([:])
            )
            var all = problems
            do throws(ConfigurationErrors) {
                _ = try configuration?.resolved(environment: .init([:]), manifest: manifest(of:))
            } catch {
                all += error.errors
            }
            #expect(configuration != nil || !problems.isEmpty)
            for error in all {
                let file = error.position?.file ?? ""
                #expect(file.hasPrefix(directory.path) && "abc".contains(file.suffix(1)), "\(error)")
            }
        }
    }

    /// Reads a text as `validate` does.
    private func check(_ text: [UInt8]) {
        let lines = text.count { $0 == UInt8(ascii: "\n") } + 1
        let (configuration, problems, omitted) = Configuration.examine(
            text,
            file: "c",
            base: BaseDirectory("."),
            environment: Self.environment
        )
        var all = problems
        do throws(ConfigurationErrors) {
            let resolved = try configuration?.resolved(environment: Self.environment, manifest: manifest(of:))
            for case .failure(let error) in (resolved?.leaves ?? [:]).values { all.append(error) }
        } catch {
            #expect(!error.errors.isEmpty)
            all += error.errors
        }
        #expect(omitted == 0 || problems.count == JSONReader.problemLimit)
        #expect(all.count <= 3 * JSONReader.problemLimit)
        for error in all {
            #expect((1...lines).contains(error.position?.line ?? 0), "\(error)")
            #expect(error.message.unicodeScalars.count <= JSONReader.lengthLimit, "\(error)")
            #expect((error.fix ?? "").unicodeScalars.count <= JSONReader.lengthLimit, "\(error)")
        }
    }
}

extension SeededGenerator {
    /// A text with some bytes changed, dropped, doubled or repeated many times.
    fileprivate mutating func mutated(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            let from = Int.random(in: 0..<text.count, using: &self)
            let part = Array(text[from..<min(text.count, from + Int.random(in: 1...40, using: &self))])
            switch Int.random(in: 0..<4, using: &self) {
            case 0: text.removeSubrange(from..<min(text.count - 1, from + part.count))
            case 1: text.insert(contentsOf: part, at: Int.random(in: 0..<text.count, using: &self))
            case 2: text.insert(contentsOf: repeatElement(part, count: 300).joined(), at: from)
            default: text[from] = UInt8.random(in: 0...255, using: &self)
            }
        }
        return text
    }

    /// A value with one value inside it replaced, repeated, renamed or made long.
    fileprivate mutating func mutated(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(var elements) where !elements.isEmpty:
            let index = Int.random(in: elements.indices, using: &self)
            if Int.random(in: 0..<6, using: &self) == 0 {
                elements += repeatElement(elements[index], count: Int.random(in: 1...400, using: &self))
            } else {
                elements[index] = mutated(elements[index])
            }
            return .array(elements)
        case .object(let object) where !object.isEmpty:
            var members = object.members
            let index = Int.random(in: members.indices, using: &self)
            switch Int.random(in: 0..<8, using: &self) {
            case 0: members.remove(at: index)
            case 1: members[index].name = String(repeating: members[index].name, count: 2000)
            case 2: members += (0..<150).map { JSONObject.Member(name: "k\($0)", value: members[index].value) }
            default: members[index].value = mutated(members[index].value)
            }
            return .object(JSONObject(members.map { ($0.name, $0.value) }))
        default:
            let others: [JSONValue] = [
                nil, true, -1, 1.5, "", "${", "${A:-${B}}", "$${x}", .string(String(repeating: "${BIG}", count: 3000)),
                .string(String(repeating: "${V}", count: 3000)), .string(String(repeating: "é/", count: 40_000)), [],
                [:],
                ["secret": "file:/nowhere"], ["secret": 1], "http://[::1", .array(Array(repeating: 1, count: 1000)),
            ]
            return others.randomElement(using: &self) ?? nil
        }
    }
}
