// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorLoading

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Plugins that others could change.
@Suite struct PluginTrustTests {
    /// A directory with one plugin and a sidecar, after a change of their permissions.
    private func withPlugin(_ change: String, _ body: (_ directory: String, PluginCandidate) throws -> Void) throws {
        try Fixtures.withDirectory { directory in
            try Fixtures.write(Fixtures.bytes(Fixtures.broken("no-manifest")), to: "\(directory)/libtrusted.so")
            let sidecar = "\(directory)/trusted.connector.json"
            try Fixtures.write(Array(Fixtures.manifest("trusted", "1.0.0").utf8), to: sidecar)
            #expect(Fixtures.run("cd '\(directory)' && \(change)") == 0)
            try body(directory, PluginCatalog.candidate(path: "\(directory)/libtrusted.so"))
        }
    }

    @Test func `a plugin that only this user and root can change is trusted`() throws {
        try withPlugin("chmod go-w . *") { directory, candidate throws in
            #expect(PluginTrust.concerns(candidate, within: [directory]).isEmpty)
            #expect(
                try PluginCatalog(directories: [directory], requiresTrust: true).find("trusted").path == candidate.path
            )
        }
    }

    @Test(arguments: ["libtrusted.so", "trusted.connector.json", "."])
    func `a plugin that everybody can change is a concern, and is refused where trust is required`(_ file: String)
        throws
    {
        try withPlugin("chmod o+w \(file)") { directory, candidate throws in
            let concerns = PluginTrust.concerns(candidate, within: [directory])
            #expect(concerns.count == 1)
            #expect(concerns.first?.hasPrefix("every user can write \(directory)") == true)
            let error = #expect(throws: ConnectorError.self) {
                try PluginCatalog(directories: [directory], requiresTrust: true).find("trusted")
            }
            #expect(error?.code == .denied)
            #expect(throws: Never.self) { try PluginCatalog(directories: [directory]).find("trusted") }
            let configuration = try Configuration(
                parsing: """
                    {"version": 1, "trust": "strict", "plugins": ["\(directory)"],
                     "connectors": [{"name": "a", "plugin": "trusted"}, {"name": "b", "plugin": "\(candidate.path)"}]}
                    """
            )
            let lookup = PluginLookup(configuration: configuration, options: ConnectorHost.Options())
            for leaf in configuration.enabledLeaves {
                #expect(throws: ConnectorError.self) { try lookup.candidate(leaf.leaf.plugin).get() }
            }
        }
    }

    @Test(.enabled("only root can give files away") { geteuid() == 0 })
    func `a plugin that belongs to a third user is a concern`() throws {
        try withPlugin("chown 12345 libtrusted.so") { _, candidate in
            #expect(PluginTrust.concerns(candidate).first?.hasSuffix("belongs to the user 12345") == true)
        }
    }

    @Test func `a second search notices permissions and links that changed since the first`() throws {
        try Fixtures.withDirectory { directory in
            _ = try Fixtures.plugin("handed", "1.0.0", in: directory, as: "handed")
            func concerns(after change: String, _ earlier: PluginCatalog? = nil) throws -> ([String], PluginCatalog) {
                #expect(Fixtures.run("cd '\(directory)' && \(change)") == 0)
                let catalog = PluginCatalog(directories: [directory], after: earlier)
                return (
                    PluginTrust.concerns(try catalog.find("handed"), within: [directory], catalog.trust), catalog
                )
            }
            let (none, first) = try concerns(after: "chmod go-w . *")
            #expect(none.isEmpty)
            let (writable, second) = try concerns(after: "chmod o+w libhanded.so", first)
            #expect(writable == ["every user can write \(directory)/libhanded.so"])
            let (trusted, third) = try concerns(after: "chmod o-w libhanded.so", second)
            #expect(trusted.isEmpty)
            let move = "mkdir .away && chmod o+w .away && mv libhanded.so .away && ln -s .away/libhanded.so ."
            let (linked, _) = try concerns(after: move, third)
            #expect(linked == ["every user can write \(directory)/.away"])
        }
    }

    @Test func `an unknown level of trust is a fault`() {
        #expect(throws: ConfigurationErrors.self) {
            try Configuration(parsing: #"{"version": 1, "trust": "blind", "connectors": []}"#)
        }
    }
}
