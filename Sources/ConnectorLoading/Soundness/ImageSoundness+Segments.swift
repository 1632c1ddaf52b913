// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension ImageSoundness {
    /// The smallest page size of any system, in bytes.
    private static let page: UInt64 = 4096
    /// The most memory for thread-local variables, in bytes; every thread allocates it.
    private static let threadLocalLimit: UInt64 = 64 << 20

    /// Checks that the mapped segments are ascending, disjoint, aligned, and within the file.
    func checkSegments() throws(ConnectorError) {
        var end: UInt64 = 0
        for (index, segment) in image.segments.enumerated() where segment.type == ELFConstant.load {
            let (segmentEnd, overflow) = segment.address.addingReportingOverflow(segment.memorySize)
            // A process has 47 bits of address space at most.
            guard !overflow, segmentEnd < 1 << 47, segment.memorySize >= UInt64(segment.size) else {
                throw damaged("segment \(index) is larger than the address space, or smaller than its part of the file")
            }
            // The linker maps whole pages: two segments in one page overwrite each other.
            guard end == 0 || segment.address & ~(Self.page - 1) >= end else {
                throw damaged("segment \(index) overlaps the one before it")
            }
            guard segment.alignment & (segment.alignment &- 1) == 0,
                segment.alignment <= 1 || (segment.address &- UInt64(segment.offset)) % segment.alignment == 0
            else { throw damaged("segment \(index) is not aligned") }
            end = (segmentEnd + Self.page - 1) & ~(Self.page - 1)
        }
        guard loads.contains(where: { $0.flags & ELFConstant.executable != 0 }) else {
            throw damaged("no segment has instructions")
        }
    }

    /// Checks the segments that describe parts of others.
    func checkSpecialSegments() throws(ConnectorError) {
        var seen: [UInt32] = []
        seen.reserveCapacity(image.segments.count)
        for segment in image.segments {
            let isRepeated = seen.contains(segment.type)
            seen.append(segment.type)
            switch segment.type {
            case ELFConstant.dynamic:
                guard !isRepeated else {
                    throw damaged("it has several dynamic sections, of which the linker takes the last")
                }
                try checkPlace(of: segment, "the dynamic section")
                guard segment.address % 8 == 0 else { throw damaged("the dynamic section is not aligned") }
                // The linker writes into it unless its flags forbid that.
                let flags = segment.flags & ELFConstant.writable
                guard hasMemory(segment.address, segment.memorySize, flags: flags) else {
                    throw damaged("the dynamic section is not writable")
                }
            case ELFConstant.headers:
                try checkPlace(of: segment, "the program headers")
                // The linker takes their number from the ELF header, whatever the segment's size.
                guard segment.offset == image.segmentTable,
                    offset(of: segment.address, image.segments.count * 56) == segment.offset
                else { throw damaged("its program headers are displaced") }
            case ELFConstant.note, ELFConstant.property: try checkPlace(of: segment, "its notes")
            case ELFConstant.unwindIndex: try checkPlace(of: segment, "the index for unwinding")
            case ELFConstant.threadLocal:
                guard !isRepeated else { throw damaged("it has several thread-local segments") }
                try checkThreadLocal(segment)
            case ELFConstant.readOnlyAfterRelocation:
                guard !isRepeated else { throw damaged("it has several segments that become read-only") }
                try checkReadOnly(segment)
            case ELFConstant.stack where segment.flags & ELFConstant.executable != 0: throw executableStacks
            default: break
            }
        }
        #if arch(x86_64)
            // Without this segment, the linker assumes executable stacks, as the processor's ABI does.
            guard seen.contains(ELFConstant.stack) else { throw executableStacks }
        #endif
    }

    /// The error for an image that would make the stacks of all threads executable.
    private var executableStacks: ConnectorError {
        ConnectorError(
            .loadFailed,
            "\(image.bytes.path) requires executable stacks, which would expose every thread to attacks",
            fix: "link it with -z noexecstack; end each assembly source with .section .note.GNU-stack,\"\",@progbits"
        )
    }

    /// Checks that a segment within a mapped one has corresponding positions in memory and file.
    private func checkPlace(of segment: ELFImage.Segment, _ name: String) throws(ConnectorError) {
        guard segment.size > 0 || segment.memorySize > 0 else { return }
        guard offset(of: segment.address, segment.size) == segment.offset,
            UInt64(segment.size) == segment.memorySize
        else { throw damaged("\(name) lie outside the mapped segments, or are displaced") }
    }

    private func checkThreadLocal(_ segment: ELFImage.Segment) throws(ConnectorError) {
        // The linker divides by the alignment.
        guard segment.alignment > 0 || segment.memorySize == 0,
            segment.alignment & (segment.alignment &- 1) == 0, segment.alignment <= Self.page,
            segment.memorySize <= Self.threadLocalLimit, UInt64(segment.size) <= segment.memorySize,
            segment.size == 0 || offset(of: segment.address, segment.size) == segment.offset
        else { throw damaged("its thread-local variables lie outside the mapped segments, or are too large") }
    }

    private func checkReadOnly(_ segment: ELFImage.Segment) throws(ConnectorError) {
        guard segment.memorySize > 0 else { return }
        let isInside = loads.contains { load in
            // Some linkers round the end up to a page.
            let slack = max(load.alignment, Self.page)
            return load.flags & ELFConstant.writable != 0 && segment.address >= load.address
                && segment.address - load.address <= load.memorySize
                && segment.memorySize <= load.memorySize - (segment.address - load.address) + slack
        }
        guard isInside else { throw damaged("the segment that becomes read-only is not within a writable one") }
    }
}
