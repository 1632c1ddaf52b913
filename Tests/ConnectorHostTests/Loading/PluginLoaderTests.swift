// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorManifest
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

/// Loading whole plugins, and what stays true when files change.
@Suite struct PluginLoaderTests {
    private func load(_ path: String) throws -> Plugin {
        try PluginLoader().load(PluginCatalog.candidate(path: path))
    }

    /// Calls an exported `int32_t f(void *instance, int32_t a, int32_t b, int32_t *result, connector_error *error)`.
    private func call(_ plugin: Plugin, _ symbol: String, _ first: Int32, _ second: Int32) throws -> Int32 {
        typealias Function =
            @convention(c) (
                UnsafeMutableRawPointer?, Int32, Int32, UnsafeMutablePointer<Int32>,
                UnsafeMutablePointer<connector_error>?
            ) -> Int32
        let address = try unsafe #require(plugin.symbol(named: symbol))
        var result: Int32 = 0
        #expect(unsafe unsafeBitCast(address, to: Function.self)(nil, first, second, &result, nil) == 0)
        return result
    }

    @Test func `a plugin is loaded with its manifest, digest and table`() throws {
        let plugin = try load(Fixtures.plugin("sync"))
        #expect(plugin.manifest.id == "sync")
        #expect(plugin.manifest.version.description == "1.2.0")
        #expect(plugin.path == Fixtures.plugin("sync"))
        #expect(plugin.content?.sha256.count == 64)
        let table = try #require(plugin.table)
        #expect(table.abiVersion == 1)
        #expect(unsafe table.probe != nil)
        #expect(unsafe table.close == nil)
        #expect(unsafe plugin.symbol(named: "sync_add") != nil)
        #expect(unsafe plugin.symbol(named: "sync_subtract") == nil)
    }

    @Test func `the digest is the one that sha256sum prints`() throws {
        let path = Fixtures.plugin("sync")
        let digest = try #require(try load(path).content?.sha256)
        #expect(Fixtures.run("echo '\(digest)  \(path)' | sha256sum -c --status") == 0)
    }

    @Test func `a plugin frozen at version 1 in C loads and runs`() throws {
        let plugin = try load(Fixtures.plugin("frozen-c"))
        #expect(plugin.table?.abiVersion == 1)
        #expect(try call(plugin, "frozen_sum", 40, 2) == 42)
    }

    @Test(.enabled("rustc is not installed") { Fixtures.has("rustc") })
    func `a plugin frozen at version 1 in Rust loads and runs`() throws {
        let plugin = try load(Fixtures.plugin("frozen-rust"))
        #expect(plugin.manifest.language == "rust")
        #expect(plugin.table?.abiVersion == 1)
        #expect(try call(plugin, "frozen_rust_product", 6, 7) == 42)
    }

    @Test func `a plugin that also supports a later ABI version, with a longer table, is loaded`() throws {
        let plugin = try load(Fixtures.plugin("future"))
        #expect(plugin.table?.abiVersion == 7)
        #expect(unsafe plugin.table?.cancel == nil)
    }

    @Test func `the same bytes loaded twice are one image`() throws {
        let first = try load(Fixtures.plugin("timer"))
        let second = try Fixtures.withDirectory { directory in
            try Fixtures.write(Fixtures.bytes(Fixtures.plugin("timer")), to: "\(directory)/other.so")
            return try load("\(directory)/other.so")
        }
        #expect(unsafe first.symbol(named: "fixture_entry") == second.symbol(named: "fixture_entry"))
        #expect(first.content?.sha256 == second.content?.sha256)
        let third = try load(Fixtures.plugin("timer"))
        #expect(unsafe first.symbol(named: "fixture_entry") == third.symbol(named: "fixture_entry"))
    }

    #if os(Linux)
        @Test func `the sealed bytes of an image are shared while they are in use, unless its file has changed`() throws
        {
            try Fixtures.withDirectory { directory in
                let path = try Self.numbered(79, in: directory)
                let candidate = try PluginCatalog.candidate(path: path)
                let first = try PluginLoader().seal(candidate)
                #expect(try PluginLoader().seal(candidate) === first)
                // Whether it may be loaded is checked again.
                let other = PluginLoader().admitting(PluginAdmission(lock: PluginLock(file: "connectors.lock.json")))
                let refusal = #expect(throws: ConnectorError.self) { try other.seal(candidate) }
                #expect(refusal?.code == .notLocked)
                #expect(try PluginLoader().seal(candidate) === first)
                #expect(Fixtures.run("cp '\(path)' '\(path).new' && mv '\(path).new' '\(path)'") == 0)
                #expect(try PluginLoader().seal(candidate) !== first)
                withExtendedLifetime(first) {}
            }
        }
    #endif

    @Test func `the digest is that of the bytes that were loaded, even if the file has changed since`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Self.numbered(78, in: directory)
            let copy = "\(directory)/copy"
            try Fixtures.write(Fixtures.bytes(path), to: copy)
            let plugin = try load(path)
            try Fixtures.write([UInt8](repeating: 0xCC, count: 65536), to: path)
            let digest = try #require(plugin.content?.sha256)
            #expect(Fixtures.run("echo '\(digest)  \(copy)' | sha256sum -c --status") == 0)
        }
    }

    @Test func `new bytes at the same path are a new image, and the old one stays`() throws {
        try Fixtures.withDirectory { directory in
            var plugins: [(Plugin, Int32)] = []
            for number in 1...20 as ClosedRange<Int32> {
                plugins.append((try load(Self.numbered(number, in: directory)), number))
            }
            for (plugin, number) in plugins {
                #expect(try call(plugin, "number", 0, 0) == number)
            }
        }
    }

    @Test func `overwriting or truncating the file of a loaded plugin does not affect it`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Self.numbered(77, in: directory)
            let plugin = try load(path)
            try Fixtures.write([UInt8](repeating: 0xCC, count: 65536), to: path)
            #expect(try call(plugin, "number", 0, 0) == 77)
            try Fixtures.write([], to: path)
            #expect(try call(plugin, "number", 0, 0) == 77)
        }
    }

    @Test func `a file that changed since it was found is not loaded under the old manifest`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Self.numbered(5, in: directory)
            let candidate = try PluginCatalog.candidate(path: path)
            try Fixtures.write(Fixtures.bytes(Fixtures.plugin("sync")), to: path)
            let error = #expect(throws: ConnectorError.self) { try PluginLoader().load(candidate) }
            #expect(error?.code == .loadFailed)
            #expect(error?.isRetryable == true)
        }
    }

    @Test func `a plugin loads from a private directory where memory is refused, and leaves nothing there`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Self.numbered(31, in: directory)
            let parent = "\(directory)/parent"
            #expect(Fixtures.run("mkdir '\(parent)'") == 0)
            let plugin = try PluginLoader(storage: .directory(parent)).load(PluginCatalog.candidate(path: path))
            #expect(try call(plugin, "number", 0, 0) == 31)
            #expect(Fixtures.run("rmdir '\(parent)'") == 0)
        }
    }

    @Test func `a private directory that cannot be made is a load error with the system's reason`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Self.numbered(32, in: directory)
            let candidate = try PluginCatalog.candidate(path: path)
            let loader = PluginLoader(storage: .directory("\(directory)/absent"))
            let error = #expect(throws: ConnectorError.self) { try loader.load(candidate) }
            #expect(error?.code == .loadFailed)
            #expect(error?.message.contains("No such file or directory") == true)
        }
    }

    #if os(Linux)
        /// In a process of its own, which has no descriptor left for a moment.
        @Test func `an image that finds no descriptor to be sealed in says so, and is tried again`() async {
            await #expect(processExitsWith: .success) {
                let bytes = ImageBytes(copying: [1, 2, 3], path: "x.so")
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                try #require(unsafe getrlimit(resource, &limit) == 0)
                var none = limit
                none.rlim_cur = 0
                try #require(unsafe setrlimit(resource, &none) == 0)
                let result = Result { () throws(ConnectorError) in try SealedImageFile.sealing(bytes) }
                try #require(unsafe setrlimit(resource, &limit) == 0)
                let error = #expect(throws: ConnectorError.self) { try result.get() }
                #expect(error?.code == .unavailable && error?.isRetryable == true)
                #expect(error?.cause == SystemError(EMFILE).description)
                #expect(try SealedImageFile.sealing(bytes).descriptor >= 0)
            }
        }

        /// In a process of its own, which has no descriptor left for a moment.
        @Test func `an image for which the dynamic linker finds no descriptor is not at fault`() async {
            await #expect(processExitsWith: .success) {
                let path = Fixtures.plugin("sync")
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                try #require(unsafe getrlimit(resource, &limit) == 0)
                var none = limit
                none.rlim_cur = 0
                try #require(unsafe setrlimit(resource, &none) == 0)
                var fix: String?
                do throws(DynamicLinker.Failure) {
                    _ = unsafe try DynamicLinker.load(path: path)
                } catch {
                    fix = error.fix
                }
                try #require(unsafe setrlimit(resource, &limit) == 0)
                #expect(fix == SystemError(EMFILE).limitRemedy)
            }
        }
    #endif

    @Test func `many threads that load one plugin at once get one image`() async throws {
        try await withThrowingTaskGroup(of: UInt.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    let plugin = try PluginLoader().load(PluginCatalog.candidate(path: Fixtures.plugin("http")))
                    return unsafe UInt(bitPattern: plugin.symbol(named: "fixture_entry"))
                }
            }
            var addresses: Set<UInt> = []
            for try await address in group { addresses.insert(address) }
            #expect(addresses.count == 1)
        }
    }

    /// Loads through a table, and notes each time that the file is read.
    private func load(
        _ candidate: PluginCandidate,
        _ admission: PluginAdmission = PluginAdmission(),
        through files: LoadedFiles,
        _ reads: Journal<String>
    ) throws(ConnectorError) -> LoadedImage {
        try files.load(candidate, admission) { () throws(ConnectorError) in
            reads.note(candidate.path)
            return try PluginLoader().loadFile(candidate)
        }.image
    }

    @Test func `a file is read once, however many threads load it at once`() async throws {
        let (files, reads) = (LoadedFiles(), Journal<String>())
        let candidate = try PluginCatalog.candidate(path: Fixtures.plugin("http"))
        try await withThrowingTaskGroup(of: UInt.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    let image = try load(candidate, through: files, reads)
                    return unsafe UInt(bitPattern: image.symbol(named: "fixture_entry"))
                }
            }
            var addresses: Set<UInt> = []
            for try await address in group { addresses.insert(address) }
            #expect(addresses.count == 1)
        }
        #expect(reads.values.count == 1)
    }

    @Test func `a file is read again after a failure, after a change, and under other rules of admission`() throws {
        try Fixtures.withDirectory { directory in
            let (files, reads) = (LoadedFiles(), Journal<String>())
            let candidate = try PluginCatalog.candidate(path: Self.numbered(6, in: directory))
            #expect(throws: ConnectorError.self) {
                _ = try files.load(candidate, PluginAdmission()) { () throws(ConnectorError) in
                    throw ConnectorError(.loadFailed, "not yet")
                }
            }
            for count in [1, 1] {
                _ = try load(candidate, through: files, reads)
                #expect(reads.values.count == count)
            }
            #expect(Fixtures.run("touch -d @1 '\(candidate.path)'") == 0)
            for count in [2, 2] {
                _ = try load(candidate, through: files, reads)
                #expect(reads.values.count == count)
            }
            _ = try load(candidate, PluginAdmission(lock: PluginLock(file: "l")), through: files, reads)
            #expect(reads.values.count == 3)
        }
    }

    @Test func `two hundred gates of one image open`() async throws {
        let test = try await TestHost.opened(
            (0..<200).map { TestHost.leaf("gate-\($0)", plugin: "sync") }.joined(separator: ",")
        )
        await test.host.close()
    }

    /// Compiles a plugin whose function `number` answers a number, always to the same path.
    private static func numbered(_ number: Int32, in directory: String) throws -> String {
        try Fixtures.compile(
            """
            #include "fixture.h"
            CONNECTOR_MANIFEST({"manifest": 1, "id": "numbered", "version": "1.0.\(number)", "abi": [1, 1],
                                "entry": "fixture_entry"});
            CONNECTOR_EXPORT int32_t number(void *i, int32_t a, int32_t b, int32_t *result, connector_error *e) {
                (void)i; (void)a; (void)b; (void)e;
                *result = \(number);
                return 0;
            }
            FIXTURE_PLUGIN(fixture_open)
            """,
            into: directory,
            as: "numbered"
        )
    }

    @Test(.enabled("standard input is closed") { fcntl(STDIN_FILENO, F_GETFD) >= 0 }, arguments: ["sync", "sibling"])
    func `loading closes no descriptor that it did not open`(_ name: String) throws {
        var (before, after) = (stat(), stat())
        #expect(unsafe fstat(STDIN_FILENO, &before) == 0)
        for storage in [SealedImage.Storage.automatic, .directory("/tmp")] {
            try Fixtures.withDirectory { directory in
                let path = try Fixtures.plugin("kept-open", "1.0.0", in: directory, as: "kept-open")
                _ = try PluginLoader(storage: storage).load(PluginCatalog.candidate(path: path))
            }
            let broken = try? PluginCatalog.candidate(path: Fixtures.broken("missing-symbol"))
            if let broken { _ = try? PluginLoader(storage: storage).load(broken) }
        }
        _ = try PluginLoader().load(PluginCatalog.candidate(path: Fixtures.plugin(name)))
        #expect(unsafe fstat(STDIN_FILENO, &after) == 0)
        #expect(before.st_dev == after.st_dev && before.st_ino == after.st_ino)
    }
}
