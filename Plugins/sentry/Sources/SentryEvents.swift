// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Encodes reports as Sentry's events (develop.sentry.dev/sdk/data-model/event-payloads), which list the root cause
/// first and, in a stack, the outermost caller first.
struct SentryEvents {
    /// The name of this client in events.
    static let sdk: JSONValue = ["name": "connector-host", "version": "1.0.0"]

    /// The default for reports without their own value.
    let environment: String
    /// The default for reports without their own value.
    let release: String?

    /// Encodes a report as it appears in an envelope.
    func encode(_ report: CrashReport, now: Timestamp) -> [UInt8] {
        var event: JSONObject = [
            "event_id": .string(report.id),
            "timestamp": .string("\(report.timestamp ?? now)"),
            "platform": "other",
            "level": .string(report.level.rawValue),
            "environment": .string(report.environment.given ?? environment),
            "sdk": Self.sdk,
        ]
        event.set("release", report.release.given ?? release)
        if let message = report.message {
            event["logentry"] = ["message": .string(message), "formatted": .string(message)]
        }
        if !report.exceptions.isEmpty { event["exception"] = ["values": exceptions(of: report)] }
        event.set("tags", JSONObject(report.tags.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
        if let user = report.user { event["user"] = .object(members(of: user)) }
        if !report.breadcrumbs.isEmpty {
            event["breadcrumbs"] = ["values": .array(report.breadcrumbs.map { .object(members(of: $0)) })]
        }
        event.set("fingerprint", report.fingerprint.map { .string($0) })
        // Contexts are objects; other values go into `extra`.
        let groups = report.context.members.filter { $0.value.object != nil }
        let others = report.context.members.filter { $0.value.object == nil }
        event.set("contexts", JSONObject(groups.map { ($0.name, $0.value) }))
        event.set("extra", JSONObject(others.map { ($0.name, $0.value) }))
        return JSONValue.object(event).utf8()
    }

    private func exceptions(of report: CrashReport) -> JSONValue {
        let values = report.exceptions.enumerated().map { index, exception -> JSONValue in
            var mechanism: JSONObject = [
                "type": index == 0 ? "generic" : "chained", "handled": .bool(report.isHandled),
                "exception_id": .integer(Int64(index)),
            ]
            if index > 0 { mechanism["parent_id"] = .integer(Int64(index - 1)) }
            var value: JSONObject = ["type": .string(exception.type), "mechanism": .object(mechanism)]
            value["value"] = .string(exception.message ?? "")
            if !exception.frames.isEmpty {
                value["stacktrace"] = ["frames": .array(exception.frames.reversed().map { .object(members(of: $0)) })]
            }
            return .object(value)
        }
        return .array(values.reversed())
    }

    private func members(of frame: CrashFrame) -> JSONObject {
        var members = JSONObject()
        members.set("function", frame.function)
        members.set("module", frame.module)
        members.set("filename", frame.file)
        members.set("lineno", frame.line)
        members.set("colno", frame.column)
        members.set("instruction_addr", frame.address)
        members["in_app"] = .bool(frame.isInApplication)
        return members
    }

    private func members(of user: CrashUser) -> JSONObject {
        var members = JSONObject()
        members.set("id", user.id)
        members.set("email", user.email)
        members.set("username", user.name)
        return members
    }

    private func members(of breadcrumb: Breadcrumb) -> JSONObject {
        var members: JSONObject = [
            "message": .string(breadcrumb.message), "level": .string(breadcrumb.level.rawValue), "type": "default",
        ]
        members.set("timestamp", breadcrumb.timestamp)
        members.set("category", breadcrumb.category)
        members.set("data", breadcrumb.data)
        return members
    }
}
