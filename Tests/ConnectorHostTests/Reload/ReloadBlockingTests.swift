// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Plugins that hold a thread of the host while a reload loads them: the reload ends and names them, and nothing else waits.
@Suite(.timeLimit(.minutes(5)), .enabled(if: !Sanitizer.isPresent, "a sanitizer has locks of its own around dlopen"))
struct ReloadBlockingTests {
    private let workspace = ImageWorkspace()
    /// The plugin waits until somebody writes to this pipe.
    private var pipe: String { "\(workspace.directory.path)/pipe" }

    private func makePipe() throws {
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
    }

    /// Lets the plugin go on.
    private func release() {
        close(unsafe open(pipe, O_WRONLY | O_CLOEXEC))
    }

    /// C code of a function that waits until ``release()``.
    private var waiting: String {
        #"static void wait_for_test(void) { close(open("\#(pipe)", O_RDONLY | O_CLOEXEC)); }"#
    }

    /// A host whose other gate has not been called yet.
    private func host(_ clock: ManualHostClock) async throws -> ConnectorHost {
        workspace.configure(#"{"name": "other", "plugin": "\#(Fixtures.plugin("sync"))", "probe": "off"}"#)
        try workspace.install()
        return try await workspace.host(clock: clock)
    }

    @Test func `a constructor that blocks is named, and so is the phase; calls and plans go on`() async throws {
        try makePipe()
        let clock = ManualHostClock()
        let host = try await host(clock)
        try workspace.install(
            .init(
                answer: 2,
                code: waiting + "__attribute__((constructor)) static void block(void) { wait_for_test(); }"
            )
        )
        let reloading = Task { await host.reload() }
        while PluginImages.shared.pathBeingLoaded == nil { await Task.yield() }
        // The dynamic linker answers nobody now: neither the first call of a gate nor a typed handle asks it.
        #expect(try await host.answer() == 1)
        #expect(try await host.gate("other").call("divide", 6.0, 3.0).number == 2)
        let divide = try host.gate("other").typed(
            "divide",
            "(a: f64, b: f64) -> f64",
            as: OperationFunction.Numbers2.self
        )
        #expect(try await divide(8, 2) == 4)
        #expect(try await host.plan()["gate"] != nil)
        #expect(host.report["gate"]?.state == .open)

        await clock.advance(toTimerAfter: ReloadLimits().load)
        let reload = await reloading.value
        #expect(reload.phase == .load)
        let error = try #require(reload.errors.first)
        #expect(error.code == .timedOut && error.connector == "gate")
        #expect(error.message.hasPrefix("a constructor of ") && error.message.contains("libswapped.so did not return"))
        // Another one ends at once, and holds no further thread.
        let next = await host.reload()
        #expect(next.phase == .load && next.errors.first?.message.contains("libswapped.so did not return") == true)
        #expect(try await host.answer() == 1)

        release()
        while host.reloader.loadStep != nil { await Task.yield() }
        #expect(await host.reload().isActive)
        #expect(try await host.answer() == 2)
        await host.close()
    }
}
