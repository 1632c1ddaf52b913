// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Tracing

/// The trace that a task belongs to, carried to the threads on which plugins run.
///
/// A plugin's function and its callbacks run on threads of the host, where a task's values are out of reach.
package struct TraceContext: Sendable {
    private let context: ServiceContext?

    /// Takes the trace of the current task, or of the callback that runs on this thread; empty without one.
    package static var current: TraceContext { TraceContext(context: ServiceContext.current) }

    /// Runs something inside the trace, on this thread.
    package func run<Value>(_ body: () -> Value) -> Value {
        guard let context else { return body() }
        return ServiceContext.$current.withValue(context) { body() }
    }
}
