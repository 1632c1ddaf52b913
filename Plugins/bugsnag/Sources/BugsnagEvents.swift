// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Encodes reports as Bugsnag's events. Both list the innermost frame first.
struct BugsnagEvents {
    /// The default for reports without their own value.
    let environment: String
    /// The default for reports without their own value.
    let release: String?

    private static let breadcrumbTypes = [
        "navigation", "request", "process", "log", "user", "state", "error", "manual",
    ]

    /// Encodes a report as it appears in a request.
    func encode(_ report: CrashReport, now: Timestamp) -> [UInt8] {
        let time = "\(report.timestamp ?? now)"
        var app: JSONObject = ["releaseStage": .string(report.environment.given ?? environment)]
        app.set("version", report.release.given ?? release)
        var metadata = JSONObject()
        for member in report.context.members {
            // Every section of metadata is an object.
            metadata[member.name] = member.value.object == nil ? ["value": member.value] : member.value
        }
        let tags = JSONObject(report.tags.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
        if !tags.isEmpty { metadata.displace("tags", with: .object(tags)) }
        var section: JSONObject = ["id": .string(report.id), "level": .string(report.level.rawValue)]
        if !report.exceptions.isEmpty { section.set("message", report.message) }
        metadata.displace("report", with: .object(section))
        var event: JSONObject = [
            "payloadVersion": "4.0",
            "exceptions": .array(exceptions(of: report)),
            "severity": .string(severity(of: report.level)),
            "severityReason": ["type": report.isHandled ? "handledException" : "unhandledException"],
            "unhandled": .bool(!report.isHandled),
            "app": .object(app),
            "device": ["time": .string(time)],
            "metaData": .object(metadata),
        ]
        if let user = report.user { event["user"] = user.json }
        event.set("breadcrumbs", report.breadcrumbs.map { breadcrumb($0, time: time) })
        if !report.fingerprint.isEmpty {
            event["groupingHash"] = .string(report.fingerprint.joined(separator: "/"))
        }
        return JSONValue.object(event).utf8WithoutPlaceholders()
    }

    private func severity(of level: CrashReport.Level) -> String {
        switch level {
        case .fatal, .error: "error"
        case .warning: "warning"
        case .info, .debug: "info"
        }
    }

    /// A message becomes an exception of class `Message`, because an event needs at least one exception.
    private func exceptions(of report: CrashReport) -> [JSONValue] {
        guard !report.exceptions.isEmpty else {
            return [["errorClass": "Message", "message": .string(report.message ?? ""), "stacktrace": []]]
        }
        return report.exceptions.map { exception in
            [
                "errorClass": .string(exception.type), "message": .string(exception.message ?? ""),
                "stacktrace": .array(exception.frames.map { frame($0) }),
            ]
        }
    }

    private func frame(_ frame: CrashFrame) -> JSONValue {
        var members: JSONObject = [
            "file": .string(frame.file ?? frame.module ?? "unknown"),
            "method": .string(frame.function ?? frame.address ?? "unknown"),
            "inProject": .bool(frame.isInApplication),
        ]
        members.set("lineNumber", frame.line)
        members.set("columnNumber", frame.column)
        members.set("frameAddress", frame.address)
        return .object(members)
    }

    private func breadcrumb(_ breadcrumb: Breadcrumb, time: String) -> JSONValue {
        let category = breadcrumb.category ?? ""
        var metadata = breadcrumb.data
        metadata.displace("level", with: .string(breadcrumb.level.rawValue))
        if !category.isEmpty { metadata.displace("category", with: .string(category)) }
        return [
            "timestamp": .string(breadcrumb.timestamp.map { "\($0)" } ?? time),
            "name": .string(breadcrumb.message),
            "type": .string(Self.breadcrumbTypes.contains(category) ? category : "manual"),
            "metaData": .object(metadata),
        ]
    }
}
