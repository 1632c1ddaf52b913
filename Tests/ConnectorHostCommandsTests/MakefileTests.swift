// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

/// The `Makefile`, in a folder with a blank in its name, with scripts that only write down their arguments.
@Suite struct MakefileTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.write(readFile("Makefile"), to: "a b/Makefile")
        for script in ["install-system-packages", "build", "install-plugins", "install", "check-install"] {
            try workspace.write("#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\" > arguments\n", to: "a b/scripts/\(script)")
        }
        for program in ["connector-host", "connector-runner"] {
            try workspace.write("", to: "a b/.build/debug/\(program)")
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
        #expect(arguments == "scripts/install\n.build/debug\n/opt/my tools\n/a stage\n")
    }

    @Test func `the check of an installation names the folder as a whole`() throws {
        #expect(make("-n check-install > commands") == 0)
        let commands = try readFile(at: "\(workspace.path)/a b/commands")
        #expect(commands.contains("scripts/install .build/debug \"\(workspace.path)/a b/.build/installed\"\n"))
    }

    @Test func `a prefix that is not absolute is refused`() {
        let script = "\(FixturePlugins.root)/scripts/install"
        #expect(shell("'\(script)' .build/debug tools 2> '\(workspace.path)/error'") == 64)
    }
}
