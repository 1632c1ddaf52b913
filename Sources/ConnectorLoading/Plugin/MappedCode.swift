// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The memory of a loaded image, for checking the addresses that its code returns before they are used.
package struct MappedCode {
    private let soundness: ImageSoundness?
    /// The address in memory of the image's address 0.
    private let base: UInt64

    /// Locates a loaded image by its entry function; nil if the base address does not follow from it.
    package init?(_ soundness: ImageSoundness, _ loaded: LoadedImage, entry: String?) {
        guard let entry, let symbol = soundness.image.exported(entry.utf8Span.span, soundness.dynamic),
            symbol.kind != .indirectFunction, let address = unsafe loaded.symbol(named: entry)
        else { return nil }
        self.soundness = soundness
        base = UInt64(UInt(bitPattern: address)) &- symbol.value
    }

    /// The memory of an image whose file is not read again: its addresses are looked up in the memory of the process.
    init() {
        (soundness, base) = (nil, 0)
    }

    /// Whether an address is that of a function; true if unknown.
    package func isFunction(_ address: UnsafeRawPointer) -> Bool {
        let place = UInt64(UInt(bitPattern: address)) &- base
        if let soundness, place < soundness.memoryEnd { return soundness.isFunction(place) }
        return MemoryMap.allows(UInt(bitPattern: address), count: 1, ELFConstant.executable)
    }

    /// Whether a range of memory can be read; true if unknown.
    package func isReadable(_ address: UnsafeRawPointer, count: Int) -> Bool {
        let place = UInt64(UInt(bitPattern: address)) &- base
        if let soundness, place < soundness.memoryEnd {
            return soundness.hasMemory(place, UInt64(count), flags: ELFConstant.readable)
        }
        return MemoryMap.allows(UInt(bitPattern: address), count: count, ELFConstant.readable)
    }
}

/// The memory of this process.
package enum MemoryMap {
    /// Whether every byte of a range has the permissions, which are those of `p_flags`. True if unknown.
    ///
    /// Most addresses are in a loaded library, such as that of `free`. For any other, reads the list of all mappings
    /// (`/proc/self/maps`, proc(5)), which takes longer with each plugin.
    package static func allows(_ address: UInt, count: Int, _ flags: UInt32) -> Bool {
        let (end, overflow) = address.addingReportingOverflow(UInt(count))
        guard !overflow, end > address else { return false }
        #if os(Linux)
            if LoadedLibraries.cover(address..<end, flags: flags) { return true }
        #endif
        guard let text = text() else { return true }
        let permission = flags == ELFConstant.executable ? UInt8(ascii: "x") : UInt8(ascii: "r")
        var next = address
        // Split bytes, not characters: the list has a thousand lines in a host with many plugins.
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let dash = line.firstIndex(of: UInt8(ascii: "-")), let space = line.firstIndex(of: UInt8(ascii: " ")),
                dash < space, let low = bound(in: line[..<dash]), let high = bound(in: line[(dash + 1)..<space])
            else { continue }
            if low <= next, next < high {
                guard line[space...].prefix(5).contains(permission) else { return false }
                next = high
                if next >= end { return true }
            }
        }
        return false
    }

    private static func bound(in text: ArraySlice<UInt8>) -> UInt? {
        UInt(String(decoding: text, as: UTF8.self), radix: 16)
    }

    /// The list of mappings, read to its end, because stat(2) reports a size of 0.
    private static func text() -> [UInt8]? {
        guard let file = try? OpenFile(path: "/proc/self/maps") else { return nil }
        var bytes: [UInt8] = []
        let size = 1 << 16
        // A process has at most 65,530 mappings, unless its administrator allows more.
        while bytes.count < 32 << 20 {
            let part = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                guard let base = buffer.baseAddress else { return }
                count = unsafe file.read(into: base, from: bytes.count, upTo: size)
            }
            bytes += part
            if part.isEmpty { break }
        }
        return bytes.isEmpty ? nil : bytes
    }
}
