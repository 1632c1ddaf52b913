// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

extension ELFImage {
    /// Checks data that the dynamic linker trusts: a damaged image crashes it, and the process with it.
    ///
    /// It checks only a part, because the linker trusts the whole image. But the usual damage, by a full disk or an
    /// interrupted copy, shows here or at the symbols.
    ///
    /// - Throws: `not-elf`, with the inconsistency.
    package func checkSoundness(_ dynamic: DynamicSection) throws(ConnectorError) {
        var end: UInt64 = 0
        for (index, segment) in segments.enumerated() where segment.type == ELFConstant.load {
            let (segmentEnd, overflow) = segment.address.addingReportingOverflow(segment.memorySize)
            // A process has 47 bits of address space.
            guard !overflow, segmentEnd < 1 << 47, segment.memorySize >= UInt64(segment.size) else {
                throw damaged("segment \(index) is larger than the address space, or smaller than its part of the file")
            }
            guard segment.address >= end else { throw damaged("segment \(index) lies over the one before it") }
            guard segment.alignment & (segment.alignment &- 1) == 0,
                segment.alignment <= 1 || (segment.address &- UInt64(segment.offset)) % segment.alignment == 0
            else { throw damaged("segment \(index) is not aligned") }
            end = segmentEnd
        }
        guard dynamic.isTerminated else { throw damaged("the dynamic section has no end") }
        guard let strings = dynamic.strings, dynamic.symbols != nil, bytes.spans(strings, dynamic.stringsSize) else {
            throw damaged("the dynamic symbols or their names lie outside the file")
        }
        guard contains(dynamic.relocations, dynamic.relocationsSize), contains(dynamic.jumps, dynamic.jumpsSize) else {
            throw damaged("the relocations lie outside the file")
        }
    }

    /// Whether the file has the whole of a table, if there is one.
    private func contains(_ address: UInt64?, _ size: Int) -> Bool {
        guard let address else { return true }
        return offset(ofAddress: address).map { bytes.spans($0, size) } ?? false
    }

    private func damaged(_ what: String) -> ConnectorError {
        ConnectorError(
            .notELF,
            "\(bytes.path) is a damaged ELF image: \(what)",
            fix: "copy or build the file again"
        )
    }
}
