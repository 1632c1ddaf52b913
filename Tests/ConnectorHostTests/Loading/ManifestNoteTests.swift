// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorLoading
@testable import ConnectorManifest
@testable import ConnectorPlatform

/// The notes that `CONNECTOR_MANIFEST` makes, as other tools read them.
@Suite struct ManifestNoteTests {
    /// A manifest that is longer by a number of characters.
    private static func manifest(_ id: String, padding: Int) -> String {
        let words = String(repeating: "x", count: padding)
        return
            #"{"manifest": 1, "id": "\#(id)", "version": "1.0.0", "abi": [1, 1], "entry": "e", "documentation": "\#(words)"}"#
    }

    private static func compile(_ sources: [(name: String, text: String)], _ compiler: String, in directory: String)
        throws
        -> String
    {
        for (name, text) in sources { try Fixtures.write(Array(text.utf8), to: "\(directory)/\(name)") }
        let include = "\(Fixtures.sources.parentPath.parentPath)/Sources/CConnector/include"
        let names = sources.map(\.name).joined(separator: " ")
        try #require(
            Fixtures.run(
                "cd '\(directory)' && \(compiler) -Wall -Wextra -pedantic -Werror -shared -fPIC -I'\(include)' \(names) -o libnoted.so"
            ) == 0
        )
        return "\(directory)/libnoted.so"
    }

    @Test(
        .enabled("clang is not installed") { Fixtures.has("clang") },
        arguments: ["cc -std=c99", "cc -std=c11", "c++ -std=c++17", "clang -std=c99", "clang++ -std=c++17"],
        0..<4
    )
    func `a note takes no more bytes than its text, padded to a multiple of four`(_ compiler: String, _ padding: Int)
        throws
    {
        try Fixtures.withDirectory { directory in
            let text = Self.manifest("noted", padding: padding)
            let name = compiler.contains("++") ? "a.cc" : "a.c"
            let source = "#include <connector/connector.h>\nCONNECTOR_MANIFEST(\(text));\n"
            let path = try Self.compile([(name, source)], compiler, in: directory)
            let image = try ELFImage(ImageBytes(path: path))
            #expect(image.manifestTexts() == [Array(text.utf8)])
            let section = try #require(image.section(named: ManifestNote.section))
            #expect(section.size == 12 + 12 + (text.utf8.count + 3) / 4 * 4)
        }
    }

    @Test(arguments: 0..<4)
    func `two manifests in one image are refused, with both named, whatever their lengths`(_ padding: Int) throws {
        try Fixtures.withDirectory { directory in
            let sources = [("a", padding), ("b", padding + 1)].map { id, padding in
                (
                    "\(id).c",
                    "#include <connector/connector.h>\nCONNECTOR_MANIFEST(\(Self.manifest(id, padding: padding)));\n"
                )
            }
            let error = PluginCatalog.entry(path: try Self.compile(sources, "cc -std=c99", in: directory)).error
            #expect(error?.code == .invalidManifest)
            #expect(error?.message.contains("a 1.0.0 and b 1.0.0") == true)
        }
    }

    @Test(arguments: 0..<4)
    func `a second manifest is found after one that an older version of the header padded too far`(_ padding: Int)
        throws
    {
        try Fixtures.withDirectory { directory in
            let sources = ["a", "b"].map { id in
                let literal = JSONValue.string(Self.manifest(id, padding: padding)).description
                return (
                    "\(id).c",
                    """
                    #include <stdint.h>
                    __attribute__((used, section(".note.connector"), aligned(4))) static const struct {
                        uint32_t name_size, text_size, type;
                        char name[12];
                        char text_and_padding[(sizeof(\(literal)) + 3u) & ~3u];
                    } note = {10, sizeof(\(literal)) - 1, 1, "connector", \(literal)};

                    """
                )
            }
            let path = try Self.compile(sources, "cc -std=c99", in: directory)
            #expect(try ELFImage(ImageBytes(path: path)).manifestTexts().count == 2)
            #expect(PluginCatalog.entry(path: path).error?.message.contains("a 1.0.0 and b 1.0.0") == true)
        }
    }
}
