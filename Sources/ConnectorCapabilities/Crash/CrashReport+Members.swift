// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension CrashReport {
    /// The members of the report that an operation takes, those that people fill in first.
    static func members(of operation: String) -> [ModelMember] {
        let levels = Level.allCases.map(\.rawValue)
        let message = ModelMember(
            "message",
            "what went wrong",
            isRequired: operation == "message",
            example: "the cart is empty"
        )
        let exceptions = ModelMember(
            "exceptions",
            "the exception, then its causes",
            .json,
            isRequired: operation == "exception",
            example: #"[{"type": "CartError", "message": "empty"}]"#
        )
        let own: [ModelMember]
        switch operation {
        case "message": own = [message]
        case "exception": own = [exceptions, message]
        default: return []
        }
        return own + [
            ModelMember("level", "how bad it is", .choice(levels)),
            ModelMember("handled", "whether the application survived; true by default", .boolean),
            ModelMember("tags", "texts to search by", .json, example: #"{"page": "cart"}"#),
            ModelMember("user", "who met it", .json, example: #"{"id": "u1"}"#),
            ModelMember("release", "the application's version", example: "1.2.0"),
            ModelMember("environment", "where it runs", example: "production"),
            ModelMember("fingerprint", "what the vendor groups reports by", .json, example: #"["cart"]"#),
            ModelMember("breadcrumbs", "what happened before, oldest first", .json),
            ModelMember("context", "further facts, grouped", .json),
            ModelMember("timestamp", "when it happened; now by default", example: "2026-01-31T09:30:00Z"),
            ModelMember("id", "a UUID; made by default"),
        ]
    }
}
