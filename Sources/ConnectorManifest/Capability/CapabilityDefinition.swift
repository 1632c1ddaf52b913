// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The contract of a capability, which all its plugins implement: its operations and their signatures.
///
/// Host, kit, manifests and documentation all read this one definition. A user's own capability is
/// defined by its plugin's manifest.
public struct CapabilityDefinition: Sendable, Hashable {
    /// The capability's name and version, such as `geocoder/1`.
    public var id: String
    /// A one-sentence description for readers.
    public var documentation: String
    /// Every operation, in the order of the documentation.
    public var operations: [OperationDefinition]

    /// One operation that a plugin of the capability may implement.
    public struct OperationDefinition: Sendable, Hashable {
        /// The name that calls use.
        public var name: String
        /// The only signature that a plugin may declare for it.
        public var signature: String
        /// A one-sentence description for readers.
        public var documentation: String
        /// Whether the outbox delivers the operation's events.
        public var isDelivered = false
        /// Whether a call has no effect: it only reads.
        public var isSafe = false
        /// The data that a call destroys, in a few words; nil if none.
        package var loss: String?
    }

    /// - Parameters:
    ///   - delivered: The operations whose events the outbox delivers.
    ///   - safe: The operations that only read.
    ///   - losses: The data that calls of some operations destroy.
    private init(
        _ id: String,
        _ documentation: String,
        delivered: [String] = [],
        safe: [String] = [],
        losses: [String: String] = [:],
        _ operations: [(String, String, String)]
    ) {
        self.id = id
        self.documentation = documentation
        self.operations = operations.map { name, signature, documentation in
            OperationDefinition(
                name: name,
                signature: signature,
                documentation: documentation,
                isDelivered: delivered.contains(name),
                isSafe: safe.contains(name),
                loss: losses[name]
            )
        }
    }

    /// The definition of a capability; nil for a user's own.
    public static func standard(_ id: CapabilityID) -> CapabilityDefinition? {
        all.first { $0.id == id.description }
    }

    /// Every capability that the project defines.
    public static let all: [CapabilityDefinition] = [analytics, crash, database, geocoder, settings, sensor, files]

    /// User behavior, in the terms of the Segment specification.
    public static let analytics = CapabilityDefinition(
        "analytics/1",
        "What users do: events, identities, pages and groups.",
        delivered: ["track", "identify", "screen", "page", "group", "alias"],
        [
            ("track", "(event: json) async", "Records that a user did something."),
            ("identify", "(event: json) async", "Ties a user to an identity and traits."),
            ("screen", "(event: json) async", "Records that a user saw a screen of an application."),
            ("page", "(event: json) async", "Records that a user saw a page of a site."),
            ("group", "(event: json) async", "Puts a user into a group with traits."),
            ("alias", "(event: json) async", "Joins two identities of one user."),
            ("deliver", "(events: json) async -> json", "Delivers a batch of events and answers for each one."),
            ("flush", "() async", "Sends everything that the adapter still holds."),
        ]
    )

    /// Failures of an application.
    public static let crash = CapabilityDefinition(
        "crash/1",
        "What goes wrong: exceptions and messages.",
        delivered: ["exception", "message"],
        [
            ("exception", "(report: json) async -> json", "Reports an exception with its stack and causes."),
            ("message", "(report: json) async -> json", "Reports a message with a level."),
            ("deliver", "(reports: json) async -> json", "Delivers a batch of reports and answers for each one."),
            ("flush", "() async", "Sends everything that the adapter still holds."),
        ]
    )

    /// Records in collections.
    public static let database = CapabilityDefinition(
        "database/1",
        "Records, which are JSON objects, in collections.",
        safe: ["get", "query"],
        losses: ["replace": "The current record is lost.", "delete": "The record is lost."],
        [
            ("create", "(collection: string, record: json, id: string?) async -> json", "Stores a new record."),
            ("get", "(collection: string, id: string) async -> json", "Reads a record."),
            (
                "replace", "(collection: string, id: string, record: json, version: string?) async -> json",
                "Replaces a record, if it still has the version."
            ),
            (
                "update", "(collection: string, id: string, record: json, version: string?) async -> json",
                "Merges members into a record, if it still has the version."
            ),
            (
                "delete", "(collection: string, id: string, version: string?) async",
                "Removes a record, if it still has the version."
            ),
            (
                "query", "(collection: string, query: json) async -> json",
                "Finds records by filter, in order, in pages."
            ),
        ]
    )

    /// Places and coordinates.
    public static let geocoder = CapabilityDefinition(
        "geocoder/1",
        "Places by name, and names by coordinate.",
        safe: ["geocode", "reverse"],
        [
            ("geocode", "(request: json) async -> json", "Finds places by free text or by the parts of an address."),
            ("reverse", "(request: json) async -> json", "Finds what is at a coordinate."),
        ]
    )

    /// Values by key.
    public static let settings = CapabilityDefinition(
        "settings/1",
        "Settings, which are JSON values by key, with the event settings-changed for each change.",
        safe: ["get", "list"],
        losses: ["remove": "The value is lost."],
        [
            ("get", "(key: string) async -> json", "Reads a setting; null if it has no value."),
            ("set", "(key: string, value: json) async", "Sets the value of a setting."),
            ("remove", "(key: string) async", "Removes a setting's value; its default remains."),
            ("list", "(prefix: string?) async -> json", "Reads every setting whose key starts with the prefix."),
            ("change", "(changes: json) async", "Changes several settings, all or none; null removes one."),
        ]
    )

    /// Measurements.
    public static let sensor = CapabilityDefinition(
        "sensor/1",
        "Readings with unit, time and quality, with the event sensor-readings for new ones.",
        safe: ["latest", "range"],
        [
            ("latest", "(sensor: string?) async -> json", "Reads the newest reading of each sensor, or of one."),
            ("range", "(range: json) async -> json", "Reads the readings of a sensor between two moments."),
        ]
    )

    /// Files.
    public static let files = CapabilityDefinition(
        "files/1",
        "Files by path, put and read in parts of at most 8 MiB.",
        safe: ["head", "list", "get"],
        losses: [
            "completeUpload": "The file that is at the path, if any, is lost.",
            "remove": "The file is lost.",
            "copy": "The file that is at the destination, if any, is lost.",
        ],
        [
            ("head", "(path: string) async -> json", "Reads what the store knows of a file, without its content."),
            (
                "list", "(prefix: string?, after: string?, limit: u32?) async -> json",
                "Lists the files whose paths start with the prefix, in the order of their paths, in pages."
            ),
            (
                "get", "(path: string, offset: u64, count: u32, tag: string?) async -> bytes",
                "Reads a part of a file, if it still has the tag; nothing after its end."
            ),
            (
                "createUpload", "(file: json) async -> json",
                "Begins to put a file, which is not visible until the upload completes."
            ),
            (
                "uploadPart", "(upload: string, offset: u64, content: bytes) async",
                "Adds a part, the next one, or the last one again."
            ),
            (
                "completeUpload", "(upload: string, size: u64, digest: string?) async -> json",
                "Puts the file where it belongs, if it has the size and the SHA-256, and the condition is met."
            ),
            (
                "abortUpload", "(upload: string) async",
                "Ends an upload without a file, such as one that could not be completed; an unknown one has ended."
            ),
            ("remove", "(path: string) async", "Removes a file; it is not an error if there is none."),
            ("copy", "(source: string, destination: string) async -> json", "Copies a file within the store."),
        ]
    )
}
