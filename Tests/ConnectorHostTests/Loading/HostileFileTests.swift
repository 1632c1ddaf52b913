// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorHost
@testable import ConnectorLoading
@testable import ConnectorManifest

/// Files made to take much memory or time take little.
@Suite(.timeLimit(.minutes(2))) struct HostileFileTests {
    /// Moves the program headers to the end of an image, where there is room for more.
    private func image(with count: Int, copiesOf type: UInt32, in original: [UInt8]) throws -> [UInt8] {
        let image = try ELFImage(ImageBytes(copying: original, path: "x"))
        let headers = Array(original[image.segmentTable..<(image.segmentTable + image.segments.count * 56)])
        let index = try #require(image.segments.firstIndex { $0.type == type })
        var bytes = original + headers
        for _ in 0..<count { bytes += headers[(index * 56)..<(index * 56 + 56)] }
        for byte in 0..<8 { bytes[32 + byte] = UInt8(truncatingIfNeeded: original.count >> (8 * byte)) }
        bytes[56] = UInt8(image.segments.count + count)
        return bytes
    }

    @Test func `a note that many segments cover is one manifest`() throws {
        let bytes = try image(with: 40, copiesOf: ELFConstant.note, in: Fixtures.bytes(Fixtures.plugin("sync")))
        #expect(try ELFImage(ImageBytes(copying: bytes, path: "x")).manifestTexts().count == 1)
    }

    @Test func `more program headers than any image has are refused`() throws {
        let bytes = try image(with: 100, copiesOf: ELFConstant.note, in: Fixtures.bytes(Fixtures.plugin("sync")))
        let error = #expect(throws: ConnectorError.self) { try ELFImage(ImageBytes(copying: bytes, path: "x")) }
        #expect(error?.code == .notELF)
    }

    @Test func `of two dynamic sections none is believed`() throws {
        let bytes = try image(with: 1, copiesOf: ELFConstant.dynamic, in: Fixtures.bytes(Fixtures.plugin("sync")))
        let error = #expect(throws: ConnectorError.self) {
            try Preflight.linkable(ELFImage(ImageBytes(copying: bytes, path: "x")))
        }
        #expect(error?.message.contains("several dynamic sections") == true)
    }

    @Test func `a library under many names is one library`() throws {
        try Fixtures.withDirectory { directory in
            let library = try Fixtures.compile("void *made(void) { return 0; }", into: directory, as: "many")
            let names = (0..<20).map { "'\(directory)/\(String(repeating: "./", count: $0))libmany.so'" }
            let path = try Fixtures.compile(
                "int user(void) { return 1; }",
                into: directory,
                as: "user",
                flags: "-Wl,--no-as-needed \(names.joined(separator: " "))"
            )
            let image = try ELFImage(ImageBytes(path: path))
            let dynamic = try Preflight.linkable(image).dynamic
            #expect(image.neededLibraries(dynamic).count > 15)
            let members = DependencyClosure(of: image, dynamic).members
            #expect(members.count { $0.path?.absolutePath == library.absolutePath } == 1)
        }
    }

    @Test func `of thousands of long names only some are told, and only their beginnings`() throws {
        try Fixtures.withDirectory { directory in
            let names = (0..<500).map { "n\($0)" + String(repeating: "x", count: 3000) }
            let source =
                names.map { "extern int \($0)(void);\n" }.joined() + "int user(void) { return "
                + names.map { "\($0)()" }.joined(separator: " + ") + "; }\n"
            let path = try Fixtures.compile(source, into: directory, as: "long")
            let image = try ELFImage(ImageBytes(path: path))
            let dynamic = try Preflight.linkable(image).dynamic
            let (missing, count) = unsafe image.requiredSymbols(dynamic) { _, _ in true }
            #expect(count == 500)
            #expect(missing.count == 20)
            #expect(missing.allSatisfy { $0.utf8.count <= 200 })
            let problems = PluginInspection(path: path).problems.filter { $0.code == .missingSymbol }
            #expect(problems.allSatisfy { $0.description.utf8.count < 20000 })
        }
    }

    @Test func `a folder whose name contains the word for the origin is replaced once`() {
        #expect(SearchPath.expand("$ORIGIN/lib", origin: "/a/$ORIGIN") == ("/a/$ORIGIN/lib", true))
        #expect(SearchPath.expand("${ORIGIN}:$X", origin: "/a/${ORIGIN}") == ("/a/${ORIGIN}:$X", true))
        #expect(SearchPath.folders(String(repeating: "$ORIGIN", count: 500), origin: "/long/path").isEmpty)
        #expect(
            SearchPath.folders(String(repeating: "/a:", count: 5000), origin: "/").count == SearchPath.folderLimit
        )
    }

    @Test func `a sidecar as large as a disk is refused unread`() throws {
        try Fixtures.withDirectory { directory in
            let path = "\(directory)/sparse.connector.json"
            #expect(Fixtures.run("truncate -s 512M '\(path)'") == 0)
            #expect(PluginCatalog.entry(path: path).error?.code == .tooLarge)
            #expect(PluginInspection(path: path).problems.map(\.code) == [.tooLarge])
        }
    }
}
