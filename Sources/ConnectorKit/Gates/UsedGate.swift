// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A gate that the plugin uses. It offers the capability that the manifest names, and nothing else.
public struct UsedGate: Sendable {
    /// The name in the manifest's `uses`.
    public let name: String
    private let service: any GateService
    private let clock: any ClockService

    /// The time that all attempts of a call that is safe to repeat have together.
    private static let repetitionTime = Duration.seconds(30)

    /// Creates a used gate whose calls go through a service.
    ///
    /// - Parameters:
    ///   - name: The name in the manifest's `uses`.
    ///   - service: The service.
    ///   - clock: The clock of the waits before a call is repeated.
    public init(_ name: String, _ service: any GateService, clock: any ClockService = SystemClock()) {
        self.name = name
        self.service = service
        self.clock = clock
    }

    /// Calls an operation, and returns its result; null if it has none.
    ///
    /// Cancelling the task cancels the call. The call also ends with the plugin's own operation, at its deadline or when the host gives
    /// it up; a task that outlives the operation is not bound by it.
    ///
    /// - Parameters:
    ///   - operation: The operation's name in the capability.
    ///   - arguments: The arguments by name. `bytes` are `{"base64": "…"}`, as in results, or a string, which means its own UTF-8
    ///     bytes.
    ///   - timeout: The time after which the call fails with `timedOut`; nil for the host's 30 seconds.
    /// - Throws: The used gate's error, which names its connector.
    public func call(
        _ operation: String,
        _ arguments: JSONObject = [:],
        timeout: Duration? = nil
    ) async throws(PluginError) -> JSONValue {
        try await service.call(name, operation, .object(arguments), timeout: timeout)
    }

    /// Calls an operation, and reads a model from its result.
    ///
    /// - Throws: `protocolViolation` if `read` rejects the result.
    func call<Model>(
        _ operation: String,
        _ arguments: JSONObject,
        timeout: Duration? = nil,
        _ read: (JSONValue) throws(ConnectorError) -> Model
    ) async throws(PluginError) -> Model {
        let answer = try await call(operation, arguments, timeout: timeout)
        do throws(ConnectorError) {
            return try read(answer)
        } catch {
            throw PluginError(
                .protocolViolation,
                "the answer of the used gate \"\(name)\" to \"\(operation)\" breaks the capability's rules: \(error.message)"
            )
        }
    }

    /// Makes a call, and repeats it while it fails with an error that may pass, as the host does for an application.
    ///
    /// - Parameter call: The call, with its share of the time. Whoever repeats it must not do twice what it did once.
    /// - Throws: The last error; `cancelled` if the task is cancelled during a wait.
    func repeating<Value>(
        _ call: (_ timeout: Duration) async throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        var repetition = CallRepetition(until: Deadline.after(Self.repetitionTime, on: clock))
        var timeout = Self.repetitionTime
        var last: PluginError?
        while true {
            do throws(PluginError) {
                return try await call(timeout)
            } catch {
                if error.status == .notFound, let last {
                    // What the call needs has ended with the attempt before, which has the reason.
                    var error = error
                    error.message += "; the attempt before failed: \(last.message)"
                    throw error
                }
                let failure = CallRepetition.Failure(
                    code: ConnectorError.Code(abiStatus: error.status.rawValue),
                    isRetryable: error.isRetryable,
                    retryAfter: error.retryAfter
                )
                guard let pause = repetition.pause(after: failure, now: clock.monotonic) else { throw error }
                try await clock.sleep(for: pause)
                guard let rest = repetition.rest(now: clock.monotonic) else { throw error }
                last = error
                timeout = .nanoseconds(Int64(clamping: rest))
            }
        }
    }
}

/// A capability as a plugin sees it at a gate that it uses: typed methods over ``UsedGate/call(_:_:timeout:)``.
public protocol UsedCapability: Sendable {
    /// Wraps a used gate that offers the capability.
    init(_ gate: UsedGate)
}

extension Host {
    /// A gate that the plugin uses, by the name in its manifest's `uses`.
    public func gate(_ name: String) -> UsedGate { UsedGate(name, gates, clock: clock) }

    /// A gate that the plugin uses, as its capability:
    ///
    /// ```swift
    /// // "uses": { "settings": "settings/1" }
    /// let theme = try await host.gate("settings", as: UsedSettings.self).value(of: "theme")
    /// ```
    public func gate<Capability: UsedCapability>(
        _ name: String,
        as capability: Capability.Type
    ) -> Capability {
        capability.init(gate(name))
    }

    /// The gate of an optional use; nil if no connector is bound to it.
    public func optionalGate(_ name: String) -> UsedGate? { gates.isBound(name) ? gate(name) : nil }

    /// The gate of an optional use, as its capability:
    ///
    /// ```swift
    /// // "uses": { "settings": { "capability": "settings/1", "optional": true } }
    /// let theme = try await host.optionalGate("settings", as: UsedSettings.self)?.value(of: "theme") ?? "light"
    /// ```
    ///
    /// - Returns: Nil if no connector is bound to the optional use.
    public func optionalGate<Capability: UsedCapability>(
        _ name: String,
        as capability: Capability.Type
    ) -> Capability? {
        optionalGate(name).map(capability.init)
    }
}
