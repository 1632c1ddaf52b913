// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Checks what relocations write: each address at most once, and a function wherever the linker will call one.
struct RelocationWrites {
    private let soundness: ImageSoundness
    /// Whether relocations may write into every segment.
    private let hasTextRelocations: Bool
    /// The addresses of the tracked words: those of the writable segments that come from the file.
    private let range: Range<UInt64>
    /// A bit for each tracked word, set once it is written.
    private var written: [UInt64]
    /// A bit for each symbol that has a slot in the procedure linkage table.
    private var jumps: [UInt64]
    /// The arrays of functions that the linker calls, with a flag for each slot that is filled.
    private var arrays: [(start: UInt64, filled: [Bool])] = []

    /// The most functions that the linker may call for an image.
    private static let initializerLimit = 1 << 16

    /// Creates a tracker with nothing written.
    init(_ soundness: ImageSoundness) throws(ConnectorError) {
        self.soundness = soundness
        let dynamic = soundness.dynamic
        hasTextRelocations =
            dynamic[.textRelocations] != nil || (dynamic[.flags] ?? 0) & ELFConstant.textRelocationFlag != 0
        let writable = soundness.loads.filter { $0.flags & ELFConstant.writable != 0 && $0.size > 0 }
        range = (writable.first?.address ?? 0)..<(writable.last.map { $0.address + UInt64($0.size) } ?? 0)
        // Segments may be far apart, so words beyond the file's size are not tracked.
        let words = min(range.upperBound - range.lowerBound, UInt64(soundness.image.bytes.count)) / 512 + 1
        written = Array(repeating: 0, count: Int(words))
        jumps = Array(repeating: 0, count: soundness.symbolCount / 64 + 1)
        for (tag, size) in [(DynamicTag.initializers, DynamicTag.initializersSize), (.finalizers, .finalizersSize)] {
            guard let start = dynamic[tag], let size = dynamic.size(size) else { continue }
            guard start % 8 == 0, size % 8 == 0, size / 8 <= Self.initializerLimit,
                soundness.offset(of: start, size, flags: ELFConstant.readable | ELFConstant.writable) != nil
            else { throw soundness.damaged("the functions that the linker calls lie outside the file") }
            arrays.append((start, Array(repeating: false, count: size / 8)))
        }
    }

    /// Records a write.
    mutating func add(_ target: UInt64, _ kind: RelocationKind) throws(ConnectorError) {
        guard soundness.hasMemory(target, kind.width, flags: hasTextRelocations ? 0 : ELFConstant.writable) else {
            throw soundness.damaged("a relocation writes to memory that is not writable")
        }
        if let segment = soundness.image.segment(ELFConstant.dynamic), target >= segment.address,
            target - segment.address < segment.memorySize
        {
            throw soundness.damaged("a relocation writes into the dynamic section")
        }
        guard target % 8 == 0 else {
            // Packed structures may have unaligned addresses; the linker's tables must not.
            guard kind != .slot, kind != .jump else { throw soundness.damaged("a relocation is not aligned") }
            return
        }
        guard range.contains(target) else { return }
        let word = (target - range.lowerBound & ~7) / 8
        guard word / 64 < written.count else { return }
        guard written[Int(word / 64)] & 1 << (word % 64) == 0 else {
            throw soundness.damaged("two relocations write to one address")
        }
        written[Int(word / 64)] |= 1 << (word % 64)
    }

    /// Records a symbol that has a slot in the procedure linkage table.
    mutating func addJump(_ symbol: Int) throws(ConnectorError) {
        guard jumps[symbol / 64] & 1 << UInt64(symbol % 64) == 0 else {
            throw soundness.damaged("two relocations are for one procedure")
        }
        jumps[symbol / 64] |= 1 << UInt64(symbol % 64)
    }

    /// Records a write by a packed relocation, whose value is in the file.
    mutating func addPacked(_ target: UInt64) throws(ConnectorError) {
        try add(target, .relative)
        guard let offset = soundness.offset(of: target, 8),
            let value = soundness.image.bytes.integer(at: offset, as: UInt64.self), soundness.isAddress(value)
        else { throw soundness.damaged("a relocation points outside the image") }
        try initialize(target, value)
    }

    /// Records the value that an address will contain; nil for the address of another image's function.
    mutating func initialize(_ target: UInt64, _ value: UInt64?) throws(ConnectorError) {
        for index in arrays.indices {
            let slot = (target &- arrays[index].start) / 8
            guard slot < arrays[index].filled.count else { continue }
            guard target % 8 == 0, value.map(soundness.isFunction) ?? true else {
                throw soundness.damaged("the linker would call an address that is not a function")
            }
            arrays[index].filled[Int(slot)] = true
        }
    }

    /// Checks that every address that the linker will call is a function.
    func checkInitializers() throws(ConnectorError) {
        guard RelocationKind.isKnownHere, arrays.contains(where: { $0.filled.contains(false) }) else { return }
        throw soundness.damaged("the linker would call an address that is not a function")
    }
}
