// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The manifest as static data: an ELF note (elf(5), "Notes"), or plain text on Apple platforms (`connector/manifest.h`).
struct ManifestNote {
    /// The note, in words of the target's byte order, which is little-endian on all platforms that Swift supports.
    private let note: [UInt32]
    /// The text, in words, padded with spaces.
    private let text: [UInt32]

    init(_ manifest: JSONValue) {
        let text = manifest.utf8()
        self.text = Self.words(text, padding: UInt8(ascii: " "))
        let name = Array("connector\0".utf8)
        note =
            [UInt32(name.count), UInt32(text.count), 1] + Self.words(name, padding: 0) + Self.words(text, padding: 0)
    }

    /// The Swift declaration.
    var source: String {
        """
        #if canImport(Darwin)
        @section("__DATA,__connector") @used
        \(declaration(text))
        #else
        @section(".note.connector") @used
        \(declaration(note))
        #endif
        """
    }

    private func declaration(_ words: [UInt32]) -> String {
        var lines: [String] = []
        for start in stride(from: 0, to: words.count, by: 9) {
            let numbers = words[start..<min(start + 9, words.count)].map { "0x" + $0.hexadecimal() }
            lines.append("    " + numbers.joined(separator: ", ") + ",")
        }
        return """
            let connectorManifest: InlineArray<\(words.count), UInt32> = [
            \(lines.joined(separator: "\n"))
            ]
            """
    }

    private static func words(_ bytes: [UInt8], padding: UInt8) -> [UInt32] {
        stride(from: 0, to: bytes.count, by: 4).map { start in
            (0..<4).reduce(0) { word, index in
                let byte = start + index < bytes.count ? bytes[start + index] : padding
                return word | UInt32(byte) << UInt32(8 * index)
            }
        }
    }
}
