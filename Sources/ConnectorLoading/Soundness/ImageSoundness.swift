// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Checks the parts of an image that the dynamic linker trusts blindly: damage there crashes it, and the process with
/// it.
///
/// The checks cover everything that the file alone can show: the segments, the tables of the dynamic section and the
/// targets of their entries, and whether the section headers, which the linker ignores, agree. They cannot show whether
/// instructions and data make sense, so an image that passes may still crash when its code runs. The checks read each
/// table once, in file order, and allocate nothing per entry.
package struct ImageSoundness {
    package let image: ELFImage
    package let dynamic: DynamicSection
    /// The segments that are mapped.
    let loads: [ELFImage.Segment]
    /// The start of the image's functions, from their unwinding information.
    let functions: FunctionIndex
    /// The image's sections of instructions; empty if unknown.
    private let instructions: [ELFImage.Section]
    /// The number of dynamic symbols.
    let symbolCount: Int

    /// Prepares the checks.
    package init(_ image: ELFImage, _ dynamic: DynamicSection) {
        self.image = image
        self.dynamic = dynamic
        loads = image.segments.filter { $0.type == ELFConstant.load }
        functions = FunctionIndex(image)
        instructions = image.instructionSections()
        symbolCount = image.symbolCount(dynamic)
    }

    /// Runs every check.
    ///
    /// - Throws: `not-elf` with the first inconsistency, or `load-failed` for an image that would make the dynamic
    ///   linker exit the process.
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

/// Addresses in the image, as its segments map them.
extension ImageSoundness {
    /// The file offset of a range of addresses that one segment maps; nil if none does.
    ///
    /// - Parameter flags: The permissions that the segment must have.
    func offset(of address: UInt64, _ size: Int, flags: UInt32 = ELFConstant.readable) -> Int? {
        for load in loads where load.flags & flags == flags && address >= load.address {
            guard let distance = Int(exactly: address - load.address), size >= 0, size <= load.size,
                distance <= load.size - size
            else { continue }
            return load.offset + distance
        }
        return nil
    }

    /// Whether one segment's memory covers a range of addresses with the given permissions.
    func hasMemory(_ address: UInt64, _ size: UInt64, flags: UInt32) -> Bool {
        for load in loads where load.flags & flags == flags && address >= load.address {
            let distance = address - load.address
            if size <= load.memorySize, distance <= load.memorySize - size { return true }
        }
        return false
    }

    /// Whether an address may be called: it is in a section of instructions, and not in the middle of a function.
    func isFunction(_ address: UInt64) -> Bool {
        offset(of: address, 1, flags: ELFConstant.executable) != nil
            && (instructions.isEmpty || instructions.contains { address &- $0.address < UInt64($0.size) })
            && !functions.isWithinFunction(address)
    }

    /// Whether an exported symbol may be called.
    func isFunction(_ symbol: ELFImage.Symbol) -> Bool {
        switch symbol.kind {
        case .function, .indirectFunction, .unspecified: symbol.section != 0xFFF1 && isFunction(symbol.value)
        default: false
        }
    }

    /// The address after the image's last segment.
    var memoryEnd: UInt64 { loads.last.map { $0.address &+ $0.memorySize } ?? 0 }

    /// The file offset of a table; nil if the tag is absent.
    ///
    /// - Throws: `not-elf` if part of the table is outside the file, or its segment is not readable.
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
