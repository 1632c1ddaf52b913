// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    /// The libraries of this process, as the dynamic linker lists them (dl_iterate_phdr(3)).
    package enum LoadedLibraries {
        /// One loaded library.
        package struct Library: Sendable {
            /// The soname, `DT_SONAME`; nil if it has none.
            package var soname: String?
            /// The path it was loaded by; empty for the program itself.
            package var path: String

            /// `DT_RUNPATH`: the folders to search for its direct dependencies.
            package var runpath: String?
            /// `DT_RPATH`: the folders to search for its direct and indirect dependencies.
            package var rpath: String?
            /// Whether its symbols have versions (`DT_VERSYM`), if only those that it needs.
            package var hasVersions = false

            /// Whether this is the program itself.
            package var isProgram: Bool { path.isEmpty }

            /// Whether the linker uses this library for an image that needs the name.
            package func answers(to name: String) -> Bool {
                soname == name || (!isProgram && path == name)
            }

            /// The file; nil if the path no longer leads to it, as for a sealed image.
            package var file: String? {
                if path.isEmpty { return "/proc/self/exe" }
                return path.hasPrefix("/proc/") || !path.hasPrefix("/") ? nil : path
            }
        }

        private typealias Callback = @convention(c) (UnsafeRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32
        private typealias Iterate = @convention(c) (Callback, UnsafeMutableRawPointer?) -> Int32

        /// Looked up by name, because Swift's Glibc module lacks it.
        private static let iterate = unsafe DynamicLinker.globalSymbol("dl_iterate_phdr").map {
            unsafe unsafeBitCast($0, to: Iterate.self)
        }

        /// The libraries loaded now, the program first.
        package static func current() -> [Library] {
            var libraries: [Library] = []
            guard let iterate = unsafe iterate else { return libraries }
            unsafe withUnsafeMutablePointer(to: &libraries) { list in
                _ = unsafe iterate(
                    { information, _, list in
                        guard let information = unsafe information, let list = unsafe list else { return 0 }
                        unsafe list.assumingMemoryBound(to: [Library].self).pointee.append(
                            LoadedLibraries.read(information)
                        )
                        return 0
                    },
                    UnsafeMutableRawPointer(list)
                )
            }
            return libraries
        }

        /// A range of addresses to find among the segments, with permissions.
        private struct Search {
            var range: Range<UInt>
            var flags: UInt32
            var isFound = false
        }

        /// Whether a segment of a loaded library, or of the program, covers a range of addresses with these permissions.
        package static func cover(_ range: Range<UInt>, flags: UInt32) -> Bool {
            guard let iterate = unsafe iterate else { return false }
            var search = Search(range: range, flags: flags)
            unsafe withUnsafeMutablePointer(to: &search) { search in
                _ = unsafe iterate(
                    { information, _, search in
                        guard let information = unsafe information,
                            let search = unsafe search?.assumingMemoryBound(to: Search.self)
                        else { return 0 }
                        unsafe search.pointee.isFound = LoadedLibraries.covers(information, search.pointee)
                        return unsafe search.pointee.isFound ? 1 : 0
                    },
                    UnsafeMutableRawPointer(search)
                )
            }
            return search.isFound
        }

        /// Reads the segments of a `struct dl_phdr_info`.
        private static func covers(_ information: UnsafeRawPointer, _ search: Search) -> Bool {
            let base = unsafe information.load(as: UInt.self)
            let count = unsafe Int(information.load(fromByteOffset: 24, as: UInt16.self))
            guard let headers = unsafe information.load(fromByteOffset: 16, as: UnsafeRawPointer?.self) else {
                return false
            }
            for index in 0..<count {
                let header = unsafe headers + index * 56
                guard unsafe header.load(as: UInt32.self) == ELFConstant.load,
                    unsafe header.load(fromByteOffset: 4, as: UInt32.self) & search.flags == search.flags
                else { continue }
                let start = unsafe base &+ header.load(fromByteOffset: 16, as: UInt.self)
                let size = unsafe header.load(fromByteOffset: 40, as: UInt.self)
                let distance = search.range.lowerBound &- start
                if distance < size, UInt(search.range.count) <= size - distance { return true }
            }
            return false
        }

        /// Reads a `struct dl_phdr_info` (link.h): base address, name, program headers, their number.
        private static func read(_ information: UnsafeRawPointer) -> Library {
            let base = unsafe information.load(as: UInt.self)
            let name = unsafe information.load(fromByteOffset: 8, as: UnsafePointer<CChar>?.self)
            let count = unsafe Int(information.load(fromByteOffset: 24, as: UInt16.self))
            var library = Library(soname: nil, path: unsafe name.map { unsafe String(cString: $0) } ?? "")
            guard let headers = unsafe information.load(fromByteOffset: 16, as: UnsafeRawPointer?.self) else {
                return library
            }
            for index in 0..<count {
                let header = unsafe headers + index * 56
                guard unsafe header.load(as: UInt32.self) == ELFConstant.dynamic,
                    let dynamic = unsafe UnsafeRawPointer(
                        bitPattern: base &+ header.load(fromByteOffset: 16, as: UInt.self)
                    )
                else { continue }
                unsafe readNames(dynamic, base: base, into: &library) { address in
                    unsafe isLoaded(address, base: base, headers, count)
                }
            }
            return library
        }

        /// Whether an address is in a segment that a library's program headers load.
        private static func isLoaded(_ address: UInt, base: UInt, _ headers: UnsafeRawPointer, _ count: Int) -> Bool {
            (0..<count).contains { index in
                let header = unsafe headers + index * 56
                guard unsafe header.load(as: UInt32.self) == ELFConstant.load else { return false }
                let start = unsafe base &+ header.load(fromByteOffset: 16, as: UInt.self)
                return unsafe address &- start < header.load(fromByteOffset: 40, as: UInt.self)
            }
        }

        /// Reads the names in a dynamic section in memory, which the dynamic linker has checked: it is mapped, and ends with a null
        /// tag.
        private static func readNames(
            _ dynamic: UnsafeRawPointer,
            base: UInt,
            into library: inout Library,
            isLoaded: (UInt) -> Bool
        ) {
            var strings: UInt?
            var offsets: (soname: UInt?, runpath: UInt?, rpath: UInt?) = (nil, nil, nil)
            var entry = unsafe dynamic
            while unsafe entry.load(as: UInt64.self) != 0 {
                let value = unsafe entry.load(fromByteOffset: 8, as: UInt.self)
                switch unsafe DynamicTag(rawValue: entry.load(as: UInt64.self)) {
                // On most processors, glibc has relocated it to an address; on some it is still an offset.
                case .stringTable: strings = value < base ? base + value : value
                case .soname: offsets.soname = value
                case .runpath: offsets.runpath = value
                case .rpath: offsets.rpath = value
                case .versionSymbols: library.hasVersions = true
                default: break
                }
                unsafe entry += 16
            }
            // The vDSO of User-Mode Linux names an address where nothing is.
            guard let strings, isLoaded(strings) else { return }
            func text(_ offset: UInt?) -> String? {
                guard let offset, let text = unsafe UnsafePointer<CChar>(bitPattern: strings &+ offset) else {
                    return nil
                }
                return unsafe String(cString: text)
            }
            library.soname = text(offsets.soname)
            library.runpath = text(offsets.runpath)
            library.rpath = text(offsets.rpath)
        }
    }
#endif
