// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorManifest

/// A Mach-O shared library (`mach-o/loader.h`), as far as the host examines it before loading.
///
/// Unreadable data counts as absent, as in ``ELFImage``. Compiled on all systems so that it is tested on all; the
/// dynamic linker of macOS checks the rest.
package struct MachOImage: ManifestCarrier {
    /// The file.
    package let bytes: ImageBytes
    /// `filetype`: 6 and 8 are libraries, 2 is a program.
    package let type: UInt32
    /// `cputype`.
    package let processor: UInt32
    /// The offset of the image in the file, which may contain one per processor.
    private let start: Int
    private let commandCount: Int

    /// `MH_MAGIC_64`
    private static let magic: UInt32 = 0xFEED_FACF
    /// `FAT_MAGIC`, which is big-endian.
    private static let universalMagic: UInt32 = 0xCAFE_BABE
    /// `LC_SEGMENT_64`
    private static let segmentCommand: UInt32 = 0x19
    /// The most load commands and sections to read; real images have about thirty.
    private static let limit = 4096

    /// The processor of this host: `CPU_TYPE_ARM64` or `CPU_TYPE_X86_64`.
    package static var hostProcessor: UInt32 {
        #if arch(arm64)
            0x0100_000C
        #else
            0x0100_0007
        #endif
    }

    /// Reads the header of this processor's image.
    ///
    /// - Throws: `not-elf`, `truncated` or `wrong-architecture`.
    package init(_ bytes: ImageBytes) throws(ConnectorError) {
        var start = 0
        if bytes.integer(at: 0, as: UInt32.self)?.bigEndian == Self.universalMagic {
            guard let place = Self.slice(in: bytes) else { throw Self.wrongProcessor(bytes) }
            start = place
        }
        guard bytes.integer(at: start, as: UInt32.self)?.littleEndian == Self.magic else {
            throw FileFormat.notELF(bytes)
        }
        guard let processor = bytes.integer(at: start + 4, as: UInt32.self),
            let type = bytes.integer(at: start + 12, as: UInt32.self),
            let count = bytes.integer(at: start + 16, as: UInt32.self),
            let size = bytes.integer(at: start + 20, as: UInt32.self), bytes.spans(start + 32, Int(size))
        else {
            throw ConnectorError(
                .truncated,
                "\(bytes.path) ends at byte \(bytes.count), before the end of its load commands",
                fix: "copy or build the file again"
            )
        }
        self.bytes = bytes
        self.start = start
        self.type = type
        self.processor = processor
        commandCount = min(Int(count), Self.limit)
    }

    /// Empty: the dynamic linker of macOS checks libraries by their signatures.
    package var neededNames: [String] { [] }

    /// Nil: sidecars name a library of macOS by its file.
    package var libraryName: String? { nil }

    /// Checks that the image is a library for this processor.
    package func checkKind() throws(ConnectorError) {
        guard processor == Self.hostProcessor else { throw Self.wrongProcessor(bytes) }
        guard type != 2 else {
            throw ConnectorError(
                .executable,
                "\(bytes.path) is a program, not a shared library",
                fix: "link it with -shared"
            )
        }
        guard type == 6 || type == 8 else {
            throw ConnectorError(
                .notELF,
                "\(bytes.path) is Mach-O, but not a shared library",
                fix: "link it with -shared"
            )
        }
    }

    /// The texts in the sections `__DATA,__connector`.
    package func manifestTexts() -> [[UInt8]] {
        var texts: [[UInt8]] = []
        var command = start + 32
        // Two are already an error. Of a text that is too long, one byte more than the limit is enough.
        for _ in 0..<commandCount where texts.count < 2 {
            guard let kind = bytes.integer(at: command, as: UInt32.self),
                let size = bytes.integer(at: command + 4, as: UInt32.self), size >= 8
            else { break }
            if kind == Self.segmentCommand { appendTexts(inSegment: command, to: &texts) }
            command += Int(size)
        }
        return texts
    }

    private func appendTexts(inSegment command: Int, to texts: inout [[UInt8]]) {
        guard let count = bytes.integer(at: command + 64, as: UInt32.self) else { return }
        for index in 0..<min(Int(count), Self.limit) where texts.count < 2 {
            let section = command + 72 + index * 80
            guard bytes.hasText("__connector".utf8Span.span, at: section),
                bytes.hasText("__DATA".utf8Span.span, at: section + 16), let size = bytes.offset(at: section + 40),
                let offset = bytes.integer(at: section + 48, as: UInt32.self),
                var text = bytes.copy(at: start + Int(offset), count: min(size, Manifest.sizeLimit + 1))
            else { continue }
            // A C string, whose terminating NUL is not part of the manifest.
            while text.last == 0 { text.removeLast() }
            texts.append(text)
        }
    }

    /// The offset of this processor's image in a universal file; nil if it has none.
    private static func slice(in bytes: ImageBytes) -> Int? {
        guard let count = bytes.integer(at: 4, as: UInt32.self)?.bigEndian else { return nil }
        for index in 0..<min(Int(count), 32) {
            let entry = 8 + index * 20
            guard bytes.integer(at: entry, as: UInt32.self)?.bigEndian == hostProcessor else { continue }
            return bytes.integer(at: entry + 8, as: UInt32.self).map { Int($0.bigEndian) }
        }
        return nil
    }

    private static func wrongProcessor(_ bytes: ImageBytes) -> ConnectorError {
        ConnectorError(
            .wrongArchitecture,
            "\(bytes.path) was built for another processor than this host's",
            fix: "build the plugin for this processor, or install the build for it"
        )
    }
}
