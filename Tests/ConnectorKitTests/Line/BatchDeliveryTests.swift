// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization
internal import Testing

/// Batches within a vendor's limits.
@Suite struct BatchDeliveryTests {
    private let limits = BatchDelivery(itemBytes: 10, batchBytes: 20, batchCount: 3)

    /// Delivers texts, and remembers the batches.
    private func deliver(
        _ items: [String],
        refusing: @escaping ([String]) -> (any Error)? = { _ in nil }
    ) async throws -> (answers: [DeliveryAnswer], batches: [[String]]) {
        let batches = Mutex<[[String]]>([])
        let answers = try await limits.deliver(items) {
            Array($0.utf8)
        } send: { batch in
            let texts = batch.map(\.item)
            batches.withLock { $0.append(texts) }
            if let failure = refusing(texts) { throw failure }
        }
        return (answers, batches.withLock { $0 })
    }

    @Test func `requests keep the limits of bytes and of things`() async throws {
        let (answers, batches) = try await deliver(["1", "2", "3", "4", "123456789", "123456789", "x"])
        #expect(batches == [["1", "2", "3"], ["4", "123456789"], ["123456789", "x"]])
        #expect(answers.allSatisfy { $0.outcome == .accepted })
    }

    @Test func `things of known sizes keep the limits, and are left to whoever writes the request`() async throws {
        let batches = Mutex<[[String]]>([])
        let items = ["1", "2", "3", "4", "123456789", "12345678901", "x"]
        let answers = try await limits.deliver(sized: items, by: { $0.utf8.count }) { batch in
            batches.withLock { $0.append(batch) }
            if batch.contains("2"), batch.count > 1 { throw PluginError(.invalid, "one of them") }
        }
        let halves = [["1", "2", "3"], ["1"], ["2", "3"], ["2"], ["3"]]
        #expect(batches.withLock { $0 } == halves + [["4", "123456789", "x"]])
        #expect(answers.map { $0.outcome == .accepted } == [true, true, true, true, true, false, true])
        #expect(answers[5].code == .tooLarge)
    }

    @Test func `requests have things of one group each`() async throws {
        let batches = Mutex<[[String]]>([])
        let items = ["a1", "b1", "a2", "b2", "a3", "a4", "12345678901"]
        let answers = try await limits.deliver(items) {
            $0.first
        } encode: {
            Array($0.utf8)
        } send: { batch in
            let texts = batch.map(\.item)
            batches.withLock { $0.append(texts) }
            if texts.contains("b2") { throw PluginError(.unavailable, "later") }
        }
        #expect(batches.withLock { $0 } == [["a1", "a2", "a3"], ["a4"], ["b1", "b2"]])
        #expect(
            answers.map(\.outcome) == [.accepted, .retry, .accepted, .retry, .accepted, .accepted, .rejected]
        )
    }

    @Test func `a thing that is too large is rejected and the others are delivered`() async throws {
        let (answers, batches) = try await deliver(["1", "12345678901", "2"])
        #expect(answers.map(\.outcome) == [.accepted, .rejected, .accepted])
        #expect(answers[1].code == .tooLarge)
        #expect(batches == [["1", "2"]])
    }

    @Test func `a refused request is divided until the thing to blame is alone`() async throws {
        let (answers, batches) = try await deliver(["a", "b", "bad"]) { batch in
            batch.contains("bad") ? PluginError(.invalid, "bad") : nil
        }
        #expect(answers.map(\.outcome) == [.accepted, .accepted, .rejected])
        #expect(batches == [["a", "b", "bad"], ["a"], ["b", "bad"], ["b"], ["bad"]])
    }

    @Test(
        arguments: [
            PluginError(.tooLarge, "a gateway takes only smaller requests", isRetryable: true),
            PluginError(.tooLarge, "the request's body has more than 67108864 bytes", domain: "host"),
            PluginError(.invalid, "{{secret:key}} names no secret field that has a value", domain: "host"),
        ]
    )
    func `what a gateway or the host refuses is divided, too, but is no verdict on a thing`(_ failure: PluginError)
        async throws
    {
        let waiting = DeliveryAnswer.retry(failure.message, code: failure.status.code)
        let (answers, batches) = try await deliver(["a", "b", "big"]) { $0.contains("big") ? failure : nil }
        #expect(batches == [["a", "b", "big"], ["a"], ["b", "big"], ["b"], ["big"]])
        #expect(answers == [.accepted, .accepted, waiting])
        let refusal = BatchRefusal([1: failure], of: 2, tookOthers: true)
        let (others, _) = try await deliver(["1", "2"]) { _ in refusal }
        #expect(others == [.accepted, waiting])
    }

    @Test func `a failure that may pass leaves the rest to be tried again`() async throws {
        let (answers, _) = try await deliver(["1", "2", "3", "4"]) { batch in
            batch.contains("4") ? PluginError(.rateLimited, "slow", retryAfter: .seconds(3)) : nil
        }
        #expect(answers.map(\.outcome) == [.accepted, .accepted, .accepted, .retry])
        #expect(answers[3] == .retry("slow", after: .seconds(3), code: .rateLimited))
    }

    @Test func `what is left after a request that failed was not sent`() async throws {
        let failure = PluginError(.rateLimited, "slow", retryAfter: .seconds(3))
        let (slow, unsent) = (
            DeliveryAnswer.retry("slow", after: .seconds(3), code: .rateLimited),
            DeliveryAnswer.unsent("not sent: an earlier request failed")
        )
        let items = (1...7).map { "\($0)" }
        let (answers, batches) = try await deliver(items) { $0.contains("4") ? failure : nil }
        #expect(batches == [["1", "2", "3"], ["4", "5", "6"]])
        #expect(answers == [.accepted, .accepted, .accepted, slow, slow, slow, unsent])
        let (none, request) = try await deliver(items) { _ in failure }
        #expect(request == [["1", "2", "3"]])
        #expect(none == [slow, slow, slow, unsent, unsent, unsent, unsent])
    }

    @Test func `what follows a thing to be repeated goes to no later endpoint, where it would come first`() async throws
    {
        let away = DeliveryAnswer.retry("away")
        let held = DeliveryAnswer.unsent("not sent: an event before it is to be repeated")
        for isWhole in [true, false] {
            var delivery = SteppedDelivery(count: 4)
            await delivery.add([1, 3]) { _ in
                if isWhole { throw PluginError(.unavailable, "away") }
                return [away, .unsent("no time")]
            }
            var sent: [Int] = []
            for indices in [[0, 1, 2], [0, 2, 3]] {
                await delivery.add(indices) { indices in
                    sent += indices
                    return indices.map { _ in .accepted }
                }
            }
            #expect(sent == [0, 0])
            #expect(try delivery.result() == [.accepted, away, held, isWhole ? away : .unsent("no time")])
        }
    }

    @Test func `a thing that one endpoint has answered, and another not yet, has had an attempt`() async throws {
        for answer in [DeliveryAnswer.accepted, .rejected("no")] {
            var delivery = SteppedDelivery(count: 3)
            await delivery.add([0, 1]) { _ in [answer, .accepted] }
            await delivery.add([0, 1, 2]) { _ in [.unsent("no time"), .retry("slow"), .unsent("no time")] }
            let answers = try delivery.result()
            #expect(answers.map(\.outcome) == [.retry, .retry, .retry] && answers[0].code == .timedOut)
            #expect(answers[0].reason == "one of the vendor's endpoints has answered, at another it was no time")
            #expect(answers.map(\.isUnsent) == [false, false, true])
        }
    }

    @Test func `a thing that one endpoint rejects is rejected once the others have answered`() async throws {
        var delivery = SteppedDelivery(count: 2)
        await delivery.add([0, 1]) { _ in [.rejected("no"), .rejected("no")] }
        await delivery.add([0]) { _ in [.accepted] }
        await delivery.add([1]) { _ in [.retry("slow")] }
        #expect(try delivery.result() == [.rejected("no"), .retry("slow")])
    }

    @Test(arguments: [true, false])
    func `blamed things are answered, and the others are sent again unless the vendor took them`(_ tookOthers: Bool)
        async throws
    {
        let failures = [1: PluginError(.invalid, "bad"), 2: PluginError(.rateLimited, "slow", retryAfter: .seconds(3))]
        let (answers, batches) = try await deliver(["a", "bad", "slow"]) { batch in
            batch.count == 1 ? nil : BatchRefusal(failures, of: batch.count, tookOthers: tookOthers)
        }
        #expect(answers == [.accepted, .rejected("bad"), .retry("slow", after: .seconds(3), code: .rateLimited)])
        #expect(batches == [["a", "bad", "slow"]] + (tookOthers ? [] : [["a"]]))
    }

    @Test func `blames outside the request are ignored, and a refusal without any is none`() {
        #expect(BatchRefusal([:], of: 2, tookOthers: true) == nil)
        let failure = PluginError(.invalid, "bad")
        #expect(BatchRefusal([-1: failure, 2: failure], of: 2, tookOthers: false) == nil)
        #expect(BatchRefusal([-1: failure, 1: failure], of: 2, tookOthers: false)?.failures == [1: failure])
    }

    @Test func `a failure that blames no single thing is thrown`() async {
        let error = await #expect(throws: PluginError.self) {
            try await deliver(["1"]) { _ in PluginError(.unauthorized, "who?") }
        }
        #expect(error?.status == .unauthorized)
    }

    @Test func `no request starts in the second half of the call's time, and the rest is retried at once`()
        async throws
    {
        let clock = StoppedClock()
        let items = ["1", "2", "3", "4", "5", "6", "7", "12345678901"]
        let answers = try await Deadline.apply(30_000_000_000, on: clock) {
            try await limits.deliver(items, encode: { Array($0.utf8) }) { _ in
                try await clock.sleep(for: .seconds(14))
            }
        }
        #expect(answers[..<6].allSatisfy { $0 == .accepted } && answers[7].outcome == .rejected)
        #expect(answers[6].outcome == .retry && answers[6].code == .timedOut && answers[6].retryAfter == .zero)
        #expect(clock.monotonic < 30_000_000_000)
    }

    @Test(arguments: [408, 504])
    func `what a vendor got and does not wait to get again was sent all the same`(_ status: Int) async throws {
        let response = HTTPResponse(status: status, headers: ["Retry-After": "0"])
        let failure = response.failure(vendor: "acme", now: Timestamp(nanoseconds: 0))
        #expect(failure.retryAfter == .zero)
        let (answers, batches) = try await deliver(["1", "2", "3", "4"]) { $0.contains("4") ? failure : nil }
        #expect(batches == [["1", "2", "3"], ["4"]])
        #expect(answers == [.accepted, .accepted, .accepted, .retry(failure.message, code: .timedOut)])
        let refusal = BatchRefusal([1: failure], of: 2, tookOthers: true)
        let (others, _) = try await deliver(["1", "2"]) { _ in refusal }
        #expect(others == [.accepted, .retry(failure.message, code: .timedOut)])
        var steps = SteppedDelivery(count: 2)
        await steps.add([0]) { _ in [.accepted] }
        await steps.add([1]) { _ in throw failure }
        #expect(try steps.result() == [.accepted, .retry(failure.message, code: .timedOut)])
    }

    @Test(arguments: [(30, 16), (10, 6)])
    func `a step that begins in the second half of the call's time has a half of its own`(_ end: Int, _ duration: Int)
        async throws
    {
        let clock = StoppedClock()
        let answers = try await Deadline.apply(UInt64(end) * 1_000_000_000, on: clock) {
            var delivery = SteppedDelivery(count: 5)
            for (indices, seconds) in [([1, 2, 3], duration), ([0, 1, 2, 3, 4], end / 4)] {
                await delivery.add(indices) { indices in
                    // Three fit into a request.
                    try await limits.deliver(indices.map { "\($0)" }, encode: { Array($0.utf8) }) { _ in
                        try await clock.sleep(for: .seconds(seconds))
                    }
                }
            }
            return try delivery.result()
        }
        #expect(clock.sleeps.count == 2)
        let unsent = DeliveryAnswer.unsent("not sent: earlier requests took too much of the call's time")
        let reason = "one of the vendor's endpoints has answered, at another it was \(unsent.reason ?? "")"
        #expect(answers == [.accepted, .accepted, .accepted, .retry(reason, code: .timedOut), unsent])
    }

    @Test func `a step that begins when the call's time is over sends nothing`() async throws {
        let clock = StoppedClock()
        let answers = try await Deadline.apply(30_000_000_000, on: clock) {
            var delivery = SteppedDelivery(count: 2)
            for indices in [[1], [0, 1]] {
                await delivery.add(indices) { indices in
                    try await limits.deliver(indices.map { "\($0)" }, encode: { Array($0.utf8) }) { _ in
                        try await clock.sleep(for: .nanoseconds(Int64(clamping: Deadline.current)))
                    }
                }
            }
            return try delivery.result()
        }
        #expect(clock.sleeps.count == 1)
        #expect(answers.map(\.outcome) == [.retry, .retry] && answers.map(\.isUnsent) == [true, false])
    }

    @Test(arguments: [(30_000, 28_500), (4_000, 3_500), (600, 300)])
    func `a request that nobody answers ends before the call, which answers for the others`(_ end: Int, _ timeout: Int)
        async throws
    {
        let clock = StoppedClock()
        let single = BatchDelivery(itemBytes: 10, batchBytes: 100, batchCount: 1)
        let answers = try await Deadline.apply(UInt64(end) * 1_000_000, on: clock) {
            try await single.deliver(["1", "2", "3", "4"], encode: { Array($0.utf8) }) { batch in
                guard batch[0].item == "3" else { return }
                // What `http/1` does with a request without an answer.
                try await clock.sleep(for: .nanoseconds(Int64(clamping: Deadline.current)))
                throw PluginError(.timedOut, "no answer")
            }
        }
        let late = DeliveryAnswer.retry("no answer", code: .timedOut)
        #expect(answers == [.accepted, .accepted, late, .unsent("not sent: an earlier request failed")])
        #expect(clock.monotonic == UInt64(timeout) * 1_000_000)
    }

    @Test func `an endpoint that fails as a whole keeps the wait that it asks for`() async throws {
        var delivery = SteppedDelivery(count: 2)
        await delivery.add([0]) { _ in [.accepted] }
        await delivery.add([1]) { _ in throw PluginError(.unauthorized, "who?", retryAfter: .seconds(3)) }
        #expect(try delivery.result() == [.accepted, .retry("who?", after: .seconds(3), code: .unauthorized)])
    }

    @Test func `an empty delivery sends no request`() async throws {
        let (answers, batches) = try await deliver([])
        #expect(answers.isEmpty)
        #expect(batches.isEmpty)
    }
}
