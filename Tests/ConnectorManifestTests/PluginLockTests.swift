// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

/// The file `connectors.lock.json`.
@Suite struct PluginLockTests {
    /// An entry of a lock.
    static func entry(
        _ id: String = "segment",
        _ version: String = "1.0.0",
        platform: String = "linux-x86_64",
        digit: Character = "a",
        hosts: Set<String> = ["api.segment.io", "cdn.segment.com"]
    ) throws -> LockedPlugin {
        let manifest = try Manifest(
            parsing: Array(
                """
                {"manifest": 1, "id": "\(id)", "version": "\(version)", "abi": [1, 1], "entry": "entry",
                 "services": {"required": ["http/1"], "optional": ["storage/1"]},
                 "uses": {"theme": "settings/1", "more": {"capability": "files/1", "optional": true}},
                 "capabilities": {"own/1": {
                   "b": {"symbol": "b", "signature": "( x :i64 ) ->i64"}, "a": {"symbol": "a", "signature": "() async"}
                 }}}
                """.utf8
            )
        )
        var entry = LockedPlugin(
            manifest,
            platform: platform,
            size: 1234,
            sha256: String(repeating: digit, count: 64),
            sidecar: nil,
            dependencies: [LockedPlugin.Dependency(name: "libz.so", sha256: String(repeating: "0", count: 64))]
        )
        entry.hosts = hosts
        return entry
    }

    @Test func `the text is sorted, readable, and the same for the same entries in any order`() throws {
        let entries = [
            try Self.entry("segment"), try Self.entry("kinto", "2.0.0"), try Self.entry("kinto", "10.0.0"),
            try Self.entry("kinto", "2.0.0", platform: "linux-arm64"),
        ]
        var texts: Set<String> = []
        for _ in 0..<10 {
            var lock = PluginLock(file: "connectors.lock.json")
            for entry in entries.shuffled() { lock.set(entry) }
            texts.insert(lock.text)
        }
        #expect(texts.count == 1)
        let text = try #require(texts.first)
        let ids = try #require(try JSONValue(parsing: text)["plugins"]?.array).map { entry in
            [entry["id"], entry["version"], entry["platform"]].compactMap { $0?.string }.joined(separator: " ")
        }
        #expect(
            ids == [
                "kinto 2.0.0 linux-arm64", "kinto 2.0.0 linux-x86_64", "kinto 10.0.0 linux-x86_64",
                "segment 1.0.0 linux-x86_64",
            ]
        )
        #expect(text.contains("\"a\": \"() async\""))
        #expect(text.contains("\"b\": \"(x: i64) -> i64\""))
        #expect(text.hasSuffix("}\n"))
    }

    @Test func `a written lock reads back unchanged`() throws {
        var lock = PluginLock(file: "connectors.lock.json")
        lock.set(try Self.entry())
        lock.set(try Self.entry("other", platform: "macos-arm64", digit: "1", hosts: []))
        let (read, problems, omitted) = PluginLock.read(Array(lock.text.utf8), file: "connectors.lock.json")
        #expect(problems.isEmpty)
        #expect(omitted == 0)
        #expect(read == lock)
        #expect(read?.text == lock.text)
    }

    @Test func `an entry without marks of optional uses matches the same image, and no other`() throws {
        let found = try Self.entry()
        var plain = found
        plain.uses = Set(found.uses.map { GateUse(name: $0.name, capability: $0.capability) })
        #expect(plain != found && plain.completed(by: found) == found)
        plain.uses.remove(at: plain.uses.startIndex)
        #expect(plain.completed(by: found) != found)
        var changed = found
        changed.uses = Set(found.uses.map { GateUse(name: $0.name, capability: $0.capability) })
        changed.sha256 = String(repeating: "b", count: 64)
        #expect(changed.completed(by: found) == changed)
    }

    @Test func `adding a platform rewrites no entry of another`() throws {
        var lock = PluginLock(file: "connectors.lock.json")
        lock.set(try Self.entry(digit: "1"))
        lock.set(try Self.entry("kinto", digit: "2"))
        let before = Set(lock.text.split(separator: "\n"))
        lock.set(try Self.entry(platform: "linux-arm64", digit: "3"))
        let after = lock.text.split(separator: "\n")
        #expect(before.isSubset(of: after))
        #expect(lock.entry(of: "segment", SemanticVersion(1, 0, 0), on: "linux-x86_64") == (try Self.entry(digit: "1")))
        #expect(lock.entries(of: "segment", on: "linux-arm64").count == 1)
    }

    @Test func `the lock stands beside its configuration`() {
        #expect(PluginLock.file(of: "connectors.json") == "connectors.lock.json")
        #expect(PluginLock.file(of: "/etc/app/staging.json") == "/etc/app/staging.lock.json")
        #expect(PluginLock.file(of: "configuration") == "configuration.lock.json")
    }

    private static let digest = String(repeating: "a", count: 64)
    private static let rest = #""size": 1, "abi": [1, 1], "capabilities": {}"#

    @Test(arguments: [
        ("", 1, 1), ("[]", 1, 1), ("{\"lock\": 1}", 1, 1), ("{\"lock\": 2, \"plugins\": []}", 1, 10),
        ("{\"lock\": 1,\n \"plugins\": {}}", 2, 13), ("{\"lock\": 1,\n \"plugins\": [1]}", 2, 14),
        ("{\"lock\": 1, \"plugin\": [],\n\"plugins\": []}", 1, 13),
        ("{\"lock\": 1, \"plugins\": [{}]}", 1, 25),
        (
            "{\"lock\": 1, \"plugins\": [\n{\"id\": \"a\", \"version\": \"1\", \"platform\": \"p\", \"sha256\": \"\(digest)\", \(rest)}]}",
            2, 24
        ),
        (
            "{\"lock\": 1, \"plugins\": [\n{\"id\": \"a\", \"version\": \"1.0.0\", \"platform\": \"p\",\n\"sha256\": \"ABC\", \(rest)}]}",
            3, 11
        ),
        (
            "{\"lock\": 1, \"plugins\": [{\"id\": \"a\", \"version\": \"1.0.0\", \"platform\": \"p\", \"sha256\": \"\(digest)\", \"size\": 1, \"abi\": [1, 1],\n\"capabilities\": {\"a/1\": {\"b\": \"(\"}}}]}",
            2, 31
        ),
        ("{\"lock\": 1, \"lock\": 1, \"plugins\": []}", 1, 13),
    ])
    func `a hostile lock is refused with line and column, and with a remedy`(_ text: String, line: Int, column: Int) {
        let (lock, problems, _) = PluginLock.read(Array(text.utf8), file: "c.lock.json")
        #expect(lock == nil)
        #expect(
            problems.first?.position == FilePosition(file: "c.lock.json", line: line, column: column),
            "\(problems)"
        )
        #expect(problems.allSatisfy { $0.fix?.contains("connector-host lock") == true })
    }

    @Test func `a duplicate entry is a fault`() throws {
        let entry =
            "{\"id\": \"a\", \"version\": \"1.0.0\", \"platform\": \"p\", \"sha256\": \"\(Self.digest)\", \(Self.rest)}"
        let text = "{\"lock\": 1, \"plugins\": [\(entry),\n\(entry)]}"
        let problems = PluginLock.read(Array(text.utf8), file: "l").problems
        #expect(problems.map(\.code) == [.duplicateName])
        #expect(problems.first?.position?.line == 2)
    }

    @Test func `a damaged lock is read or refused, and never traps`() throws {
        var lock = PluginLock(file: "l")
        lock.set(try Self.entry())
        let text = Array(lock.text.utf8)
        var generator = SeededGenerator(seed: 19)
        for _ in 0..<2_000 {
            var bytes = text
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let (read, problems, _) = PluginLock.read(bytes, file: "l")
            #expect((read == nil) == !problems.isEmpty)
        }
    }
}
