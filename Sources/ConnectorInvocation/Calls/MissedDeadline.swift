// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform

/// A missed deadline, and why.
package struct MissedDeadline: Sendable {
    /// The subject and the verb, such as `open did not complete`.
    private let what: String
    /// The cause, as far as the host knows it.
    private var cause: String?
    /// The fix, if it differs from the default.
    private var fix: String?

    /// The shortest wait, in nanoseconds, after which the host calls the plugin's function late or its operation forgotten. After less,
    /// the caller gave too little time.
    package static let leastWait: UInt64 = 10_000_000

    /// Whose thread a plugin function runs on.
    package enum ThreadOwner: String, Sendable {
        /// A thread of the host's, which it cannot use until the function returns.
        case host = "the host"
        /// A thread of the runner's process.
        case runner = "its runner"
    }

    /// The plugin has not completed an operation.
    ///
    /// - Parameter work: What the plugin has pending that may complete it.
    package static func completion(of name: String, awaiting work: PendingWork) -> MissedDeadline {
        var missed = MissedDeadline(what: "\(name) did not complete")
        switch work {
        case .late(let failure):
            missed.cause = failure.message
            missed.fix = ConnectorError.remedy(failure.domain, failure.detail)
        case .other: break
        case .nothing:
            missed.cause =
                "the plugin has no request, timer or callback of the host pending for it: "
                + "it is still working, or forgot to complete the operation"
            missed.fix =
                "increase the timeout; if that does not help, fix the plugin: "
                + "it must complete every operation that it accepts"
        }
        return missed
    }

    /// The plugin has not completed an operation, and one of its callbacks was running the whole time: they run one at a time.
    package static func heldUp(_ name: String) -> MissedDeadline {
        MissedDeadline(
            what: "\(name) did not complete",
            cause: "\(PluginFunction.callback) did not return meanwhile, so that no other callback ran",
            fix: "fix the plugin: its callbacks must not block"
        )
    }

    /// A call was not made: it waited for a thread the whole time.
    package static func beginning(of name: String) -> MissedDeadline {
        MissedDeadline(what: "\(name) did not begin", cause: "no thread was free for it")
    }

    /// A call was not made: its runner did not take it.
    package static func arriving(of name: String) -> MissedDeadline {
        MissedDeadline(
            what: "\(name) did not begin",
            cause: "its runner did not take the call: something has stopped it, or the machine is too busy"
        )
    }

    /// A call was not made: another one was inside the serial plugin the whole time.
    package static func queueing(of name: String) -> MissedDeadline {
        MissedDeadline(what: "\(name) did not begin", cause: "another call is inside the serial plugin")
    }

    /// A function of the plugin has not returned and still occupies its thread.
    ///
    /// - Parameter plugin: The plugin's id and version.
    package static func returning(
        from function: PluginFunction,
        of plugin: String,
        on owner: ThreadOwner = .host
    ) -> MissedDeadline {
        MissedDeadline(
            what: "\(function.name) did not return",
            cause: owner == .runner
                ? "it still runs, or its runner has found no thread for it, and says so in the log" : nil,
            fix: function.isForeign
                ? foreignRemedy(function.description, owner)
                : "fix the plugin \(plugin): \(function) still holds a thread of \(owner.rawValue), "
                    + "and plugin functions must not block"
        )
    }

    /// A function that is not in the manifest has not returned and still occupies its thread.
    ///
    /// - Parameter isForeign: Whether it belongs to a foreign library.
    package static func returning(
        from function: String,
        on owner: ThreadOwner = .host,
        isForeign: Bool = false
    ) -> MissedDeadline {
        MissedDeadline(
            what: "\(function) did not return",
            fix: isForeign
                ? foreignRemedy("it", owner)
                : "fix the plugin: it holds a thread of \(owner.rawValue), and plugin functions must not block"
        )
    }

    /// What to do about a function that may block.
    private static func foreignRemedy(_ function: String, _ owner: ThreadOwner) -> String {
        "increase the timeout; \(function) goes on, and holds a thread of \(owner.rawValue) until it returns"
    }

    /// A runner has not made an instance: a constructor, the entry function or `create` has not returned.
    ///
    /// - Parameter plugin: The plugin's id and version.
    package static func making(_ plugin: String) -> MissedDeadline {
        MissedDeadline(
            what: "create of \(plugin) did not return in its runner",
            fix: "fix the plugin: its constructors, its entry function and create must not block"
        )
    }

    /// A plugin has not been sent to a runner, because there is none yet that answers.
    ///
    /// - Parameter plugin: The plugin's id and version.
    package static func starting(_ plugin: String) -> MissedDeadline {
        MissedDeadline(
            what: "the runner of \(plugin) was not ready",
            fix: "check that the machine is not overloaded, or give the connector a longer timeout"
        )
    }

    /// A plugin's image has not been loaded: a constructor of it, or of another plugin, has not returned.
    package static func loading(_ path: String) -> MissedDeadline {
        switch PluginImages.shared.pathBeingLoaded {
        case nil: returning(from: "loading of \(path)")
        case path: returning(from: "a constructor of \(path)")
        case let other?: returning(from: "a constructor of \(other), which every other plugin has to await,")
        }
    }

    /// The same on a clock that is faster than the system's, which gave the plugin less time than it says.
    package var onFastClock: MissedDeadline {
        var missed = self
        missed.fix = "let time pass more slowly, or increase the timeout"
        return missed
    }

    /// The subject and the verb, for the log.
    package var description: String { what }

    /// The error for the caller that waited. If the system has too few threads left, that is the cause.
    ///
    /// - Parameter wait: How long it waited, in nanoseconds.
    package func error(after wait: UInt64) -> ConnectorError {
        let span = Duration.nanoseconds(Int64(clamping: wait)).brief
        var error = ConnectorError(.timedOut, "\(what) within \(span)", isRetryable: true)
        guard wait >= Self.leastWait else { return error }
        if let shortage = HostThread.shortage {
            error.fix = HostThread.remedy
            error.cause = "the system has too few threads left for this host and its runners: \(shortage)"
            return error
        }
        error.fix = fix
        error.cause = cause
        return error
    }
}
