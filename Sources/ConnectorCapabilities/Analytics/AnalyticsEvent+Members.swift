// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension AnalyticsEvent {
    /// The members of an event, those that people fill in first.
    static func members(of kind: Kind) -> [ModelMember] {
        let user = ModelMember(
            "userId",
            kind == .alias ? "the identity from now on" : "the user's id; this or anonymousId",
            isRequired: kind == .alias,
            example: "u1"
        )
        let anonymous = ModelMember("anonymousId", "the id of a user whom the application does not know yet")
        let name = ModelMember("name", "the name of the \(kind.rawValue)", example: "Settings")
        let category = ModelMember("category", "the category of the \(kind.rawValue)")
        let properties = ModelMember("properties", "facts about it", .json, example: #"{"total": 9.5}"#)
        let traits = ModelMember(
            "traits",
            "facts about the \(kind == .group ? "group" : "user")",
            .json,
            example: #"{"plan": "free"}"#
        )
        let own: [ModelMember] =
            switch kind {
            case .track:
                [
                    ModelMember("event", "what the user did", isRequired: true, example: "Order Completed"),
                    user, anonymous, properties,
                ]
            case .identify: [user, anonymous, traits]
            case .page, .screen: [name, category, user, anonymous, properties]
            case .group:
                [ModelMember("groupId", "the group's id", isRequired: true, example: "g1"), user, anonymous, traits]
            case .alias:
                [user, ModelMember("previousId", "the identity until now", isRequired: true, example: "a1")]
            }
        return own + [
            ModelMember("context", "facts about the device and the application", .json),
            ModelMember("timestamp", "when it happened; now by default", example: "2026-01-31T09:30:00Z"),
            ModelMember("messageId", "the vendors' key to recognise a repetition; made by default"),
        ]
    }
}
