// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorLoading
@testable import ConnectorManifest
@testable import ConnectorPlatform

/// What an author in C is told of a wrong manifest: the line of the source, as a compiler would.
@Suite struct ManifestSourceTests {
    private static let manifest = """
        /* A plugin with two mistakes. */
        #include <connector/connector.h>
        // CONNECTOR_MANIFEST is a macro; CONNECTOR_MANIFEST(x) is not this one.
        int noted_function(int value);
        int noted_function(int value) { return value + 1; }

        CONNECTOR_MANIFEST({
            "manifest": 1, /* the version
                              of the format */
            "id": "noted", "version": "1.0.0", "abi": [1, 1],
            "documentation": "Gr\u{FC}\u{DF}e // no comment /* nor this */ \\"quoted\\"",
            "entry": 5,
            "egress": ["https://api.example.com/v1"]
        });

        """

    @Test(
        .enabled("clang is not installed") { Fixtures.has("clang") },
        arguments: ["cc -std=c99 -g", "cc -std=c11 -gdwarf-5 -O2", "c++ -std=c++17 -g", "clang -std=c99 -g"]
    )
    func `a mistake in an embedded manifest has the line and column of the source`(_ compiler: String) throws {
        try Fixtures.withDirectory { directory in
            let inspection = try Self.inspect(compiler, Self.manifest, in: directory)
            let positions = inspection.problems.compactMap(\.position)
            let file = "\(directory)/\(Self.name(compiler))"
            #expect(Set(positions.map(\.file)) == [file])
            #expect(Set(positions.map { "\($0.line):\($0.column)" }) == ["12:14", "13:16"], "\(inspection.problems)")
        }
    }

    @Test func `a missing comma is found in the source, too`() throws {
        try Fixtures.withDirectory { directory in
            let source = Self.manifest.replacing("\"entry\": 5,", with: "\"entry\": \"e\"")
            let error = try Self.inspect("cc -g", source, in: directory).problems.first
            #expect(error?.position?.line == 13, "\(String(describing: error))")
        }
    }

    @Test func `if the source has changed, or without -g, a mistake has its position in the manifest's text`() throws {
        try Fixtures.withDirectory { directory in
            let compiled = try Self.inspect("cc", Self.manifest, in: directory)
            #expect(Set(compiled.problems.compactMap(\.position?.line)) == [1])
            _ = try Self.inspect("cc -g", Self.manifest, in: directory)
            let edited = Self.manifest.replacing("\"noted\"", with: "\"other\"")
            try Fixtures.write(Array(edited.utf8), to: "\(directory)/noted.c")
            let changed = PluginInspection(path: "\(directory)/libnoted.so")
            #expect(Set(changed.problems.compactMap(\.position?.line)) == [1])
            #expect(changed.problems.first?.position?.file == "\(directory)/libnoted.so")
        }
    }

    private static func name(_ compiler: String) -> String { compiler.contains("++") ? "noted.cc" : "noted.c" }

    private static func inspect(_ compiler: String, _ source: String, in directory: String) throws -> PluginInspection {
        let name = name(compiler)
        try Fixtures.write(Array(source.utf8), to: "\(directory)/\(name)")
        let include = "\(Fixtures.sources.parentPath.parentPath)/Sources/CConnector/include"
        try #require(
            Fixtures.run("cd '\(directory)' && \(compiler) -shared -fPIC -I'\(include)' \(name) -o libnoted.so") == 0
        )
        return PluginInspection(path: "\(directory)/libnoted.so")
    }
}
