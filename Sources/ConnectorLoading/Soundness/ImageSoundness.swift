// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// What the dynamic linker trusts in an image without checking it: a damaged image crashes it, and the process with it.
///
/// Everything is checked that the file alone can show: segments, the tables of the dynamic section and what their entries point
/// at, and whether the section headers, which the linker does not read, agree. It cannot show whether instructions and data
/// mean anything, so an image that passes may still crash when its code runs. The checks read each table once, in the
/// order of the file, and allocate nothing for an entry.
package struct ImageSoundness {
    package let image: ELFImage
    package let dynamic: DynamicSection
    /// The segments that are mapped.
    let loads: [ELFImage.Segment]
    /// What its functions' unwinding information tells about where they begin.
    let functions: FunctionIndex
    /// Where the sections have instructions; empty if they do not tell.
    private let instructions: [Range<UInt64>]
    /// How many dynamic symbols there are.
    let symbolCount: Int

    /// Makes the checks ready.
    package init(_ image: ELFImage, _ dynamic: DynamicSection) {
        self.image = image
        self.dynamic = dynamic
        loads = image.segments.filter { $0.type == ELFConstant.load }
        functions = FunctionIndex(image)
        instructions = image.instructionRanges()
        symbolCount = image.symbolCount(dynamic)
    }

    /// Makes all checks.
    ///
    /// - Throws: `not-elf` with the first inconsistency, or `load-failed` for what the dynamic linker or the process would not
    ///   bear.
    package func check() throws(ConnectorError) {
        try checkSegments()
        try checkSpecialSegments()
        try checkDynamicSection()
        try checkHashTables()
        let lastVersion = try checkVersions()
        try checkSymbols(lastVersion: lastVersion)
        try checkRelocations()
        try checkSections()
    }
}

/// Places in the image, as its segments map them.
extension ImageSoundness {
    /// The place in the file of a range of addresses that one segment maps from it; nil if there is none.
    ///
    /// - Parameter flags: What the segment must allow, besides.
    func offset(of address: UInt64, _ size: Int, flags: UInt32 = ELFConstant.readable) -> Int? {
        for load in loads where load.flags & flags == flags && address >= load.address {
            guard let distance = Int(exactly: address - load.address), size >= 0, size <= load.size,
                distance <= load.size - size
            else { continue }
            return load.offset + distance
        }
        return nil
    }

    /// Whether memory of the image has a range of addresses, with what is allowed there.
    func hasMemory(_ address: UInt64, _ size: UInt64, flags: UInt32) -> Bool {
        for load in loads where load.flags & flags == flags && address >= load.address {
            let distance = address - load.address
            if size <= load.memorySize, distance <= load.memorySize - size { return true }
        }
        return false
    }

    /// Whether an address may be called: it lies in instructions, and not in the midst of a function.
    func isFunction(_ address: UInt64) -> Bool {
        offset(of: address, 1, flags: ELFConstant.executable) != nil
            && (instructions.isEmpty || instructions.contains { $0.contains(address) })
            && !functions.isWithinFunction(address)
    }

    /// Whether an exported symbol may be called.
    func isFunction(_ symbol: ELFImage.Symbol) -> Bool {
        switch symbol.kind {
        case .function, .indirectFunction, .unspecified: symbol.section != 0xFFF1 && isFunction(symbol.value)
        default: false
        }
    }

    /// The end of the memory that the image takes.
    var memoryEnd: UInt64 { loads.last.map { $0.address &+ $0.memorySize } ?? 0 }

    /// The place of a table in the file; nil if the tag is absent.
    ///
    /// - Throws: `not-elf` if the file has not the whole of it, or it may not be read.
    func table(_ tag: DynamicTag, size: Int, _ name: String) throws(ConnectorError) -> Int? {
        guard let address = dynamic[tag] else { return nil }
        guard let offset = offset(of: address, size) else { throw damaged("\(name) lie outside the file") }
        return offset
    }

    /// The error for an inconsistency.
    func damaged(_ what: String) -> ConnectorError {
        ConnectorError(
            .notELF,
            "\(image.bytes.path) is a damaged ELF image: \(what)",
            fix: "copy or build the file again"
        )
    }
}
