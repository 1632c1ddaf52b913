// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

/// The operations of capabilities.
@Suite struct CapabilityTests {
    @Test(arguments: CapabilityDefinition.all)
    func `the standard capabilities' own signatures are normalized and documented`(definition: CapabilityDefinition)
        throws
    {
        let id = try #require(CapabilityID(definition.id))
        #expect(CapabilityDefinition.standard(id) == definition)
        #expect(Set(definition.operations.map(\.name)).count == definition.operations.count)
        for operation in definition.operations {
            #expect(try Signature(parsing: operation.signature).description == operation.signature)
            #expect(operation.documentation.hasSuffix("."))
        }
    }

    @Test(arguments: ["geocoder/1", "my.own-thing_2/4294967295", "0/1"])
    func `a capability has a name and a version`(text: String) {
        #expect(CapabilityID(text)?.description == text)
    }

    @Test(arguments: [
        "", "/", "a", "a/", "/1", "a/0", "a/01", "a/+1", "a/-1", "a/1.0", "a/1/2", "A/1", "-a/1", "ä/1", "a b/1",
        "a/4294967296",
        "a/ 1", "a/١",
    ])
    func `anything else is not a capability`(text: String) {
        #expect(CapabilityID(text) == nil)
    }

    @Test func `an operation is found by its name, and by that of its capability where two have it`() throws {
        let signature = try Signature(parsing: "()")
        let capabilities = try ["first/1", "second/1"].map { id in
            let operations = ["run", id == "first/1" ? "stop" : "go"].map {
                Operation(name: $0, symbol: "\(id) \($0)", signature: signature, documentation: "")
            }
            return Capability(id: try #require(CapabilityID(id)), operations: operations)
        }
        func symbol(_ name: String) -> String? { capabilities.operation(named: name)?.operation.symbol }
        #expect(symbol("run") == "first/1 run" && symbol("go") == "second/1 go")
        #expect(symbol("first/run") == "first/1 run" && symbol("second/run") == "second/1 run")
        for name in ["", "/", "/run", "first/", "first/go", "first/1", "first/2/run", "second/run/"] {
            #expect(symbol(name) == nil, "\(name)")
        }
    }

    @Test func `an operation of one of two versions of a capability is found by the version`() throws {
        let signature = try Signature(parsing: "()")
        let capabilities = try ["first/1", "second/1", "second/2"].map { id in
            Capability(
                id: try #require(CapabilityID(id)),
                operations: [Operation(name: "run", symbol: "\(id) run", signature: signature, documentation: "")]
            )
        }
        func symbol(_ name: String) -> String? { capabilities.operation(named: name)?.operation.symbol }
        #expect(symbol("run") == "first/1 run" && symbol("second/run") == "second/1 run")
        #expect(symbol("second/1/run") == "second/1 run" && symbol("second/2/run") == "second/2 run")
        for name in ["second/3/run", "second/02/run", "second/2/", "second//run", "second/2/go", "first/2/run"] {
            #expect(symbol(name) == nil, "\(name)")
        }
        let labels = capabilities.map { capabilities.label(of: "run", in: $0.id) }
        #expect(labels == ["first/run", "second/run", "second/2/run"])
        #expect((capabilities + capabilities).names == ["run", "second/run", "second/2/run"])
    }

    @Test func `a name has at most 64 bytes`() {
        #expect(isIdentifier(String(repeating: "a", count: 64)))
        #expect(!isIdentifier(String(repeating: "a", count: 65)) && !isIdentifier("") && !isIdentifier(".a"))
    }
}
