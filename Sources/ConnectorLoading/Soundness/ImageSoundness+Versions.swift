// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension ImageSoundness {
    /// Checks the needed and defined versions, whose chains the linker follows to the end regardless of their counts.
    ///
    /// - Returns: The highest version index; nil if the image has no versions.
    func checkVersions() throws(ConnectorError) -> UInt16? {
        let hasVersions = dynamic[.versionNeeds] != nil || dynamic[.versionDefinitions] != nil
        guard hasVersions || dynamic[.versionSymbols] != nil else { return nil }
        guard try table(.versionSymbols, size: symbolCount * 2, "the versions of its symbols") != nil else {
            throw damaged("its symbols have no versions")
        }
        // Without needed or defined versions, the linker has no table in which to look up an index, not even 1.
        return hasVersions ? max(try lastNeededVersion(), try lastDefinedVersion(), 1) : 0
    }

    private func lastNeededVersion() throws(ConnectorError) -> UInt16 {
        guard let address = dynamic[.versionNeeds] else { return 0 }
        var last: UInt16 = 0
        var position = address
        var count = 0
        while true {
            guard let start = offset(of: position, 16), image.bytes.integer(at: start, as: UInt16.self) == 1,
                let versions = image.bytes.integer(at: start + 2, as: UInt16.self),
                let file = image.bytes.integer(at: start + 4, as: UInt32.self), isNeeded(Int(file)),
                var step = image.bytes.integer(at: start + 8, as: UInt32.self), versions > 0, step > 0,
                let next = image.bytes.integer(at: start + 12, as: UInt32.self)
            else { throw damaged("its needed versions point outside the file, or to an unneeded library") }
            var version = position
            var found = 0
            while step != 0, found <= Int(versions) {
                version += UInt64(step)
                guard let entry = offset(of: version, 16),
                    let number = image.bytes.integer(at: entry + 6, as: UInt16.self), number & 0x7FFF > 1,
                    isString(at: entry + 8), let following = image.bytes.integer(at: entry + 12, as: UInt32.self)
                else { throw damaged("the versions that it needs point outside the file") }
                guard hasHash(at: entry, ofStringAt: entry + 8) else {
                    throw damaged("a version that it needs does not have the hash of its name")
                }
                last = max(last, number & 0x7FFF)
                found += 1
                step = following
            }
            guard found == Int(versions) else { throw damaged("the versions that it needs are not as many as it says") }
            count += 1
            // Each library appears once.
            if next == 0 || count > dynamic.needed.count { break }
            position += UInt64(next)
        }
        guard count == dynamic.size(.versionNeedCount), count <= dynamic.needed.count else {
            throw damaged("the versions that it needs are not as many as it says")
        }
        return last
    }

    private func lastDefinedVersion() throws(ConnectorError) -> UInt16 {
        guard let address = dynamic[.versionDefinitions] else { return 0 }
        var last: UInt16 = 0
        var position = address
        var count = 0
        while true {
            guard let start = offset(of: position, 20), image.bytes.integer(at: start, as: UInt16.self) == 1,
                let number = image.bytes.integer(at: start + 4, as: UInt16.self), number & 0x7FFF > 0,
                let names = image.bytes.integer(at: start + 12, as: UInt32.self),
                let next = image.bytes.integer(at: start + 16, as: UInt32.self),
                let name = offset(of: position + UInt64(names), 8), isString(at: name)
            else { throw damaged("the versions that it defines point outside the file") }
            guard hasHash(at: start + 8, ofStringAt: name) else {
                throw damaged("a version that it defines does not have the hash of its name")
            }
            last = max(last, number & 0x7FFF)
            count += 1
            if next == 0 || count > Int(UInt16.max) { break }
            position += UInt64(next)
        }
        guard count == dynamic.size(.versionDefinitionCount) else {
            throw damaged("the versions that it defines are not as many as it says")
        }
        return last
    }

    /// Whether the word at an offset is a valid string offset.
    private func isString(at offset: Int) -> Bool {
        image.bytes.integer(at: offset, as: UInt32.self).map { Int($0) < dynamic.stringsSize } ?? false
    }

    /// Whether the word at an offset is the hash of the string whose offset is in another word. The linker compares versions by their
    /// hashes first.
    private func hasHash(at offset: Int, ofStringAt name: Int) -> Bool {
        guard let hash = image.bytes.integer(at: offset, as: UInt32.self), let strings = dynamic.strings,
            let index = image.bytes.integer(at: name, as: UInt32.self)
        else { return false }
        var isSame = false
        unsafe image.bytes.withText(at: strings + Int(index)) { _, text in isSame = ELFImage.hash(of: text) == hash }
        return isSame
    }

    /// Whether a string offset names a needed library: the linker ends the process if not.
    private func isNeeded(_ index: Int) -> Bool {
        if dynamic.needed.contains(index) { return true }
        guard let name = image.string(dynamic, at: index) else { return false }
        return dynamic.needed.contains { image.string(dynamic, at: $0) == name }
    }
}
