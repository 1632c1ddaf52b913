// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Finding plugins in directories, and never hiding one that is broken.
@Suite struct PluginCatalogTests {
    private func catalog() -> PluginCatalog {
        PluginCatalog(directories: [Fixtures.plugins, Fixtures.broken])
    }

    @Test func `every image and sidecar is an entry that is usable or says why not`() throws {
        let entries = catalog().entries
        let names = Set(entries.map(\.path.lastPathComponent))
        #expect(names.isSuperset(of: ["libsync.so", "libtimer.so", "libnot-elf.so", "libempty.so", "libtruncated.so"]))
        for entry in entries { #expect((entry.candidate == nil) == (entry.error != nil)) }
        let error = try #require(entries.first { $0.path.hasSuffix("/libno-manifest.so") }?.error)
        #expect(error.code == .noManifest)
    }

    @Test func `a plugin is found by its id`() throws {
        let candidate = try catalog().find("sync")
        #expect(candidate.path == Fixtures.plugin("sync"))
        #expect(candidate.manifest.version == SemanticVersion(1, 2, 0))
    }

    @Test func `a directory that cannot be searched is told, although its plugins are found elsewhere`() throws {
        let missing = "\(Fixtures.plugins)/missing", file = Fixtures.plugin("sync")
        let catalog = PluginCatalog(directories: [missing, Fixtures.plugins, file])
        #expect(try catalog.find("sync").path == file)
        #expect(
            Set(catalog.warnings) == [
                "no plugin is found in \(missing): No such file or directory (errno 2)",
                "no plugin is found in \(file): Not a directory (errno 20)",
            ]
        )
        #expect(PluginCatalog(directories: [Fixtures.plugins]).warnings == [])
    }

    @Test(arguments: [
        ("libsync.so", "\"sync\""), ("libsync.dylib", "\"sync\""), ("sync.connector.json", "\"sync\""),
        ("libnone.so", "the plugin's id"),
    ])
    func `a file's name in place of an id is told with what to write`(name: String, written: String) throws {
        let error = #expect(throws: ConnectorError.self) { try catalog().find(name) }
        #expect(error?.code == .unknownPlugin)
        #expect(error?.fix == "write \(written), or the path of the file, with a slash: \"./\(name)\"")
    }

    @Test func `folders in a directory are searched too, but not those in them`() throws {
        try Fixtures.withDirectory { directory in
            #expect(Fixtures.run("mkdir -p '\(directory)/one/two' '\(directory)/.hidden'") == 0)
            for (name, folder) in [("sync", "one"), ("timer", "one/two"), ("future", ".hidden")] {
                try Fixtures.write(Fixtures.bytes(Fixtures.plugin(name)), to: "\(directory)/\(folder)/\(name).so")
            }
            let catalog = PluginCatalog(directories: [directory])
            #expect(catalog.entries.map(\.path) == ["\(directory)/one/sync.so"])
        }
    }

    @Test func `a later catalog reads only the images that have changed`() throws {
        try Fixtures.withDirectory { directory in
            for name in ["same", "other", "beside"] { _ = try Fixtures.plugin(name, "1.0.0", in: directory, as: name) }
            let first = PluginCatalog(directories: [directory])
            // Of the same size, and with the time of the one before.
            let path = "\(directory)/libother.so"
            #expect(Fixtures.run("cp -p '\(path)' '\(directory)/copy'") == 0)
            let bytes = try Fixtures.bytes(path)
            let text = Array(#""version": "1.0.0""#.utf8)
            let place = try #require(bytes.firstRange(of: text)?.lowerBound)
            var changed = bytes
            changed[place + text.count - 2] = UInt8(ascii: "1")
            try Fixtures.write(changed, to: path)
            #expect(Fixtures.run("touch -r '\(directory)/copy' '\(path)'") == 0)
            try Fixtures.write(Array("{".utf8), to: "\(directory)/beside.connector.json")

            let second = PluginCatalog(directories: [directory], after: first)
            #expect(try second.find("same") === first.find("same"))
            #expect(try second.find("other").manifest.version == SemanticVersion(1, 0, 1))
            #expect(throws: ConnectorError.self) { try second.find("beside") }
            let third = PluginCatalog(directories: [directory], after: second)
            #expect(try third.find("other") === second.find("other"))
        }
    }

    @Test func `of two versions the higher one is taken, unless another is asked for`() throws {
        try Fixtures.withDirectory { directory in
            for version in ["1.9.0", "1.10.0", "1.10.0-beta"] {
                _ = try Fixtures.plugin("versions", version, in: directory, as: "v\(version)")
            }
            let catalog = PluginCatalog(directories: [directory])
            #expect(try catalog.find("versions").manifest.version.description == "1.10.0")
            let pinned = try catalog.find("versions", version: SemanticVersion(1, 9, 0))
            #expect(pinned.path == "\(directory)/libv1.9.0.so")
            let error = #expect(throws: ConnectorError.self) {
                try catalog.find("versions", version: SemanticVersion(2, 0, 0))
            }
            #expect(error?.code == .unknownPlugin)
            #expect(error?.fix == "use one of: 1.9.0, 1.10.0-beta, 1.10.0")
        }
    }

    @Test func `two different images of one id and version are an error that names both`() throws {
        try Fixtures.withDirectory { directory in
            let first = try Fixtures.plugin("twin", "1.0.0", in: directory, as: "first")
            let second = try Fixtures.plugin("twin", "1.0.0", in: directory, as: "second")
            let error = #expect(throws: ConnectorError.self) {
                try PluginCatalog(directories: [directory]).find("twin")
            }
            #expect(error?.code == .ambiguousPlugin)
            #expect(error?.message.contains(first) == true)
            #expect(error?.message.contains(second) == true)
        }
    }

    @Test func `two copies of one image are one plugin`() throws {
        try Fixtures.withDirectory { directory in
            let bytes = try Fixtures.bytes(Fixtures.plugin("sync"))
            try Fixtures.write(bytes, to: "\(directory)/one.so")
            try Fixtures.write(bytes, to: "\(directory)/two.so")
            #expect(try PluginCatalog(directories: [directory]).find("sync").manifest.id == "sync")
        }
    }

    @Test func `the error for an unknown plugin suggests a name and lists where it was looked for`() throws {
        let catalog = PluginCatalog(directories: [Fixtures.plugins, "/absent/directory"])
        let error = try #require(#expect(throws: ConnectorError.self) { try catalog.find("synk") })
        #expect(error.code == .unknownPlugin)
        #expect(error.fix?.contains("\"sync\"") == true)
        #expect(error.cause?.contains(Fixtures.plugins) == true)
        #expect(error.cause?.contains("/absent/directory (No such file or directory (errno 2))") == true)
    }

    @Test func `a plugin whose only file is broken is refused with that file's reason`() throws {
        for (id, code) in [
            ("wrong-architecture", ConnectorError.Code.wrongArchitecture), ("unsupported-abi", .unsupportedABI),
            ("manifest-mismatch", .manifestMismatch), ("not-built", .notFound),
            ("signature-mismatch", .signatureMismatch),
        ] {
            let error = #expect(throws: ConnectorError.self) { try catalog().find(id) }
            #expect(error?.code == code)
        }
    }

    @Test func `a broken file is found by its name, whatever dots are in it`() throws {
        try Fixtures.withDirectory { directory in
            try Fixtures.write(
                Fixtures.bytes(Fixtures.broken("no-manifest")),
                to: "\(directory)/libcom.sony.camera.so"
            )
            let error = #expect(throws: ConnectorError.self) {
                try PluginCatalog(directories: [directory]).find("com.sony.camera")
            }
            #expect(error?.code == .noManifest)
            #expect(error?.fix?.contains("write com.sony.camera.connector.json beside it") == true)
        }
    }

    // Other systems refuse such names.
    #if os(Linux)
        @Test func `a file whose name is not UTF-8 is an entry that says so`() throws {
            try Fixtures.withDirectory { directory in
                let copy = "'\(directory)'/\"$(printf 'lib\\344.so')\""
                #expect(Fixtures.run("cp '\(Fixtures.plugin("sync"))' \(copy)") == 0)
                let entries = PluginCatalog(directories: [directory]).entries
                #expect(entries.count == 1 && entries.first?.error?.code == .unreadable)
                #expect(entries.first?.error?.message == "the name of \(directory)/lib\u{FFFD}.so is not UTF-8")
            }
        }
    #endif

    @Test func `a sidecar describes an image that has no manifest`() throws {
        try Fixtures.withDirectory { directory in
            try Fixtures.write(Fixtures.bytes(Fixtures.broken("no-manifest")), to: "\(directory)/libdescribed.so")
            let sidecar = "\(directory)/described.connector.json"
            try Fixtures.write(Array(Fixtures.manifest("described", "3.0.0").utf8), to: sidecar)
            let candidate = try PluginCatalog(directories: [directory]).find("described")
            #expect(candidate.path == "\(directory)/libdescribed.so")
            #expect(candidate.sidecar == sidecar)
            #expect(try PluginCatalog.candidate(path: sidecar).path == candidate.path)
            #expect(try PluginLoader().load(candidate).table != nil)
        }
    }

    @Test func `a sidecar that says the same as the image is harmless`() throws {
        try Fixtures.withDirectory { directory in
            _ = try Fixtures.plugin("agreeing", "1.0.0", in: directory, as: "agreeing")
            let sidecar = Fixtures.manifest("agreeing", "1.0.0").split(separator: ",").joined(separator: " ,\n  ")
            try Fixtures.write(Array(sidecar.utf8), to: "\(directory)/libagreeing.connector.json")
            #expect(try PluginCatalog(directories: [directory]).find("agreeing").sidecar != nil)
        }
    }

    @Test func `a sidecar that only describes the plugin otherwise is harmless, any other is not`() throws {
        try Fixtures.withDirectory { directory in
            _ = try Fixtures.plugin("told", "1.0.0", in: directory, as: "told")
            let sidecar = "\(directory)/libtold.connector.json"
            func write(_ members: String) throws {
                let text = "\(Fixtures.manifest("told", "1.0.0").dropLast()), \(members)}"
                try Fixtures.write(Array(text.utf8), to: sidecar)
            }
            try write(
                #""documentation": "Told otherwise.", "language": "c++", "library": "libtold.so", "swiftType": "Told""#
            )
            #expect(try PluginCatalog(directories: [directory]).find("told").sidecar == sidecar)
            try write(#""exclusive": true"#)
            let error = PluginCatalog(directories: [directory]).entries.compactMap(\.error).first
            #expect(error?.code == .manifestMismatch && error?.message.hasSuffix("differ in exclusive") == true)
        }
    }

    @Test func `a manifest in a source folder is not a broken plugin once its image is found elsewhere`() throws {
        try Fixtures.withDirectory { directory in
            #expect(Fixtures.run("mkdir '\(directory)/source' '\(directory)/build'") == 0)
            let sidecar = "\(directory)/source/separate.connector.json"
            try Fixtures.write(Array(Fixtures.manifest("separate", "1.0.0").utf8), to: sidecar)
            #expect(PluginCatalog(directories: [directory]).entries.map(\.error?.code) == [.notFound])
            let image = try Fixtures.plugin("separate", "1.0.0", in: "\(directory)/build", as: "separate")
            #expect(PluginCatalog(directories: [directory]).entries.map(\.path) == [image])
        }
    }

    @Test func `a foreign library is described by a sidecar that names its file`() throws {
        let plugin = try PluginLoader().load(catalog().find("foreign"))
        #expect(plugin.table == nil)
        #expect(plugin.path.hasSuffix("/plugins/../libraries/libforeign.so"))
        typealias Twice = @convention(c) (Int32) -> Int32
        let twice = try unsafe #require(plugin.symbol(named: "foreign_twice"))
        #expect(unsafe unsafeBitCast(twice, to: Twice.self)(21) == 42)
    }

    @Test func `a sidecar whose library is not the image beside it is refused with both files`() throws {
        try Fixtures.withDirectory { directory in
            let flags = "-Wl,-soname,libpair.so.1"
            let image = try Fixtures.compile("int pair(void) { return 1; }", into: directory, as: "pair", flags: flags)
            #expect(Fixtures.run("mkdir '\(directory)/other' && cp '\(image)' '\(directory)/other/'") == 0)
            #expect(Fixtures.run("ln -s '\(directory)' '\(directory)/other/link'") == 0)
            let sidecar = "\(directory)/pair.connector.json"
            func write(_ library: String) throws {
                let text = """
                    {"manifest": 1, "id": "pair", "version": "1.0.0", "abi": [1, 1],
                     "library": "\(library)"}
                    """
                try Fixtures.write(Array(text.utf8), to: sidecar)
            }
            for library in ["./libpair.so", image, "other/link/libpair.so", "libpair.so", "libpair.so.1"] {
                try write(library)
                #expect(try PluginCatalog(directories: [directory]).find("pair").path == image, "\(library)")
            }
            for library in ["\(directory)/other/libpair.so", "./absent.so", "/dev/zero", "libm.so.6"] {
                try write(library)
                let error = #expect(throws: ConnectorError.self) {
                    try PluginCatalog(directories: [directory]).find("pair")
                }
                #expect(error?.code == .manifestMismatch && error?.position?.line == 2, "\(library)")
                let problems = PluginInspection(path: sidecar).problems + PluginInspection(path: image).problems
                #expect(problems.map(\.code) == [.manifestMismatch, .manifestMismatch], "\(library)")
                let words = ["the library is \(library)", "\(image) is beside the sidecar"]
                let message = problems.first?.message ?? ""
                #expect(words.allSatisfy { message.contains($0) }, "\(message)")
            }
            #expect(Fixtures.run("rm '\(image)'") == 0)
            try write("other/libpair.so")
            let alone = PluginCatalog(directories: [directory]).entries.compactMap(\.candidate?.path)
            #expect(alone.contains("\(directory)/other/libpair.so"))
        }
    }

    @Test func `a library of the system is described by a sidecar that names it, and is not loaded twice`() throws {
        let plugin = try PluginLoader().load(catalog().find("system"))
        #expect(plugin.path == "libm.so.6")
        #expect(plugin.content?.sha256.count == 64)
        typealias Cosine = @convention(c) (Double) -> Double
        let cosine = try unsafe #require(plugin.symbol(named: "cos"))
        #expect(unsafe unsafeBitCast(cosine, to: Cosine.self)(0) == 1)
        #expect(LoadedLibraries.current().count { $0.answers(to: "libm.so.6") } == 1)
    }

    @Test func `a foreign library that is absent or lacks a function is an error with a code of its own`() throws {
        try Fixtures.withDirectory { directory in
            func write(_ library: String, _ symbol: String) throws -> String {
                let sidecar = "\(directory)/\(symbol).connector.json"
                let text = """
                    {"manifest": 1, "id": "\(symbol)", "version": "1.0.0", "abi": [1, 1], "library": "\(library)",
                     "capabilities": {"x/1": {"x": {"symbol": "\(symbol)", "signature": "(a: i32) -> i32"}}}}
                    """
                try Fixtures.write(Array(text.utf8), to: sidecar)
                return sidecar
            }
            for (library, symbol, code) in [
                ("libabsent.so.7", "a", ConnectorError.Code.missingDependency), ("./libabsent.so", "b", .notFound),
                ("libm.so.6", "absent_function", .symbolAbsent),
            ] {
                let sidecar = try write(library, symbol)
                let error = #expect(throws: ConnectorError.self) {
                    try PluginLoader().load(PluginCatalog.candidate(path: sidecar))
                }
                #expect(error?.code == code)
                // Nobody exports another function from the system's library.
                if code == .symbolAbsent { #expect(error?.fix?.hasPrefix("correct the symbol") == true) }
            }
        }
    }

    @Test func `a library that only serves a plugin beside it is not listed as a broken plugin`() throws {
        try Fixtures.withDirectory { directory in
            let flags = "-Wl,--no-as-needed -L'\(directory)' -Wl,-rpath,'$ORIGIN'"
            _ = try Fixtures.compile(
                "__attribute__((visibility(\"default\"))) int deep(void) { return 1; }",
                into: directory,
                as: "deep"
            )
            _ = try Fixtures.compile(
                "extern int deep(void); __attribute__((visibility(\"default\"))) int helped(void) { return deep(); }",
                into: directory,
                as: "helper",
                flags: flags + " -ldeep"
            )
            _ = try Fixtures.compile("int stray(void) { return 1; }", into: directory, as: "stray")
            let path = try Fixtures.compile(
                """
                #include "fixture.h"
                CONNECTOR_MANIFEST(\(Fixtures.manifest("helped", "1.0.0")));
                extern int helped(void);
                CONNECTOR_EXPORT int use(void) { return helped(); }
                FIXTURE_PLUGIN(fixture_open)
                """,
                into: directory,
                as: "helped",
                flags: flags + " -lhelper"
            )
            let entries = PluginCatalog(directories: [directory]).entries
            #expect(entries.map(\.path) == [path, "\(directory)/libstray.so"])
        }
    }
}
