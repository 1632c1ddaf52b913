// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Encodes reports as Rollbar's items, whose frames end with the innermost.
struct RollbarItems {
    /// The default for reports without their own value.
    let environment: String
    let platform: String
    /// The default for reports without their own value.
    let release: String?

    /// Encodes a report as the data of an item.
    func encode(_ report: CrashReport, now: Timestamp) -> [UInt8] {
        let (time, release) = (report.timestamp ?? now, report.release.given ?? release)
        let environment = report.environment.given ?? environment
        var data: JSONObject = [
            "uuid": .string(StableUUID.from(report.id)), "environment": .string(cut(environment)),
            "level": .string(report.level == .fatal ? "critical" : report.level.rawValue),
            "timestamp": .integer(Int64(clamping: time.nanoseconds / 1_000_000_000)),
            "platform": .string(platform), "language": "swift", "body": .object(body(of: report, time: time)),
            "notifier": ["name": "connector-host", "version": "1.0.0"],
        ]
        data.set("code_version", release.map { cut($0, to: 40) })
        if !report.fingerprint.isEmpty { data["fingerprint"] = .string(report.fingerprint.joined(separator: "/")) }
        if let user = report.user, let id = user.id.given ?? Self.id(of: user) {
            // Rollbar takes no person without an id, which has at most 40 characters.
            var person: JSONObject = ["id": .string(id.unicodeScalars.count > 40 ? StableUUID.from(id) : id)]
            person.set("username", user.name.map { cut($0) })
            person.set("email", user.email.map { cut($0) })
            data["person"] = .object(person)
        }
        var custom = report.context
        let tags = JSONObject(report.tags.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
        if !tags.isEmpty { custom.displace("tags", with: .object(tags)) }
        if !report.exceptions.isEmpty, let text = report.message { custom.displace("message", with: .string(text)) }
        if !report.isHandled { custom.displace("unhandled", with: true) }
        if let release, release.unicodeScalars.count > 40 { custom.displace("release", with: .string(release)) }
        data.set("custom", custom)
        return JSONValue.object(data).utf8()
    }

    /// An id for a user without one, the same for each report; nil for a user without anything.
    private static func id(of user: CrashUser) -> String? {
        (user.email.given ?? user.name.given).map { StableUUID.from($0) }
    }

    /// The first characters of a text, no more than Rollbar takes.
    private func cut(_ text: String, to count: Int = 255) -> String { String(text.unicodeScalars.prefix(count)) }

    private func body(of report: CrashReport, time: Timestamp) -> JSONObject {
        var body = JSONObject()
        switch report.exceptions.count {
        case 0: body["message"] = ["body": .string(report.message ?? "")]
        case 1: body["trace"] = trace(report.exceptions[0])
        default: body["trace_chain"] = .array(report.exceptions.map(trace))
        }
        body.set("telemetry", report.breadcrumbs.map { telemetry($0, time: time) })
        return body
    }

    private func trace(_ exception: CrashException) -> JSONValue {
        var members: JSONObject = ["class": .string(exception.type)]
        members.set("message", exception.message)
        return ["exception": .object(members), "frames": .array(exception.frames.reversed().map(frame))]
    }

    private func frame(_ frame: CrashFrame) -> JSONValue {
        var members: JSONObject = ["filename": .string(frame.file ?? frame.module ?? "unknown")]
        members.set("method", frame.function ?? frame.address)
        members.set("lineno", frame.line)
        members.set("colno", frame.column)
        members.set("class_name", frame.module)
        return .object(members)
    }

    private func telemetry(_ breadcrumb: Breadcrumb, time: Timestamp) -> JSONValue {
        var body = breadcrumb.data
        body.displace("message", with: .string(breadcrumb.message))
        if let category = breadcrumb.category { body.displace("category", with: .string(category)) }
        let milliseconds = (breadcrumb.timestamp ?? time).nanoseconds / 1_000_000
        return [
            "level": .string(breadcrumb.level == .fatal ? "critical" : breadcrumb.level.rawValue), "type": "log",
            "source": "server", "timestamp_ms": .integer(Int64(clamping: milliseconds)), "body": .object(body),
        ]
    }
}
