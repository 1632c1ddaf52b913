// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorLoading

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Libraries that come into the process with a plugin, and that others could choose or change.
@Suite struct LibraryTrustTests {
    /// A plugin in `plugins/`, the library that it needs in `lib/`, and the one that this needs in `deep/`.
    private struct Tree {
        var path: String
        /// Part of the libraries' names, because the process knows a library that was loaded once.
        var tag: String
        var plugin: String { "\(path)/plugins/libuser.so" }

        /// Builds the files and then runs a command in the folder.
        init(_ path: String, search: String, change: String) {
            self.path = path
            tag = String(path.suffix(6)).lowercased()
            let sidecar = "\(path)/plugins/user.connector.json"
            let status = Fixtures.run(
                """
                cd '\(path)' && umask 022 && mkdir -p plugins lib deep other &&
                echo 'int deep_\(tag)(void) { return 42; }' > deep.c &&
                echo 'int deep_\(tag)(void); int helper_\(tag)(void) { return deep_\(tag)(); }' > helper.c &&
                echo 'int helper_\(tag)(void); int user(void) { return helper_\(tag)(); }' > user.c &&
                cc -shared -fPIC deep.c -Wl,-soname,libdeep-\(tag).so -o deep/libdeep-\(tag).so &&
                cc -shared -fPIC helper.c -Wl,-soname,libhelper-\(tag).so -Ldeep -ldeep-\(tag) \
                    -Wl,--enable-new-dtags,-rpath,'$ORIGIN/../deep' -o lib/libhelper-\(tag).so &&
                cc -shared -fPIC user.c -Llib -lhelper-\(tag) -Wl,--allow-shlib-undefined \(search) -o plugins/libuser.so
                """.replacing("$TAG", with: tag).replacing("$ROOT", with: path)
            )
            #expect(status == 0)
            let manifest =
                #"{"manifest": 1, "id": "user", "version": "1.0.0", "abi": [1, 1], "library": "./libuser.so"}"#
            #expect(throws: Never.self) { try Fixtures.write(Array(manifest.utf8), to: sidecar) }
            #expect(
                Fixtures.run("cd '\(path)' && " + change.replacing("$TAG", with: tag).replacing("$ROOT", with: path))
                    == 0
            )
        }
    }

    private static let runpath = "-Wl,--enable-new-dtags,-rpath,'$ORIGIN/../lib'"

    private func withTree(
        search: String = runpath,
        change: String = "true",
        _ body: (Tree) throws -> Void
    ) throws {
        try Fixtures.withDirectory { try body(Tree($0, search: search, change: change)) }
    }

    /// The refusal where trust is required, and the warnings where it is not; they say the same.
    private func concerns(_ tree: Tree) throws -> [String] {
        let folder = "\(tree.path)/plugins"
        let concerns = PluginTrust.concerns(try PluginCatalog.candidate(path: tree.plugin), within: [folder])
        let catalog = PluginCatalog(directories: [folder], requiresTrust: true)
        if concerns.isEmpty {
            #expect(throws: Never.self) { try catalog.find("user") }
        } else {
            let error = #expect(throws: ConnectorError.self) { try catalog.find("user") }
            #expect(error?.code == .denied)
            for concern in concerns { #expect(error?.message.contains(concern) == true) }
        }
        return concerns
    }

    @Test func `libraries that only this user and root can change are trusted, and load`() throws {
        try withTree { tree throws in
            #expect(try concerns(tree).isEmpty)
            let plugin = try PluginLoader().load(PluginCatalog.candidate(path: tree.plugin))
            #expect(unsafe plugin.symbol(named: "user") != nil)
        }
    }

    @Test(arguments: [
        ("chmod o+w lib/libhelper-$TAG.so", "every user can write $ROOT/lib/libhelper-$TAG.so"),
        ("chmod o+w lib", "every user can write $ROOT/lib"),
        ("chmod 1777 lib", "every user can write $ROOT/lib"),
        (
            "mv lib deeper && mkdir lib && chmod o+w deeper && ln -s ../deeper/libhelper-$TAG.so lib",
            "every user can write $ROOT/deeper"
        ),
    ])
    func `a library beside the plugin that others can change is a concern`(_ change: String, _ reason: String) throws {
        try withTree(change: change) { tree throws in
            let reason = reason.replacing("$TAG", with: tree.tag).replacing("$ROOT", with: tree.path)
            let concerns = try concerns(tree)
            #expect(
                concerns.contains { concern in
                    concern.hasPrefix("libhelper-\(tree.tag).so, which \(tree.plugin) needs, is ")
                        && concern.hasSuffix(reason)
                },
                "\(concerns)"
            )
        }
    }

    @Test func `a library that others can change is a concern that names the library needing it`() throws {
        try withTree(change: "chmod o+w deep/*") { tree throws in
            let concerns = try concerns(tree)
            #expect(concerns.count == 1)
            #expect(
                concerns.first?.hasPrefix(
                    "libdeep-\(tree.tag).so, which \(tree.path)/plugins/../lib/libhelper-\(tree.tag).so needs, is "
                ) == true,
                "\(concerns)"
            )
        }
    }

    @Test(
        .enabled("only root can give files away") { geteuid() == 0 },
        arguments: [
            "chown 12345 lib/libhelper-$TAG.so", "chown 12345 lib", "chown 12345 .",
            "mv lib/libhelper-$TAG.so other && ln -s ../other/libhelper-$TAG.so lib && chown -h 12345 lib/libhelper-$TAG.so",
        ]
    )
    func `a library that belongs to a third user, or is reached by one's directory or link, is a concern`(
        _ change: String
    ) throws {
        try withTree(change: change) { tree throws in
            let concerns = try concerns(tree)
            #expect(concerns.contains { $0.hasSuffix("belongs to the user 12345") }, "\(concerns)")
        }
    }

    @Test(arguments: [
        "-Wl,--disable-new-dtags,-rpath,'$ROOT/lib'", "-Wl,--enable-new-dtags,-rpath,'$ROOT/lib'",
        "-Wl,--enable-new-dtags,-rpath,'${ORIGIN}/../lib'",
    ])
    func `a library that others can change is a concern however the search path names its folder`(_ search: String)
        throws
    {
        try withTree(search: search, change: "true") { tree throws in #expect(try concerns(tree).isEmpty) }
        try withTree(search: search, change: "chmod o+w lib") { tree throws in #expect(try !concerns(tree).isEmpty) }
    }

    @Test(arguments: ["glibc-hwcaps/x86-64-v2", "tls", "x86_64", "haswell/avx512_1"])
    func `a build for certain processors that others can change is a concern on every processor`(_ folder: String)
        throws
    {
        let change = "mkdir -p lib/\(folder) && cp lib/libhelper-$TAG.so lib/\(folder)/"
        try withTree(change: change) { tree throws in #expect(try concerns(tree).isEmpty) }
        try withTree(change: "\(change) && chmod o+w lib/\(folder)/*") { tree throws in
            #expect(try concerns(tree).contains { $0.contains("/lib/\(folder)/libhelper") })
        }
    }

    @Test(arguments: [("mkdir early", false), ("mkdir -m 777 early", true), ("mkdir -m 1777 early", true)])
    func `a folder that is searched earlier is a concern if others can put a library there`(
        _ change: String,
        _ isConcern: Bool
    ) throws {
        let search = "-Wl,--enable-new-dtags,-rpath,'$ROOT/early:$ORIGIN/../lib'"
        try withTree(search: search, change: change) { tree throws in
            let concerns = try concerns(tree)
            #expect(concerns.isEmpty == !isConcern)
            let expected =
                "libhelper-\(tree.tag).so, which \(tree.plugin) needs, is searched for in \(tree.path)/early: "
                + "every user can write \(tree.path)/early"
            #expect(concerns == (isConcern ? [expected] : []))
        }
    }

    @Test func `a folder that is searched earlier and does not exist is a concern if others can create it`() throws {
        try withTree(search: "-Wl,--enable-new-dtags,-rpath,'/tmp/absent-$TAG/lib:$ORIGIN/../lib'") { tree throws in
            #expect(try concerns(tree).contains { $0.hasSuffix("every user can write /tmp") })
        }
        try withTree(search: "-Wl,--enable-new-dtags,-rpath,'/usr/absent-$TAG/lib:$ORIGIN/../lib'") { tree throws in
            #expect(try concerns(tree).isEmpty)
        }
    }

    @Test func `a plugin in the program's own directory is refused like any other`() throws {
        try withTree(change: "chmod o+w lib/*") { tree throws in
            let configuration = try Configuration(
                parsing: """
                    {"version": 1, "trust": "strict", "plugins": [], "connectors": [{"name": "a", "plugin": "user"}]}
                    """
            )
            var options = ConnectorHost.Options()
            options.pluginDirectories = ["\(tree.path)/plugins"]
            let lookup = PluginLookup(configuration: configuration, options: options)
            let leaf = try #require(configuration.enabledLeaves.first)
            let error = #expect(throws: ConnectorError.self) { try lookup.candidate(leaf.leaf.plugin).get() }
            #expect(error?.code == .denied)
        }
    }

    @Test func `every link and every directory on the way to a file counts`() throws {
        try Fixtures.withDirectory { directory in
            let files = "mkdir -p a/b c && touch a/b/file && ln -s ../a/b c/link && ln -s loop c/loop"
            #expect(Fixtures.run("cd '\(directory)' && umask 022 && \(files)") == 0)
            #expect(FileTrust().concern("\(directory)/c/link/file") == nil)
            #expect(FileTrust().concern("\(directory)/c/link/../b/file") == nil)
            #expect(FileTrust().concern("\(directory)/c/loop/file") != nil)
            let dots = String(repeating: "./", count: 1900)
            let links = (0..<4).map { "ln -s '\(dots)deep\($0 + 1)' deep\($0)" }.joined(separator: " && ")
            #expect(Fixtures.run("cd '\(directory)' && \(links)") == 0)
            #expect(FileTrust().concern("\(directory)/deep0/file") != nil)
            #expect(Fixtures.run("chmod o+w '\(directory)/a'") == 0)
            #expect(FileTrust().concern("\(directory)/c/link/file") == "every user can write \(directory)/a")
            #expect(FileTrust().concern("\(directory)/c") == nil)
            // A sticky directory lets others add files, but not replace this one.
            #expect(Fixtures.run("chmod 1777 '\(directory)/a'") == 0)
            #expect(FileTrust().concern("\(directory)/c/link/file") == nil)
            #expect(FileTrust().concern(directory: "\(directory)/a") == "every user can write \(directory)/a")
        }
    }
}
