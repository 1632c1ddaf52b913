// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

@Suite struct TemplateTests {
    private static let environment = Configuration.Environment(["A": "1", "EMPTY": "", "_b2": "${A}"])

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("$A {A} $ $$ }", "$A {A} $ $$ }"),
        ("${A}", "1"), ("x${A}y${A}z", "x1y1z"), ("${_b2}", "${A}"),
        ("${NO:-default}", "default"), ("${NO:-}", ""), ("${EMPTY:-d}", "d"), ("${EMPTY}", ""), ("${A:-d}", "1"),
        ("${NO:-a:-b$c}", "a:-b$c"),
        ("$${A}", "${A}"), ("$$${A}", "$${A}"), ("${A}$${A}${A}", "1${A}1"), ("$${", "${"),
        ("ü${A}€", "ü1€"),
    ])
    func `variables are filled in`(text: String, expected: String) throws {
        let filled = try Template(parsing: text).filled(from: Self.environment)
        #expect(filled.text == expected)
        #expect(filled.missing.isEmpty)
    }

    @Test(arguments: [
        "${", "${A", "${}", "${:-x}", "${A B}", "${1}", "${A-x}", "x${ä}", "${${A}}", "${A:-${B}}", "${A:-b${B:-c}}",
    ])
    func `a malformed reference is refused`(text: String) {
        #expect(throws: Template.ParseError.self) { try Template(parsing: text) }
    }

    @Test func `every missing variable is named once`() throws {
        let filled = try Template(parsing: "${X}${A}${Y}${X}").filled(from: Self.environment)
        #expect(filled.missing == ["X", "Y"])
    }

    @Test func `only a variable on its own may stand for a number`() throws {
        #expect(try Template(parsing: "${A}").isOneVariable)
        #expect(try Template(parsing: "${A:-1}").isOneVariable)
        #expect(try !Template(parsing: "${A} ").isOneVariable)
        #expect(try !Template(parsing: "1").isOneVariable)
    }

    @Test func `the variables of the process are read`() {
        #expect(Configuration.Environment.process["PATH"] != nil)
        #expect(Configuration.Environment.process["NO_SUCH_VARIABLE_HERE"] == nil)
    }
}
