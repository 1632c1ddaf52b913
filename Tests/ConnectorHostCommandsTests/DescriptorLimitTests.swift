// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorPlatform
import Testing

#if os(Linux)
    /// How many descriptors a host that runs may have.
    @Suite(.timeLimit(.minutes(5))) struct DescriptorLimitTests {
        @Test func `run raises the limit of descriptors as far as the system permits`() async throws {
            let workspace = try Workspace()
            let script = "ulimit -Sn 256; exec '\(Program.path)' run --watch"
            let host = try Child(start: "/bin/sh", ["-c", script], workspace.program)
            await host.error(until: "waiting for the file")
            let text = String(
                decoding: try SystemFile.bytes(of: "/proc/\(host.identifier)/limits", limit: 65_536),
                as: UTF8.self
            )
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Max open files ") })
            let fields = line.split(separator: " ")
            try #require(fields.count > 4)
            #expect(Int(fields[3]) == min(Int(fields[4]) ?? .max, 65_536))
            host.signal(15)
            _ = try await host.finish()
        }
    }
#endif
