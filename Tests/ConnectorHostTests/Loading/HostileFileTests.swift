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

    @Test func `an image with two dynamic sections is refused`() throws {
        let bytes = try image(with: 1, copiesOf: ELFConstant.dynamic, in: Fixtures.bytes(Fixtures.plugin("sync")))
        let error = #expect(throws: ConnectorError.self) {
            try Preflight.linkable(ELFImage(ImageBytes(copying: bytes, path: "x")))
        }
        #expect(error?.message.contains("several dynamic sections") == true)
    }

    @Test func `a library that is needed under many names is one dependency`() throws {
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

    @Test func `of hundreds of long missing symbols only some are listed, and only their beginnings`() throws {
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

    @Test(arguments: [(4, ConnectorError.Code.symbolAbsent), (400_000, .invalidManifest)])
    func `of long names in a manifest, a message shows only the ends`(_ length: Int, _ code: ConnectorError.Code) throws
    {
        try Fixtures.withDirectory { directory in
            let path = "\(directory)/liblong.so"
            try Fixtures.write(Fixtures.bytes(Fixtures.broken("no-manifest")), to: path)
            let (name, symbol) = (String(repeating: "x", count: length), String(repeating: "y", count: 400_000))
            let capabilities = #"{"own/1": {"\#(name)": {"symbol": "\#(symbol)", "signature": "()"}}}"#
            let text = Fixtures.manifest("long", "1.0.0").dropLast() + #", "capabilities": \#(capabilities)}"#
            try Fixtures.write(Array(text.utf8), to: "\(directory)/long.connector.json")
            let error = #expect(throws: ConnectorError.self) {
                try PluginLoader().load(PluginCatalog.candidate(path: path))
            }
            #expect(error?.code == code)
            #expect(try #require(error).description.utf8.count < 2000)
        }
    }

    @Test func `of long names of libraries, the message about a missing one shows only the ends`() throws {
        try Fixtures.withDirectory { directory in
            let name = "lib" + String(repeating: "y", count: 2000) + ".so"
            let library = try Fixtures.compile(
                "int made(void) { return 0; }",
                into: directory,
                as: "named",
                flags: "-Wl,-soname,\(name)"
            )
            let path = try Fixtures.compile(
                "int user(void) { return 1; }",
                into: directory,
                as: "user",
                flags: "-Wl,--no-as-needed '\(library)'"
            )
            let missing = PluginInspection(path: path).problems.filter { $0.code == .missingDependency }
            #expect(missing.count == 1)
            #expect(missing.allSatisfy { $0.description.utf8.count < 2000 })
        }
    }

    /// The source files of an image whose only unit has a folder and a file for each number below a count, with names that begin at
    /// a multiple of some bytes in a text.
    private func sourceFiles(_ count: Int, names: [UInt8], every distance: Int) throws -> [String] {
        func number<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
            (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        // Each name is a `DW_LNCT_path` in the form `DW_FORM_line_strp`; the count is in LEB128.
        let list: [UInt8] =
            [1, 1, 0x1F, UInt8(count & 0x7F | 0x80), UInt8(count >> 7 & 0x7F | 0x80), UInt8(count >> 14)]
            + (0..<count).flatMap { number(UInt32($0 * distance)) }
        let header: [UInt8] = [1, 1, 1, 0xFB, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1] + list + list
        let unit = number(5 as UInt16) + [8, 0] + number(UInt32(header.count)) + header
        return try Fixtures.withDirectory { directory in
            let path = try Fixtures.compile(
                "void *made(void) { return 0; }",
                into: directory,
                as: "named",
                flags: "-nostartfiles"
            )
            try Fixtures.write(number(UInt32(unit.count)) + unit, to: "\(directory)/lines")
            try Fixtures.write(names, to: "\(directory)/names")
            try #require(
                Fixtures.run(
                    "cd '\(directory)' && objcopy --add-section .debug_line=lines --add-section .debug_line_str=names libnamed.so"
                ) == 0
            )
            return try CodeLocations(ELFImage(ImageBytes(path: path))).sourceFiles()
        }
    }

    @Test(.enabled("objcopy adds sections") { Fixtures.has("objcopy") })
    func `of many source files only some are listed, and of long names only the beginning`() throws {
        let short = (0..<1000).flatMap { Array("/\($0 + 1000)\0".utf8) }
        #expect(try sourceFiles(1000, names: short, every: 6).count == 256)
        let long = try sourceFiles(65_536, names: Array(repeating: UInt8(ascii: "a"), count: 1 << 20), every: 8)
        #expect(long.map(\.utf8.count) == [2 * 4096 + 1])
    }

    @Test func `in a source with thousands of beginnings of a manifest, no position is looked up`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.compile(
                "#include \"fixture.h\"\nCONNECTOR_MANIFEST({\"manifest\": 1, \"idd\": \"a\"});\n",
                into: directory,
                as: "begun",
                flags: "-g"
            )
            func file() -> String? { PluginInspection(path: path).problems.compactMap(\.position?.file).first }
            #expect(file() == "\(directory)/begun.c")
            let beginnings = Array(repeating: "CONNECTOR_MANIFEST/*", count: 1 << 14).joined()
            try Fixtures.write(Array(beginnings.utf8), to: "\(directory)/begun.c")
            #expect(file() == path)
        }
    }

    @Test func `the word ORIGIN is replaced once, even in a folder that is named so, and search paths are bounded`() {
        for (path, origin, expected) in [
            ("$ORIGIN/lib", "/a/$ORIGIN", "/a/$ORIGIN/lib"), ("${ORIGIN}:$X", "/a/${ORIGIN}", "/a/${ORIGIN}:$X"),
        ] {
            let folder = SearchPath.Folder(path: expected, isRelative: true)
            #expect(SearchPath.expansions(path, origin: origin) == [folder])
        }
        #expect(SearchPath.folders(String(repeating: "$ORIGIN", count: 500), origin: "/long/path").isEmpty)
        #expect(
            SearchPath.folders(String(repeating: "/a:", count: 5000), origin: "/").count == SearchPath.folderLimit
        )
    }

    @Test func `a sidecar of half a gigabyte is refused as too large`() throws {
        try Fixtures.withDirectory { directory in
            let path = "\(directory)/sparse.connector.json"
            #expect(Fixtures.run("truncate -s 512M '\(path)'") == 0)
            #expect(PluginCatalog.entry(path: path).error?.code == .tooLarge)
            #expect(PluginInspection(path: path).problems.map(\.code) == [.tooLarge])
        }
    }
}
