// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

extension Line {
    /// Describes a plugin to an application that links it.
    ///
    /// - Parameters:
    ///   - note: The manifest as static data, as in the plugin's image: see `connector/manifest.h`.
    ///   - functions: The addresses of the functions that the manifest names, by symbol.
    public static func linked<let count: Int>(
        _ note: InlineArray<count, UInt32>,
        _ functions: [String: UInt]
    ) -> LinkedPlugin {
        var bytes: [UInt8] = []
        for index in note.indices {
            for shift in stride(from: 0 as UInt32, to: 32, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: note[index] >> shift))
            }
        }
        #if !canImport(Darwin)
            // An ELF note: the sizes of name and text, a type, and the name, padded to 12 bytes.
            let header = 24
            let size = note.count > 1 ? Int(note[1]) : 0
            bytes = Array(bytes.dropFirst(header).prefix(size))
        #endif
        return unsafe LinkedPlugin(manifest: bytes, functions: functions)
    }

    /// The address of a C function.
    public static func address<Function>(_ function: Function) -> UInt {
        UInt(bitPattern: unsafe unsafeBitCast(function, to: UnsafeRawPointer.self))
    }
}
