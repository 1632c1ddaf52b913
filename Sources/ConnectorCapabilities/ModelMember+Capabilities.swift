// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension ModelMember {
    /// The members of the model that an operation's only `json` parameter takes.
    ///
    /// - Parameter capability: The capability's name and version, such as `analytics/1`.
    /// - Returns: Empty for an operation without a model, such as one of a user's own capability.
    package static func members(of operation: String, in capability: String) -> [ModelMember] {
        switch capability {
        case "analytics/1": AnalyticsEvent.Kind(rawValue: operation).map(AnalyticsEvent.members(of:)) ?? []
        case "crash/1": CrashReport.members(of: operation)
        case "database/1": operation == "query" ? DatabaseQuery.members : []
        case "geocoder/1":
            switch operation {
            case "geocode": GeocodeRequest.members
            case "reverse": ReverseRequest.members
            default: []
            }
        case "sensor/1": operation == "range" ? SensorRange.members : []
        case "files/1": operation == "createUpload" ? FileUploadRequest.members : []
        default: []
        }
    }

    /// Whether an operation's only `json` parameter takes any value, so that callers pass it whole and not member by
    /// member.
    package static func isAnyValue(of operation: String, in capability: String) -> Bool {
        capability == "settings/1" && operation == "set"
    }
}
