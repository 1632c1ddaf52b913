// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CRunner
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The sandbox of this runner, which enters it when it starts.
final class RunnerSandbox: Sendable {
    private let sandbox: Sandbox
    /// The outcome of the second stage; nil before it.
    private let narrowed = Mutex<SandboxOutcome?>(nil)
    private let isOn: Bool
    /// What holds, as one line.
    let evidence: String
    /// Whether every layer holds.
    let isWhole: Bool

    /// Enters the sandbox, and tries what it forbids. Call it before there is a second thread.
    init(_ settings: SandboxSettings, host: Int32) {
        #if os(Linux)
            sandbox = Sandbox(settings, host: host, keeping: [RUNNER_SOCKET], successor: RUNNER_SUCCESSOR)
            switch settings.level {
            case .required, .default:
                isOn = true
                var report = sandbox.enter()
                sandbox.prove(&report)
                (evidence, isWhole) = (report.evidence, report.isWhole)
            case .off:
                isOn = false
                close(RUNNER_SUCCESSOR)
                (evidence, isWhole) = ("sandbox: off", false)
            case .learn:
                isOn = false
                close(RUNNER_SUCCESSOR)
                let fault = sandbox.learn(output: STDERR_FILENO)
                (evidence, isWhole) = (fault.map(Self.learnsNothing) ?? "sandbox: learning", false)
            }
        #else
            // This system has no layer, and nothing that says what one would refuse.
            sandbox = Sandbox(settings, host: host, keeping: [RUNNER_SOCKET])
            (isOn, isWhole) = (false, false)
            evidence =
                switch settings.level {
                case .required, .default: "no sandbox: macOS"
                case .off: "sandbox: off"
                case .learn: Self.learnsNothing(because: "macOS")
                }
        #endif
    }

    /// Prints, where the host expects what is learned, that nothing can be.
    ///
    /// - Returns: The evidence of such a sandbox.
    private static func learnsNothing(because fault: String) -> String {
        let text = "\(Sandbox.noLesson)\(fault)"
        let line = Array("\(Sandbox.lessonPrefix)\(text)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        return "sandbox: off; \(text)"
    }

    /// Enters the second stage, once, when a plugin is open. It is a filter on top of the first one, which stays if this one cannot
    /// be installed.
    ///
    /// - Returns: Why it could not be installed, now or for an earlier plugin; nil if it is, or if the sandbox is off.
    func narrow() -> String? {
        guard isOn else { return nil }
        let outcome = narrowed.withLock { narrowed in
            let outcome = narrowed ?? sandbox.narrow()
            narrowed = outcome
            return outcome
        }
        return outcome.holds ? nil : "no second stage (\(outcome.detail))"
    }

    /// Whether a plugin must not open where the sandbox is not whole.
    var isRequired: Bool { sandbox.settings.level == .required }
}
