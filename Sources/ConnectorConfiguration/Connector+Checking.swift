// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorOutbox
internal import ConnectorPlatform

/// The rules of settings that do not pass through JSON on their way from Swift: those of a file, except that durations need not be whole
/// milliseconds.
extension Connector {
    /// Reports the invalid settings of the connector and of those below it.
    ///
    /// - Parameter parent: The path of the composite above; nil for a root.
    func check(under parent: String?, problems: inout [ConnectorError]) {
        let path = (parent.map { $0 + "/" } ?? "") + name
        var checker = SettingChecker(connector: path)
        checker.duration(timeout, "timeout")
        checker.duration(trial, "trial")
        checker.duration(probeInterval, "probeInterval")
        if let retry {
            checker.count(retry.attempts, "retry.attempts", within: SettingRange.attempts)
            checker.waits(retry.initial, "initial", retry.max, "max", of: "retry")
        }
        if let heal { checker.waits(heal.initial, "initial", heal.max, "max", of: "heal") }
        if let breaker {
            checker.count(breaker.failures, "breaker.failures", within: SettingRange.failures)
            checker.duration(breaker.window, "breaker.window")
            checker.duration(breaker.probe, "breaker.probe")
        }
        checker.count(cacheBytes, "cacheBytes", within: SettingRange.cacheBytes)
        if let delivery { checker.check(delivery) }
        checker.check(isolation)
        // In a file, a leaf without runners may have the level from the file's root, where it is meant for others.
        let isLeafOfSwift = if case .leaf = kind { location.steps.isEmpty } else { false }
        if isLeafOfSwift, isolation.kind == .none, isolation.sandbox.level == .required {
            checker.report("isolation.sandbox.level is required, which needs the kind process or auto, not none")
        }
        problems += checker.problems
        for child in children { child.check(under: path, problems: &problems) }
    }
}

/// Collects the faults of one connector's settings.
private struct SettingChecker {
    /// The connector's path.
    let connector: String
    private(set) var problems: [ConnectorError] = []

    init(connector: String) { self.connector = connector }

    mutating func report(_ message: String, code: ConnectorError.Code = .invalidValue) {
        problems.append(ConnectorError(code, message, connector: connector))
    }

    /// Checks a duration that is longer than zero.
    mutating func duration(_ duration: Duration?, _ name: String) {
        guard let duration else { return }
        if duration <= .zero { report("\(name) is \(duration); it must be greater than zero") }
        atMostLongest(duration, name)
    }

    private mutating func atMostLongest(_ duration: Duration, _ name: String) {
        if duration > .longest { report("\(name) is \(duration); it must be at most 8760 hours") }
    }

    mutating func count(_ count: Int?, _ name: String, within range: ClosedRange<Int64>) {
        guard let count, !range.contains(Int64(count)) else { return }
        report("\(name) is \(count), outside \(range.lowerBound) to \(range.upperBound)")
    }

    /// Checks the bounds of waits that become longer.
    mutating func waits(
        _ initial: Duration,
        _ initialName: String,
        _ longest: Duration,
        _ longestName: String,
        of setting: String
    ) {
        duration(initial, "\(setting).\(initialName)")
        atMostLongest(longest, "\(setting).\(longestName)")
        if longest < initial { report("\(setting): the maximum wait is shorter than the initial one") }
    }

    mutating func check(_ delivery: DeliveryPolicy) {
        count(delivery.batchCount, "delivery.batchCount", within: SettingRange.batchCount)
        count(delivery.batchBytes, "delivery.batchBytes", within: SettingRange.batchBytes)
        if delivery.batchAge < .zero {
            report("delivery.batchAge is \(delivery.batchAge); it must not be less than zero")
        }
        atMostLongest(delivery.batchAge, "delivery.batchAge")
        duration(delivery.maximumAge, "delivery.maximumAge")
        count(delivery.maximumBytes, "delivery.maximumBytes", within: SettingRange.queueBytes)
        if delivery.whenFull != .block, delivery.maximumBytes == nil {
            report(
                "delivery.whenFull needs delivery.maximumBytes: an outbox without it is never full",
                code: .missingValue
            )
        }
        if let pace = delivery.pace, !pace.isFinite || pace <= 0 {
            report("delivery.pace is \(pace); it must be a number of events a second, greater than zero")
        }
        waits(delivery.initialWait, "initialWait", delivery.longestWait, "longestWait", of: "delivery")
    }

    mutating func check(_ isolation: Isolation) {
        duration(isolation.quiet, "isolation.quiet")
        if isolation.standby, isolation.kind != .process {
            report("isolation.standby needs the kind process, not \(isolation.kind.rawValue)")
        }
        if let runner = isolation.runner, !isIdentifier(runner) {
            report("isolation.runner is \"\(runner.excerpt)\"; it must be \(identifierRule)")
        }
        let sandbox = isolation.sandbox
        check(sandbox.read, "isolation.sandbox.read")
        check(sandbox.write, "isolation.sandbox.write")
        count(sandbox.memory, "isolation.sandbox.memory", within: SettingRange.memory)
        count(sandbox.threads, "isolation.sandbox.threads", within: SettingRange.threads)
        let (least, most) = (ConfigurationReader.leastProcessors, ConfigurationReader.mostProcessors)
        if let cpu = sandbox.cpu, !(least...Double(most)).contains(cpu) {
            report("isolation.sandbox.cpu is \(cpu), outside \(least) to \(most)")
        }
    }

    /// Checks paths of a sandbox, which nothing resolves: a runner's working directory is not the file's.
    private mutating func check(_ paths: [String], _ name: String) {
        if paths.count > Configuration.fileLimit {
            report("\(name) names more than \(Configuration.fileLimit) paths", code: .tooLarge)
        }
        let limit = ConfigurationReader.pathLimit
        for path in paths.prefix(Configuration.fileLimit)
        where path.utf8.first != UInt8(ascii: "/") || path.utf8.contains(0) || path.utf8.count > limit {
            report("\(name) has \"\(path.excerpt)\"; it must be an absolute path")
        }
    }
}
