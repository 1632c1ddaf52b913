// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Where a number comes from, and what it means.
struct PolledSource: Sendable {
    private let request: HTTPRequest
    private let pointer: JSONPointer
    private let name: String
    private let unit: String
    private let minimum: Double
    private let maximum: Double

    /// Reads the configuration.
    ///
    /// - Throws: A ``PluginError`` that names the field at fault.
    init(_ configuration: PluginConfiguration) throws(PluginError) {
        var headers: HTTPFields = ["Accept": "application/json"]
        if let secret = configuration.optionalSecret("authorization") { headers["Authorization"] = secret.text }
        let timeout = try configuration.duration("timeout")
        guard timeout > .zero else { throw PluginError(.invalid, "timeout must be more than 0s") }
        request = HTTPRequest(.get, try configuration.url("url"), headers: headers, timeout: timeout)
        let text = try configuration.string("pointer")
        guard let pointer = JSONPointer(text) else {
            throw PluginError(.invalid, "pointer must be empty or a JSON Pointer such as /main/temp (RFC 6901)")
        }
        self.pointer = pointer
        name = try configuration.string("name")
        unit = try configuration.string("unit")
        minimum = configuration["minimum"]?.number ?? -.infinity
        maximum = configuration["maximum"]?.number ?? .infinity
        guard minimum <= maximum else { throw PluginError(.invalid, "minimum must not be above maximum") }
        do throws(ConnectorError) {
            _ = try SensorReading(name, 0, unit: unit, at: Timestamp(nanoseconds: 0))
        } catch {
            throw PluginError(error)
        }
    }

    /// Asks the server.
    ///
    /// - Throws: A ``PluginError``; `protocolViolation` if the answer has no number at the pointer.
    func value(_ host: Host) async throws(PluginError) -> Double {
        let response = try await host.http.send(request)
        guard response.isSuccess, !response.isPage else {
            var failure = response.failure(vendor: "the server", now: host.clock.now)
            failure.domain = "poll"
            throw failure
        }
        guard let value = pointer.value(in: try response.json()) else {
            throw violation("the answer has no value at \"\(pointer)\"", response)
        }
        guard let number = value.number else {
            throw violation("the value at \"\(pointer)\" must be a number, not \(value.kind)", response)
        }
        return number
    }

    /// A reading of a number; without one, its quality is bad.
    func reading(_ value: Double?, at time: Timestamp) throws(PluginError) -> SensorReading {
        let isPossible = value.map { minimum <= $0 && $0 <= maximum } ?? true
        do throws(ConnectorError) {
            return try SensorReading(
                name,
                value,
                unit: unit,
                at: time,
                quality: value == nil ? .bad : isPossible ? .good : .uncertain
            )
        } catch {
            throw PluginError(error)
        }
    }

    private func violation(_ message: String, _ response: HTTPResponse) -> PluginError {
        PluginError(
            .protocolViolation,
            "\(message); it begins \"\(response.excerpt)\"",
            domain: "poll",
            detail: Int32(clamping: response.status)
        )
    }
}
