// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Tracing

/// The trace and the operation of a task, carried over to the threads on which plugins run.
///
/// A plugin's function and its callbacks run on threads of the host, where task-local values are not available.
package struct TraceContext: Sendable {
    private let context: ServiceContext?
    /// The operation that the plugin is running for; nil on the plugin's own threads.
    private let call: Call?

    /// An operation of a plugin, and when it must have completed.
    private struct Call: Sendable {
        let operation: UInt64
        let deadline: UInt64
    }

    @TaskLocal private static var currentCall: Call?

    private init(context: ServiceContext?, call: Call?) {
        self.context = context
        self.call = call
    }

    /// The operation that the plugin is running for; nil on the plugin's own threads.
    package var operation: UInt64? { call?.operation }

    /// The deadline of ``operation``, in monotonic time; `.max` for none.
    package var deadline: UInt64 { call?.deadline ?? .max }

    /// The context of an operation that belongs to no trace, such as `open`.
    package init(operation: UInt64, deadline: UInt64) {
        self.init(context: nil, call: Call(operation: operation, deadline: deadline))
    }

    /// The context of the current task, or of the callback running on this thread; empty if there is none.
    package static var current: TraceContext {
        TraceContext(context: ServiceContext.current, call: currentCall)
    }

    /// The same trace, during an operation.
    package func during(_ operation: UInt64, by deadline: UInt64) -> TraceContext {
        TraceContext(context: context, call: Call(operation: operation, deadline: deadline))
    }

    /// Whether code in this context may complete an operation: it runs during that operation, or on the plugin's own thread.
    package func mayComplete(_ operation: UInt64) -> Bool {
        call == nil || call?.operation == operation
    }

    /// Runs the body in the context, on this thread.
    package func run<Value>(_ body: () -> Value) -> Value {
        guard let call else {
            guard let context else { return body() }
            return ServiceContext.$current.withValue(context) { body() }
        }
        let trace = TraceContext(context: context, call: nil)
        return Self.$currentCall.withValue(call) { trace.run(body) }
    }
}
