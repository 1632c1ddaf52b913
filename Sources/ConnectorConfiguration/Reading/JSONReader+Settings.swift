// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest
internal import ConnectorOutbox
internal import ConnectorPlatform

/// The rules that settings have in a file and in Swift alike; ``SettingRange`` has the bounds of numbers.
///
/// A setting is identified by its path in the file or, in Swift, by its name, whose problems have no position.
extension JSONReader {
    /// Reports a maximum wait below the initial one.
    ///
    /// - Parameter path: The place of the longest wait.
    mutating func check(_ initial: Duration, upTo longest: Duration, at path: JSONPath) {
        guard longest < initial else { return }
        report(.invalidValue, "\(name(of: path)) is shorter than the initial wait", at: path)
    }

    /// Reports a name that a runner cannot have.
    mutating func check(runner: String, at path: JSONPath) {
        if !isIdentifier(runner) { refuse("\"\(runner.excerpt)\"", "must be \(identifierRule)", at: path) }
    }

    /// Reports a standby of a plugin that does not always have a runner.
    mutating func checkStandby(of isolation: Isolation, at path: JSONPath) {
        guard isolation.standby, isolation.kind != .process else { return }
        report(
            .invalidValue,
            "a standby waits in a runner, and the isolation is \"\(isolation.kind.rawValue)\" here",
            fix: "make the isolation \"process\" here, or remove the standby",
            at: path
        )
    }

    /// Reports a named runner of a plugin that never has one.
    mutating func checkRunner(of isolation: Isolation, at path: JSONPath) {
        guard isolation.runner != nil, isolation.kind == .none else { return }
        report(
            .invalidValue,
            "a runner is named, and the isolation is \"none\" here: the plugin runs in the host's process",
            fix: "make the isolation \"process\" here, or remove the runner",
            at: path
        )
    }

    /// Reports a required sandbox of a plugin that never has a runner.
    mutating func checkSandbox(of isolation: Isolation, at path: JSONPath) {
        guard isolation.sandbox.level == .required, isolation.kind == .none else { return }
        report(
            .invalidValue,
            "the sandbox is required, and the isolation is \"none\" here: a plugin in the host's process has none",
            fix: "make the isolation \"process\" here, or do not require the sandbox",
            at: path
        )
    }

    /// Reports a value that breaks a rule.
    private mutating func refuse(_ value: String, _ rule: String, at path: JSONPath) {
        report(.invalidValue, "\(name(of: path)) is \(value); it \(rule)", at: path)
    }
}

/// The settings of connectors made in Swift, which do not pass through JSON. The rules are those of a file, except that durations need not
/// be whole milliseconds.
extension JSONReader {
    /// Reports the invalid settings of a connector and of those below it.
    ///
    /// - Parameters:
    ///   - parent: The path of the composite above; nil for a root.
    ///   - root: The root of an empty text.
    ///   - level: 1 for a root. What is below the deepest level of a file is not checked: the reader refuses it.
    mutating func check(_ given: Connector, under parent: String?, at root: JSONPath, level: Int = 1) {
        guard level <= Configuration.depthLimit else { return }
        let path = (parent.map { $0 + "/" } ?? "") + given.name
        connector = path
        func at(_ name: String) -> JSONPath { root.appending(name) }
        check(given.timeout, at: at("timeout"))
        check(given.trial, at: at("trial"))
        check(given.probeInterval, at: at("probeInterval"))
        if let retry = given.retry {
            check(retry.attempts, within: SettingRange.attempts, at: at("retry.attempts"))
            checkWaits(retry.initial, at: at("retry.initial"), retry.max, at: at("retry.max"))
        }
        if let heal = given.heal { checkWaits(heal.initial, at: at("heal.initial"), heal.max, at: at("heal.max")) }
        if let breaker = given.breaker {
            check(breaker.failures, within: SettingRange.failures, at: at("breaker.failures"))
            check(breaker.window, at: at("breaker.window"))
            check(breaker.probe, at: at("breaker.probe"))
        }
        check(given.cacheBytes, within: SettingRange.cacheBytes, at: at("cacheBytes"))
        if let delivery = given.delivery { check(delivery) { at("delivery.\($0)") } }
        check(given.isolation) { at("isolation.\($0)") }
        // In a file, a leaf without runners may have these from above, where they are meant for others.
        if case .leaf = given.kind, given.location.steps.isEmpty {
            checkSandbox(of: given.isolation, at: at("isolation.sandbox.level"))
            checkRunner(of: given.isolation, at: at("isolation.runner"))
        }
        if case .leaf(let leaf) = given.kind, leaf.hasDeepConfig {
            report(.invalidValue, "config is nested deeper than \(JSONParser.depthLimit) levels", at: at("config"))
        }
        for child in given.children { check(child, under: path, at: root, level: level + 1) }
    }

    private mutating func check(_ delivery: DeliveryPolicy, _ place: (String) -> JSONPath) {
        check(delivery.batchCount, within: SettingRange.batchCount, at: place("batchCount"))
        check(delivery.batchBytes, within: SettingRange.batchBytes, at: place("batchBytes"))
        if delivery.batchAge < .zero {
            refuse("\(delivery.batchAge)", "must not be less than zero", at: place("batchAge"))
        }
        checkLength(of: delivery.batchAge, at: place("batchAge"))
        check(delivery.maximumAge, at: place("maximumAge"))
        check(delivery.maximumBytes, within: SettingRange.queueBytes, at: place("maximumBytes"))
        if delivery.whenFull != .block, delivery.maximumBytes == nil {
            let message = "delivery.whenFull needs delivery.maximumBytes: an outbox without it is never full"
            report(.missingValue, message, at: place("whenFull"))
        }
        if let pace = delivery.pace, !pace.isFinite || pace <= 0 {
            refuse("\(pace)", "must be a number of events a second, greater than zero", at: place("pace"))
        }
        checkWaits(delivery.initialWait, at: place("initialWait"), delivery.longestWait, at: place("longestWait"))
    }

    private mutating func check(_ isolation: Isolation, _ place: (String) -> JSONPath) {
        check(isolation.quiet, at: place("quiet"))
        checkStandby(of: isolation, at: place("standby"))
        if let runner = isolation.runner { check(runner: runner, at: place("runner")) }
        let sandbox = isolation.sandbox
        check(sandbox.read, at: place("sandbox.read"))
        check(sandbox.write, at: place("sandbox.write"))
        check(sandbox.memory, within: SettingRange.memory, at: place("sandbox.memory"))
        check(sandbox.threads, within: SettingRange.threads, at: place("sandbox.threads"))
        if let cpu = sandbox.cpu { check(cpu, within: SettingRange.processors, at: place("sandbox.cpu")) }
    }

    /// Checks a duration that is longer than zero.
    private mutating func check(_ duration: Duration?, at path: JSONPath) {
        guard let duration else { return }
        if duration <= .zero { refuse("\(duration)", "must be greater than zero", at: path) }
        checkLength(of: duration, at: path)
    }

    private mutating func checkLength(of duration: Duration, at path: JSONPath) {
        if duration > .longest { refuse("\(duration)", "must be at most 8760 hours", at: path) }
    }

    private mutating func check(_ count: Int?, within range: ClosedRange<Int64>, at path: JSONPath) {
        if let count { check(Int64(count), within: range, at: path) }
    }

    /// Checks the bounds of a backoff.
    private mutating func checkWaits(_ initial: Duration, at place: JSONPath, _ longest: Duration, at path: JSONPath) {
        check(initial, at: place)
        checkLength(of: longest, at: path)
        check(initial, upTo: longest, at: path)
    }

    /// Checks paths of a sandbox, which nothing resolves: a runner's working directory is not the file's.
    private mutating func check(_ paths: [String], at place: JSONPath) {
        let limit = Configuration.fileLimit
        if paths.count > limit { report(.tooLarge, "\(name(of: place)) names more than \(limit) paths", at: place) }
        for path in paths.prefix(limit) where !path.canBePath || path.utf8.first != UInt8(ascii: "/") {
            report(.invalidValue, "\(name(of: place)) has \"\(path.excerpt)\"; it must be an absolute path", at: place)
        }
    }
}
