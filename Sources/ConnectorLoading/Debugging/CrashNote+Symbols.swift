// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorPlatform

extension CrashNote {
    /// The note with the functions and lines of its addresses, as far as the files contain them.
    ///
    /// Reads the files now, not when the process ended, so a file that has changed since is ignored. Reads each file
    /// once, and blocks meanwhile.
    package func withSymbols() -> CrashNote {
        var note = self
        // A return address is after the call, which may be the last instruction of its function.
        let own = path.flatMap { path in
            offset.flatMap { Self.address($0) }.map { (path, isRunning ? $0 : $0 &- 1) }
        }
        let places = frames.indices.map { index in
            Self.address(frames[index].offset).map { (frames[index].file, index == 0 ? $0 : $0 &- 1) }
        }
        for file in Set((places + [own]).compactMap { $0?.0 }) {
            let wanted = places.indices.filter { places[$0]?.0 == file }
            let isOwn = own?.0 == file
            let addresses = wanted.compactMap { places[$0]?.1 } + (isOwn ? [own?.1].compactMap(\.self) : [])
            guard let image = unchangedImage(file) else { continue }
            let locations = CodeLocations(image).locations(of: addresses)
            for (index, location) in zip(wanted, locations) {
                note.frames[index].function = location.function
                note.frames[index].source = location.source
            }
            if isOwn, let location = locations.last {
                note.function = location.function
                note.source = location.source
            }
        }
        return note
    }

    /// The image in a file, if it is the one that the process had loaded.
    private func unchangedImage(_ file: String) -> ELFImage? {
        guard file.hasPrefix("/"), !file.hasPrefix("/proc/"), let bytes = try? ImageBytes(path: file),
            UInt64(clamping: bytes.stamp.modified)
                < time.nanoseconds.addingReportingOverflow(1_000_000_000).partialValue
        else { return nil }
        return try? ELFImage(bytes)
    }

    private static func address(_ text: String) -> UInt64? {
        text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : nil
    }
}
