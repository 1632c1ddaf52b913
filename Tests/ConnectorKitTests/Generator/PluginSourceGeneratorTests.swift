// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Testing

@testable internal import connector_manifest

/// The source that is made of a manifest.
@Suite struct PluginSourceGeneratorTests {
    private func generate(_ operations: String, type: String = "") throws -> (
        source: String, problems: [ConnectorError]
    ) {
        let text = """
            {"manifest":1,"id":"my-plugin","version":"1.0.0","abi":[1,1],"entry":"my_plugin"\(type),
             "capabilities":{"mine/1":{\(operations)}}}
            """
        let manifest = try Manifest(parsing: Array(text.utf8), file: "my.connector.json")
        var generator = PluginSourceGenerator(manifest, text: Array(text.utf8), file: "my.connector.json")
        return (try generator.source(), generator.problems)
    }

    @Test func `a synchronous operation calls the author's method with labels and writes what it answers`() throws {
        let signature = "(name: string, n: i32, limit: u8?, data: bytes?, sum: out f64, text: out string) -> json"
        let (source, problems) = try generate(#""work":{"symbol":"my_work","signature":"\#(signature)"}"#)
        #expect(problems.isEmpty)
        for line in [
            "@c(`my_plugin`)", "@c(`my_work`)", "Line.create(`MyPlugin`.self", "_ p0: UnsafePointer<CChar>?,",
            "_ p0Length: UInt64,",
            "_ p1: Int32,", "_ p2: UnsafePointer<UInt8>?,", "_ p4: UnsafeMutablePointer<Double>?,",
            "_ p5: UnsafeMutableRawPointer?,", "_ p5Capacity: UInt64,", "_ p5Length: UnsafeMutablePointer<UInt64>?,",
            "_ r0: UnsafeMutableRawPointer?,", "let a2 = unsafe Line.optional(p2)",
            "let a3 = try unsafe Line.optionalBytes(p3, p3Length, \"data\")",
            "let values = try plugin.`work`(name: a0, n: p1, limit: a2, data: a3)",
            "try unsafe Line.write(values.0, to: p4)",
            "try unsafe Line.write(Line.encode(values.1), to: p5, capacity: p5Capacity, length: p5Length)",
            "try unsafe Line.write(Line.encode(values.2), to: r0)",
        ] {
            #expect(source.contains(line), "\(line)")
        }
    }

    @Test func `an application that links the plugin finds its functions by their symbols`() throws {
        let (source, problems) = try generate(#""work":{"symbol":"my_work","signature":"(n: i32, h: handle?) -> f64"}"#)
        #expect(problems.isEmpty)
        for line in [
            "public let connectorLinkedPlugin: LinkedPlugin", "extension `MyPlugin`: LinkablePlugin {",
            "\"my_plugin\": Line.address(connectorEntry as @convention(c) () -> UnsafeRawPointer),",
            "\"my_work\": Line.address(",
            "connectorOperation_my_work as @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeMutableRawPointer?, "
                + "UnsafeMutablePointer<Double>?, UnsafeMutableRawPointer?) -> Int32",
        ] {
            #expect(source.contains(line), "\(line)")
        }
    }

    @Test func `an asynchronous operation awaits the author's method`() throws {
        let (source, _) = try generate(#""work":{"symbol":"my_work","signature":"(in: json?) async -> bytes"}"#)
        #expect(source.contains("let a0 = try unsafe Line.optionalJSON(p0, p0Length, \"in\")"))
        #expect(source.contains("return Line.encode(try await plugin.`work`(in: a0))"))
    }

    @Test func `the method of a batch says by its type whether the batch is parsed`() throws {
        let (source, _) = try generate(#""deliver":{"symbol":"my_deliver","signature":"(events: json) async -> json"}"#)
        #expect(source.contains("let a0 = try unsafe Line.text(p0, p0Length, \"events\")"))
        #expect(source.contains("Line.encode(try await plugin.`deliver`(events: Line.argument(a0, \"events\")))"))
    }

    @Test func `operations that share a name and a symbol share one function`() throws {
        let text = """
            {"manifest":1,"id":"both","version":"1.0.0","abi":[1,1],"entry":"both_entry",
             "capabilities":{"analytics/1":["flush"],"crash/1":["flush"]}}
            """
        let manifest = try Manifest(parsing: Array(text.utf8), file: "both.connector.json")
        var generator = PluginSourceGenerator(manifest, text: Array(text.utf8), file: "both.connector.json")
        let source = try generator.source()
        #expect(generator.problems.isEmpty)
        #expect(source.split(separator: "@c(`both_flush`)").count == 2)
        #expect(source.split(separator: "\"both_flush\": Line.address(").count == 2)
    }

    @Test(arguments: [
        (#""a-b":{"symbol":"x","signature":"()"}"#, "cannot be the name of a method"),
        (#""a":{"symbol":"x.y","signature":"()"}"#, "cannot be the name of a function"),
        (#""a":{"symbol":"x","signature":"(s: cstring)"}"#, "cstring is for foreign libraries; a plugin takes string"),
        (#""a":{"symbol":"x","signature":"(b: bytes32)"}"#, "bytes32 is for foreign libraries; a plugin takes bytes"),
        (#""a":{"symbol":"x","signature":"()"},"b":{"symbol":"x","signature":"()"}"#, "give mine/1 b a symbol"),
        (
            #""get":{"symbol":"x","signature":"(s: json)"}},"yours/1":{"get":{"symbol":"x","signature":"(s: string)"}"#,
            "x already calls the method of mine/1 get; give yours/1 get a symbol of its own"
        ),
        (#""a":{"symbol":"x","signature":"(h: handle) async"}"#, "takes no handle"),
        (#""open":{"symbol":"x","signature":"() async"}"#, "open() is already the gate's own method"),
        (#""probe":{"symbol":"x","signature":"() async"}"#, "probe() is already the gate's own method"),
        (#""close":{"symbol":"x","signature":"()"}"#, "close() is already the gate's own method"),
    ])
    func `an operation that Swift cannot express is reported with its position`(
        _ operations: String,
        _ expected: String
    ) throws {
        let problem = try #require(try generate(operations).problems.first)
        #expect(problem.message.contains(expected))
        #expect(problem.position?.description.hasPrefix("my.connector.json:2:") == true)
    }

    @Test(arguments: [
        (#""id":"9acme""#, #"the id makes the type 9acme, which cannot be the name of a type"#),
        (#""id":"line""#, "the id makes the type Line, which would hide"),
        (#""id":"acme","swiftType":"a b""#, #"the swiftType is "a b", which cannot be the name of a type"#),
        (#""id":"acme","swiftType":"Acme.""#, "cannot be the name of a type"),
        (#""id":"acme","swiftType":"Acme<Int""#, "cannot be the name of a type"),
        (#""id":"acme","swiftType":"""#, "cannot be the name of a type"),
    ])
    func `a type that Swift cannot name is reported at the key that names it`(
        _ keys: String,
        _ expected: String
    ) throws {
        let key = keys.contains("swiftType") ? "swiftType" : "id"
        let text = #"{"manifest":1,"version":"1.0.0","abi":[1,1],"entry":"e",\#(keys)}"#
        let manifest = try Manifest(parsing: Array(text.utf8), file: "my.connector.json")
        var generator = PluginSourceGenerator(manifest, text: Array(text.utf8), file: "my.connector.json")
        _ = try generator.source()
        let problem = try #require(generator.problems.first)
        #expect(generator.problems.count == 1 && problem.message.contains(expected), "\(problem)")
        let place = try #require(text.firstRange(of: "\"\(key)\":"))
        #expect(problem.position?.column == text.distance(from: text.startIndex, to: place.upperBound) + 1)
    }

    @Test func `a symbol, a method and a type may be words of Swift`() throws {
        let (source, problems) = try generate(
            #""in":{"symbol":"func","signature":"()"}"#,
            type: #","swiftType":"Module.class""#
        )
        #expect(problems.isEmpty, "\(problems)")
        for line in ["@c(`func`)", "plugin.`in`()", "extension `Module`.`class`: LinkablePlugin {"] {
            #expect(source.contains(line), "\(line)")
        }
    }

    @Test func `a type may be generic`() throws {
        let (source, problems) = try generate(
            #""work":{"symbol":"my_work","signature":"()"}"#,
            type: #","swiftType":"Module.Box<[Int]>""#
        )
        #expect(problems.isEmpty, "\(problems)")
        for line in ["Line.create(`Module`.`Box`<[Int]>.self", "extension `Module`.`Box`<[Int]>: LinkablePlugin {"] {
            #expect(source.contains(line), "\(line)")
        }
    }

    @Test(arguments: ["(door: string) async", "() async -> json"])
    func `an operation that the life cycle has no method for may be named like a step of it`(signature: String) throws {
        let (source, problems) = try generate(#""close":{"symbol":"my_close","signature":"\#(signature)"}"#)
        #expect(problems.isEmpty)
        #expect(source.contains("try await plugin.`close`("))
    }

    @Test func `the note holds the manifest without its blanks`() {
        let source = ManifestNote(["a": 1]).source
        // namesz 10, descsz 7, type 1, "connector\0\0\0", "{"a":1}\0"
        #expect(
            source.contains(
                """
                let connectorManifest: InlineArray<8, UInt32> = [
                    0x0000000a, 0x00000007, 0x00000001, 0x6e6e6f63, 0x6f746365, 0x00000072, 0x2261227b, 0x007d313a,
                ]
                """
            )
        )
        #expect(source.contains("@section(\".note.connector\") @used"))
    }
}
