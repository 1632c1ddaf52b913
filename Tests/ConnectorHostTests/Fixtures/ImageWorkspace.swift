// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A directory with a configuration and the image of one plugin, which a test replaces while a host runs.
struct ImageWorkspace: Sendable {
    let directory = ScratchDirectory()

    /// The image that the configuration leads to.
    var image: String { "\(directory.path)/plugins/libswapped.so" }

    /// The variants of the plugin.
    struct Variant: Sendable {
        /// What `answer` returns.
        var answer = 1
        var version = "1.0.0"
        var id = "swapped"
        /// The signature of `answer`: `() -> i64`, or with another name of its result's type.
        var signature = "() -> i64"
        /// More keys of the manifest, each after a comma.
        var manifest = ""
        /// C code before the functions.
        var code = ""
        /// The function that creates an instance.
        var create = "fixture_create"
        /// The function that opens an instance.
        var open = "fixture_open"
        /// The function that closes an instance; there need not be one.
        var close = "NULL"
        /// More capabilities, each after a comma.
        var capabilities = ""
        /// Capabilities before the plugin's own, each with a comma after it.
        var earlierCapabilities = ""
        /// What `answer` does; empty to return the answer.
        var body = ""
        var flags = ""
    }

    init() {
        unsafe mkdir("\(directory.path)/plugins", 0o755)
        unsafe mkdir("\(directory.path)/build", 0o755)
        configure()
    }

    /// Writes the configuration: a gate of the plugin, and others.
    func configure(_ others: String..., settings: String = "", root: String = "") {
        let gate = #"{"name": "gate", "plugin": "swapped", "probe": "off", "heal": "off"\#(settings)}"#
        let connectors = ([gate] + others).joined(separator: ", ")
        directory.write(
            Array(#"{"version": 1, "plugins": ["plugins"]\#(root), "connectors": [\#(connectors)]}"#.utf8),
            to: "connectors.json"
        )
    }

    /// Writes a configuration in which the gate has another name.
    func renameGate(settings: String = "") {
        let moved = #"{"name": "moved", "plugin": "swapped", "was": "gate", "probe": "off", "heal": "off"\#(settings)}"#
        directory.write(
            Array(#"{"version": 1, "plugins": ["plugins"], "connectors": [\#(moved)]}"#.utf8),
            to: "connectors.json"
        )
    }

    /// Compiles a variant, in a directory that the configuration does not know.
    func build(_ variant: Variant = Variant()) throws -> String {
        try Fixtures.compile(
            """
            #include "fixture.h"
            #include <fcntl.h>
            #include <sys/file.h>
            #include <unistd.h>
            CONNECTOR_MANIFEST({
                "manifest": 1, "id": "\(variant.id)", "version": "\(variant.version)", "abi": [1, 1],
                "entry": "fixture_entry",
                "capabilities": {\(variant.earlierCapabilities)
                                 "number/1": {"answer": {"symbol": "swapped_answer",
                                                         "signature": "\(variant.signature)"}}
                                 \(variant.capabilities)}
                \(variant.manifest)
            });
            \(variant.code)
            const volatile char swapped_mark[] = "mark 0000000000";
            CONNECTOR_EXPORT int32_t swapped_answer(void *instance, int64_t *result, connector_error *error) {
                (void)instance;
                (void)error;
                \(variant.body.isEmpty ? "*result = \(variant.answer); return CONNECTOR_OK;" : variant.body)
            }
            CONNECTOR_EXPORT const connector_plugin *fixture_entry(void) {
                static const connector_plugin plugin = {sizeof(connector_plugin), CONNECTOR_ABI_VERSION,
                                                        \(variant.create), \(variant.open), \(variant.open),
                                                        \(variant.close), fixture_destroy, NULL};
                return &plugin;
            }
            """,
            into: "\(directory.path)/build",
            as: TestHost.unique("swapped"),
            flags: "-D_GNU_SOURCE " + variant.flags
        )
    }

    /// Compiles a variant, and puts it in place by renaming.
    func install(_ variant: Variant = Variant()) throws {
        try place(build(variant))
    }

    /// Puts a file in place by renaming.
    func place(_ file: String) throws {
        try #require(unsafe rename(file, image) == 0)
    }

    /// A host that runs on the configuration, with its gates open.
    ///
    /// - Parameter pluginDirectories: What is beside the program.
    func host(
        clock: any HostClock = SystemHostClock(),
        pluginDirectories: [String] = []
    ) async throws -> ConnectorHost {
        let options = ConnectorHost.Options(
            environment: .init([:]),
            pluginDirectories: pluginDirectories,
            clock: clock,
            stateDirectory: "\(directory.path)/state"
        )
        let host = try ConnectorHost(file: "\(directory.path)/connectors.json", options: options)
        await host.open()
        return host
    }
}

extension ConnectorHost {
    /// What the plugin of ``ImageWorkspace`` answers.
    func answer(_ path: String = "gate") async throws -> Int64? {
        try await gate(path).call("answer").integer
    }
}
