// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import Tracing

/// The span of a call or of a delivery, for the application's tracer.
///
/// It contains the connector and the operation, but not the arguments or the result. Requests that the plugin sends during the
/// call are its children: see ``TraceContext``.
package struct CallSpan: Sendable {
    private let span: any Span

    /// Whether the application has a tracer.
    package static var isWanted: Bool { !(InstrumentationSystem.tracer is NoOpTracer) }

    /// Starts the span of a call; nil if the application has no tracer.
    ///
    /// - Parameters:
    ///   - path: The connector's path.
    ///   - operation: The operation's name in the plugin's manifest; arbitrary names would make the set of span names unbounded.
    ///   - isLeaf: Whether the call leaves the process, as far as the host can tell.
    package init?(of path: String, _ operation: @autoclosure () -> String, isLeaf: Bool = true) {
        let tracer = InstrumentationSystem.tracer
        if tracer is NoOpTracer { return nil }
        let operation = operation()
        span = tracer.startSpan("\(operation) \(path)", ofKind: isLeaf ? .client : .internal)
        span.attributes["connector.path"] = path
        span.attributes["connector.operation"] = operation
    }

    /// Starts the span of a delivery; nil if the application has no tracer.
    ///
    /// It is the root of a trace: the events come from many callers, some of them in an earlier process.
    ///
    /// - Parameters:
    ///   - path: The connector's path.
    ///   - count: The number of events to deliver.
    package init?(deliveryTo path: String, count: Int) {
        let tracer = InstrumentationSystem.tracer
        if tracer is NoOpTracer { return nil }
        span = tracer.startSpan("deliver \(path)", context: .topLevel, ofKind: .producer)
        span.attributes["connector.path"] = path
        span.attributes["messaging.batch.message_count"] = Int64(count)
    }

    /// Makes the call in the span's context, and ends the span.
    ///
    /// - Parameter body: Makes the call.
    package func run<Value>(
        _ body: () async throws(ConnectorError) -> Value
    ) async throws(ConnectorError) -> Value {
        let result = await ServiceContext.$current.withValue(span.context) {
            do throws(ConnectorError) {
                return Result<Value, ConnectorError>.success(try await body())
            } catch {
                return .failure(error)
            }
        }
        if case .failure(let error) = result { fail(error) }
        span.end()
        return try result.get()
    }

    /// Marks the span as failed. It has only the code of the error, whose text may quote the arguments and the answer.
    package func fail(_ error: ConnectorError) {
        span.attributes["error.type"] = error.code.rawValue
        span.setStatus(SpanStatus(code: .error))
    }
}
