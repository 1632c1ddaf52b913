// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// A shared library in ELF, parsed as untrusted input (System V gABI, chapters 4 and 5).
///
/// Every offset, size and count is checked against the file, sums cannot overflow, and every loop is bounded.
/// Unreadable data counts as absent and never traps.
package struct ELFImage: ManifestCarrier {
    /// The file.
    package let bytes: ImageBytes
    /// The architecture that the image was built for.
    package let architecture: Architecture
    /// `e_type`: the kind of file.
    package let type: UInt16
    /// The offset of the program headers in the file.
    package let segmentTable: Int
    /// The segments, in file order.
    package let segments: [Segment]
    /// The section headers; the dynamic linker ignores them.
    package let sectionTable: SectionTable

    /// One program header.
    package struct Segment: Sendable {
        /// `p_type`.
        package var type: UInt32
        /// `p_flags`: whether the segment may be read, written, executed.
        package var flags: UInt32
        /// The segment's offset in the file.
        package var offset: Int
        /// The segment's size in the file, in bytes.
        package var size: Int
        /// The segment's address in memory, without the base address.
        package var address: UInt64
        /// The segment's size in memory, in bytes; the part beyond its size in the file is zero.
        package var memorySize: UInt64
        /// `p_align`.
        package var alignment: UInt64
    }

    /// The position and number of the section headers.
    package struct SectionTable: Sendable {
        /// The offset in the file; 0 if there are none.
        package var offset: Int
        /// The number of section headers.
        package var count: Int
        /// The index of the section with the names.
        package var namesIndex: Int
    }

    /// The most program headers to accept; real images have about ten.
    private static let segmentLimit = 64

    /// `ET_DYN`: a shared library, or a position-independent program.
    package static let sharedObject: UInt16 = 3
    /// `ET_EXEC`: a program for a fixed address.
    package static let program: UInt16 = 2

    /// Reads the headers.
    ///
    /// - Throws: `not-elf`, `truncated`, or `wrong-architecture` for an image of another word size or byte order, which
    ///   this type does not read.
    package init(_ bytes: ImageBytes) throws(ConnectorError) {
        self.bytes = bytes
        guard bytes.integer(at: 0, as: UInt32.self) == UInt32(bigEndian: 0x7F45_4C46) else {
            throw FileFormat.notELF(bytes)
        }
        guard let size = bytes.integer(at: 4, as: UInt8.self), let order = bytes.integer(at: 5, as: UInt8.self),
            let type = bytes.integer(at: 16, as: UInt16.self), let machine = bytes.integer(at: 18, as: UInt16.self)
        else { throw Self.truncated(bytes, "the ELF header") }
        guard (1...2).contains(size), (1...2).contains(order) else {
            throw Self.damaged(bytes, "class \(size), data \(order)")
        }
        let isForeignOrder = (order == 1) != Architecture.host.isLittleEndian
        architecture = Architecture(
            machine: isForeignOrder ? machine.byteSwapped : machine,
            is64Bit: size == 2,
            isLittleEndian: order == 1
        )
        self.type = type
        guard architecture.is64Bit, !isForeignOrder else { throw Self.wrongArchitecture(bytes, architecture) }
        try Self.checkIdentification(bytes)
        guard let segmentOffset = bytes.offset(at: 32), let sectionOffset = bytes.offset(at: 40),
            let segmentSize = bytes.integer(at: 54, as: UInt16.self),
            let segmentCount = bytes.integer(at: 56, as: UInt16.self),
            let sectionSize = bytes.integer(at: 58, as: UInt16.self),
            let sectionCount = bytes.integer(at: 60, as: UInt16.self),
            let namesIndex = bytes.integer(at: 62, as: UInt16.self)
        else { throw Self.truncated(bytes, "the ELF header") }
        guard segmentCount == 0 || segmentSize == 56, sectionCount == 0 || sectionSize == 64 else {
            throw Self.damaged(bytes, "program headers of \(segmentSize) bytes, section headers of \(sectionSize)")
        }
        let sectionEnd = sectionOffset.addingReportingOverflow(Int(sectionCount) * 64)
        guard !sectionEnd.overflow, sectionEnd.partialValue <= bytes.count else {
            throw Self.truncated(bytes, "its section headers, which end at byte \(sectionEnd.partialValue)")
        }
        sectionTable = SectionTable(offset: sectionOffset, count: Int(sectionCount), namesIndex: Int(namesIndex))
        guard segmentCount <= Self.segmentLimit else {
            throw Self.damaged(bytes, "\(segmentCount) program headers, more than \(Self.segmentLimit)")
        }
        segmentTable = segmentOffset
        var segments: [Segment] = []
        segments.reserveCapacity(min(Int(segmentCount), 64))
        for index in 0..<Int(segmentCount) {
            let start = segmentOffset.addingReportingOverflow(index * 56)
            guard !start.overflow, let segment = Segment(bytes, at: start.partialValue) else {
                throw Self.truncated(bytes, "program header \(index)")
            }
            guard segment.type != ELFConstant.load || bytes.spans(segment.offset, segment.size) else {
                throw Self.truncated(bytes, "segment \(index), \(segment.size) bytes at \(segment.offset)")
            }
            segments.append(segment)
        }
        self.segments = segments
    }

    /// Checks what glibc's dynamic linker checks of `e_ident` and `e_version` before anything else (dl-load.c, `open_verify`).
    private static func checkIdentification(_ bytes: ImageBytes) throws(ConnectorError) {
        guard let identification = bytes.copy(at: 6, count: 10), let version = bytes.integer(at: 20, as: UInt32.self)
        else {
            throw truncated(bytes, "the ELF header")
        }
        guard identification[0] == 1, version == 1 else {
            throw damaged(bytes, "ELF versions \(identification[0]) and \(version), where both are 1")
        }
        let system = identification[1]
        guard system == ELFConstant.anySystem || system == ELFConstant.gnuSystem else {
            throw ConnectorError(
                .wrongArchitecture,
                "\(bytes.path) was built for another operating system, number \(system) in ELF (EI_OSABI)",
                fix: "build the plugin for this system, or install the build for it"
            )
        }
        // GNU's own images may have a version of their ABI.
        guard system == ELFConstant.gnuSystem || identification[2] == 0, identification[3...].allSatisfy({ $0 == 0 })
        else {
            throw damaged(bytes, "bytes 8 to 15 must be zero")
        }
    }

    /// The file offset that the linker maps at an address; nil if the address is not backed by the file.
    package func offset(ofAddress address: UInt64) -> Int? {
        for segment in segments where segment.type == ELFConstant.load && address >= segment.address {
            guard let distance = Int(exactly: address - segment.address), distance < segment.size else { continue }
            return segment.offset + distance
        }
        return nil
    }

    /// The first segment of a type.
    package func segment(_ type: UInt32) -> Segment? {
        segments.first { $0.type == type }
    }
}

extension ELFImage.Segment {
    /// Reads a 64-bit program header; nil outside the file.
    fileprivate init?(_ bytes: ImageBytes, at start: Int) {
        guard bytes.contains(start, 56), let type = bytes.integer(at: start, as: UInt32.self),
            let flags = bytes.integer(at: start + 4, as: UInt32.self), let offset = bytes.offset(at: start + 8),
            let address = bytes.integer(at: start + 16, as: UInt64.self),
            let size = bytes.offset(at: start + 32), let memorySize = bytes.integer(at: start + 40, as: UInt64.self),
            let alignment = bytes.integer(at: start + 48, as: UInt64.self)
        else { return nil }
        self.init(
            type: type,
            flags: flags,
            offset: offset,
            size: size,
            address: address,
            memorySize: memorySize,
            alignment: alignment
        )
    }
}

extension ImageBytes {
    /// Reads a 64-bit offset or size; a value that no file can have counts as absent.
    package func offset(at position: Int) -> Int? {
        integer(at: position, as: UInt64.self).flatMap { $0 < 1 << 62 ? Int($0) : nil }
    }

    /// Whether a range is inside the file, without reading it.
    package func spans(_ offset: Int, _ length: Int) -> Bool {
        offset >= 0 && length >= 0 && length <= count && offset <= count - length
    }
}

/// Errors of the headers.
extension ELFImage {
    /// An image for another processor, word size or byte order.
    package static func wrongArchitecture(_ bytes: ImageBytes, _ architecture: Architecture) -> ConnectorError {
        ConnectorError(
            .wrongArchitecture,
            "\(bytes.path) was built for \(architecture), this host runs on \(Architecture.host)",
            fix: "build the plugin for \(Architecture.host), or install the build for it"
        )
    }

    private static func truncated(_ bytes: ImageBytes, _ what: String) -> ConnectorError {
        ConnectorError(
            .truncated,
            "\(bytes.path) ends at byte \(bytes.count), before the end of \(what)",
            fix: "copy or build the file again"
        )
    }

    private static func damaged(_ bytes: ImageBytes, _ what: String) -> ConnectorError {
        ConnectorError(
            .notELF,
            "\(bytes.path) begins like an ELF image, but its header is damaged",
            fix: "copy or build the file again",
            cause: what
        )
    }
}
