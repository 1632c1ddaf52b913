// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Every way in which a plugin cannot be loaded has its code, its reason and its remedy, and harms nobody.
@Suite struct BrokenPluginTests {
    /// What a fixture is refused with, and a word of the message.
    struct Refusal: Sendable, CustomTestStringConvertible {
        var fixture: String
        var code: ConnectorError.Code
        var word: String

        init(_ fixture: String, _ code: ConnectorError.Code, _ word: String) {
            self.fixture = fixture
            self.code = code
            self.word = word
        }

        var testDescription: String { fixture }
    }

    static let refusals = [
        Refusal("absent", .notFound, "no file"),
        Refusal("not-elf", .notELF, "a script"),
        Refusal("empty", .notELF, "empty"),
        Refusal("object", .notELF, "not a shared library"),
        Refusal("truncated", .truncated, "before the end of"),
        Refusal("wrong-architecture", .wrongArchitecture, "machine 43"),
        Refusal("32-bit", .wrongArchitecture, "32-bit"),
        Refusal("executable", .executable, "a program"),
        Refusal("fixed-executable", .executable, "a program"),
        Refusal("no-manifest", .noManifest, "no manifest"),
        Refusal("invalid-manifest", .invalidManifest, "capabilit"),
        Refusal("garbage-manifest", .invalidManifest, "expected"),
        Refusal("manifest-mismatch", .manifestMismatch, "version (1.0.0, 1.0.1)"),
        Refusal("unsupported-abi", .unsupportedABI, "versions 7 to 9"),
        Refusal("symbol-absent", .symbolAbsent, "absent_go"),
        Refusal("entry-absent", .symbolAbsent, "fixture_entry"),
        Refusal("signature-mismatch", .signatureMismatch, "(request: json) async -> json"),
        Refusal("missing-dependency", .missingDependency, "libgone.so"),
        Refusal("missing-symbol", .missingSymbol, "defined_nowhere"),
        Refusal("missing-version", .missingSymbolVersion, "VERSIONED_2.0"),
        Refusal("missing-glibc-version", .missingSymbolVersion, "GLIBC_9."),
    ]

    @Test(arguments: refusals)
    func `a broken plugin is refused with its code, a message that names the reason, and a remedy`(_ refusal: Refusal)
        throws
    {
        let path = Fixtures.broken(refusal.fixture)
        let error = try #require(
            #expect(throws: ConnectorError.self) { try PluginLoader().load(PluginCatalog.candidate(path: path)) }
        )
        #expect(error.code == refusal.code, "\(error.treeDescription)")
        #expect(error.message.contains(refusal.word), "\(error.treeDescription)")
        if refusal.code != .invalidManifest { #expect(error.fix != nil) }
    }
}
