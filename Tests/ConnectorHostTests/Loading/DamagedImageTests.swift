// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorHost
@testable import ConnectorLoading

#if os(Linux)
    /// Images in which single values are wrong or missing, and what can still be read of them.
    @Suite struct DamagedImageTests {
        /// The bytes of an image, to be changed.
        private struct Draft {
            var bytes: [UInt8]
            let image: ELFImage
            let dynamic: DynamicSection

            init(_ source: String, flags: String) throws {
                bytes = try Fixtures.withDirectory { directory in
                    try Fixtures.bytes(Fixtures.compile(source, into: directory, as: "draft", flags: flags))
                }
                image = try ELFImage(ImageBytes(copying: bytes, path: "draft.so"))
                dynamic = try #require(DynamicSection(image))
            }

            /// Overwrites a number.
            mutating func put<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
                for byte in 0..<Number.bitWidth / 8 {
                    bytes[offset + byte] = UInt8(truncatingIfNeeded: number >> (8 * byte))
                }
            }

            /// The offset of the program header of a type.
            func header(_ type: UInt32) throws -> Int {
                image.segmentTable + 56 * (try #require(image.segments.firstIndex { $0.type == type }))
            }

            /// The offset of the table that a tag names.
            func table(_ tag: DynamicTag) throws -> Int {
                try #require(dynamic[tag].flatMap(image.offset(ofAddress:)))
            }

            /// Turns an entry of the dynamic section into one without a meaning (`DT_DEBUG`).
            mutating func drop(_ tag: DynamicTag) throws {
                let section = try #require(image.segment(ELFConstant.dynamic))
                for offset in stride(from: section.offset, to: section.offset + section.size, by: 16)
                where image.bytes.integer(at: offset, as: UInt64.self) == tag.rawValue {
                    put(21 as UInt64, at: offset)
                }
            }

            /// Removes the section headers.
            mutating func dropSections() {
                for offset in Array(40..<48) + Array(58..<64) { bytes[offset] = 0 }
            }

            /// The number of symbols of the image as it is now, which must be one that can be loaded.
            @discardableResult
            func symbolCount() throws -> Int {
                try Preflight.linkable(ELFImage(ImageBytes(copying: bytes, path: "draft.so"))).symbolCount
            }

            /// The damage that is found in the image as it is now.
            func damage() -> String? {
                let error = #expect(throws: ConnectorError.self) { try symbolCount() }
                #expect(error?.code == .notELF)
                return error?.message
            }
        }

        private static let calling = """
            #include <stdlib.h>
            __attribute__((visibility("default"))) int used(const char *text) { return atoi(text); }

            """

        @Test func `a jump slot among the other relocations needs no procedure linkage table`() throws {
            var draft = try Draft(Self.calling, flags: "-fno-plt -nostartfiles")
            #expect(draft.dynamic[.jumpRelocations] == nil)
            let start = try draft.table(.relocations)
            let types = stride(from: start + 8, to: start + (draft.dynamic.size(.relocationSize) ?? 0), by: 24)
            let type = try #require(
                types.first { offset in
                    if case .slot? = RelocationKind(draft.image.bytes.integer(at: offset, as: UInt32.self) ?? .max) {
                        true
                    } else {
                        false
                    }
                }
            )
            draft.put(draft.bytes[type] + 1, at: type)
            try draft.symbolCount()
        }

        @Test func `thread-local variables without an alignment count as damage`() throws {
            var draft = try Draft(
                "__thread int local = 1; __attribute__((visibility(\"default\"))) int *used(void) { return &local; }\n",
                flags: "-ftls-model=initial-exec"
            )
            try draft.symbolCount()
            try draft.put(0 as UInt64, at: draft.header(ELFConstant.threadLocal) + 48)
            #expect(draft.damage()?.contains("thread-local variables") == true)
        }

        @Test func `program headers of no size at an unmapped address count as damage`() throws {
            var draft = try Draft(Self.calling, flags: "")
            let header = try draft.header(ELFConstant.stack)
            draft.put(ELFConstant.headers, at: header)
            let end = try #require(draft.image.segments.last { $0.type == ELFConstant.load }).address + (1 << 40)
            for (index, value) in [UInt64(draft.image.segmentTable), end, end, 0, 0].enumerated() {
                draft.put(value, at: header + 8 + 8 * index)
            }
            #expect(draft.damage()?.contains("program headers") == true)
        }

        @Test func `a version index in an image without versions counts as damage`() throws {
            var draft = try Draft(Self.calling, flags: "")
            draft.dropSections()
            let count = try draft.symbolCount()
            try draft.drop(.versionNeeds)
            try draft.drop(.versionNeedCount)
            let versions = try draft.table(.versionSymbols)
            for symbol in 0..<count { draft.put(0 as UInt16, at: versions + 2 * symbol) }
            #expect(try draft.symbolCount() == count)
            draft.put(1 as UInt16, at: versions + 2)
            #expect(draft.damage()?.contains("symbol 1 has an invalid version") == true)
        }

        @Test func `a needed version with another hash than its name's counts as damage`() throws {
            var draft = try Draft(Self.calling, flags: "")
            let need = try draft.table(.versionNeeds)
            let entry = need + Int(try #require(draft.image.bytes.integer(at: need + 8, as: UInt32.self)))
            let hash = try #require(draft.image.bytes.integer(at: entry, as: UInt32.self))
            draft.put(hash ^ 1, at: entry)
            #expect(draft.damage()?.contains("needs does not have the hash of its name") == true)
        }

        @Test(arguments: [(0x20, false), (0x10, true), (0xA0, true), (0xF0, true)] as [(UInt8, Bool)])
        func `an undefined symbol is required unless it is weak, also with a binding that nobody knows`(
            _ info: UInt8,
            _ isRequired: Bool
        ) throws {
            let source = """
                __attribute__((weak)) int absent(void);
                __attribute__((visibility("default"))) int used(void) { return absent ? absent() : 0; }

                """
            var draft = try Draft(source, flags: "")
            let count = try draft.symbolCount()
            let index = try #require(
                (1..<count).first { index in
                    draft.image.symbol(at: index, draft.dynamic)
                        .map { draft.image.string(draft.dynamic, at: $0.name) == "absent" } ?? false
                }
            )
            let symbols = try #require(draft.dynamic.symbols)
            draft.put(info, at: symbols + 24 * index + 4)
            let image = try ELFImage(ImageBytes(copying: draft.bytes, path: "draft.so"))
            let required = unsafe image.requiredSymbols(draft.dynamic) { _, _ in true }
            #expect(required.names.contains("absent") == isRequired)
        }

        @Test(
            arguments: ["bfd", "gold", "lld"].filter { Fixtures.has("ld.\($0)") },
            [calling, "extern int optind; int *hidden(void) { return &optind; }\n"]
        )
        func `an image without section headers has as many symbols as with them`(_ linker: String, _ source: String)
            throws
        {
            var draft = try Draft(source, flags: "-fuse-ld=\(linker) -Wl,--hash-style=gnu")
            #expect(draft.dynamic.hash == nil)
            let count = try draft.symbolCount()
            draft.dropSections()
            #expect(try draft.symbolCount() == count)
        }
    }
#endif
