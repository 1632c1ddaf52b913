// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

/// The `Makefile`, in a folder with a blank in its name, with scripts that only write down their arguments.
@Suite struct MakefileTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.write(readFile("Makefile"), to: "a b/Makefile")
        let scripts = [
            "install-system-packages", "release-flags", "build", "install-plugins", "install", "make-deb",
            "check-install",
        ]
        for script in scripts {
            try workspace.write("#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\" > arguments\n", to: "a b/scripts/\(script)")
        }
        for program in ["debug", "release"].flatMap({ ["\($0)/connector-host", "\($0)/connector-runner"] }) {
            try workspace.write("", to: "a b/.build/\(program)")
        }
        #expect(shell("chmod +x '\(workspace.path)/a b/scripts/'*") == 0)
    }

    /// Runs make, without the variables of the one that runs the tests.
    private func make(_ arguments: String) -> Int32 {
        shell("cd '\(workspace.path)/a b' && env -i PATH=\"$PATH\" make -s \(arguments)")
    }

    @Test func `an installation goes to one folder, whatever its name`() throws {
        #expect(make("install PREFIX='/opt/my tools' DESTDIR='/a stage'") == 0)
        let arguments = try readFile(at: "\(workspace.path)/a b/arguments")
        #expect(arguments == "scripts/install\n.build/release\n/opt/my tools\n/a stage\n")
    }

    @Test(arguments: [("", "release"), (" CONFIGURATION=debug", "debug")])
    func `a package has a release build, unless another is asked for`(option: String, configuration: String) throws {
        #expect(make("deb" + option) == 0)
        let arguments = try readFile(at: "\(workspace.path)/a b/arguments")
        #expect(arguments == "scripts/make-deb\n.build/\(configuration)\n.build/packages\n")
    }

    @Test func `check-install quotes a folder with a blank in its name`() throws {
        #expect(make("-n check-install > commands") == 0)
        let commands = try readFile(at: "\(workspace.path)/a b/commands")
        #expect(commands.contains("scripts/install .build/debug \"\(workspace.path)/a b/.build/installed\"\n"))
        #expect(!commands.contains(".build/packages"), "the package that is shipped stays as it is")
    }

    @Test func `the program has the adapters beside it, as in an installation`() throws {
        try workspace.write("{}", to: "a b/Plugins/one/one.connector.json")
        #expect(make("plugins") == 0 && make("plugins") == 0)
        #expect(try readFile(at: "\(workspace.path)/a b/.build/bin/one/one.connector.json") == "{}")
        #expect(shell("ls -d '\(workspace.path)/a b/Plugins/one/'* | grep -qv connector.json") != 0, "a link in a link")
    }

    @Test func `cleaning removes the images that the build has put beside the manifests, and no others`() throws {
        for name in ["built", "replaced", "own"] { try workspace.write("1", to: "a b/Plugins/\(name)/lib\(name).so") }
        let stamps = "a b/.build/debug/installed-plugins"
        for name in ["built", "replaced"] { try workspace.write("", to: "\(stamps)/\(name)") }
        let files = "'\(workspace.path)/a b/Plugins/'*/*.so"
        shell("for stamp in '\(workspace.path)/\(stamps)/'*; do printf 1 | cksum > \"$stamp\"; done")
        try workspace.write("2", to: "a b/Plugins/replaced/libreplaced.so")
        try workspace.write("clean:\n", to: "a b/Tests/Fixtures/Makefile")
        #expect(make("clean") == 0)
        #expect(shell("ls \(files) > '\(workspace.path)/left' && ! [ -e '\(workspace.path)/a b/.build' ]") == 0)
        let left = try readFile(at: "\(workspace.path)/left").split(separator: "\n")
        #expect(left.map { $0.split(separator: "/").last } == ["libown.so", "libreplaced.so"])
    }

    @Test func `a program that does not name the toolchain's libraries is not installed`() throws {
        let build = "\(workspace.path)/programs"
        shell("mkdir '\(build)' && for name in connector-host connector-runner; do cp /bin/true '\(build)/'$name; done")
        let script = "\(FixturePlugins.root)/scripts/install"
        #expect(shell("'\(script)' '\(build)' '\(workspace.path)/tools' 2> '\(workspace.path)/error'") == 1)
        #expect(try readFile(at: "\(workspace.path)/error").contains("has no RUNPATH"))
        #expect(shell("[ -e '\(workspace.path)/tools' ]") != 0)
    }

    @Test func `a prefix that is not absolute is refused`() {
        let script = "\(FixturePlugins.root)/scripts/install"
        #expect(shell("'\(script)' .build/debug tools 2> '\(workspace.path)/error'") == 64)
    }
}
