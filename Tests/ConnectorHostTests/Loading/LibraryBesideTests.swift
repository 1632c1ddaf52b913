// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorBase
    import ConnectorHostTesting
    import ConnectorManifest
    import ConnectorTestSupport
    import Testing

    @testable import ConnectorConfiguration
    @testable import ConnectorHost
    @testable import ConnectorInvocation
    @testable import ConnectorLoading
    @testable import ConnectorPlatform

    /// Libraries that plugins bring along, of which a process has one of each name.
    @Suite(.timeLimit(.minutes(5))) struct LibraryBesideTests {
        /// A name that no other library in this process has: the dynamic linker keeps the first one of a name.
        private let name = TestHost.unique("beside")
        /// The flags of a library: its soname, and nothing of the C library, of which it would need versions.
        private var own: String { "-nostdlib -Wl,-soname,lib\(name).so" }

        /// Compiles the library, with what it answers, and other functions.
        private func library(in directory: String, answer: Int, _ others: String = "", flags: String = "") throws {
            Fixtures.run("mkdir -p '\(directory)'")
            _ = try Fixtures.compile(
                "__attribute__((visibility(\"default\"))) int beside(void) { return \(answer); }\n\(others)\n",
                into: directory,
                as: name,
                flags: "\(own) \(flags)"
            )
        }

        /// Compiles a plugin that needs the library of a directory, beside which it is put.
        private func plugin(
            _ id: String,
            in directory: String,
            search: String = "-Wl,-rpath,'$ORIGIN'"
        ) throws -> String {
            try Fixtures.compile(
                """
                #include "fixture.h"
                CONNECTOR_MANIFEST(\(Fixtures.manifest(id, "1.0.0")));
                extern int beside(void);
                CONNECTOR_EXPORT int used(void) { return beside(); }
                FIXTURE_PLUGIN(fixture_open)
                """,
                into: directory,
                as: id,
                flags: "-Wl,--no-as-needed -L'\(directory)' -l:lib\(name).so \(search)"
            )
        }

        private func refusal(_ path: String) throws -> ConnectorError {
            try #require(
                #expect(throws: ConnectorError.self) { try PluginLoader().load(PluginCatalog.candidate(path: path)) }
            )
        }

        /// Writes the versions of the library, for its linker.
        private func versions(in directory: String) throws -> String {
            try Fixtures.write(Array("V2 { global: beside; local: *; };\n".utf8), to: "\(directory)/versions")
            return "-Wl,--version-script,'\(directory)/versions'"
        }

        // MARK: Versions

        @Test func `a library that has lost the versions that a plugin needs refuses the plugin, and ends no process`()
            throws
        {
            try Fixtures.withDirectory { directory in
                try library(in: directory, answer: 1, flags: versions(in: directory))
                let path = try plugin("needing", in: directory)
                try library(in: directory, answer: 1)
                let error = try refusal(path)
                #expect(error.code == .missingSymbolVersion)
                #expect(error.message.contains("version V2 of lib\(name).so"))
                #expect(error.message.hasSuffix("has no versions"))
                let inspection = PluginInspection(path: path)
                #expect(inspection.problems.contains { $0.message == error.message })
                #expect(inspection.symbolVersions.first { $0.version == "V2" }?.isPresent == false)
                let sealing = #expect(throws: ConnectorError.self) {
                    _ = try PluginLoader().seal(PluginCatalog.candidate(path: path))
                }
                #expect(sealing?.message == error.message)
            }
        }

        @Test func `a loaded library without versions refuses a plugin that needs some of that name`() throws {
            try Fixtures.withDirectory { directory in
                try library(in: "\(directory)/a", answer: 1)
                let first = try plugin("first", in: "\(directory)/a")
                _ = try PluginLoader().load(PluginCatalog.candidate(path: first))
                Fixtures.run("mkdir -p '\(directory)/b'")
                try library(in: "\(directory)/b", answer: 1, flags: versions(in: "\(directory)/b"))
                // It would find its library nowhere, but needs not: the process has one of the name.
                let second = try plugin("second", in: "\(directory)/b", search: "")
                let error = try refusal(second)
                #expect(error.code == .missingSymbolVersion && error.message.contains("version V2 of lib\(name).so"))
            }
        }

        // MARK: Names

        @Test func `a plugin whose library differs from what another one brought is refused, and names both`() throws {
            try Fixtures.withDirectory { directory in
                let (first, second) = ("\(directory)/first", "\(directory)/second")
                try library(in: first, answer: 1)
                try library(in: second, answer: 2)
                _ = try PluginLoader().load(PluginCatalog.candidate(path: plugin("first", in: first)))
                let error = try refusal(plugin("second", in: second))
                #expect(error.code == .loadFailed)
                #expect(error.message.contains("\(first)/lib\(name).so"), "\(error)")
                #expect(error.message.contains("\(second)/lib\(name).so"), "\(error)")
                #expect(error.fix?.contains("isolation") == true)
            }
        }

        @Test func `plugins with copies of one library load, and nothing is said`() throws {
            try Fixtures.withDirectory { directory in
                let (first, second) = ("\(directory)/first", "\(directory)/second")
                try library(in: first, answer: 1)
                _ = try PluginLoader().load(PluginCatalog.candidate(path: plugin("first", in: first)))
                #expect(Fixtures.run("mkdir '\(second)' && cp '\(first)/lib\(name).so' '\(second)'") == 0)
                let path = try plugin("second", in: second)
                let loaded = try PluginLoader().load(PluginCatalog.candidate(path: path))
                let content = try #require(loaded.content)
                #expect(LoadedImages.shared.warnings(of: content).isEmpty)
                // Then the copy changes, which this process cannot take up.
                #expect(!BroughtLibraries.shared.changedFiles.contains { $0.hasPrefix(directory) })
                try library(in: second, answer: 2)
                #expect(BroughtLibraries.shared.changedFiles.contains("\(second)/lib\(name).so"))
                #expect(!BroughtLibraries.shared.changedFiles.contains("\(first)/lib\(name).so"))
            }
        }

        @Test func `a copy keeps the layout on disk only as long as a library above the plugin's folder is not loaded`()
            throws
        {
            try Fixtures.withDirectory { directory in
                let (folder, plugins) = ("\(directory)/lib", "\(directory)/plugins")
                try library(in: folder, answer: 1)
                Fixtures.run("mkdir '\(plugins)'")
                let path = try plugin("climbing", in: plugins, search: "-L'\(folder)' -Wl,-rpath,'$ORIGIN/../lib'")
                let image = try ELFImage(ImageBytes(path: path))
                let dynamic = try #require(DynamicSection(image))
                let before = try NewDependencies(of: image, dynamic)
                #expect(before.climbsFromOrigin && before.relatives.count == 1)
                _ = try PluginLoader().load(PluginCatalog.candidate(path: path))
                let after = try NewDependencies(of: image, dynamic)
                #expect(!after.climbsFromOrigin && after.relatives.isEmpty)
            }
        }

        @Test func `a plugin loads with the system's library in place of its own, and a warning says so`() throws {
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
                    """
                    #include "fixture.h"
                    CONNECTOR_MANIFEST(\(Fixtures.manifest(name, "1.0.0")));
                    FIXTURE_PLUGIN(fixture_open)
                    """,
                    into: directory,
                    as: name,
                    flags: "-Wl,--no-as-needed '\(library).1' -Wl,-rpath,'$ORIGIN'"
                )
                let loaded = try PluginLoader().load(PluginCatalog.candidate(path: path))
                let content = try #require(loaded.content)
                let warning = try #require(LoadedImages.shared.warnings(of: content).first)
                #expect(warning.hasPrefix("\(library).1 is not used") && warning.contains("libz.so.1"))
                #expect(content.loadingWarnings.contains(warning))
            }
        }

        @Test func `the folders that a plugin names for its libraries are known, but not those beside it`() throws {
            try Fixtures.withDirectory { directory in
                try library(in: "\(directory)/lib", answer: 1)
                let absolute = try plugin("absolute", in: "\(directory)/lib", search: "-Wl,-rpath,'\(directory)/lib'")
                let candidate = try PluginCatalog.candidate(path: absolute)
                #expect(DependencyDiagnosis.namedFolders(of: candidate) == ["\(directory)/lib"])
                let beside = try PluginCatalog.candidate(path: plugin("relative", in: "\(directory)/lib"))
                #expect(DependencyDiagnosis.namedFolders(of: beside).isEmpty)
            }
        }

        // MARK: Reloading

        /// The variant of the plugin of ``ImageWorkspace`` that answers what its library does.
        private func variant(
            _ folder: String,
            version: String = "1.0.0",
            search: String = "$ORIGIN"
        ) -> ImageWorkspace.Variant {
            ImageWorkspace.Variant(
                version: version,
                code: "extern int beside(void);",
                body: "*result = beside(); return CONNECTOR_OK;",
                flags: "-Wl,--no-as-needed -L'\(folder)' -l:lib\(name).so -Wl,-rpath,'\(search)'"
            )
        }

        @Test func `a reload does not run a new version of a plugin on the library of the old one`() async throws {
            let workspace = ImageWorkspace()
            workspace.configure(settings: #", "isolation": "none""#)
            let plugins = "\(workspace.directory.path)/plugins"
            try library(in: plugins, answer: 1)
            try workspace.install(variant(plugins))
            let host = try await workspace.host()
            #expect(try await host.answer() == 1)
            try library(in: plugins, answer: 2)
            try workspace.install(variant(plugins, version: "2.0.0"))
            let refused = await host.reload()
            #expect(!refused.isActive && refused.phase == .load)
            #expect(refused.errors.first?.message.contains("has changed since this process loaded it") == true)
            #expect(try await host.answer() == 1)
            #expect(host.report["gate"]?.plugin?.version.description == "1.0.0")
            await host.close()
        }

        @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
        func `a plugin in a runner takes up a library that has changed beside it`() async throws {
            let workspace = ImageWorkspace()
            workspace.configure(settings: #", "isolation": "process""#)
            let plugins = "\(workspace.directory.path)/plugins"
            try library(in: plugins, answer: 1)
            try workspace.install(variant(plugins))
            let host = try await workspace.host()
            #expect(try await host.answer() == 1)
            #expect(try await host.plan().isEmpty)
            try library(in: plugins, answer: 2)
            let plan = try await host.plan()
            #expect(plan["gate"]?.fields.map(\.name) == ["image"])
            #expect(plan["gate"]?.fields.first?.to?.hasSuffix("with other libraries") == true)
            let reload = await host.reload()
            #expect(reload.isActive, "\(reload.errors)")
            #expect(try await host.answer() == 2)
            #expect(try await host.plan().isEmpty)
            await host.close()
        }

        @Test func `a library beside an image that does not look for it there has a remedy of its own`() throws {
            try Fixtures.withDirectory { directory in
                try library(in: directory, answer: 1)
                let path = try plugin("unlinked", in: directory, search: "")
                let error = try refusal(path)
                #expect(error.code == .missingDependency)
                #expect(error.message == "\(path) needs lib\(name).so, which is not looked for beside it")
                #expect(error.fix == "link \(path) with -Wl,-rpath,'$ORIGIN'")
                // Installed elsewhere, it would be found.
                #expect(Fixtures.run("rm '\(directory)/lib\(name).so'") == 0)
                let gone = try refusal(path)
                #expect(gone.message == "\(path) needs lib\(name).so, which is not on this system")
                #expect(gone.fix?.contains("LD_LIBRARY_PATH") == false)
            }
        }

        // MARK: Runners

        @Test(.enabled(if: !Sanitizer.isPresent, "the runner is not built for a sanitizer"))
        func `a library that the sandbox hides is named with the setting that shows it`() async throws {
            let workspace = ImageWorkspace()
            let folder = "\(workspace.directory.path)/lib"
            // A runner of root has another user, who must be able to open the folder.
            #expect(Fixtures.run("chmod 755 '\(workspace.directory.path)'") == 0)
            workspace.configure(settings: #", "isolation": "process""#)
            try library(in: folder, answer: 3)
            try workspace.install(variant(folder, search: folder))
            let host = try await workspace.host()
            let error = try #require(host.report["gate"]?.error)
            #expect(error.code == .missingDependency, "\(error)")
            #expect(error.message.contains(folder), "\(error)")
            let setting = #""sandbox": {"read": ["\#(folder)"]}"#
            #expect(error.fix?.hasPrefix(setting) == true, "\(error)")
            workspace.configure(settings: #", "isolation": "process", \#(setting)"#)
            await host.reload()
            #expect(try await host.answer() == 3)
            await host.close()
        }
    }
#endif
