// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Tracing

/// The trace and the operation that a task belongs to, carried to the threads on which plugins run.
///
/// A plugin's function and its callbacks run on threads of the host, where a task's values are out of reach.
package struct TraceContext: Sendable {
    private let context: ServiceContext?
    /// The operation in whose course the plugin runs; nil on a thread of the plugin's own.
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

    /// Takes the context of the current task, or of the callback that runs on this thread; empty without one.
    package static var current: TraceContext {
        TraceContext(context: ServiceContext.current, operation: currentOperation)
    }

    /// The same trace, in the course of an operation.
    package func during(_ operation: UInt64) -> TraceContext {
        TraceContext(context: context, operation: operation)
    }

    /// Whether what runs in this context may complete an operation: it runs in its course, or on a thread of the plugin's own.
    package func mayComplete(_ operation: UInt64) -> Bool {
        self.operation == nil || self.operation == operation
    }

    /// Runs something inside the context, on this thread.
    package func run<Value>(_ body: () -> Value) -> Value {
        guard let operation else { return runInTrace(body) }
        return Self.$currentOperation.withValue(operation) { runInTrace(body) }
    }

    private func runInTrace<Value>(_ body: () -> Value) -> Value {
        guard let context else { return body() }
        return ServiceContext.$current.withValue(context) { body() }
    }
}
