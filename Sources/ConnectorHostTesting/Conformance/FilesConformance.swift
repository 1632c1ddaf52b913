// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost

/// Checks, in a plugin author's tests, whether an open gate follows the contract of `files/1`.
///
/// ```swift
/// #expect(await FilesConformance.check(try host.files("files")).isEmpty)
/// ```
///
/// The suite puts files whose paths start with `conformance/`. It removes all such files first and, unless a call fails, at the end.
public enum FilesConformance {
    /// What a store may lack.
    public struct Options: Sendable {
        /// Whether the store keeps media types.
        public var keepsContentTypes: Bool
        /// Whether a put can depend on the tag of the existing file.
        public var checksTags: Bool

        /// Creates options for a store that has everything of the capability.
        public init(keepsContentTypes: Bool = true, checksTags: Bool = true) {
            self.keepsContentTypes = keepsContentTypes
            self.checksTags = checksTags
        }
    }

    /// Checks a gate.
    ///
    /// - Parameters:
    ///   - files: A client of one leaf with an open gate, or a store of your own.
    ///   - options: What the store may lack.
    /// - Returns: Every broken rule; empty if the plugin conforms.
    public static func check(
        _ files: any Files,
        options: Options = Options()
    ) async -> [PluginConformance.Finding] {
        var suite = Suite(files: files, options: options)
        await suite.run()
        return suite.findings
    }

    /// The error of a source that ends too early.
    private struct Interruption: Error {}

    private struct Suite {
        let files: any Files
        let options: Options
        var findings: [PluginConformance.Finding] = []

        mutating func run() async {
            do throws(ConnectorError) {
                try await clear()
                try await checkContents()
                try await checkRanges()
                try await checkConditions()
                try await checkLists()
                try await checkCopies()
                try await checkInterruption()
                try await checkConcurrency()
                try await clear()
            } catch {
                find("a call failed: \(error)")
            }
            await checkRefusals()
        }

        private mutating func find(_ message: String) {
            findings.append(PluginConformance.Finding(.capability, message))
        }

        private mutating func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
            if !condition { find(message()) }
        }

        private func clear() async throws(ConnectorError) {
            for _ in 1...Self.pageLimit {
                let page = try await files.list(prefix: "conformance/")
                for file in page.files { try await files.remove(file.path) }
                if !page.hasMore { return }
                guard !page.files.isEmpty else { break }
            }
            throw ConnectorError(.failed, "the list of \"conformance/\" has more still after all files were removed")
        }

        /// The most pages of files to remove.
        private static let pageLimit = 1000

        /// Content of `count` bytes in numbered blocks, so that no two parts of it are alike.
        private func content(_ count: Int, seed: UInt8 = 1) -> [UInt8] {
            let block = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) &+ seed }
            var content: [UInt8] = []
            while content.count < count {
                let number = UInt64(content.count / block.count)
                content += (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } + block[8...]
            }
            content.removeLast(content.count - count)
            return content
        }

        private func read(_ path: String, _ range: Range<UInt64>? = nil) async throws(ConnectorError) -> [UInt8] {
            try await files.get(path, range: range).collect(upTo: 1 << 30)
        }

        /// Checks that content of all sizes comes back as it was put, with the right metadata.
        private mutating func checkContents() async throws(ConnectorError) {
            let path = "conformance/contents/é 🚲 +%20&?#.bin"
            var tags: Set<String> = []
            for count in [0, 1, 100_000, FileEntry.partLimit + 7] {
                let content = content(count)
                let put = try await files.put(path, .bytes(content), contentType: "application/x-conformance")
                let head = try await files.head(path)
                expect(put == head, "a put answered \(put.json), and head then \(head.json)")
                expect(head.path == path, "the path \"\(path)\" came back as \"\(head.path)\"")
                expect(head.size == UInt64(count), "a file of \(count) bytes has the size \(head.size)")
                if options.keepsContentTypes {
                    let type = head.contentType ?? "none"
                    expect(type == "application/x-conformance", "a file has the content type \(type)")
                }
                tags.insert(head.tag)
                let isSame = try await read(path) == content
                expect(isSame, "\(count) bytes did not come back as they were put")
            }
            expect(tags.count == 4, "four contents had \(tags.count) tags")
            for _ in 1...2 { try await files.remove(path) }
            await expect(.missing, "head of a removed file") { files throws(ConnectorError) in
                _ = try await files.head(path)
            }
            await expect(.missing, "get of a removed file") { files throws(ConnectorError) in
                _ = try await files.get(path)
            }
        }

        /// Checks that a range gives the bytes that it names, as far as the file has them.
        private mutating func checkRanges() async throws(ConnectorError) {
            let content = content(10_000)
            try await files.put("conformance/range", .bytes(content))
            for (range, expected) in [
                (0..<1, 0..<1), (17..<4242, 17..<4242), (9_999..<10_000, 9_999..<10_000),
                (9_000..<20_000, 9_000..<10_000),
                (10_000..<10_001, 0..<0), (50_000..<60_000, 0..<0), (5..<5, 0..<0),
            ] as [(Range<UInt64>, Range<Int>)] {
                let found = try await read("conformance/range", range)
                expect(found == Array(content[expected]), "the bytes \(range) are \(found.count) others")
            }
            // Reading a file that changes meanwhile must fail, not mix two contents.
            let contents = try await files.get("conformance/range")
            try await files.put("conformance/range", .bytes(self.content(10_000, seed: 2)))
            await expect(.conflict, "reading a file that has changed since") { _ throws(ConnectorError) in
                _ = try await contents.collect(upTo: 1 << 20)
            }
        }

        /// Checks that a put whose condition is not met changes nothing.
        private mutating func checkConditions() async throws(ConnectorError) {
            let path = "conformance/condition"
            let first = try await files.put(path, .bytes([1]), condition: .absent)
            await expect(.conflict, "a put where there must be no file, and is one") { files throws(ConnectorError) in
                try await files.put(path, .bytes([2]), condition: .absent)
            }
            let kept = try await read(path)
            expect(kept == [1], "a put that was refused left \(kept)")
            guard options.checksTags else { return }
            let second = try await files.put(path, .bytes([3]), condition: .tag(first.tag))
            expect(second.tag != first.tag, "two contents have the tag \(first.tag)")
            await expect(.conflict, "a put on a tag that has changed") { files throws(ConnectorError) in
                try await files.put(path, .bytes([4]), condition: .tag(first.tag))
            }
            await expect(.conflict, "a put on the tag of a file that is not there") { files throws(ConnectorError) in
                try await files.put("conformance/none", .bytes([4]), condition: .tag(first.tag))
            }
            let last = try await read(path)
            expect(last == [3], "a put that was refused left \(last)")
        }

        /// Checks that lists are in byte order, and that their pages neither miss nor repeat a file.
        private mutating func checkLists() async throws(ConnectorError) {
            let names = ["A", "a.txt", "a/b/c", "a/d", "a0", "é", "z/1", "z/2", "z/3"]
            for name in names.reversed() { try await files.put("conformance/list/\(name)", .bytes(Array(name.utf8))) }
            for (prefix, after, expected) in [
                ("", "", names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }),
                ("a", "", ["a.txt", "a/b/c", "a/d", "a0"]),
                ("a/", "", ["a/b/c", "a/d"]), ("z/", "z/1", ["z/2", "z/3"]), ("z/", "z/15", ["z/2", "z/3"]),
                ("z/2", "", ["z/2"]), ("a", "a/b", ["a/b/c", "a/d", "a0"]), ("none/", "", []), ("z/", "z/9", []),
            ] {
                for limit in [2, 1000] {
                    let found = try await list("conformance/list/\(prefix)", after, limit)
                    expect(
                        found.map(\.path) == expected.map { "conformance/list/\($0)" },
                        "the list of \"\(prefix)\" after \"\(after)\" in pages of \(limit) is \(found.map(\.path))"
                    )
                    for file in found {
                        expect(
                            Int(file.size) == file.path.utf8.count - 17,
                            "a list gives \(file.path) the size \(file.size)"
                        )
                    }
                }
            }
        }

        private mutating func list(
            _ prefix: String,
            _ after: String,
            _ limit: Int
        ) async throws(ConnectorError) -> [FileEntry] {
            var found: [FileEntry] = []
            var after = after.isEmpty ? "" : "conformance/list/\(after)"
            while true {
                let page = try await files.list(prefix: prefix, after: after, limit: limit)
                expect(page.files.count <= limit, "a page of \(limit) files has \(page.files.count)")
                found += page.files
                guard page.hasMore, let last = page.files.last, last.path != after else { return found }
                after = last.path
            }
        }

        /// Checks that a copy is a file of its own.
        private mutating func checkCopies() async throws(ConnectorError) {
            let content = content(100_000)
            try await files.put("conformance/copy/a", .bytes(content), contentType: "text/x-copied")
            try await files.put("conformance/copy/b", .bytes([1]))
            let copy = try await files.copy("conformance/copy/a", to: "conformance/copy/b")
            expect(copy.path == "conformance/copy/b" && copy.size == 100_000, "a copy answered \(copy.json)")
            if options.keepsContentTypes {
                expect(copy.contentType == "text/x-copied", "a copy has the content type \(copy.contentType ?? "none")")
            }
            try await files.remove("conformance/copy/a")
            let isSame = try await read("conformance/copy/b") == content
            expect(isSame, "a copy has another content than its source had")
            await expect(.missing, "copy of a removed file") { files throws(ConnectorError) in
                try await files.copy("conformance/copy/a", to: "conformance/copy/b")
            }
        }

        /// Checks that an upload that ends too early leaves nothing.
        private mutating func checkInterruption() async throws(ConnectorError) {
            let part = content(FileEntry.partLimit + 1)
            let pieces = AsyncThrowingStream<[UInt8], any Error> { continuation in
                continuation.yield(part)
                continuation.finish(throwing: Interruption())
            }
            await expect(.failed, "a put whose source fails") { files throws(ConnectorError) in
                try await files.put("conformance/interrupted", .pieces(pieces))
            }
            await expect(.missing, "head of a file whose put failed") { files throws(ConnectorError) in
                _ = try await files.head("conformance/interrupted")
            }
            let page = try await files.list(prefix: "conformance/interrupted")
            expect(page.files.isEmpty, "an upload that failed is listed: \(page.json)")
        }

        /// Checks that after several concurrent puts at one path, the content of one of them is there, whole.
        private mutating func checkConcurrency() async throws(ConnectorError) {
            let contents = (1...8).map { content(300_000, seed: UInt8($0)) }
            let failures = await withTaskGroup(of: ConnectorError?.self) { [files] group in
                for content in contents {
                    group.addTask {
                        do throws(ConnectorError) {
                            try await files.put("conformance/at-once", .bytes(content))
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
            }
            for failure in failures { find("one of 8 puts at once failed: \(failure)") }
            let found = try await read("conformance/at-once")
            expect(contents.contains(found), "8 puts at once left a mixture")
        }

        /// Checks that a path that breaks the rules is rejected as `invalid`.
        private mutating func checkRefusals() async {
            let long = String(repeating: "x", count: 256)
            for path in ["", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a\u{0}b", "a\nb", long] {
                await expect(.invalid, "a put at the path \(JSONValue.string(path))") { files throws(ConnectorError) in
                    try await files.put(path, .bytes([1]))
                }
                await expect(.invalid, "head of the path \(JSONValue.string(path))") { files throws(ConnectorError) in
                    _ = try await files.head(path)
                }
            }
        }

        private mutating func expect(
            _ code: ConnectorError.Code,
            _ what: String,
            _ call: (any Files) async throws(ConnectorError) -> Void
        ) async {
            do throws(ConnectorError) {
                try await call(files)
                find("\(what) succeeded")
            } catch {
                expect(error.code == code, "\(what) is \(error.code), which must be \(code)")
            }
        }
    }
}
