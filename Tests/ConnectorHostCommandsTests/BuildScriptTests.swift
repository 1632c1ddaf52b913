// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

/// `scripts/build`, which `make status` builds with, in a package of its own and with a compiler that only counts.
@Suite struct BuildScriptTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        for file in [
            "Package.swift", "Package.resolved", "Makefile", "Sources/A/a.swift", "Plugins/x/x.connector.json",
        ] {
            try workspace.write("1", to: file)
        }
        try workspace.write("1", to: "Benchmarks/Sources/b.swift")
        try workspace.write("1", to: "Tests/ConnectorTestSupport/t.swift")
        try workspace.write("1", to: "Plugins/x/Sources/x.swift")
        let compiler = """
            #!/bin/sh
            echo "$@" >> calls
            [ -e Package.resolved ] || echo 1 > Package.resolved
            mkdir -p .build/debug
            touch .build/debug/connector-host .build/debug/libx.so
            chmod +x .build/debug/connector-host
            if [ -s crashes ]; then sed -i 1d crashes; kill -SEGV $$; fi
            test ! -e broken
            """
        try workspace.write(compiler + "\n", to: "bin/swift")
        #expect(
            run(
                "mkdir scripts && cp '\(FixturePlugins.root)'/scripts/build '\(FixturePlugins.root)'/scripts/swift scripts"
            ) == 0
        )
        #expect(run("chmod +x bin/swift && touch calls") == 0)
    }

    private func run(_ command: String) -> Int32 { shell("cd '\(workspace.path)' && { \(command); }") }

    /// Builds with the given options.
    ///
    /// - Returns: How often the compiler was called so far.
    private func build(_ options: String = "-c debug", status: Int32 = 0) throws -> Int {
        #expect(run("PATH=\"$PWD/bin:$PATH\" scripts/build .build/debug \(options) >> output 2>&1") == status)
        return try readFile(at: "\(workspace.path)/calls").split(separator: "\n").count
    }

    @Test(arguments: ["true", "rm Package.resolved"])
    func `a second build does nothing, and says nothing`(before: String) throws {
        #expect(run(before) == 0)
        #expect(try build() == 1 && build() == 1)
        #expect(try readFile(at: "\(workspace.path)/output").isEmpty)
        #expect(try readFile(at: "\(workspace.path)/calls") == "build --disable-index-store -c debug\n")
    }

    @Test(arguments: [
        "echo 2 > Sources/A/a.swift", "echo 1 > Sources/A/new.swift", "rm Sources/A/a.swift",
        // A copy that keeps an old modification time.
        "touch -d '2001-01-01' Sources/A/a.swift",
        "echo 2 > new && touch -d '2001-01-01' new && mv new Sources/A/a.swift",
        "echo 2 > Plugins/x/x.connector.json", "echo 2 > Plugins/x/Sources/x.swift", "echo 2 > Package.swift",
        "echo 2 > Package.resolved", "rm Package.resolved", "rm .build/debug/connector-host", "rm .build/debug/libx.so",
        "echo >> bin/swift", "echo 2 > Tests/ConnectorTestSupport/t.swift",
    ])
    func `a change is built, once`(change: String) throws {
        #expect(try build() == 1)
        #expect(run(change) == 0)
        #expect(try build() == 2 && build() == 2)
    }

    @Test(arguments: ["touch Package.resolved", "touch Plugins/x/libx.so", "mkdir Tests/Others"])
    func `a file that no product is made from does not count as a change`(change: String) throws {
        #expect(try build() == 1)
        #expect(run(change) == 0)
        #expect(try build() == 1)
    }

    @Test func `other options trigger a build, and a build that failed is tried again`() throws {
        #expect(try build() == 1 && build("-c debug -v") == 2)
        #expect(run("touch broken && echo 2 > Sources/A/a.swift") == 0)
        #expect(try build("-c debug -v", status: 1) == 3)
        #expect(run("rm broken") == 0)
        #expect(try build("-c debug -v") == 4 && build("-c debug -v") == 4)
    }

    @Test func `a package manager that crashes is started again, twice at most`() throws {
        #expect(run("printf '1\\n2\\n' > crashes") == 0)
        #expect(try build() == 3)
        #expect(try readFile(at: "\(workspace.path)/output").contains("ended by signal 11; it is started again"))
        #expect(run("printf '1\\n2\\n3\\n' > crashes && echo 2 > Sources/A/a.swift") == 0)
        #expect(try build(status: 139) == 6)
    }
}
