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

/// Finding libraries as the dynamic linker does.
@Suite struct DependencyTests {
    @Test func `a library found relative to the plugin is loaded with its sealed copy`() throws {
        let plugin = try PluginLoader().load(PluginCatalog.candidate(path: Fixtures.plugin("sibling")))
        typealias Answer =
            @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>, UnsafeMutableRawPointer?) -> Int32
        let answer = try unsafe #require(plugin.symbol(named: "sibling_answer"))
        var result: Int32 = 0
        #expect(unsafe unsafeBitCast(answer, to: Answer.self)(nil, &result, nil) == 0)
        #expect(result == 42)
    }

    @Test func `a relative library that is gone is missing, with the plugin's own name in the chain`() throws {
        try Fixtures.withDirectory { directory in
            // Not a library of another test: one that is loaded already is found by its name.
            let library = try Fixtures.compile(
                "__attribute__((visibility(\"default\"))) int gone(void) { return 1; }\n",
                into: directory,
                as: "gone"
            )
            let plugin = try Fixtures.compile(
                "extern int gone(void); __attribute__((visibility(\"default\"))) int used(void) { return gone(); }\n",
                into: directory,
                as: "needing",
                flags: "-Wl,--no-as-needed -L'\(directory)' -l:libgone.so -Wl,-rpath,'$ORIGIN'"
            )
            let found = try Self.closure(plugin).members.first { $0.name == "libgone.so" }
            #expect(found?.isMissing == false)
            #expect(Fixtures.run("rm '\(library)'") == 0)
            let closure = try Self.closure(plugin)
            let index = try #require(closure.members.map(\.name).firstIndex(of: "libgone.so"))
            #expect(closure.members[index].isMissing && !closure.members[index].isLoaded)
            #expect(closure.chain(to: index) == [plugin, "libgone.so"])
        }
    }

    @Test func `what a library elsewhere finds beside itself is not copied with the plugin`() throws {
        try Fixtures.withDirectory { directory in
            let elsewhere = "\(directory)/elsewhere"
            #expect(Fixtures.run("mkdir '\(elsewhere)'") == 0)
            _ = try Fixtures.compile(
                "__attribute__((visibility(\"default\"))) int inner(void) { return 1; }\n",
                into: elsewhere,
                as: "elsewhere-inner"
            )
            _ = try Fixtures.compile(
                "extern int inner(void); __attribute__((visibility(\"default\"))) int outer(void) { return inner(); }\n",
                into: elsewhere,
                as: "elsewhere-outer",
                flags: "-Wl,--no-as-needed -L'\(elsewhere)' -l:libelsewhere-inner.so -Wl,-rpath,'$ORIGIN'"
            )
            let plugin = try Fixtures.compile(
                "extern int outer(void); __attribute__((visibility(\"default\"))) int used(void) { return outer(); }\n",
                into: directory,
                as: "needing-elsewhere",
                flags: "-Wl,--no-as-needed -L'\(elsewhere)' -l:libelsewhere-outer.so -Wl,-rpath,'\(elsewhere)'"
            )
            let inner = try Self.closure(plugin).members.first { $0.name == "libelsewhere-inner.so" }
            #expect(inner?.isRelativeToOrigin == true)
            let image = try ELFImage(ImageBytes(path: plugin))
            let dynamic = try #require(DynamicSection(image))
            let dependencies = try NewDependencies(of: image, dynamic)
            #expect(dependencies.relatives.isEmpty && !dependencies.climbsFromOrigin)
        }
    }

    @Test func `a library of the process is found where it was loaded from`() throws {
        let closure = try Self.closure(Fixtures.plugin("sync"))
        let libc = try #require(closure.members.first { $0.name == "libc.so.6" })
        #expect(libc.isLoaded)
        #expect(libc.path?.hasSuffix("/libc.so.6") == true)
    }

    @Test func `the word ORIGIN in a search path stands for the image's folder`() {
        for (path, expected, isRelative) in [
            ("$ORIGIN/../lib", "/a/b/../lib", true), ("${ORIGIN}", "/a/b", true),
            ("/usr/$LIB", "/usr/\(SearchPath.library)", false), ("$ORIGIN\u{301}", "/a/b\u{301}", true),
            ("/usr/lib", "/usr/lib", false), ("$ORIGINAL/$LIBS", "$ORIGINAL/$LIBS", false),
        ] {
            let folder = SearchPath.Folder(path: expected, isRelative: isRelative)
            #expect(SearchPath.expansions(path, origin: "/a/b") == [folder])
        }
        #expect(SearchPath.folders("/a:\u{301}b", origin: "/").map(\.path) == ["/a", "\u{301}b"])
    }

    @Test func `an empty element of a search path is the current directory, and an empty path has no folders`() {
        #expect(SearchPath.folders("/a::/b", origin: "/").map(\.path) == ["/a", ".", "/b"])
        #expect(SearchPath.folders("/a:", origin: "/").map(\.path) == ["/a", "."])
        #expect(SearchPath.folders("", origin: "/").isEmpty)
        #expect(SearchPath.folders("/a;b", origin: "/").map(\.path) == ["/a;b"])
        #expect(SearchPath.folders("/a;b", origin: "/", separators: ":;").map(\.path) == ["/a", "b"])
    }

    @Test func `the word PLATFORM in a search path has several values, none of them certain`() {
        let folders = SearchPath.folders("/a/$PLATFORM", origin: "/")
        #expect(!folders.isEmpty)
        #expect(folders.allSatisfy { !$0.isCertain && $0.path.hasPrefix("/a/") && !$0.path.contains("$") })
    }

    @Test func `the C library is in the folder that the word LIB stands for`() {
        #expect(
            DirectoryListing.exists("/\(SearchPath.library)/libc.so.6")
                || DirectoryListing.exists("/usr/\(SearchPath.library)/libc.so.6")
        )
    }

    @Test func `the system's cache knows the C library`() throws {
        let cache = try #require(LibraryCache())
        #expect(cache.paths(of: "libc.so.6").plain.contains { $0.hasSuffix("/libc.so.6") })
        #expect(cache.paths(of: "libabsent.so.99") == ([], []))
    }

    @Test func `a damaged cache of libraries never traps, and what is left of it is used`() throws {
        var random = SeededGenerator(seed: 7)
        let original = try Fixtures.bytes(LibraryCache.path)
        var knowing = 0
        for _ in 0..<200 {
            var bytes = Array(original.prefix(Int.random(in: 0...original.count, using: &random)))
            for _ in 0..<8 where !bytes.isEmpty {
                bytes[Int.random(in: 0..<min(bytes.count, 512), using: &random)] = .random(in: 0...255, using: &random)
            }
            let paths = LibraryCache(ImageBytes(copying: bytes, path: "cache"))?.paths(of: "libc.so.6").plain
            if paths?.contains(where: { $0.hasSuffix("/libc.so.6") }) == true { knowing += 1 }
        }
        // Neither all of them nor none: the damage is often behind the header.
        #expect((1..<200).contains(knowing))
    }

    @Test func `a path is made absolute, and has a parent and a plugin's stem, by its text alone`() {
        #expect("/a/./b/../c//d".absolutePath == "/a/c/d")
        #expect("/..".absolutePath == "/")
        #expect("/a/\u{301}b/..".absolutePath == "/a")
        #expect("a".absolutePath.hasSuffix("/a"))
        #expect("/a/libx.so".parentPath == "/a")
        #expect("libx.so".parentPath == ".")
        #expect("/libx.so".parentPath == "/")
        #expect("/a/libx.so".pluginStem == "x")
        #expect("x.so".pluginStem == "x")
        #expect("libx.so.1.20".pluginStem == "x" && "libx.dylib".pluginStem == "x")
        #expect("libcom.sony.camera.so".pluginStem == "com.sony.camera" && "my.solr.so.2".pluginStem == "my.solr")
        #expect("x.1.so".pluginStem == "x.1" && "x.connector.json".pluginStem == "x.connector.json")
    }

    private static func closure(_ path: String) throws -> DependencyClosure {
        let image = try ELFImage(ImageBytes(path: path))
        return DependencyClosure(of: image, try #require(DynamicSection(image)))
    }
}
