// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorPlatform
import Testing

@testable import ConnectorHostTesting
@testable import ConnectorInvocation

/// What the suite for plugin authors is made of.
@Suite struct ConformancePartsTests {
    @Test func `a part of a check reports its findings to the whole check, and ends with it`() async {
        let run = RuleRun(.file("/nowhere/libnone.so"), PluginConformance.Options())
        let part = run.part(PluginConformance.Options())
        await confirmation { ended in
            part.atEnd { ended() }
            part.report(.loads, "it does not load")
            await run.end()
        }
        #expect(run.findings.map(\.description) == ["loads: it does not load"])
    }

    // Other systems refuse such names.
    #if os(Linux)
        @Test func `a directory lent to a plugin is removed, whatever names the plugin has given to its files`() throws
        {
            let directory = try ConnectorPlatform.TemporaryDirectory("connector-names")
            let folder = "\"$(printf '\(directory.path)/\\344')\""
            #expect(Fixtures.run("mkdir \(folder) && touch \(folder)/a \(folder)/\"$(printf '\\377')\"") == 0)
            directory.remove()
            #expect(FileStamp(path: directory.path) == nil)
        }
    #endif

    @Test func `generated values of u64 reach its upper half, as digits in a string`() throws {
        var generator = ValueGenerator(seed: 1, name: "u64")
        var values: [JSONValue] = []
        for _ in 0..<200 { values.append(generator.value(of: .u64)) }
        #expect(values.contains(.string("\(UInt64.max)")))
        #expect(values.contains { $0.integer != nil })
        for value in values { _ = try CallValue(value, as: .u64, handles: nil) }
    }
}
