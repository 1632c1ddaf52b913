// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorLoading
internal import ConnectorServices

/// What has happened to a gate, for its report and its metrics; what is said of a generation is kept after that has ended.
///
/// It decides nothing. The gate asks it what the last instance proved, what the outage is, and whether it was ever open.
struct GateHistory: Sendable {
    /// The evidence of the last proof.
    private(set) var evidence: [Evidence] = []
    /// The loaded bytes.
    private(set) var content: ImageContent?
    /// HTTP traffic of the last generation.
    private(set) var counters: HTTPCounters?
    /// How well the sandbox of the last generation held, if it was in a runner.
    var sandbox: String?
    /// Whether the last generation was in a runner, and why, if a crash is the reason.
    private(set) var isolation: (isRemote: Bool, promotion: Promotion?) = (false, nil)
    /// When the current opening began.
    private var openStart: UInt64 = 0
    /// How long the last opening took.
    private(set) var openDuration: Duration?
    /// Why the gate is not open, or why the last proof failed.
    private(set) var error: ConnectorError?
    /// When the current outage began.
    private(set) var outageStart: UInt64?
    /// How many attempts to open have succeeded.
    private(set) var successCount: UInt64 = 0
    /// How many attempts to open have failed with each code.
    private(set) var failureCounts: [ConnectorError.Code: UInt64] = [:]
    /// How many times the plugin has broken a rule of the ABI.
    private(set) var misbehaviourCount = 0
    /// Limits the misbehaviour that is logged.
    private var misbehaviourLines = LineLimit.ofMisbehaviour
    /// How often the gate has lost its instance with its runner.
    private(set) var crashCount = 0

    // MARK: Openings

    /// The first of the attempts to open the gate begins.
    mutating func openingBegan(at now: UInt64) {
        attemptBegan(at: now)
        openDuration = nil
        error = nil
    }

    /// An attempt to open a failed gate begins.
    mutating func attemptBegan(at now: UInt64) {
        openStart = now
    }

    /// An attempt has ended, one way or the other.
    mutating func attemptEnded(at now: UInt64) {
        openDuration = .nanoseconds(Int64(clamping: now - min(now, openStart)))
    }

    /// An attempt has failed. The outage is as old as the opening, unless there was one before.
    ///
    /// - Parameter error: Why, as the report shows it.
    mutating func attemptFailed(_ error: ConnectorError, of generation: Generation) {
        failureCounts[error.code.key(in: failureCounts), default: 0] += 1
        failed(error, at: openStart)
        content = generation.content ?? content
        keepIsolation(of: generation)
    }

    /// A generation has opened, and receives calls from now on.
    mutating func opened(_ generation: Generation, _ evidence: [Evidence]) {
        content = generation.content
        self.evidence = evidence
        error = nil
        successCount += 1
    }

    // MARK: Outages

    /// The gate works no longer, or as badly as before.
    ///
    /// - Parameter error: Why, as the report shows it.
    mutating func failed(_ error: ConnectorError, at moment: UInt64) {
        self.error = error
        if outageStart == nil { outageStart = moment }
    }

    /// The instance has been proved again.
    mutating func proved(_ evidence: [Evidence]) {
        self.evidence = evidence
        error = nil
        endOutage()
    }

    /// The gate works again, or is no longer to work.
    ///
    /// - Returns: Whether there was an outage.
    @discardableResult
    mutating func endOutage() -> Bool { outageStart.take() != nil }

    // MARK: Ends

    /// Keeps what the report shows of a generation that ends.
    mutating func keep(_ generation: Generation) {
        counters = generation.counters
        keepIsolation(of: generation)
    }

    private mutating func keepIsolation(of generation: Generation) {
        (sandbox, isolation) = (generation.sandbox, generation.isolation)
    }

    /// The plan has another image than was loaded last, perhaps.
    mutating func forgetContent() {
        content = nil
    }

    /// The gate has closed.
    mutating func closed() {
        (evidence, sandbox, isolation) = ([], nil, (false, nil))
    }

    // MARK: Faults

    /// The gate has lost an instance with its runner.
    mutating func crashed() {
        crashCount += 1
    }

    /// The plugin has broken a rule of the ABI.
    ///
    /// - Parameter bytes: The size of the line about it.
    /// - Returns: How many lines were left out before this one; nil if it is left out, too.
    mutating func misbehaved(_ bytes: Int, at now: UInt64) -> Int? {
        misbehaviourCount += 1
        return misbehaviourLines.admit(bytes, at: now)
    }
}
