// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// Plugins of `Examples/` in other surroundings than their own applications.
@Suite struct ExampleTests {
    @Test func `the calculator answers with a point in a locale that has a comma`() async throws {
        let workspace = try Workspace()
        try workspace.configure([["name": "calculator", "plugin": "calculator"]], plugins: ["."])
        let root = FixturePlugins.root
        let status = shell(
            """
            cc -std=c99 -fPIC -shared -fvisibility=hidden -I'\(root)/Sources/CConnector/include' \
            -include '\(root)/Tests/Fixtures/tools/decimal-comma.h' '\(root)/Examples/calculator/calculator.c' \
            -o '\(workspace.path)/libcalculator.so'
            """
        )
        #expect(status == 0)
        let values = ["1 / 8": "0.125", "0 - 9 / 4": "-2.25", "6 * 7": "42", "1 / 3": "0.3333333333333333"]
        for (formula, value) in values {
            let result = try await workspace.program.run("call", "calculator", "evaluate", formula)
            #expect(result.status == 0, "\(result.error)")
            #expect(result.output == "{\n  \"value\": \(value)\n}\n")
        }
    }
}
