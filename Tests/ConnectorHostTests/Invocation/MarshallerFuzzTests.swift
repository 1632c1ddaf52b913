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

/// Random signatures and random values, the same ones every time, against C functions that echo what they get.
@Suite(.timeLimit(.minutes(10))) struct MarshallerFuzzTests {
    private static let functionCount = 40
    private static let callsPerFunction = 30

    @Test func `whatever is sent comes back, for random signatures and values`() throws {
        var random = SeededGenerator(seed: 0xC0FFEE)
        let signatures = (0..<Self.functionCount).map { _ in EchoSignature(using: &random) }
        try Fixtures.withDirectory { directory in
            let source = EchoSignature.source(of: signatures)
            let path = try Fixtures.compile(source, into: directory, as: "echo")
            let plugin = try PluginLoader().load(PluginCatalog.candidate(path: path))
            for (index, echo) in signatures.enumerated() {
                let (_, operation) = try #require(plugin.manifest.operation(named: "echo\(index)"))
                let function = try unsafe #require(plugin.symbol(named: "echo\(index)"))
                let layout = try CallLayout(operation.signature)
                for _ in 0..<Self.callsPerFunction {
                    let values = echo.types.map { $0.value(using: &random) }
                    let outputs = try CallFrame.with(layout) { frame throws(ConnectorError) in
                        frame.set(values)
                        frame.lendBuffers()
                        if let argument = layout.shape.instanceArgument {
                            unsafe frame.setPointer(nil, at: argument)
                        }
                        #expect(unsafe frame.call(function) & 0xFFFF_FFFF == 0)
                        return try frame.takeAnswers()
                    }
                    #expect(outputs.map(\.value) == echo.expected(values), "\(operation.signature)")
                }
            }
        }
    }

    @Test func `random JSON is either taken as what it is or refused, for every type`() {
        var random = SeededGenerator(seed: 0xBEEF)
        let handles = HandleTable()
        var taken = 0
        for _ in 0..<2000 {
            let value = JSONValue.random(depth: 2, using: &random)
            for type in ValueType.allCases {
                do throws(ConnectorError) {
                    let argument = try CallValue(value, as: type, handles: handles)
                    taken += 1
                    // What was taken says the same when it comes back.
                    guard type != .json, type != .handle, type != .f32 else { continue }
                    let back = try argument.json(as: type, handles: handles)
                    #expect(try CallValue(back, as: type, handles: handles) == argument)
                } catch {
                    #expect([.invalid, .misbehaved].contains(error.code))
                }
            }
        }
        #expect(taken > 2000)
    }

    @Test func `a frame can be used again for other values of the same signature`() throws {
        var random = SeededGenerator(seed: 7)
        try Fixtures.withDirectory { directory in
            let echo = EchoSignature(types: [.text(.string, isOptional: false), .number(.i16, isOptional: true)])
            let path = try Fixtures.compile(EchoSignature.source(of: [echo]), into: directory, as: "again")
            let plugin = try PluginLoader().load(PluginCatalog.candidate(path: path))
            let (_, operation) = try #require(plugin.manifest.operation(named: "echo0"))
            let function = try unsafe #require(plugin.symbol(named: "echo0"))
            let layout = try CallLayout(operation.signature)
            try CallFrame.with(layout) { frame throws(ConnectorError) in
                for _ in 0..<100 {
                    let values = echo.types.map { $0.value(using: &random) }
                    frame.set(values)
                    #expect(unsafe frame.call(function) & 0xFFFF_FFFF == 0)
                    #expect(try frame.takeAnswers().map(\.value) == echo.expected(values))
                }
            }
        }
    }
}

extension JSONValue {
    /// Any value, edges more often than the rest.
    fileprivate static func random(depth: Int, using random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 9), using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2: .integer([0, -1, 127, 128, 255, 256, 65535, .min, .max, 1 << 32].randomElement(using: &random) ?? 0)
        case 3: .integer(.random(in: .min ... .max, using: &random))
        case 4:
            .number([0.5, -0.0, 1e300, 0x1p63, 0x1p64, -0x1p63, .nan, .infinity].randomElement(using: &random) ?? 0)
        case 5: .number(Double(bitPattern: .random(in: 0 ... .max, using: &random)))
        case 6: .string(String(UInt64.random(in: 0 ... .max, using: &random)))
        case 7:
            .string(["", "a", "\u{0}", "é", "18446744073709551616", "-0", "+1"].randomElement(using: &random) ?? "")
        case 8: ["base64": ["AAH/", "A", "====", ""].randomElement(using: &random).map(JSONValue.string) ?? .null]
        case 9: .array((0..<3).map { _ in .random(depth: depth - 1, using: &random) })
        case 10: ["handle": .random(depth: depth - 1, using: &random)]
        default: ["a": .random(depth: depth - 1, using: &random)]
        }
    }
}
