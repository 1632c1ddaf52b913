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

/// Reading images of Apple's systems, on any system: clang writes them everywhere.
@Suite struct MachOImageTests {
    private static let target = MachOImage.hostProcessor == 0x0100_000C ? "arm64-apple-macos26" : "x86_64-apple-macos26"

    private static let canCompile =
        Fixtures.run("echo 'int x;' | clang -target \(target) -x c -c - -o /dev/null > /dev/null 2>&1") == 0

    /// The bytes of an object file with a manifest.
    private static func object() throws -> [UInt8] {
        try Fixtures.withDirectory { directory in
            let source = """
                #include <connector/connector.h>
                CONNECTOR_MANIFEST(\(Fixtures.manifest("apple", "1.0.0")));
                """
            try Fixtures.write(Array(source.utf8), to: "\(directory)/apple.c")
            let include = "\(Fixtures.sources.parentPath.parentPath)/Sources/CConnector/include"
            let command = "clang -target \(target) -ffreestanding -Wall -Wextra -Werror -I'\(include)'"
            try #require(Fixtures.run("\(command) -c '\(directory)/apple.c' -o '\(directory)/apple.o'") == 0)
            return try Fixtures.bytes("\(directory)/apple.o")
        }
    }

    @Test(.enabled("clang writes no Mach-O here") { canCompile })
    func `the manifest is found in its section`() throws {
        let image = try MachOImage(ImageBytes(copying: Self.object(), path: "apple.o"))
        let text = try #require(image.manifestTexts().first)
        #expect(try Manifest(parsing: text).id == "apple")
        let error = #expect(throws: ConnectorError.self) { try image.checkKind() }
        #expect(error?.code == .notELF, "an object file is no library")
    }

    @Test(.enabled("clang writes no Mach-O here") { canCompile })
    func `mutated images never trap`() throws {
        let original = try Self.object()
        var random = SeededGenerator(seed: 3)
        for _ in 0..<1000 {
            var bytes = Array(original.prefix(Int.random(in: 1...original.count, using: &random)))
            for _ in 0..<4 {
                bytes[.random(in: 0..<min(bytes.count, 600), using: &random)] = .random(in: 0...255, using: &random)
            }
            let texts = (try? MachOImage(ImageBytes(copying: bytes, path: "apple.o")))?.manifestTexts() ?? []
            #expect(texts.allSatisfy { $0.count <= bytes.count })
        }
    }

    @Test func `the image for this processor is found in a universal file`() throws {
        func bigEndian(_ value: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
        }
        func littleEndian(_ value: UInt32) -> [UInt8] { bigEndian(value).reversed() }
        let thin =
            littleEndian(0xFEED_FACF) + littleEndian(MachOImage.hostProcessor) + littleEndian(0) + littleEndian(6)
            + [UInt8](repeating: 0, count: 16)
        let entries = [UInt32(7), MachOImage.hostProcessor].flatMap { processor in
            bigEndian(processor) + bigEndian(0) + bigEndian(64) + bigEndian(UInt32(thin.count)) + bigEndian(0)
        }
        var universal = bigEndian(0xCAFE_BABE) + bigEndian(2) + entries
        universal += [UInt8](repeating: 0, count: 64 - universal.count) + thin
        let image = try MachOImage(ImageBytes(copying: universal, path: "x.dylib"))
        #expect(image.type == 6)
        try image.checkKind()
        #expect(image.manifestTexts().isEmpty)
        #expect(throws: ConnectorError.self) {
            try MachOImage(ImageBytes(copying: Array(universal.prefix(40)), path: "x"))
        }
    }
}
