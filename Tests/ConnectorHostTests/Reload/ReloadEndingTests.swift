// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorConfiguration
@testable import ConnectorHost
@testable import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Plugins that hold something, that hang, or that do not end.
@Suite(.timeLimit(.minutes(5))) struct ReloadEndingTests {
    private typealias Variant = ImageWorkspace.Variant

    // MARK: Exclusive

    /// A plugin that opens only if it gets the lock of a file, which it holds until it is closed.
    private func holding(_ workspace: ImageWorkspace, answer: Int, refuses: Bool = false) -> Variant {
        Variant(
            answer: answer,
            manifest: #", "exclusive": true"#,
            code: """
                static int held = -1;
                static int32_t open_locked(void *instance, const connector_call *call, connector_error *error) {
                    int file = open("\(workspace.directory.path)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
                    if (\(refuses ? 1 : 0)) {
                        close(file);
                        return fixture_fail(error, CONNECTOR_FAILED, "it refuses");
                    }
                    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
                        close(file);
                        return fixture_fail(error, CONNECTOR_CONFLICT, "the file is held by another");
                    }
                    held = file;
                    return fixture_open(instance, call, error);
                }
                static int32_t close_locked(void *instance, const connector_call *call, connector_error *error) {
                    close(held);
                    return fixture_open(instance, call, error);
                }
                """,
            open: "open_locked",
            close: "close_locked"
        )
    }

    @Test func `an exclusive plugin stops before its successor starts, and the plan says so`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install(holding(workspace, answer: 1))
        let host = try await workspace.host()
        #expect(try await host.answer() == 1)
        try workspace.install(holding(workspace, answer: 2))
        let plan = try await host.plan()
        #expect(plan["gate"]?.cost == .stopsFirst)
        let reload = await host.apply(plan)
        #expect(reload.isActive, "\(reload.errors)")
        #expect(try await host.answer() == 2)
        // If the successor fails, the earlier one opens again.
        try workspace.install(holding(workspace, answer: 3, refuses: true))
        let refused = await host.reload()
        #expect(refused.phase == .open && refused.errors.first?.message.contains("it refuses") == true)
        #expect(host.report["gate"]?.state == .open)
        #expect(try await host.answer() == 2)
        await host.close()
    }

    @Test func `an exclusive plugin whose connector moves stops before it opens at the new path`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install(holding(workspace, answer: 1))
        let host = try await workspace.host()
        workspace.renameGate()
        // If it does not open there, it opens again where it was.
        try workspace.install(holding(workspace, answer: 2, refuses: true))
        let refused = await host.reload()
        #expect(refused.plan?["moved"]?.cost == .stopsFirst)
        #expect(refused.phase == .open && refused.errors.first?.message.contains("it refuses") == true)
        #expect(host.report.gates.map(\.path) == ["gate"] && host.report["gate"]?.state == .open)
        #expect(try await host.answer() == 1)
        try workspace.install(holding(workspace, answer: 2))
        let reload = await host.reload()
        #expect(reload.isActive, "\(reload.errors)")
        #expect(host.report.gates.map(\.path) == ["moved"])
        #expect(try await host.answer("moved") == 2)
        await host.close()
    }

    // MARK: Closing

    /// A plugin whose `close` does what C code says.
    private func closing(_ answer: Int, _ body: String) -> Variant {
        Variant(
            answer: answer,
            code: """
                static int32_t close_badly(void *instance, const connector_call *call, connector_error *error) {
                    (void)instance; (void)call; (void)error;
                    \(body)
                }
                """,
            close: "close_badly"
        )
    }

    @Test func `a predecessor whose close fails changes nothing about the switch`() async throws {
        let workspace = ImageWorkspace()
        try workspace.install(closing(1, #"return fixture_fail(error, CONNECTOR_FAILED, "it cannot close");"#))
        let host = try await workspace.host()
        try workspace.install(Variant(answer: 2))
        let reload = await host.reload()
        #expect(reload.isActive && reload.draining.isEmpty)
        #expect(try await host.answer() == 2)
        await host.close()
    }

    @Test func `a predecessor whose close never completes ends by its timeout, and the reload does not wait`()
        async throws
    {
        let workspace = ImageWorkspace()
        try workspace.install(closing(1, "return CONNECTOR_OK;"))
        let clock = ManualHostClock()
        let host = try await workspace.host(clock: clock)
        try workspace.install(Variant(answer: 2))
        let reloading = Task { await host.reload() }
        while host.report["gate"]?.generation != 2 { try await Task.checkedYield() }
        #expect(try await host.answer() == 2)
        while host.reloader.isRunning {
            clock.advance(by: .milliseconds(500))
            try await Task.checkedYield()
        }
        let reload = await reloading.value
        #expect(reload.isActive)
        while host.report["gate"]?.drainingCount != 0 {
            clock.advance(by: .seconds(5))
            try await Task.checkedYield()
        }
        let closing = Task { await host.close() }
        await closing.value
    }

    // MARK: Phases

    /// Runs a reload whose switch hangs, and moves the clock to the limit of that phase. The phases before it read files.
    private func reload(_ host: ConnectorHost, _ clock: ManualHostClock) async throws -> Reload {
        let reloading = Task { await host.reload() }
        await clock.advance(toTimerAfter: ReloadLimits().switch)
        while host.reloader.isRunning {
            clock.advance(by: .milliseconds(100))
            try await Task.checkedYield()
        }
        return await reloading.value
    }

    @Test(arguments: [Reload.Phase.read, .plan, .load])
    func `a step that hangs ends the reload at the limit of its phase`(_ phase: Reload.Phase) async throws {
        let test = try await TestHost.opened()
        let run = ReloadRun(test.host.reloader, test.host.reloader.dependencies)
        let hang = Monitor(false)
        let waiting = Task { () -> ReloadRun.Stop? in
            do throws(ReloadRun.Stop) {
                try await run.timed(phase) { hang.wait { $0 ? .proceed(()) : .wait(until: nil) } }
                return nil
            } catch {
                return error
            }
        }
        await test.clock.advance(toTimerAfter: .seconds(30))
        let stop = try #require(await waiting.value)
        #expect(stop.phase == phase && stop.errors.first?.code == .timedOut)
        let message = "the reload did not \(phase.rawValue) the configuration within 30.0 s"
        #expect(stop.errors.first?.message == message)
        hang.withLock { $0 = true }
        hang.signal()
        await test.host.close()
    }

    @Test func `a batch that never ends holds up the switch no longer than its limit, and its event moves`()
        async throws
    {
        let workspace = ImageWorkspace()
        // Unlike the limit of the switch, which the clock moves to.
        let settings = #", "timeout": "40s""#
        workspace.configure(settings: settings)
        try workspace.install(
            Variant(
                code: """
                    CONNECTOR_EXPORT int32_t swapped_deliver(void *instance, const connector_call *call, const char *json,
                                                             uint64_t length, connector_error *error) {
                        (void)instance; (void)call; (void)json; (void)length; (void)error;
                        return CONNECTOR_OK;
                    }
                    """,
                capabilities: #"""
                    , "analytics/1": {
                        "track": {"symbol": "swapped_deliver", "signature": "(event: json) async"},
                        "deliver": {"symbol": "swapped_deliver", "signature": "(events: json) async -> json"}
                    }
                    """#
            )
        )
        let clock = ManualHostClock()
        let host = try await workspace.host(clock: clock)
        _ = try await host.analytics("gate").track("Seen")
        while host.report["gate"]?.calls?.total ?? 0 < 1 {
            clock.advance(by: .milliseconds(10))
            try await Task.checkedYield()
        }
        workspace.renameGate(settings: settings)
        let reload = try await reload(host, clock)
        #expect(reload.isActive && reload.plan?["moved"]?.events == .init(queued: 1, outcome: .move))
        #expect(host.outbox(of: "moved")?.queued == 1)
        await clock.advance(by: .seconds(5)) { await host.close() }
    }

    // MARK: Moving

    /// A plugin that counts, in its storage, how often an instance has opened, and answers with the count.
    private static let counting = Variant(
        manifest: #", "services": {"required": ["storage/1"]}"#,
        code: """
            #include <connector/services/storage.h>
            static int64_t count;
            static int32_t open_counting(void *instance, const connector_call *call, connector_error *error) {
                const connector_storage *storage = fixture_service(instance, "storage/1");
                connector_bytes_owned value = {0};
                uint8_t next = 1;
                value.struct_size = sizeof value;
                if (storage == NULL) return fixture_fail(error, CONNECTOR_FAILED, "no storage");
                if (storage->get(storage->context, "count", 5, &value, error) == CONNECTOR_OK) {
                    next = (uint8_t)(value.data[0] + 1);
                    value.release(value.context);
                }
                memset(error, 0, sizeof *error);
                error->struct_size = sizeof *error;
                if (storage->set(storage->context, "count", 5, &next, 1, error) != CONNECTOR_OK)
                    return fixture_fail(error, CONNECTOR_FAILED, "not stored");
                count = next;
                return fixture_open(instance, call, error);
            }
            #define counted count
            """,
        open: "open_counting"
    )

    @Test func `a moved connector takes its stored values along`() async throws {
        let workspace = ImageWorkspace()
        var variant = Self.counting
        variant.body = "*result = counted; return CONNECTOR_OK;"
        try workspace.install(variant)
        let host = try await workspace.host()
        #expect(try await host.answer() == 1)
        workspace.renameGate()
        let reload = await host.reload()
        #expect(reload.isActive, "\(reload.errors)")
        #expect(reload.plan?["moved"]?.kind == .moved)
        #expect(try await host.answer("moved") == 2)
        await host.close()
        // The next process finds them there, too.
        let next = try await workspace.host()
        #expect(try await next.answer("moved") == 3)
        await next.close()
    }
}
