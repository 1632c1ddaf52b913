// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost

@Suite struct StandbyConfigurationTests {
    private static func parsed(_ connectors: String, root: String = "") throws -> Configuration {
        try Configuration(
            parsing: #"{"version": 1, \#(root) "connectors": [\#(connectors)]}"#,
            directory: "/etc/app",
            environment: Configuration.Environment([:])
        )
    }

    @Test func `a standby is inherited, but not where plugins run in the host`() throws {
        let configuration = try Self.parsed(
            """
            {"name": "a", "plugin": "segment"}, {"name": "b", "plugin": "segment", "standby": false},
            {"name": "c", "plugin": "segment", "isolation": "none"},
            {"name": "d", "isolation": "auto", "connectors": [{"name": "e", "plugin": "segment"}]}
            """,
            root: #""isolation": "process", "standby": true,"#
        )
        #expect(configuration.connectors.map(\.isolation.standby) == [true, false, false, false])
        #expect(!configuration.connectors[3].children[0].isolation.standby)
        // What was read from a file is also valid in Swift.
        _ = try Configuration(connectors: configuration.connectors)
    }

    @Test(arguments: [
        (#"{"name": "a", "plugin": "segment", "standby": true}"#, #"and the isolation is "none" here"#),
        (#"{"name": "a", "plugin": "segment", "isolation": "auto", "standby": true}"#, #"is "auto" here"#),
        (#"{"name": "a", "plugin": "segment", "isolation": "process", "standby": 1}"#, "standby must be"),
    ])
    func `a standby that is impossible is an error`(connector: String, expected: String) throws {
        let error = #expect(throws: (any Error).self) { try Self.parsed(connector) }
        #expect("\(try #require(error))".contains(expected), "\(String(describing: error))")
    }

    @Test func `a standby in Swift needs a runner too`() throws {
        let connector = Connector("a", plugin: "segment", isolation: Isolation(.none, standby: true))
        let error = #expect(throws: ConfigurationErrors.self) { try Configuration(connectors: [connector]) }
        #expect("\(try #require(error))".contains(#"a standby waits in a runner, and the isolation is "none" here"#))
    }

    @Test(arguments: [#""standby": true, "#, ""])
    func `an exclusive plugin has no standby`(own: String) throws {
        let text = #"{"manifest": 1, "id": "one", "version": "1.0.0", "abi": [1, 1], "entry": "e", "exclusive": true}"#
        let manifest = try Manifest(parsing: Array(text.utf8))
        let root = own.isEmpty ? #""isolation": "process", "standby": true,"# : ""
        let configuration = try Self.parsed(
            #"{"name": "a", \#(own)"isolation": "process", "plugin": "one"}"#,
            root: root
        )
        let error = #expect(throws: ConfigurationErrors.self) {
            try configuration.resolved(environment: Configuration.Environment([:])) { _ in .success(manifest) }
        }
        let message = "\(try #require(error))"
        #expect(message.contains("the plugin one is exclusive") && message.contains("\"standby\": false"), "\(message)")
    }
}
