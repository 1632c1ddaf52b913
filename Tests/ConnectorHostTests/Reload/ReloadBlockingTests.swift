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

    /// C code of a function that leaves a file, and waits until ``release()``.
    private var waiting: String {
        """
        static void wait_for_test(void) {
            close(open("\(pipe).reached", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
            close(open("\(pipe)", O_RDONLY | O_CLOEXEC));
        }

        """
    }

    /// Waits until the plugin waits.
    private func pluginWaits() async throws {
        while unsafe access("\(pipe).reached", F_OK) != 0 { try await Task.checkedYield() }
    }

    /// A host whose other gate has not been called yet.
    private func host(_ clock: ManualHostClock) async throws -> ConnectorHost {
        workspace.configure(#"{"name": "other", "plugin": "\#(Fixtures.plugin("sync"))", "probe": "off"}"#)
        try workspace.install()
        return try await workspace.host(clock: clock)
    }

    @Test func `a constructor that blocks is named, and so is the phase, while calls and plans go on`() async throws {
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
        while PluginImages.shared.pathBeingLoaded == nil { try await Task.checkedYield() }
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
        // Another reload ends at once, and holds no further thread.
        let next = await host.reload()
        #expect(next.phase == .load && next.errors.first?.message.contains("libswapped.so did not return") == true)
        #expect(try await host.answer() == 1)

        release()
        while host.reloader.loadStep != nil { try await Task.checkedYield() }
        #expect(await host.reload().isActive)
        #expect(try await host.answer() == 2)
        await host.close()
    }

    /// The functions of an instance, each as a variant of the plugin in which it waits.
    enum Function: String, CaseIterable {
        case create, open, close
    }

    private func variant(blocking function: Function) -> ImageWorkspace.Variant {
        var variant = ImageWorkspace.Variant(answer: 2, code: waiting)
        switch function {
        case .create:
            variant.code += """
                static int32_t waits(const connector_host *host, const char *config, uint64_t length, void **instance,
                                     connector_error *error) {
                    wait_for_test();
                    return fixture_create(host, config, length, instance, error);
                }
                """
            variant.create = "waits"
        case .open, .close:
            variant.code += """
                static int32_t waits(void *instance, const connector_call *call, connector_error *error) {
                    wait_for_test();
                    return fixture_open(instance, call, error);
                }
                """
            if function == .open { variant.open = "waits" } else { variant.close = "waits" }
        }
        return variant
    }

    @Test(arguments: [Function.create, .open])
    func `a successor that blocks while it opens is named, and so is the phase, while calls go on`(
        _ function: Function
    ) async throws {
        try makePipe()
        let clock = ManualHostClock()
        let host = try await host(clock)
        try workspace.install(variant(blocking: function))
        let reloading = Task { await host.reload() }
        try await pluginWaits()
        #expect(try await host.answer() == 1)
        #expect(try await host.gate("other").call("divide", 6.0, 3.0).number == 2)
        await clock.advance(toTimerAfter: .seconds(10))
        let reload = await reloading.value
        #expect(reload.phase == .open)
        let error = try #require(reload.errors.first)
        #expect(error.code == .timedOut && error.connector == "gate")
        #expect(
            error.message.hasPrefix("\(function.rawValue) of ") && error.message.contains("did not return"),
            "\(error)"
        )
        #expect(try await host.answer() == 1)
        release()
        await host.close()
    }

    @Test func `a gate that is closed by hand while it opens again stays closed, and the reload goes on`() async throws
    {
        try makePipe()
        let exclusive = #", "exclusive": true"#
        try workspace.install(.init(manifest: exclusive))
        let host = try await workspace.host(clock: ManualHostClock())
        var next = variant(blocking: .open)
        next.manifest = exclusive
        try workspace.install(next)
        let reloading = Task { await host.reload() }
        try await pluginWaits()
        let closing = Task { try await host.close("gate") }
        while host.report["gate"]?.target != .closed { try await Task.checkedYield() }
        release()
        try await closing.value
        let reload = await reloading.value
        #expect(reload.isActive && reload.rolledBack.isEmpty, "\(reload)")
        #expect(host.report["gate"]?.state == .closed)
        #expect(try await host.plan().isEmpty)
        await host.close()
    }

    @Test func `a host that closes while a reload loads an image opens no gate of it`() async throws {
        try makePipe()
        try workspace.install()
        let host = try await workspace.host(clock: ManualHostClock())
        var next = ImageWorkspace.Variant(answer: 2, code: waiting)
        next.code += """
            __attribute__((constructor)) static void block(void) { wait_for_test(); }
            static int32_t leaves_a_file(const connector_host *host, const char *config, uint64_t length, void **instance,
                                         connector_error *error) {
                close(open("\(pipe).created", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
                return fixture_create(host, config, length, instance, error);
            }
            """
        next.create = "leaves_a_file"
        try workspace.install(next)
        workspace.configure(#"{"name": "new", "plugin": "swapped", "probe": "off", "heal": "off"}"#)
        let reloading = Task { await host.reload() }
        try await pluginWaits()
        let closing = Task { await host.close() }
        // Once its gates are closed, the host waits for the reload.
        while host.report["gate"]?.state != .closed { try await Task.checkedYield() }
        release()
        let reload = await reloading.value
        await closing.value
        #expect(reload.phase == .open && reload.errors.first?.code == .notOpen, "\(reload)")
        #expect(unsafe access("\(pipe).created", F_OK) != 0)
    }

    @Test func `a predecessor that blocks while it closes holds up neither the reload nor the calls`() async throws {
        try makePipe()
        let clock = ManualHostClock()
        workspace.configure(#"{"name": "other", "plugin": "\#(Fixtures.plugin("sync"))", "probe": "off"}"#)
        try workspace.install(variant(blocking: .close))
        let host = try await workspace.host(clock: clock)
        #expect(try await host.answer() == 2)
        for answer in 3...4 {
            try workspace.install(.init(answer: answer))
            async let reloading = host.reload()
            if answer == 3 {
                try await pluginWaits()
                await clock.advance(toTimerAfter: ReloadLimits().drain)
            }
            let reload = await reloading
            #expect(reload.isActive && reload.draining == (answer == 3 ? ["gate"] : []), "\(reload)")
            #expect(try await host.answer() == Int64(answer))
        }
        release()
        await host.close()
    }
}
