// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorDigest
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorLoading
@testable import ConnectorPlatform

/// What a lock or a key does not vouch for is not loaded, and none of its code runs.
@Suite struct PluginAdmissionTests {
    private func lock(_ candidates: PluginCandidate...) throws -> PluginLock {
        var lock = PluginLock(file: "connectors.lock.json")
        for candidate in candidates { lock.set(try #require(try LockedPlugin(of: candidate))) }
        return lock
    }

    private func error(_ path: String, _ admission: PluginAdmission) throws -> ConnectorError? {
        let candidate = try PluginCatalog.candidate(path: path)
        do {
            _ = try PluginLoader().admitting(admission).load(candidate)
            return nil
        } catch {
            return error
        }
    }

    /// The SHA-256 of a file.
    private func digest(_ path: String) throws -> String {
        try unsafe Fixtures.bytes(path).withUnsafeBytes { unsafe SHA256Digest(of: $0).description }
    }

    // MARK: Lock

    @Test func `a locked image is loaded, and one of other bytes is refused with both digests and the remedy`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.plugin("locked", "1.0.0", in: directory, as: "locked")
            let admission = PluginAdmission(lock: try lock(PluginCatalog.candidate(path: path)))
            #expect(try error(path, admission) == nil)
            let before = try digest(path)
            let other = try Fixtures.plugin("locked", "1.0.0", in: directory, as: "other")
            #expect(Fixtures.run("mv '\(other)' '\(path)'") == 0)
            let refusal = try #require(try error(path, admission))
            #expect(refusal.code == .notLocked)
            #expect(refusal.message.contains(path))
            #expect(refusal.message.contains(before))
            #expect(try refusal.message.contains(digest(path)))
            #expect(refusal.fix?.contains("connector-host lock --update locked") == true)
        }
    }

    @Test func `an image that another process has checked is loaded, and one of other bytes at its path is not`() throws
    {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.plugin("checked", "1.0.0", in: directory, as: "checked")
            let admission = PluginAdmission(sha256: try digest(path))
            #expect(try error(path, admission) == nil)
            let other = try Fixtures.plugin("checked", "1.0.0", in: directory, as: "other")
            #expect(Fixtures.run("mv '\(other)' '\(path)'") == 0)
            #expect(try error(path, admission)?.code == .loadFailed)
        }
    }

    @Test func `a refused image has run no constructor`() throws {
        // It would end this process.
        let path = Fixtures.misbehaving("crashes-in-constructor")
        #expect(try error(path, PluginAdmission(lock: PluginLock(file: "l")))?.code == .notLocked)
        let key = try #require(MinisignKey("RWTSp9xObBq8/k5RLU0nt9d0QzbHdsvkSgy6rz7doZ91NA6u/Po8wirW"))
        #expect(try error(path, PluginAdmission(keys: [key], requiresSignature: true))?.code == .denied)
        #expect(try error(path, PluginAdmission(sha256: String(repeating: "0", count: 64)))?.code == .loadFailed)
    }

    @Test func `a version other than the locked one is refused with both digests`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.plugin("locked", "1.0.0", in: directory, as: "locked")
            let newer = try Fixtures.plugin("locked", "1.1.0", in: directory, as: "newer")
            let admission = PluginAdmission(lock: try lock(PluginCatalog.candidate(path: path)))
            let refusal = try #require(try error(newer, admission))
            #expect(refusal.code == .notLocked)
            #expect(try refusal.message.contains("version 1.0.0 (SHA-256 \(digest(path)))"))
            #expect(try refusal.message.contains(digest(newer)))
        }
    }

    @Test func `the locked version is chosen although a higher one is present`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.plugin("locked", "1.0.0", in: directory, as: "locked")
            _ = try Fixtures.plugin("locked", "1.1.0", in: directory, as: "newer")
            let text = "{\"version\": 1, \"plugins\": [\"\(directory)\"], \"connectors\": []}"
            var configuration = try Configuration(parsing: text)
            let specification = PluginSpecification("locked")
            func version() throws -> String {
                let lookup = PluginLookup(configuration: configuration, options: ConnectorHost.Options())
                return try lookup.candidate(specification).get().manifest.version.description
            }
            #expect(try version() == "1.1.0")
            configuration.lock = try lock(PluginCatalog.candidate(path: path))
            #expect(try version() == "1.0.0")
        }
    }

    @Test func `the manifest beside an image is locked with it`() throws {
        try Fixtures.withDirectory { directory in
            let path = "\(directory)/libbeside.so"
            let sidecar = "\(directory)/beside.connector.json"
            try Fixtures.write(Fixtures.bytes(Fixtures.broken("no-manifest")), to: path)
            try Fixtures.write(Array(Fixtures.manifest("beside", "1.0.0").utf8), to: sidecar)
            let admission = PluginAdmission(lock: try lock(PluginCatalog.candidate(path: path)))
            #expect(try error(path, admission) == nil)
            let changed = Fixtures.manifest("beside", "1.0.0").dropLast() + #", "egress": ["evil.example"]}"#
            try Fixtures.write(Array(changed.utf8), to: sidecar)
            let refusal = try #require(try error(path, admission))
            #expect(refusal.code == .notLocked)
            #expect(refusal.message.contains(sidecar))
        }
    }

    /// In a process of its own: a library that is loaded already is used as it is, and not loaded with the plugin.
    @Test func `a library that the plugin brings along is locked with it`() async {
        await #expect(processExitsWith: .success) {
            let candidate = try PluginCatalog.candidate(path: Fixtures.plugin("sibling"))
            let entry = try #require(try LockedPlugin(of: candidate))
            #expect(!entry.dependencies.isEmpty)
            var changed = entry
            changed.dependencies = Set(
                entry.dependencies.map { .init(name: $0.name, sha256: String(repeating: "0", count: 64)) }
            )
            var lock = PluginLock(file: "l")
            lock.set(entry)
            #expect(PluginAdmission(lock: lock).problem(of: candidate) == nil)
            lock.set(changed)
            let problem = try #require(PluginAdmission(lock: lock).problem(of: candidate))
            #expect(problem.code == .notLocked)
            #expect(problem.message.contains(String(repeating: "0", count: 64)))
        }
    }

    #if os(Linux)
        @Test func `a library beside the plugin is locked although the process has loaded one of the same name`() throws
        {
            #expect(LoadedLibraries.current().contains { $0.answers(to: "libz.so.1") })
            try Fixtures.withDirectory { directory in
                let library = try Fixtures.compile(
                    "__attribute__((visibility(\"default\"))) int bundled(void) { return 1; }\n",
                    into: directory,
                    as: "z",
                    flags: "-Wl,-soname,libz.so.1"
                )
                #expect(Fixtures.run("mv '\(library)' '\(library).1'") == 0)
                let path = try Fixtures.compile(
                    "#include \"fixture.h\"\nCONNECTOR_MANIFEST(\(Fixtures.manifest("bundling", "1.0.0")));\n"
                        + "FIXTURE_PLUGIN(fixture_open)\n",
                    into: directory,
                    as: "bundling",
                    flags: "-Wl,--no-as-needed '\(library).1' -Wl,-rpath,'$ORIGIN'"
                )
                let candidate = try PluginCatalog.candidate(path: path)
                let lock = try lock(candidate)
                let entry = lock.entry(of: "bundling", candidate.manifest.version)
                #expect(entry?.dependencies.map(\.name) == ["libz.so.1"])
                let admission = PluginAdmission(lock: lock)
                #expect(try PluginLoader().admitting(admission).seal(candidate).libraries.count == 1)
                #expect(admission.problem(of: candidate) == nil)
            }
        }
    #endif

    @Test func `a host reads the lock beside its file, and a damaged one is a fault of the file`() async throws {
        try await Fixtures.withDirectory { directory in
            _ = try Fixtures.plugin("locked", "1.0.0", in: directory, as: "locked")
            let file = "\(directory)/connectors.json"
            let text = #"{"version": 1, "connectors": [{"name": "a", "plugin": "./liblocked.so", "heal": "off"}]}"#
            try Fixtures.write(Array(text.utf8), to: file)
            let empty = PluginLock(file: "\(directory)/connectors.lock.json")
            try Fixtures.write(Array(empty.text.utf8), to: empty.file)
            let host = try ConnectorHost(file: file)
            let error = await host.open()["a"]?.error
            #expect(error?.code == .notLocked)
            #expect(error?.message.contains("liblocked.so (locked 1.0.0, SHA-256") == true)
            await host.close()
            try Fixtures.write(Array("{\"lock\": 1,\n \"plugins\": 3}".utf8), to: empty.file)
            let faults = #expect(throws: ConfigurationErrors.self) { try ConnectorHost(file: file) }
            #expect(faults?.errors.first?.position == FilePosition(file: empty.file, line: 2, column: 13))
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a gate whose plugin was not locked opens once a reload reads a lock that has it`() async throws {
        try await Fixtures.withDirectory { directory in
            let path = try Fixtures.plugin("locked", "1.0.0", in: directory, as: "locked")
            let file = "\(directory)/connectors.json"
            let text = #"{"version": 1, "connectors": [{"name": "a", "plugin": "./liblocked.so", "heal": "off"}]}"#
            try Fixtures.write(Array(text.utf8), to: file)
            var lock = PluginLock(file: PluginLock.file(of: file))
            try Fixtures.write(Array(lock.text.utf8), to: lock.file)
            let host = try ConnectorHost(file: file)
            #expect(await host.open()["a"]?.error?.code == .notLocked)
            lock.set(try #require(try LockedPlugin(of: PluginCatalog.candidate(path: path))))
            try Fixtures.write(Array(lock.text.utf8), to: lock.file)
            #expect(await host.reload().isActive)
            while host.report["a"]?.state != .open { try await Task.checkedYield() }
            await host.close()
        }
    }

    @Test func `a lock that is a link to a file which is gone is not the absence of a lock`() throws {
        try Fixtures.withDirectory { directory in
            let file = "\(directory)/connectors.json"
            let lock = PluginLock.file(of: file)
            try Fixtures.write(Array(#"{"version": 1, "connectors": []}"#.utf8), to: file)
            #expect(Fixtures.run("ln -s absent/lock.json '\(lock)'") == 0)
            let faults = #expect(throws: ConfigurationErrors.self) { try ConnectorHost(file: file) }
            #expect(faults?.errors.map(\.code) == [.unreadable])
            #expect(faults?.errors.first?.message.contains(lock) == true)
            #expect(Fixtures.run("rm '\(lock)'") == 0)
            #expect(throws: Never.self) { try ConnectorHost(file: file) }
        }
    }

    // MARK: Signatures

    @Test(.enabled("minisign signs") { Fixtures.has("minisign") })
    func `a library that the plugin brings along needs a signature of its own`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.plugin("signed", "1.0.0", in: directory, as: "signed")
            let library = try Fixtures.plugin("brought", "1.0.0", in: directory, as: "brought")
            func sign(_ path: String) {
                #expect(Fixtures.run("cd '\(directory)' && minisign -S -s k.key -m '\(path)' > /dev/null") == 0)
            }
            #expect(Fixtures.run("cd '\(directory)' && minisign -G -W -p k.pub -s k.key > /dev/null") == 0)
            let text = String(decoding: try Fixtures.bytes("\(directory)/k.pub"), as: UTF8.self)
            let key = try #require(MinisignKey(String(text.split(separator: "\n")[1])))
            let candidate = try PluginCatalog.candidate(path: path)
            func code(_ isStrict: Bool) throws -> ConnectorError.Code? {
                let admission = PluginAdmission(keys: [key], requiresSignature: isStrict)
                let (image, beside) = (try ImageBytes(path: path), try ImageBytes(path: library))
                do throws(ConnectorError) {
                    try admission.check(candidate, image, libraries: [beside])
                    return nil
                } catch {
                    return error.code
                }
            }
            sign(path)
            #expect(try code(true) == .denied && code(false) == nil)
            sign(library)
            #expect(try code(true) == nil)
            _ = try Fixtures.plugin("brought", "1.0.1", in: directory, as: "brought")
            #expect(try code(true) == .badSignature && code(false) == .badSignature)
        }
    }

    @Test(.enabled("minisign signs") { Fixtures.has("minisign") }, arguments: [" -l", ""])
    func `a plugin that minisign signed is loaded, and a changed one is refused with both digests`(_ flag: String)
        throws
    {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.plugin("signed", "1.0.0", in: directory, as: "signed")
            func sign() {
                #expect(Fixtures.run("cd '\(directory)' && minisign -S\(flag) -s k.key -m '\(path)' > /dev/null") == 0)
            }
            #expect(Fixtures.run("cd '\(directory)' && minisign -G -W -p k.pub -s k.key > /dev/null") == 0)
            let text = String(decoding: try Fixtures.bytes("\(directory)/k.pub"), as: UTF8.self)
            let key = try #require(MinisignKey(String(text.split(separator: "\n")[1])))
            let strict = PluginAdmission(keys: [key], requiresSignature: true)
            let lenient = PluginAdmission(keys: [key])
            #expect(try error(path, strict)?.code == .denied)
            #expect(try error(path, lenient) == nil)
            sign()
            #expect(try error(path, strict) == nil)
            #expect(try lenient.concern(PluginCatalog.candidate(path: path)) == nil)
            // Other bytes under the same signature.
            let other = try Fixtures.plugin("signed", "1.0.0", in: directory, as: "other")
            #expect(Fixtures.run("mv '\(other)' '\(path)'") == 0)
            for admission in [strict, lenient] {
                let refusal = try #require(try error(path, admission))
                #expect(refusal.code == .badSignature)
                #expect(try refusal.message.contains(digest(path)))
                #expect(try refusal.message.contains(digest(path + ".minisig")))
            }
            // Its replacement is not blocked.
            sign()
            #expect(try error(path, strict) == nil)
            // The image is the one that was signed.
            #expect(Fixtures.run("sed -i 's/^trusted comment: /&x/' '\(path).minisig'") == 0)
            let refusal = try #require(try error(path, strict))
            #expect(refusal.code == .badSignature)
            #expect(refusal.message.hasPrefix("the trusted comment in \(path).minisig (SHA-256 "), "\(refusal.message)")
        }
    }

    @Test func `a plugin without a signature is a warning, and is refused where trust is strict`() throws {
        try Fixtures.withDirectory { directory in
            let path = try Fixtures.plugin("unsigned", "1.0.0", in: directory, as: "unsigned")
            let key = "RWTSp9xObBq8/k5RLU0nt9d0QzbHdsvkSgy6rz7doZ91NA6u/Po8wirW"
            func lookup(_ level: String) throws -> PluginLookup {
                let configuration = try Configuration(
                    parsing: """
                        {"version": 1, "trust": {"level": "\(level)", "keys": ["\(key)"]},
                         "connectors": [{"name": "a", "plugin": "\(path)"}]}
                        """
                )
                return PluginLookup(configuration: configuration, options: ConnectorHost.Options())
            }
            let candidate = try lookup("warn").candidate(PluginSpecification(path)).get()
            #expect(try lookup("warn").concerns(candidate).contains { $0.contains("is not signed") })
            #expect(throws: ConnectorError.self) { try lookup("strict").candidate(PluginSpecification(path)).get() }
            // A damaged signature is an error of its own.
            try Fixtures.write(Array("untrusted comment: a\n".utf8), to: path + ".minisig")
            let admission = PluginAdmission(keys: [try #require(MinisignKey(key))])
            #expect(try error(path, admission)?.code == .badSignature)
            // One that is too large, too: the limit is 16 KiB.
            try Fixtures.write([UInt8](repeating: 0x41, count: 20_000), to: path + ".minisig")
            let large = try #require(try error(path, admission))
            #expect(large.code == .tooLarge)
            #expect(large.message == "\(path).minisig has 20000 bytes, more than the limit of 16 KiB")
        }
    }

    @Test(arguments: [
        (#"{"keys": ["RW"]}"#, 1, 33), (#"{"keys": "RW"}"#, 1, 32), (#"{"level": "blind"}"#, 1, 33),
        (#"{"key": []}"#, 1, 24),
        ("1", 1, 23),
    ])
    func `malformed trust settings are a fault with a position`(_ trust: String, line: Int, column: Int) {
        let errors = #expect(throws: ConfigurationErrors.self) {
            try Configuration(parsing: "{\"version\": 1, \"trust\": \(trust), \"connectors\": []}", file: "c")
        }
        #expect(errors?.errors.first?.position == FilePosition(file: "c", line: line, column: column + 2))
    }
}
