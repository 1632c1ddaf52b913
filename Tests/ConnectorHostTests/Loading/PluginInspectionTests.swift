// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Seeing everything about a plugin without running any of it.
@Suite struct PluginInspectionTests {
    @Test func `an intact plugin is described in full, and has no problems`() throws {
        let inspection = PluginInspection(path: Fixtures.plugin("sync"))
        #expect(inspection.problems.isEmpty)
        #expect(inspection.manifest?.id == "sync")
        #expect(inspection.language == "c")
        #expect(inspection.architecture == Architecture.host.description)
        #expect(inspection.sha256?.count == 64)
        #expect(
            inspection.symbols.map(\.name) == [
                "fixture_entry", "sync_add", "sync_divide", "sync_upper", "sync_fill", "sync_echo",
            ]
        )
        #expect(inspection.symbols.allSatisfy { $0.isPresent })
        let libc = try #require(inspection.dependencies.first { $0.name == "libc.so.6" })
        #expect(libc.isLoaded && !libc.isMissing && libc.path != nil)
        #expect(inspection.symbolVersions.contains { $0.version.hasPrefix("GLIBC_") && $0.isPresent == true })
    }

    @Test(arguments: BrokenPluginTests.refusals)
    func `inspection finds the reason for which loading fails`(_ refusal: BrokenPluginTests.Refusal) {
        let inspection = PluginInspection(path: Fixtures.broken(refusal.fixture))
        #expect(inspection.problems.contains { $0.code == refusal.code && $0.message.contains(refusal.word) })
        #expect(inspection.json["loadable"] == false)
    }

    @Test func `the chain of libraries to a missing one is reported`() throws {
        let inspection = PluginInspection(path: Fixtures.broken("missing-dependency"))
        let missing = try #require(inspection.dependencies.first { $0.isMissing })
        #expect(missing.name == "libgone.so")
        #expect(missing.neededBy == "libmiddle.so")
        let problem = try #require(inspection.problems.first)
        #expect(problem.message.contains("libmissing-dependency.so needs libmiddle.so needs libgone.so"))
    }

    @Test func `an image loads without the auxiliary library that it names, and not without one that it filters`()
        throws
    {
        try Fixtures.withDirectory { directory in
            let source = """
                #include "fixture.h"
                CONNECTOR_MANIFEST(\(Fixtures.manifest("aux", "1.0.0")));
                CONNECTOR_EXPORT const connector_plugin *fixture_entry(void) { return NULL; }
                """
            let image = try Fixtures.compile(source, into: directory, as: "aux", flags: "-Wl,-f,libnothere.so.1")
            let inspection = PluginInspection(path: image)
            #expect(inspection.problems.isEmpty, "\(inspection.problems)")
            #expect(!inspection.dependencies.contains { $0.name == "libnothere.so.1" })
            let handle = unsafe dlopen(image, RTLD_NOW | RTLD_LOCAL)
            #expect(unsafe handle != nil, "the dynamic linker loads it, too")
            let flags = "-Wl,-f,libnothere.so.1 -Wl,-F,libnothere.so.1"
            let filter = try Fixtures.compile(source, into: directory, as: "filter", flags: flags)
            #expect(PluginInspection(path: filter).problems.map(\.code) == [.missingDependency])
        }
    }

    @Test func `an existing library with an entry function that it does not export is told to have none`() throws {
        try Fixtures.withDirectory { directory in
            let sidecar = "\(directory)/both.connector.json"
            let text = """
                {"manifest": 1, "id": "both", "version": "1.0.0", "abi": [1, 1], "library": "libc.so.6", "entry": "x_plugin"}
                """
            try Fixtures.write(Array(text.utf8), to: sidecar)
            let problem = try #require(PluginInspection(path: sidecar).problems.first)
            #expect(problem.code == .symbolAbsent && problem.fix?.hasPrefix("remove \"entry\"") == true, "\(problem)")
        }
    }

    @Test func `a missing symbol version is reported with what is needed and what is present`() throws {
        let problem = try #require(PluginInspection(path: Fixtures.broken("missing-glibc-version")).problems.first)
        #expect(problem.message.contains("of libc.so.6"))
        #expect(problem.cause?.contains("GLIBC_2.") == true)
        #expect(problem.fix?.hasPrefix("build the plugin on a system with GLIBC_2.") == true)
        let own = try #require(PluginInspection(path: Fixtures.broken("missing-version")).problems.first)
        #expect(own.cause?.contains("VERSIONED_1.0") == true)
    }

    @Test func `everything wrong with a manifest is found at once`() {
        let problems = PluginInspection(path: Fixtures.broken("invalid-manifest")).problems
        #expect(problems.count { $0.code == .invalidManifest } >= 3)
    }

    @Test func `everything wrong with a sidecar that has no image is found at once, in its order`() throws {
        try Fixtures.withDirectory { directory in
            let sidecar = "\(directory)/tool.connector.json"
            let text = #"""
                {"manifest": 1, "id": "tool", "version": "1.0.0", "abi": [1, 1], "library": "libc.so.6",
                  "configuration": {"a": {"type": "integer", "default": "x"},
                    "b": {"type": "text"}},
                  "egress": ["*"], "capabilities": {"tool/1": {
                    "c": {"symbol": "getpid", "signature": "() -> i32", "status": "zero"},
                    "d": {"symbol": "getpid", "signature": "() -> i32", "status": "nul"},
                    "e": {"symbol": "getpid", "signature": "() -> i32", "releases": ["x"]}}}}
                """#
            try Fixtures.write(Array(text.utf8), to: sidecar)
            let inspection = PluginInspection(path: sidecar)
            #expect(inspection.problems.map { $0.position?.line } == [2, 3, 4, 5, 6, 7])
            #expect(inspection.problems.allSatisfy { $0.code == .invalidManifest })
            #expect(inspection.manifestText == Array(text.utf8))
            let entry = try #require(PluginCatalog(directories: [directory]).entries.first)
            #expect(entry.errors.map(\.message) == inspection.problems.map(\.message))
        }
    }

    @Test func `the nearest function of a foreign library is suggested for one that it does not have`() throws {
        try Fixtures.withDirectory { directory in
            _ = try Fixtures.compile(
                "__attribute__((visibility(\"default\"))) double power(double x) { return x; }",
                into: directory,
                as: "own"
            )
            let sidecar = "\(directory)/foreign.connector.json"
            let text = #"""
                {"manifest": 1, "id": "foreign", "version": "1.0.0", "abi": [1, 1], "library": "./libown.so",
                 "capabilities": {"x/1": {
                   "power": {"symbol": "powre", "signature": "(x: f64) -> f64"},
                   "sine": {"symbol": "a_name_of_quite_another_length", "signature": "(x: f64) -> f64"}}}}
                """#
            try Fixtures.write(Array(text.utf8), to: sidecar)
            let problems = PluginInspection(path: sidecar).problems
            #expect(problems.map(\.code) == [.symbolAbsent, .symbolAbsent])
            #expect(problems.first?.fix == #"did you mean "power"?"#)
            #expect(problems.last?.fix?.hasPrefix("correct the symbol in the manifest") == true)
        }
    }

    @Test func `no code of an inspected plugin runs`() {
        let inspection = PluginInspection(path: Fixtures.misbehaving("crashes-in-constructor"))
        #expect(inspection.problems.isEmpty)
    }

    @Test func `the document has a version and can be parsed again`() throws {
        let text = PluginInspection(path: Fixtures.plugin("sync")).json.serialized(pretty: true)
        let document = try JSONValue(parsing: text)
        #expect(document["version"] == 1)
        #expect(document["loadable"] == true)
        #expect(document["manifest"]?["id"] == "sync")
        #expect(document["symbols"]?[0]?["role"] == "entry")
    }

    @Test func `a sidecar is inspected with the library that it describes`() {
        let inspection = PluginInspection(path: "\(Fixtures.plugins)/system.connector.json")
        #expect(inspection.path.hasSuffix("/libm.so.6"))
        #expect(inspection.manifest?.id == "system")
        #expect(inspection.problems.isEmpty)
        let unbuilt = PluginInspection(path: "\(Fixtures.broken)/not-built.connector.json")
        #expect(unbuilt.problems.map(\.code) == [.notFound])
        #expect(unbuilt.manifest?.id == "not-built")
    }

    @Test(arguments: 0..<4) func `mutated images never trap an inspection`(_ seed: UInt64) throws {
        let original = try Fixtures.bytes(Fixtures.plugin("sync"))
        var random = SeededGenerator(seed: 100 + seed)
        try Fixtures.withDirectory { directory in
            for _ in 0..<100 {
                var bytes = original
                for _ in 0..<4 {
                    bytes[.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
                for _ in 0..<2 { bytes[.random(in: 0..<1024, using: &random)] = .random(in: 0...255, using: &random) }
                try Fixtures.write(bytes, to: "\(directory)/libmutated.so")
                let inspection = PluginInspection(path: "\(directory)/libmutated.so")
                #expect(inspection.size == bytes.count)
            }
        }
    }

    @Test func `a certificate joins those of other images, and replaces no file that cannot be read`() throws {
        try Fixtures.withDirectory { directory in
            let file = "\(directory)/conformance.json"
            func certify(_ level: Int) throws {
                let certificate = ConformanceCertificate(
                    file: "libb.so",
                    plugin: "b 1.0.0",
                    sha256: "00",
                    level: level,
                    host: "1.0.0"
                )
                try certificate.write(beside: "\(directory)/libb.so")
            }
            // A later release may know further levels, and say more.
            let later = #"{"version": 1, "plugins": [{"file": "liba.so", "level": 11, "more": true}]}"#
            try Fixtures.write(Array(later.utf8), to: file)
            for level in [3, 4] { try certify(level) }
            let plugins = try JSONValue(parsing: Fixtures.bytes(file))["plugins"]?.array
            #expect(plugins?.map { $0["level"] } == [11, 4] && plugins?.first?["more"] == true)
            for text in [#"{"version": 2, "plugins": []}"#, "{"] {
                try Fixtures.write(Array(text.utf8), to: file)
                let error = #expect(throws: ConnectorError.self) { try certify(5) }
                #expect(error?.code == .storage)
                #expect(try Fixtures.bytes(file) == Array(text.utf8))
            }
        }
    }

    @Test(.enabled("rustc is not installed") { Fixtures.has("rustc") })
    func `the language is recognised where the manifest does not name it`() throws {
        let rust = try ELFImage(ImageBytes(path: Fixtures.plugin("frozen-rust")))
        #expect(rust.language(DynamicSection(rust)) == "rust")
        let c = try ELFImage(ImageBytes(path: Fixtures.plugin("timer")))
        #expect(c.language(DynamicSection(c)) == "c")
    }
}
