// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorManifest
import ConnectorPlatform
import Testing

@Suite struct SandboxConfigurationTests {
    private static func sandbox(_ setting: String, root: String = "") throws -> SandboxSettings {
        let text = """
            {"version": 1, \(root) "connectors": [{"name": "a", "plugin": "segment", "isolation": "process"\(setting)}]}
            """
        let configuration = try Configuration(parsing: text, directory: "/etc/app", environment: .init(["D": "/srv"]))
        return configuration.connectors[0].isolation.sandbox
    }

    @Test func `a sandbox has levels, paths from the file's directory, and bounds`() throws {
        #expect(try Self.sandbox("") == SandboxSettings())
        #expect(try Self.sandbox(#", "sandbox": "required""#).level == .required)
        let object = """
            , "sandbox": {"level": "off", "read": ["data", "${D}/../x"], "write": ["/var/a"], "network": true,
                          "memory": 67108864, "cpu": 0.5, "threads": 16}
            """
        #expect(
            try Self.sandbox(object)
                == SandboxSettings(
                    level: .off,
                    read: ["/etc/app/data", "/x"],
                    write: ["/var/a"],
                    network: true,
                    memory: 64 << 20,
                    cpu: 0.5,
                    threads: 16
                )
        )
    }

    @Test func `a connector inherits the sandbox settings that it does not give itself`() throws {
        let root = #""sandbox": {"level": "required", "read": ["/a"], "network": true},"#
        #expect(try Self.sandbox("", root: root) == SandboxSettings(level: .required, read: ["/a"], network: true))
        let setting = #", "sandbox": {"read": ["/b"], "network": false}"#
        #expect(try Self.sandbox(setting, root: root) == SandboxSettings(level: .required, read: ["/b"]))
    }

    @Test func `a sandbox that is required needs a runner`() throws {
        func parsed(_ settings: String, root: String = "") throws -> Configuration {
            let text = #"{"version": 1, \#(root) "connectors": [{"name": "a", "plugin": "segment", \#(settings)}]}"#
            return try Configuration(parsing: text, directory: "/etc/app", environment: .init([:]))
        }
        let error = #expect(throws: (any Error).self) { _ = try parsed(#""sandbox": "required""#) }
        #expect("\(try #require(error))".contains(#"the sandbox is required, and the isolation is "none" here"#))
        // At the root it may be meant for other connectors, and another level demands nothing.
        _ = try parsed(#""isolation": "none""#, root: #""isolation": "process", "sandbox": "required","#)
        _ = try parsed(#""isolation": "none", "sandbox": "off""#)
    }

    @Test(arguments: [
        (#""none""#, #"the sandbox is "required", "default", "learn" or "off", not "none""#),
        (#"{"level": "all"}"#, #"the sandbox is "required", "default", "learn" or "off", not "all""#),
        (#"{"reads": []}"#, #"unknown key "reads""#),
        (#"{"memory": 5}"#, "memory"),
        (#"{"threads": 1}"#, "threads"), (#"{"cpu": 0}"#, "cpu"), (#"{"cpu": "1"}"#, "cpu"),
        (#"{"read": [""]}"#, "must be the path of a file or a directory"),
        (#"{"network": "yes"}"#, "network must be"),
    ])
    func `an invalid setting is a fault that names what is wrong`(setting: String, expected: String) throws {
        let error = #expect(throws: (any Error).self) { try Self.sandbox(", \"sandbox\": \(setting)") }
        #expect("\(try #require(error))".contains(expected))
    }
}
