// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// The host's `http/1`.
@safe
struct HostHTTP: HTTPService, @unchecked Sendable {
    // Sendable: the table is constant until `destroy` (host.h), its functions may be called from any thread (http.h), and
    // the connection refuses calls afterwards.
    private let connection: HostConnection
    private let table: UnsafePointer<connector_http>
    private let clock: any ClockService

    init(_ connection: HostConnection, _ table: UnsafePointer<connector_http>, clock: any ClockService) {
        self.connection = connection
        unsafe self.table = unsafe table
        self.clock = clock
    }

    func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
        let wait = Waiting<HTTPResponse>()
        let deadline = Deadline.after(request.timeout, on: clock)
        let outcome = await wait.outcome { wait in
            start(wait, request, deadline: deadline)
        } cancel: { id in
            let isOpen = connection.whileOpen { unsafe table.pointee.cancel(table.pointee.context, id) } != nil
            if !isOpen { wait.finish(.failure(PluginError(.cancelled, "the gate is closed"))) }
        }
        return try outcome.get()
    }

    /// Starts a request that finishes the wait; if the host refuses it, finishes the wait and returns nil.
    private func start(_ wait: Waiting<HTTPResponse>, _ request: HTTPRequest, deadline: UInt64) -> UInt64? {
        let user = unsafe wait.retainedForCallback()
        var id: UInt64 = 0
        var error = Line.emptyError
        let status = connection.whileOpen {
            unsafe HTTPRequestLayout(request).withBorrowed(deadline: deadline) { request in
                unsafe table.pointee.request(
                    table.pointee.context,
                    request,
                    { user, status, response, error in
                        let outcome = unsafe HostHTTP.outcome(status, response, error)
                        unsafe Waiting<HTTPResponse>.consumed(user)?.finish(outcome)
                    },
                    user,
                    &id,
                    &error
                )
            }
        }
        guard status == Line.ok else {
            wait.releaseCallback()
            let failure = status.map { status in unsafe Line.failure(status, &error) }
            wait.finish(.failure(failure ?? PluginError(.notOpen, "the gate is closing")))
            return nil
        }
        return id
    }

    private static func outcome(
        _ status: Int32,
        _ response: UnsafePointer<connector_http_response>?,
        _ error: UnsafePointer<connector_error>?
    ) -> Result<HTTPResponse, PluginError> {
        guard status == Line.ok, let response = unsafe response?.pointee else {
            return unsafe .failure(Line.failure(status == Line.ok ? PluginStatus.failed.rawValue : status, error))
        }
        let headers = unsafe UnsafeBufferPointer(start: response.headers, count: Int(clamping: response.header_count))
        let body = unsafe UnsafeBufferPointer(start: response.body, count: Int(clamping: response.body_length))
        let fields = unsafe headers.map { header in
            unsafe HTTPField(
                name: text(header.name, header.name_length),
                value: text(header.value, header.value_length)
            )
        }
        return unsafe .success(
            HTTPResponse(status: Int(response.status), headers: HTTPFields(fields), body: [UInt8](body))
        )
    }

    private static func text(_ data: UnsafePointer<CChar>, _ length: UInt64) -> String {
        unsafe String(
            decoding: UnsafeRawBufferPointer(start: data, count: Int(clamping: length)),
            as: UTF8.self
        )
    }
}
