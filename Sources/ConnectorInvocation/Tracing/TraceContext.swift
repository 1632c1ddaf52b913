// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Tracing

/// The trace and the operation of a task, carried over to the threads on which plugins run.
///
/// A plugin's function and its callbacks run on threads of the host, where task-local values are not available.
package struct TraceContext: Sendable {
    private let context: ServiceContext?
    /// The operation that the plugin is running for; nil on the plugin's own threads.
    private var operation: UInt64?

    @TaskLocal private static var currentOperation: UInt64?

    private init(context: ServiceContext?, operation: UInt64?) {
        self.context = context
        self.operation = operation
    }

    /// The context of an operation that belongs to no trace, such as `open`.
    package init(operation: UInt64) {
        self.init(context: nil, operation: operation)
    }

    /// The context of the current task, or of the callback running on this thread; empty if there is none.
    package static var current: TraceContext {
        TraceContext(context: ServiceContext.current, operation: currentOperation)
    }

    /// The same trace, during an operation.
    package func during(_ operation: UInt64) -> TraceContext {
        TraceContext(context: context, operation: operation)
    }

    /// Whether code in this context may complete an operation: it runs during that operation, or on the plugin's own thread.
    package func mayComplete(_ operation: UInt64) -> Bool {
        self.operation == nil || self.operation == operation
    }

    /// Runs the body in the context, on this thread.
    package func run<Value>(_ body: () -> Value) -> Value {
        guard let operation else { return runInTrace(body) }
        return Self.$currentOperation.withValue(operation) { runInTrace(body) }
    }

    private func runInTrace<Value>(_ body: () -> Value) -> Value {
        guard let context else { return body() }
        return ServiceContext.$current.withValue(context) { body() }
    }
}
