// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSandbox

/// The sandbox of this process, in two stages. Neither can be undone.
///
/// ```
/// var report = sandbox.enter()        // before the first thread, before any code of a plugin
/// …                                   // load and open the plugin
/// sandbox.narrow()
/// sandbox.prove(&report)
/// ```
public struct Sandbox: Sendable {
    /// What the plugin may do.
    public let settings: SandboxSettings
    /// The id of the host, which the sandboxed process may not reach.
    public let host: Int32
    /// Descriptors that stay open besides 0, 1 and 2.
    public let descriptors: [Int32]
    /// A socket to the parent, for the id of the process that replaces this one and for the filter's listener; nil for neither.
    public let successor: Int32?

    /// Creates a sandbox, which this process has not entered yet.
    ///
    /// - Parameter host: This process's parent, which it ends with; 0 if it may outlive it.
    public init(
        _ settings: SandboxSettings,
        host: Int32,
        keeping descriptors: [Int32],
        successor: Int32? = nil
    ) {
        self.settings = settings
        self.host = host
        self.successor = successor
        self.descriptors = (descriptors + (successor.map { [$0] } ?? [])).sorted()
    }

    /// The first, broad stage. Call it before this process has a second thread: Landlock covers the calling one.
    ///
    /// With a `successor`, another process continues from here: a child of this one's parent, which must await both. See
    /// `sandbox.h`. A layer that fails is reported, and the process continues.
    public func enter() -> SandboxReport {
        var found = [sandbox_outcome](repeating: sandbox_outcome(), count: Int(SANDBOX_LAYER_COUNT))
        unsafe withSettings { settings in unsafe sandbox_enter(settings, &found) }
        return SandboxReport(outcomes: SandboxLayer.allCases.map { SandboxOutcome($0, found[$0.rawValue]) })
    }

    /// The second, narrow stage, on all threads. Call it when the plugin is open.
    ///
    /// - Returns: Whether it holds. If not, the first stage still does.
    public func narrow() -> SandboxOutcome {
        var found = sandbox_outcome()
        unsafe withSettings { settings in unsafe sandbox_narrow(settings, &found) }
        return SandboxOutcome(.filter, found)
    }

    /// Attempts what is forbidden. No attempt has an effect, whether it is refused or not.
    public func prove(_ report: inout SandboxReport) {
        var tried = unsafe [sandbox_attempt](repeating: sandbox_attempt(), count: Int(SANDBOX_ATTEMPT_COUNT))
        let count = unsafe withSettings { settings in unsafe sandbox_prove(settings, &tried) }
        report.attempts = unsafe tried.prefix(Int(count)).map { attempt in
            let refusal = unsafe attempt.refusal
            return unsafe SandboxAttempt(
                name: attempt.name.map { unsafe String(cString: $0) } ?? "",
                refusal: refusal == 0 ? nil : Int(refusal)
            )
        }
    }

    /// How each line begins that says what a sandbox would have refused: `LEARNED_PREFIX` of `learning.h`.
    package static let lessonPrefix = "learned: "
    /// How such a line goes on where nothing can be learned. The reason follows.
    package static let noLesson = "nothing can be learned: "

    /// Instead of the stages: refuses nothing, and prints what a sandbox would have refused, as settings for the file.
    ///
    /// - Parameter output: The descriptor to print to, whenever there is more of it.
    /// - Returns: Why nothing can be learned; nil if something can.
    public func learn(output: Int32) -> String? {
        let error = unsafe withSettings { settings in unsafe sandbox_learn(settings, output) }
        guard error != 0 else { return nil }
        return unsafe sandbox_error_text(error).map { unsafe String(cString: $0) } ?? "error \(error)"
    }

    private func withSettings<Value>(_ body: (UnsafePointer<sandbox_settings>) -> Value) -> Value {
        let lists = [settings.read, settings.write, settings.writtenByOthers].map { CStrings($0) }
        return unsafe descriptors.withUnsafeBufferPointer { kept in
            var value = unsafe sandbox_settings()
            unsafe value.read = lists[0].pointers
            unsafe value.write = lists[1].pointers
            unsafe value.written_by_others = lists[2].pointers
            unsafe value.descriptors = kept.baseAddress
            unsafe value.descriptor_count = Int32(kept.count)
            unsafe value.host = self.host
            unsafe value.memory = UInt64(max(0, settings.memory ?? 0))
            unsafe value.threads = UInt32(clamping: settings.threads ?? 0)
            unsafe value.network = settings.network ? 1 : 0
            unsafe value.successor = successor ?? -1
            return withExtendedLifetime(lists) { unsafe body(&value) }
        }
    }
}

extension SandboxOutcome {
    /// Converts an outcome from C, and adds the text of its error.
    init(_ layer: SandboxLayer, _ outcome: sandbox_outcome) {
        var detail = unsafe withUnsafeBytes(of: outcome.detail) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if outcome.error != 0, let text = unsafe sandbox_error_text(outcome.error) {
            detail += unsafe ": " + String(cString: text)
        }
        self.init(layer: layer, holds: outcome.holds != 0, version: Int(outcome.version), detail: detail)
    }
}
