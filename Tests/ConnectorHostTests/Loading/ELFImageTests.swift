// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reading ELF, whatever the bytes.
@Suite struct ELFImageTests {
    /// Everything that can be read of an image; the point is that it returns.
    @discardableResult
    private static func readAll(_ bytes: [UInt8]) -> Int {
        do throws(ConnectorError) {
            let image = try ELFImage(ImageBytes(copying: bytes, path: "fuzz.so"))
            var count = ManifestReading(of: image, sidecar: nil).problems.count
            count += image.section(named: ".comment") == nil ? 0 : 1
            guard let dynamic = DynamicSection(image) else { return count }
            count += image.neededLibraries(dynamic).count
            count += unsafe image.requiredSymbols(dynamic) { _, name in name.count > 1 }.count
            count += image.versionNeeds(dynamic).count + image.definedVersions(dynamic).count
            count += image.exports("fixture_entry", dynamic) ? 1 : 0
            count += image.exports("sync_add", dynamic) ? 1 : 0
            count += image.language(dynamic).utf8.count + (image.isProgram(dynamic) ? 1 : 0)
            return count
        } catch {
            return error.message.utf8.count
        }
    }

    @Test func `exported symbols are found by the GNU hash table`() throws {
        let image = try ELFImage(ImageBytes(path: Fixtures.plugin("sync")))
        let dynamic = try Preflight.linkable(image).dynamic
        #expect(dynamic.gnuHash != nil)
        #expect(image.exports("sync_add", dynamic))
        #expect(image.exports("fixture_entry", dynamic))
        #expect(!image.exports("sync_ad", dynamic))
        #expect(!image.exports("malloc", dynamic), "defined elsewhere")
        #expect(!image.exports("fixture_create", dynamic), "not exported")
        #expect(!image.exports("", dynamic))
    }

    @Test func `exported symbols are found by the older hash table`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.compile(
                "#include <stdlib.h>\n__attribute__((visibility(\"default\"))) void *made(void) { return malloc(1); }\n",
                into: directory,
                as: "sysv",
                flags: "-Wl,--hash-style=sysv"
            )
            let image = try ELFImage(ImageBytes(path: path))
            let dynamic = try Preflight.linkable(image).dynamic
            #expect(dynamic.gnuHash == nil)
            #expect(image.exports("made", dynamic))
            #expect(!image.exports("malloc", dynamic))
            #expect(unsafe image.requiredSymbols(dynamic) { _, _ in true }.names.contains("malloc"))
        }
    }

    @Test func `exported symbols and versions of the C library are found`() throws {
        let path = try #require(LibraryCache()?.paths(of: "libc.so.6").plain.first { $0.contains("64") })
        let image = try ELFImage(ImageBytes(path: path))
        let dynamic = try #require(DynamicSection(image))
        for name in ["malloc", "printf", "pthread_create", "memfd_create", "environ", "strlen"] {
            #expect(image.exports(name, dynamic))
        }
        #expect(image.definedVersions(dynamic).contains { $0.hasPrefix("GLIBC_2.") })
        #expect(!image.isProgram(dynamic), "a library, though it can be run")
    }

    @Test func `a manifest survives strip`() throws {
        try Fixtures.withDirectory { directory in
            let path = "\(directory)/libsync.so"
            try Fixtures.write(Fixtures.bytes(Fixtures.plugin("sync")), to: path)
            #expect(Fixtures.run("strip '\(path)'") == 0)
            #expect(try PluginCatalog.candidate(path: path).manifest.id == "sync")
        }
    }

    @Test func `a manifest is found without section headers, and in its section without a note segment`() throws {
        var bytes = try Fixtures.bytes(Fixtures.plugin("sync"))
        var headless = bytes
        for offset in Array(40..<48) + Array(58..<64) { headless[offset] = 0 }
        #expect(try ELFImage(ImageBytes(copying: headless, path: "x")).manifestTexts().count == 1)
        // Turn every PT_NOTE into PT_NULL.
        let count = Int(bytes[56])
        for index in 0..<count where bytes[64 + 56 * index] == 4 { bytes[64 + 56 * index] = 0 }
        #expect(try ELFImage(ImageBytes(copying: bytes, path: "x")).manifestTexts().count == 1)
    }

    @Test func `an image cut off anywhere is refused`() throws {
        let bytes = try Fixtures.bytes(Fixtures.plugin("sync"))
        for length in stride(from: 0, to: bytes.count, by: 97) {
            do throws(ConnectorError) {
                _ = try ELFImage(ImageBytes(copying: Array(bytes.prefix(length)), path: "cut.so"))
                Issue.record("an image of \(length) of \(bytes.count) bytes was accepted")
            } catch {
                #expect(error.code == .truncated || (length < 4 && error.code == .notELF))
            }
        }
    }

    @Test(arguments: 0..<8) func `mutated images never trap`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = ["sync", "timer", "sibling", "frozen-c"]
        let original = try Fixtures.bytes(Fixtures.plugin(names[Int(seed) % names.count]))
        // The tables that are worth mutating: headers, then wherever the segments that the loader reads begin.
        let image = try ELFImage(ImageBytes(copying: original, path: "x"))
        var targets = [0..<64, 64..<(64 + 56 * image.segments.count)]
        for segment in image.segments where segment.type == ELFConstant.dynamic || segment.type == ELFConstant.note {
            targets.append(segment.offset..<(segment.offset + segment.size))
        }
        targets.append(0..<2048)
        targets.append(image.sectionTable.offset..<original.count)
        let interesting: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
        for _ in 0..<750 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let offset = Int.random(in: targets[Int.random(in: 0..<targets.count, using: &random)], using: &random)
                bytes[offset] =
                    Bool.random(using: &random)
                    ? .random(in: 0...255, using: &random)
                    : interesting[Int.random(in: 0..<interesting.count, using: &random)]
            }
            #expect(Self.readAll(bytes) >= 0)
        }
    }

    @Test func `random bytes behind a valid start never trap`() {
        var random = SeededGenerator(seed: 42)
        for _ in 0..<500 {
            var bytes = (0..<Int.random(in: 0...4096, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let start: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
            bytes.replaceSubrange(0..<min(start.count, bytes.count), with: start)
            if bytes.count >= 24 { bytes.replaceSubrange(20..<24, with: [1, 0, 0, 0]) }
            #expect(Self.readAll(bytes) >= 0)
        }
    }

    @Test(arguments: [
        (6, 7, ConnectorError.Code.notELF), (7, 9, .wrongArchitecture), (8, 1, .notELF), (9, 1, .notELF),
        (15, 1, .notELF),
        (20, 9, .notELF), (23, 1, .notELF),
    ])
    func `an image that the dynamic linker refuses by its first bytes is refused before`(
        _ offset: Int,
        _ value: Int,
        _ code: ConnectorError.Code
    ) throws {
        var bytes = try Fixtures.bytes(Fixtures.plugin("sync"))
        bytes[offset] = UInt8(value)
        let error = #expect(throws: ConnectorError.self) { try ELFImage(ImageBytes(copying: bytes, path: "x.so")) }
        #expect(error?.code == code && error?.fix != nil, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func `an image with extensions of GNU is read`() throws {
        var bytes = try Fixtures.bytes(Fixtures.plugin("sync"))
        bytes[7] = 3
        _ = try Preflight.linkable(ELFImage(ImageBytes(copying: bytes, path: "x.so")))
    }

    @Test func `damage that would crash the dynamic linker is found`() throws {
        let original = try Fixtures.bytes(Fixtures.plugin("sync"))
        let image = try ELFImage(ImageBytes(copying: original, path: "x"))
        let loads = image.segments.indices.filter { image.segments[$0].type == ELFConstant.load }
        let second = 64 + 56 * (try #require(loads.dropFirst().first))
        let dynamic = try #require(image.segment(ELFConstant.dynamic))
        func entry(_ tag: DynamicTag) -> Int? {
            stride(from: dynamic.offset, to: dynamic.offset + dynamic.size, by: 16).first { offset in
                (0..<8).allSatisfy {
                    original[offset + $0] == UInt8(truncatingIfNeeded: tag.rawValue >> (8 * UInt64($0)))
                }
            }
        }
        let strings = try #require(entry(.stringTable))
        let relocations = try #require(entry(.relocationSize))
        let damages: [(offset: Int, value: UInt8, word: String)] = [
            (second + 16 + 7, 0x7F, "address space"), (second + 40, 0, "smaller than"),
            (second + 17, 0, "overlaps the one before"),
            (second + 16, 1, "not aligned"), (strings + 8 + 5, 1, "symbols"), (relocations + 8 + 5, 1, "relocations"),
        ]
        for damage in damages {
            var bytes = original
            bytes[damage.offset] = damage.value
            if damage.word == "smaller than" { bytes[damage.offset + 1] = 0 }
            let broken = try ELFImage(ImageBytes(copying: bytes, path: "x"))
            let error = #expect(throws: ConnectorError.self) { try Preflight.linkable(broken) }
            #expect(error?.code == .notELF)
            #expect(error?.message.contains(damage.word) == true, "\(error?.message ?? "")")
        }
    }

    @Test func `a file that is no regular file is refused without waiting for it`() throws {
        try Fixtures.withDirectory { directory in
            #expect(Fixtures.run("mkfifo '\(directory)/libpipe.so'") == 0)
            for path in ["\(directory)/libpipe.so", directory] {
                let error = #expect(throws: ConnectorError.self) { try ImageBytes(path: path) }
                #expect(error?.code == .unreadable)
            }
        }
    }

    #if os(Linux)
        @Test func `a pipe named as a plugin is not even opened, which would release its writer`() throws {
            try Fixtures.withDirectory { directory in
                let pipe = "\(directory)/libpipe.so"
                #expect(Fixtures.run("mkfifo '\(pipe)'") == 0)
                let events = inotify_init1(Int32(O_CLOEXEC) | Int32(O_NONBLOCK))
                try #require(events >= 0)
                defer { close(events) }
                try #require(unsafe inotify_add_watch(events, pipe, UInt32(IN_OPEN)) >= 0)
                /// Whether the pipe was opened since the last time.
                func isOpened() -> Bool {
                    var event = [UInt8](repeating: 0, count: 4096)
                    return unsafe read(events, &event, event.count) > 0
                }
                #expect(PluginCatalog(directories: [directory]).entries.map(\.error?.code) == [.unreadable])
                #expect(!isOpened())
                close(unsafe open(pipe, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
                #expect(isOpened())
            }
        }
    #endif

    @Test func `a file that is written to while it is read is not taken for a whole one`() throws {
        try Fixtures.withDirectory { directory in
            let path = "\(directory)/libchanging.so"
            let (old, new) = ([UInt8](repeating: 1, count: 64 << 10), [UInt8](repeating: 2, count: 64 << 10))
            /// A file of an earlier time, of which the first part has been read.
            func begun() throws -> ImageBytes {
                try Fixtures.write(old, to: path)
                #expect(Fixtures.run("touch -t 200001010000 '\(path)'") == 0)
                return try ImageBytes(path: path)
            }
            let written = try begun()
            try Fixtures.write(new, to: path)
            #expect(!written.readAll())
            #expect(written.copy(at: 0, count: 4) == nil)
            // A file that another takes the place of stays as it was.
            let replaced = try begun()
            #expect(!replaced.isWhole)
            try Fixtures.write(new, to: "\(path).next")
            #expect(Fixtures.run("mv '\(path).next' '\(path)'") == 0)
            #expect(replaced.copy(at: 0, count: replaced.count) == old)
        }
    }

    @Test func `a descriptor's path never repeats, and names the process`() throws {
        let paths = try (1...5000 as ClosedRange<UInt64>).map {
            try SealedImage.uniquePath(descriptor: 7, generation: $0)
        }
        #expect(Set(paths).count == paths.count)
        #expect(try SealedImage.uniquePath(descriptor: 7, generation: 6) == "/proc/\(getpid())/fd//././7")
    }
}
