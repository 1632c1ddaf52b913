// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Recognizes files that are not ELF images, so that the message can name their format.
package enum FileFormat {
    /// The first bytes of files that are often named by mistake, their format, and the fix.
    private static let known: [(start: [UInt8], kind: String, fix: String)] = [
        ([0xCF, 0xFA, 0xED, 0xFE], "an image for macOS (Mach-O)", "install the plugin's build for Linux"),
        (
            [0xCA, 0xFE, 0xBA, 0xBE], "an image for macOS (Mach-O) or a Java class",
            "install the plugin's build for Linux"
        ),
        (Array("MZ".utf8), "an image for Windows (PE)", "install the plugin's build for Linux"),
        (Array("!<arch>".utf8), "a static library", "link it as a shared library, with -shared"),
        ([0x42, 0x43, 0xC0, 0xDE], "LLVM bitcode", "compile and link it as a shared library"),
        (Array("#!".utf8), "a script", "name the plugin's shared library"),
        (Array("/* GNU ld script".utf8), "a linker script", "name the shared library that it refers to"),
        (Array("version https://git-lfs".utf8), "a Git LFS pointer", "fetch the file itself: git lfs pull"),
        (Array("{".utf8), "JSON", "name the image; a sidecar's name ends in .connector.json"),
        ([0x50, 0x4B, 3, 4], "a ZIP archive", "unpack it and name the shared library"),
        ([0x1F, 0x8B], "compressed (gzip)", "unpack it and name the shared library"),
    ]

    /// The error for a file that does not start like an ELF image.
    package static func notELF(_ bytes: ImageBytes) -> ConnectorError {
        guard bytes.count > 0 else {
            return ConnectorError(.notELF, "\(bytes.path) is empty", fix: "copy or build the file again")
        }
        let start = bytes.copy(at: 0, count: min(bytes.count, 32)) ?? []
        let format = known.first { start.starts(with: $0.start) }
        return ConnectorError(
            .notELF,
            "\(bytes.path) is not a shared library (ELF)" + (format.map { " but \($0.kind)" } ?? ""),
            fix: format?.fix ?? "name the plugin's shared library",
            cause: "the file begins with "
                + start.prefix(4).map { $0.hexadecimal(uppercase: true) }.joined(separator: " ")
        )
    }
}
