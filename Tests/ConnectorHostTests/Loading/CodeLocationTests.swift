// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorLoading
@testable import ConnectorManifest

/// The functions and lines of addresses in an image.
@Suite struct CodeLocationTests {
    private static let source = """
        static int inner(int value) {
            return value * 3 + 1;
        }

        __attribute__((visibility("default"))) int outer(int value) {
            int sum = inner(value);
            for (int index = 0; index < value; index++) {
                sum += inner(index);
            }
            return sum;
        }

        """

    private static func image(in directory: String, _ compiler: String, _ flags: String) throws -> ELFImage {
        try Fixtures.write(Array(source.utf8), to: "\(directory)/code.c")
        try #require(
            Fixtures.run("cd '\(directory)' && \(compiler) -O0 -shared -fPIC \(flags) code.c -o libcode.so") == 0
        )
        return try ELFImage(ImageBytes(path: "\(directory)/libcode.so"))
    }

    private static func address(of name: String, _ image: ELFImage) throws -> UInt64 {
        let dynamic = try #require(DynamicSection(image))
        let symbol = image.exported(name.utf8Span.span, dynamic)
        return try #require(symbol).value
    }

    @Test(
        .enabled("clang is not installed") { Fixtures.has("clang") },
        arguments: ["cc", "clang"],
        ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-gdwarf-4 -O2", "-gdwarf-5 -O2"]
    )
    func `an address has its function, file and line`(_ compiler: String, _ flags: String) throws {
        try Fixtures.withDirectory { directory in
            let image = try Self.image(in: directory, compiler, flags)
            let outer = try Self.address(of: "outer", image)
            let locations = CodeLocations(image).locations(of: [outer, outer + 1, 0, .max])
            #expect(locations[0].function == "outer")
            // Optimized code may begin with a line of a function that was inlined.
            let line = flags.contains("-O2") ? "code.c:" : "code.c:5"
            #expect(locations[0].source?.contains(line) == true, "\(locations)")
            #expect(locations[1].function == "outer")
            #expect(locations[2] == CodeLocations.Location())
            #expect(locations[3] == CodeLocations.Location())
        }
    }

    @Test func `without debug information an address has its function, and in a stripped image only if it is exported`()
        throws
    {
        try Fixtures.withDirectory { directory in
            let image = try Self.image(in: directory, "cc", "")
            let outer = try Self.address(of: "outer", image)
            #expect(CodeLocations(image).locations(of: [outer, outer - 1]).map(\.function) == ["outer", "inner"])
            #expect(CodeLocations(image).locations(of: [outer]).first?.source == nil)
            #expect(Fixtures.run("strip '\(directory)/libcode.so'") == 0)
            let stripped = try ELFImage(ImageBytes(path: "\(directory)/libcode.so"))
            #expect(CodeLocations(stripped).locations(of: [outer, outer - 1]).map(\.function) == ["outer", nil])
        }
    }

    @Test func `damaged tables give other locations or none, and never trap`() throws {
        try Fixtures.withDirectory { directory in
            var random = SeededGenerator(seed: 11)
            let whole = try Self.image(in: directory, "cc", "-g")
            let outer = try Self.address(of: "outer", whole)
            let sections = [".debug_line", ".debug_line_str", ".debug_str", ".symtab", ".strtab"].compactMap {
                whole.section(named: $0)
            }
            let original = try Fixtures.bytes("\(directory)/libcode.so")
            for _ in 0..<2000 {
                var bytes = original
                let section = try #require(sections.randomElement(using: &random))
                for _ in 0..<Int.random(in: 1...6, using: &random) where section.size > 0 {
                    let place = section.offset + Int.random(in: 0..<section.size, using: &random)
                    bytes[place] =
                        [0, 1, 0x7F, 0x80, 0xFF, .random(in: 0...255, using: &random)].randomElement(using: &random)
                        ?? 0
                }
                let image = try ELFImage(ImageBytes(copying: bytes, path: "damaged"))
                #expect(CodeLocations(image).locations(of: [outer, outer &+ 9]).count == 2)
            }
        }
    }
}
