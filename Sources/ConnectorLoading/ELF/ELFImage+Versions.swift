// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ELFImage {
    /// The versions that an image needs of one library.
    package struct VersionNeed: Sendable, Hashable {
        /// The library's name, as in the list of needed ones.
        package var library: String
        /// The required versions, such as `GLIBC_2.34`; optional ones are omitted.
        package var versions: [String]
    }

    /// The maximum number of entries to read from a version table; glibc defines about fifty.
    private static let versionLimit = 4096

    /// The maximum length of a version's name, in bytes.
    private static let nameLimit = 256

    /// The versions of symbols that the image needs, by library (`DT_VERNEED`).
    package func versionNeeds(_ dynamic: DynamicSection) -> [VersionNeed] {
        guard let table = dynamic[.versionNeeds].flatMap(offset(ofAddress:)) else { return [] }
        var result: [VersionNeed] = []
        var position = table
        var budget = Self.versionLimit
        for _ in 0..<min(dynamic.size(.versionNeedCount) ?? 0, Self.versionLimit) {
            guard let count = bytes.integer(at: position + 2, as: UInt16.self),
                let file = bytes.integer(at: position + 4, as: UInt32.self),
                let first = bytes.integer(at: position + 8, as: UInt32.self),
                let next = bytes.integer(at: position + 12, as: UInt32.self),
                let library = string(dynamic, at: Int(file), limit: Self.nameLimit)
            else { break }
            var need = VersionNeed(library: library, versions: [])
            var entry = position + Int(first)
            for _ in 0..<count where budget > 0 {
                budget -= 1
                guard let flags = bytes.integer(at: entry + 4, as: UInt16.self),
                    let name = bytes.integer(at: entry + 8, as: UInt32.self),
                    let following = bytes.integer(at: entry + 12, as: UInt32.self),
                    let version = string(dynamic, at: Int(name), limit: Self.nameLimit)
                else { break }
                // VER_FLG_WEAK: the linker only warns.
                if flags & 2 == 0 { need.versions.append(version) }
                if following == 0 { break }
                entry += Int(following)
            }
            result.append(need)
            if next == 0 { break }
            position += Int(next)
        }
        return result
    }

    /// The versions of symbols that the image defines (`DT_VERDEF`), including its soname.
    package func definedVersions(_ dynamic: DynamicSection) -> Set<String> {
        guard let table = dynamic[.versionDefinitions].flatMap(offset(ofAddress:)) else { return [] }
        var result: Set<String> = []
        var position = table
        for _ in 0..<min(dynamic.size(.versionDefinitionCount) ?? 0, Self.versionLimit) {
            guard let entry = bytes.integer(at: position + 12, as: UInt32.self),
                let next = bytes.integer(at: position + 16, as: UInt32.self),
                let name = bytes.integer(at: position + Int(entry), as: UInt32.self)
            else { break }
            if let version = string(dynamic, at: Int(name), limit: Self.nameLimit) { result.insert(version) }
            if next == 0 { break }
            position += Int(next)
        }
        return result
    }
}
