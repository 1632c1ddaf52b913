// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorDigest
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// Divides the calls of one `canary` composite between its children, and withdraws the second one if it does worse.
///
/// A withdrawn child stays withdrawn until a reload changes it or the settings: a child that receives no calls can
/// prove nothing.
final class Canary: Sendable {
    private let policy: CanaryPolicy
    private let key: JSONPointer?
    private let path: String
    private let logger: Logger
    private let onChange: @Sendable () -> Void
    private let state = Mutex(State())

    private struct State {
        var first = Side()
        var second = Side()
        /// The number of calls that were divided one by one, without a key.
        var position: UInt64 = 0
        var withdrawal: String?
    }

    /// The calls of one child.
    private struct Side {
        var calls = 0
        var failures = 0
        /// The duration of the calls that succeeded, in nanoseconds.
        var duration: UInt64 = 0

        /// The number of calls that are remembered; beyond it, earlier ones count half.
        private static let memory = 10_000

        mutating func add(_ isFailure: Bool, _ nanoseconds: UInt64) {
            if calls >= Self.memory {
                (calls, failures, duration) = (calls / 2, failures / 2, duration / 2)
            }
            calls += 1
            if isFailure { failures += 1 } else { duration = duration.saturatingAdding(nanoseconds) }
        }

        /// The share of failures, in percent.
        var failing: Double { calls == 0 ? 0 : Double(failures) * 100 / Double(calls) }

        /// The mean duration, in nanoseconds; nil before the first success.
        var mean: Double? { calls > failures ? Double(duration) / Double(calls - failures) : nil }
    }

    /// Creates a canary without calls.
    ///
    /// - Parameter onChange: Called when the second child is withdrawn.
    init(
        _ policy: CanaryPolicy,
        of path: String,
        logger: Logger,
        onChange: @escaping @Sendable () -> Void
    ) {
        self.policy = policy
        self.path = path
        self.logger = logger
        self.onChange = onChange
        key = policy.key.flatMap(JSONPointer.init(_:))
    }

    /// The canary of an earlier snapshot, if neither its settings nor the plugins of the second child have changed.
    static func continuing(_ earlier: Node, _ policy: CanaryPolicy, on children: [Node]) -> Canary? {
        guard let canary = earlier.canary, canary.policy == policy,
            children.count == earlier.children.count,
            let leaves = children.last?.leaves, let others = earlier.children.last?.leaves, leaves.count == others.count
        else { return nil }
        let isSame = zip(leaves, others).allSatisfy { leaf, other in
            guard let plan = leaf.plan, let earlier = other.plan else { return false }
            return leaf.path == other.path && plan.opensLike(earlier)
        }
        return isSame ? canary : nil
    }

    // MARK: Choosing

    /// Whether a call goes to the second child.
    ///
    /// - Parameter find: Returns the value of the key in the call's arguments.
    func tries(_ find: (JSONPointer) -> JSONValue?) -> Bool {
        guard isTrying else { return false }
        guard let key else {
            return state.withLock { state in
                // Spreads the second child's calls evenly: with a share of 5 percent, every twentieth call.
                let position = state.position % 10_000
                state.position &+= 1
                return (position + 1) * policy.basisPoints / 10_000 > position * policy.basisPoints / 10_000
            }
        }
        return find(key).map { tries(text: $0.serialized()) } ?? false
    }

    /// Whether an event goes to the second child: by its key or, without one, by its id, which stays the same when it
    /// is delivered again.
    func tries(event id: String, _ find: (JSONPointer) -> JSONValue?) -> Bool {
        guard isTrying else { return false }
        guard let key else { return tries(text: id) }
        return find(key).map { tries(text: $0.serialized()) } ?? false
    }

    private var isTrying: Bool { policy.basisPoints > 0 && state.withLock { $0.withdrawal == nil } }

    /// Whether a text falls within the share; the result is the same in every process.
    private func tries(text: String) -> Bool {
        SHA256Digest(of: text).bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) } % 10_000
            < policy.basisPoints
    }

    // MARK: Judging

    /// Notes how a call ended, and withdraws the second child if it does worse than the bounds allow.
    ///
    /// - Parameters:
    ///   - isSecond: Whether the second child received the call.
    ///   - error: Nil for success. A call that its caller cancelled, or gave no time, does not count.
    ///   - duration: In nanoseconds.
    func note(_ isSecond: Bool, _ error: ConnectorError?, took duration: UInt64) {
        guard error?.code != .cancelled, error?.hadNoTime != true else { return }
        let withdrawal: String? = state.withLock { state in
            if isSecond { state.second.add(error != nil, duration) } else { state.first.add(error != nil, duration) }
            guard state.withdrawal == nil, let fault = fault(state.first, state.second) else { return nil }
            state.withdrawal = fault
            return fault
        }
        guard let withdrawal else { return }
        logger.warning("the canary is withdrawn", metadata: ["connector": "\(path)", "reason": "\(withdrawal)"])
        onChange()
    }

    private func fault(_ first: Side, _ second: Side) -> String? {
        guard second.calls >= policy.calls else { return nil }
        if second.failing > first.failing + policy.failures {
            return
                "\(second.failures) of its \(second.calls) calls failed, of the first connector's \(first.failures) of "
                + "\(first.calls)"
        }
        guard first.calls >= policy.calls, let mean = first.mean, let other = second.mean,
            other > mean * policy.slower, other - mean > Self.leastDifference
        else { return nil }
        return "its calls take \(Self.brief(other)) on average, the first connector's \(Self.brief(mean))"
    }

    /// The difference of mean durations that a withdrawal must exceed, in nanoseconds: one millisecond.
    private static let leastDifference = 1_000_000.0

    private static func brief(_ nanoseconds: Double) -> String { Duration.nanoseconds(Int64(nanoseconds)).brief }

    // MARK: Reporting

    /// How the children perform.
    func report(_ children: [Node]) -> CanaryReport? {
        guard children.count == 2 else { return nil }
        let state = state.withLock(\.self)
        func child(_ node: Node, _ side: Side) -> CanaryReport.Child {
            CanaryReport.Child(
                path: node.path,
                calls: side.calls,
                failures: side.failures,
                mean: side.mean.map { .nanoseconds(Int64($0)) }
            )
        }
        return CanaryReport(
            share: state.withdrawal == nil ? Double(policy.basisPoints) / 100 : 0,
            withdrawal: state.withdrawal,
            first: child(children[0], state.first),
            second: child(children[1], state.second)
        )
    }
}
