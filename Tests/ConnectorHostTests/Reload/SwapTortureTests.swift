// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Calls and events while images are swapped: none fails, is lost, doubled or sees `not-open`.
///
/// `CONNECTOR_TORTURE_SWAPS` sets how many; `make test` does a few.
@Suite(.timeLimit(.minutes(30))) struct SwapTortureTests {
    private typealias Variant = ImageWorkspace.Variant

    private static var swapCount: Int {
        unsafe getenv("CONNECTOR_TORTURE_SWAPS").flatMap { unsafe Int(String(cString: $0)) } ?? 20
    }

    /// A plugin that appends each event that it takes to a file, and answers with the number in its bytes.
    private func variant(_ workspace: ImageWorkspace) -> Variant {
        Variant(
            manifest: #", "services": {"optional": ["log/1"]}"#,
            code: """
                static void record(const char *text, uint64_t length) {
                    int file = open("\(workspace.directory.path)/journal", O_WRONLY | O_APPEND | O_CREAT, 0600);
                    char line[4096];
                    if (file < 0 || length >= sizeof line) abort();
                    memcpy(line, text, length);
                    line[length] = '\\n';
                    if (write(file, line, length + 1) < 0) abort();
                    close(file);
                }
                CONNECTOR_EXPORT int32_t swapped_track(void *instance, const connector_call *call, const char *json,
                                                       uint64_t length, connector_error *error) {
                    const fixture *self = instance;
                    (void)json; (void)length; (void)error;
                    return self->host->complete(self->host->context, call->operation, CONNECTOR_OK, NULL, 0, NULL);
                }
                CONNECTOR_EXPORT int32_t swapped_deliver(void *instance, const connector_call *call, const char *json,
                                                         uint64_t length, connector_error *error) {
                    static const char answer[] = "[{\\"outcome\\":\\"accepted\\"}]";
                    const fixture *self = instance;
                    (void)error;
                    record(json, length);
                    return self->host->complete(self->host->context, call->operation, CONNECTOR_OK,
                                                (const uint8_t *)answer, sizeof answer - 1, NULL);
                }
                """,
            capabilities: #"""
                , "analytics/1": {
                    "track": {"symbol": "swapped_track", "signature": "(event: json) async"},
                    "deliver": {"symbol": "swapped_deliver", "signature": "(events: json) async -> json"}
                }
                """#
        )
    }

    /// The image with other bytes, so that it is another one for the host.
    private func marked(_ image: [UInt8], _ number: Int) throws -> [UInt8] {
        let mark = Array("mark 0000000000".utf8)
        let digits = String(number)
        let text = Array(("mark " + String(repeating: "0", count: 10 - digits.count) + digits).utf8)
        var bytes = image
        let start = try #require(
            bytes.indices.dropLast(mark.count).first { bytes[$0..<($0 + mark.count)].elementsEqual(mark) }
        )
        bytes.replaceSubrange(start..<(start + mark.count), with: text)
        return bytes
    }

    @Test func `calls and events do not notice swaps`() async throws {
        let workspace = ImageWorkspace()
        workspace.configure(settings: #", "outbox": {"batch": {"count": 1}}"#)
        let image = try Fixtures.bytes(workspace.build(variant(workspace)))
        func place(_ number: Int) throws {
            try Fixtures.write(marked(image, number), to: "\(workspace.directory.path)/build/next.so")
            try workspace.place("\(workspace.directory.path)/build/next.so")
        }
        try place(0)
        let host = try await workspace.host()
        let gate = try host.gate("gate")
        let typed = try unsafe gate.typed("answer", "() -> i64", as: Answer.self)
        let callers = (1...3).map { _ in repeating { _ = try await gate.call("answer") } }
        let typedCaller = repeating {
            let value = try await unsafe typed.withLease { lease throws(ConnectorError) in
                var value: Int64 = 0
                for _ in 1...10 { try unsafe lease.call { unsafe $0($1, &value, $2) } }
                return value
            }
            #expect(value == 1)
        }
        let analytics = try host.analytics("gate")
        let ids = Journal<String>()
        let sender = repeating { ids.note(try await analytics.track("Seen").id) }
        let last = Self.swapCount
        for number in 1...last {
            let sent = ids.values.count
            try place(number)
            let reload = await host.reload()
            #expect(reload.isActive, "\(reload.errors)")
            // Some events pass through every instance.
            while ids.values.count < sent + 3 { try await Task.checkedYield() }
        }
        for caller in callers + [typedCaller, sender] { caller.cancel() }
        for caller in callers + [typedCaller, sender] { #expect(try await caller.value > last) }
        #expect(try await host.flush())
        let report = try #require(host.report["gate"])
        #expect(report.generation == UInt64(last + 1) && report.misbehaviourCount == 0)
        #expect(report.calls?.failures == 0, "\(String(describing: report.calls?.lastFailure))")
        #expect(host.report.images?.count ?? 0 > last)
        let lines = String(decoding: try Fixtures.bytes("\(workspace.directory.path)/journal"), as: UTF8.self)
        let delivered = lines.split(separator: "\n").compactMap { line in
            (try? JSONValue(parsing: Array(line.utf8)))?.array?.first?["messageId"]?.string
        }
        #expect(Set(delivered).count == delivered.count, "no event is delivered twice")
        #expect(Set(ids.values).subtracting(delivered).isEmpty, "no event is lost")
        await host.close()
    }

    private typealias Answer =
        @convention(c) (OperationFunction.Instance, UnsafeMutablePointer<Int64>, OperationFunction.Failure) -> Int32
}
