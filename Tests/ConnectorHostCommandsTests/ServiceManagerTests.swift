// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import Testing

@testable import ConnectorHostCommands

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What a service manager such as systemd learns of `connector-host run`.
@Suite(.timeLimit(.minutes(5))) struct ServiceManagerTests {
    /// A socket that takes the messages.
    private final class Notices: Sendable {
        private let descriptor: Int32

        /// Listens at a path, or at an abstract name with an at sign in front.
        init(_ name: String) throws {
            #if canImport(Glibc)
                descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            #else
                descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
            #endif
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var path = Array(name.utf8)
            if name.hasPrefix("@") { path[0] = 0 }
            try #require(path.count < MemoryLayout.size(ofValue: address.sun_path))
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
            let start = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
            let length = socklen_t(start + path.count + (path[0] == 0 ? 0 : 1))
            let number = descriptor
            let isBound = unsafe withUnsafePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe bind(number, address, length) == 0
                }
            }
            try #require(isBound)
        }

        deinit { close(descriptor) }

        /// The next message, once it is there.
        func next() async -> String {
            let descriptor = descriptor
            return await withCheckedContinuation { continuation in
                let isStarted = HostThread.start("notices") {
                    var bytes = [UInt8](repeating: 0, count: 1000)
                    let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
                    continuation.resume(returning: String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
                }
                if !isStarted { continuation.resume(returning: "no thread") }
            }
        }
    }

    @Test func `a host tells when it has opened, reloads and stops`() async throws {
        let workspace = try Workspace()
        let gate: JSONValue = [
            "name": "gate", "plugin": .string(FixturePlugins.contract("calls")), "probe": "off",
            "config": ["replies": "1"],
        ]
        let file: JSONValue = ["version": 1, "state": "state", "connectors": [gate]]
        try workspace.write(file.serialized(), to: "connectors.json")
        let notices = try Notices("\(workspace.path)/notify")
        var program = workspace.program
        program.environment["NOTIFY_SOCKET"] = "\(workspace.path)/notify"
        let host = try program.start(["run"])
        #expect(await notices.next() == "READY=1")
        host.signal(1)
        #expect(await notices.next().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(await notices.next() == "READY=1")
        host.signal(15)
        #expect(await notices.next() == "STOPPING=1")
        #expect(try await host.finish().status == 0)
    }

    @Test func `a service manager that looks whether the host works hears that it does`() async throws {
        let workspace = try Workspace()
        let path = "\(workspace.path)/notify"
        let notices = try Notices(path)
        let variables = ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000"]
        let manager = try #require(ServiceManager({ variables[$0] }))
        #expect(manager.interval == .microseconds(1000))
        let watching = Task { await manager.watch() }
        for _ in 1...3 { #expect(await notices.next() == "WATCHDOG=1") }
        watching.cancel()
        await watching.value
    }

    #if os(Linux)
        @Test func `the socket may have an abstract name`() async throws {
            let name = "@connector-host-\(getpid())"
            let notices = try Notices(name)
            let manager = try #require(ServiceManager({ $0 == "NOTIFY_SOCKET" ? name : nil }))
            manager.ready()
            #expect(await notices.next() == "READY=1")
        }
    #endif

    @Test func `a watchdog of another process is not told anything, and without a socket nobody is`() {
        var variables = ["NOTIFY_SOCKET": "/none", "WATCHDOG_USEC": "2000", "WATCHDOG_PID": "7"]
        #expect(ServiceManager({ variables[$0] }, process: 8)?.interval == nil)
        #expect(ServiceManager({ variables[$0] }, process: 7)?.interval == .microseconds(1000))
        variables["WATCHDOG_USEC"] = "often"
        #expect(ServiceManager({ variables[$0] }, process: 7)?.interval == nil)
        for socket in ["", "/", "notify"] {
            variables["NOTIFY_SOCKET"] = socket
            let isTold = ServiceManager({ variables[$0] }, process: 7) != nil
            #expect(!isTold, "\(socket)")
        }
    }
}
