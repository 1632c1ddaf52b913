// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A request to begin an upload: the path and media type of the file, and the condition for the put.
///
/// ```json
/// {"path": "reports/2026.pdf", "contentType": "application/pdf", "ifAbsent": true}
/// ```
public struct FileUploadRequest: Sendable, Hashable {
    /// The path: see ``FilePathRule``.
    public var path: String
    /// The media type, at most 255 printable ASCII characters; nil if unknown.
    public var contentType: String?
    /// The condition that the path must meet when the upload completes.
    public var condition: FileCondition

    /// Creates a request.
    public init(_ path: String, contentType: String? = nil, condition: FileCondition = .any) {
        self.path = path
        self.contentType = contentType
        self.condition = condition
    }

    /// Reads a request.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` for a path or media type that breaks the rules, for any unknown member, and for two
    ///   conditions at once.
    public init(json: JSONValue, path: String = "file") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        try reader.checkNames(Self.members.map(\.name))
        self.init(try reader.requiredString("path"), contentType: try reader.string("contentType"))
        try FilePathRule.check(self.path)
        if let contentType, !Self.isContentType(contentType) {
            throw ConnectorError(
                .invalid,
                "\(path).contentType must be a media type such as text/plain, not \"\(contentType.prefix(40))\""
            )
        }
        if let tag = try reader.string("ifTag") {
            guard !tag.isEmpty else { throw ConnectorError(.invalid, "\(path).ifTag is empty; a tag never is") }
            condition = .tag(tag)
        }
        if try reader.bool("ifAbsent") ?? false {
            guard condition == .any else {
                throw ConnectorError(.invalid, "\(path) has both ifAbsent and ifTag, which exclude each other")
            }
            condition = .absent
        }
    }

    /// Whether text may be a media type: printable ASCII with something on both sides of a slash.
    private static func isContentType(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1)
        return parts.count == 2 && text.utf8.count <= 255 && text.utf8.allSatisfy(\.isPrintable)
    }

    /// The JSON form that `createUpload` takes.
    public var json: JSONValue {
        var object: JSONObject = ["path": .string(path)]
        object.set("contentType", contentType)
        switch condition {
        case .any: break
        case .absent: object["ifAbsent"] = true
        case .tag(let tag): object.set("ifTag", tag)
        }
        return .object(object)
    }

    /// The members of a request, most commonly used first.
    static let members = [
        ModelMember("path", "where the file will be", isRequired: true, example: "reports/2026.pdf"),
        ModelMember("contentType", "the media type", example: "application/pdf"),
        ModelMember("ifAbsent", "whether there must be no file yet", .boolean),
        ModelMember("ifTag", "the tag that the file there must have"),
    ]
}

/// An upload that has begun, which is not visible until it completes.
///
/// ```json
/// {"upload": "0197f0c2-9a51-7c3e-8c1f-3f1d5f8e2a10", "partSize": 1048576}
/// ```
public struct FileUpload: Sendable, Hashable {
    /// The upload's id, unique within its gate.
    public var id: String
    /// The size of every part but the last, in bytes: 1 to ``FileEntry/partLimit``.
    public var partSize: Int

    /// Creates an upload.
    public init(id: String, partSize: Int) {
        self.id = id
        self.partSize = partSize
    }

    /// Reads an upload.
    public init(json: JSONValue, path: String = "upload") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        id = try reader.requiredString("upload")
        guard let size = try reader.integer("partSize", within: 1...FileEntry.partLimit) else {
            throw ConnectorError(.invalid, "\(path).partSize is missing")
        }
        partSize = size
    }

    /// The operations of uploads.
    package static let operations: Set = ["createUpload", "uploadPart", "completeUpload", "abortUpload"]

    /// The JSON form that `createUpload` returns.
    public var json: JSONValue { ["upload": .string(id), "partSize": .integer(Int64(partSize))] }
}
