// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import Tracing

/// The span of one request, for the tracer that the application bootstrapped.
///
/// The HTTP client's spans are off, because they would carry the URL with its secrets. This span has the plugin's URL up to
/// the query, which may have the arguments of a call, with `•••` in place of each secret, and covers redirects. It is a
/// child of the call's span if the plugin sends the request during the call, or in a callback of work that it started
/// there; otherwise it is the root of a trace.
package struct RequestSpan: Sendable {
    private let span: any Span
    private let tracer: any Tracer

    /// Starts the span; nil if the application has no tracer.
    init?(_ request: RequestTemplate, to url: URLParts, _ gate: GateServices.Context) {
        tracer = InstrumentationSystem.tracer
        if tracer is NoOpTracer { return nil }
        span = tracer.startSpan(request.method, ofKind: .client)
        span.attributes["http.request.method"] = request.method
        span.attributes["url.full"] = Self.shown(request.url, gate.redactor)
        span.attributes["server.address"] = gate.redactor.redact(url.host)
        span.attributes["server.port"] = Int64(url.effectivePort)
        span.attributes["connector.path"] = gate.path
    }

    /// The URL up to the query, with placeholders masked, and with secrets removed that the plugin obtained in other ways.
    private static func shown(_ template: String, _ redactor: Redactor) -> String {
        let masked = try? SecretTemplate(Array(template.utf8))
            .expanded(.verbatim, limit: 16 << 10, isStrict: false) { _ in Secret.mask }
        let shown = redactor.redact(masked.map { String(decoding: $0.bytes, as: UTF8.self) } ?? Secret.mask)
        return String(shown.unicodeScalars.prefix { $0 != "?" && $0 != "#" })
    }

    /// Adds the trace context to a request's headers, in the format of the application's tracer.
    func inject(into headers: inout HTTPFields) {
        tracer.inject(span.context, into: &headers, using: FieldInjector())
    }

    /// Ends the span.
    ///
    /// - Parameter result: The response, or a failure, of which the span has only the code: its text may quote the URL.
    func end(_ result: Result<HTTPResponse, ServiceFailure>) {
        switch result {
        case .success(let response):
            span.attributes["http.response.status_code"] = Int64(response.status)
            if response.status >= 400 {
                span.attributes["error.type"] = "\(response.status)"
                span.setStatus(SpanStatus(code: .error))
            }
        case .failure(let failure):
            span.attributes["error.type"] = failure.code.rawValue
            span.setStatus(SpanStatus(code: .error))
        }
        span.end()
    }
}

/// Writes a trace context into header fields.
private struct FieldInjector: Injector {
    /// Replaces a field.
    func inject(_ value: String, forKey key: String, into headers: inout HTTPFields) {
        headers.remove(key)
        headers.append(key, value)
    }
}
