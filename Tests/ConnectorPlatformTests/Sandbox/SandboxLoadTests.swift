// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorTestSupport
    import Glibc
    import Testing

    /// A Swift process at work in the sandbox: tasks, queues, timers, waiting workers, an image from memory.
    ///
    /// Once a second Dispatch looks into `/proc/<tid>/stat` of its workers, and crashes if it cannot. `make test` works for some
    /// seconds; CONNECTOR_SANDBOX_SECONDS says for how many in each stage.
    @Suite struct SandboxLoadTests {
        private static let seconds =
            unsafe getenv("CONNECTOR_SANDBOX_SECONDS").map { unsafe String(cString: $0) } ?? "2.5"

        private static var program: String {
            let path = CommandLine.arguments[0]
            return path[..<(path.lastIndex(of: "/") ?? path.startIndex)] + "/sandboxed-load"
        }

        @Test(.enabled(if: !Sanitizer.isPresent, "a sanitizer needs more than a plugin"), arguments: [false, true])
        func `Swift works under load in both stages`(inNamespaces: Bool) throws {
            let arguments =
                [Self.seconds, Fixtures.good("sync")] + (inNamespaces ? ["\(SandboxedProcess.successor)"] : [])
            let output = try SandboxedProcess(Self.program, arguments, hasSuccessor: inNamespaces).finish()
            #expect(output.end == .exit(0))
            // The layers that this system has, as a process that does nothing finds them.
            let system = try SandboxedProcess("nothing", inNamespaces: inNamespaces).finish()
            let layers = try ["filter", "landlock", "namespaces"].compactMap { name -> String? in
                let fields = try #require(system.layer(name)).split(separator: " ")
                guard fields[0] == "1" else { return nil }
                return name == "landlock" ? "landlock \(fields[1])" : name
            }
            let evidence = try #require(output.lines.last)
            #expect(evidence.hasPrefix("sandbox: " + layers.joined(separator: ", ")), "\(evidence)")
            #expect(evidence.contains("; no namespaces") == !layers.contains("namespaces"), "\(evidence)")
        }
    }
#endif
