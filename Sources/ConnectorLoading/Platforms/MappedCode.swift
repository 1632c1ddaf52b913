// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Where an image's memory is, so that addresses that its code gives can be checked before they are used.
package struct MappedCode {
    private let soundness: ImageSoundness
    /// Where address 0 of the file is.
    private let base: UInt64

    /// Finds the place of a loaded image by a function of it; nil if that function's address does not tell.
    package init?(_ soundness: ImageSoundness, _ loaded: LoadedImage, entry: String?) {
        guard let entry, let symbol = soundness.image.exported(entry.utf8Span.span, soundness.dynamic),
            symbol.kind != .indirectFunction, let address = unsafe loaded.symbol(named: entry)
        else { return nil }
        self.soundness = soundness
        base = UInt64(UInt(bitPattern: address)) &- symbol.value
    }

    /// Whether an address is that of a function, as far as can be told.
    package func isFunction(_ address: UnsafeRawPointer) -> Bool {
        let place = UInt64(UInt(bitPattern: address)) &- base
        if place < soundness.memoryEnd { return soundness.isFunction(place) }
        return MemoryMap.allows(UInt(bitPattern: address), count: 1, "x")
    }

    /// Whether some bytes can be read, as far as can be told.
    package func isReadable(_ address: UnsafeRawPointer, count: Int) -> Bool {
        let place = UInt64(UInt(bitPattern: address)) &- base
        if place < soundness.memoryEnd {
            return soundness.hasMemory(place, UInt64(count), flags: ELFConstant.readable)
        }
        return MemoryMap.allows(UInt(bitPattern: address), count: count, "r")
    }
}

/// The memory of this process, as the system lists it (`/proc/self/maps`, proc(5)).
package enum MemoryMap {
    /// Whether all of some bytes may be used in a way: `r`, `w` or `x`. True where the system tells nothing.
    package static func allows(_ address: UInt, count: Int, _ permission: Character) -> Bool {
        guard let text = text() else { return true }
        var next = address
        let end = address &+ UInt(count)
        guard end > address else { return false }
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 2)
            let bounds = fields.first?.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
            guard fields.count > 1, bounds.count == 2 else { continue }
            if bounds[0] <= next, next < bounds[1] {
                guard fields[1].contains(permission) else { return false }
                next = bounds[1]
                if next >= end { return true }
            }
        }
        return false
    }

    /// The list; its size reads 0, so it is read until it ends.
    private static func text() -> String? {
        guard let file = try? OpenFile(path: "/proc/self/maps") else { return nil }
        var bytes: [UInt8] = []
        let size = 1 << 16
        // A process has 65,530 mappings at most, unless its administrator says more.
        while bytes.count < 32 << 20 {
            let part = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                guard let base = buffer.baseAddress else { return }
                count = unsafe file.read(into: base, from: bytes.count, upTo: size)
            }
            bytes += part
            if part.isEmpty { break }
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
