// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest

/// The content of `generated/host.json`: the project's properties, the release of its host, and the digest of each file that the host
/// wrote.
package struct ProjectRecord: Sendable {
    /// The path of the record in a project.
    static let path = "generated/host.json"

    /// The project.
    package let project: Project
    /// The release of the host that wrote the files.
    package let version: String
    /// The digests of the files as the host wrote them, by path.
    let digests: [String: String]

    /// Records the generated files of a project.
    init(_ project: Project, version: String, _ files: [ProjectFile]) {
        self.project = project
        self.version = version
        digests = Dictionary(files.filter(\.isGenerated).map { ($0.path, $0.digest) }, uniquingKeysWith: { $1 })
    }

    /// Reads a record.
    init(parsing text: String, file: String) throws(ConnectorError) {
        let json = try JSONValue(parsing: text, file: file)
        guard json["record"]?.number == 1, let name = json["name"]?.string,
            let language = json["language"]?.string.flatMap(ProjectLanguage.init(rawValue:)),
            let capability = json["capability"]?.string, let url = json["url"]?.string,
            let version = json["host"]?.string, SemanticVersion(version) != nil, let files = json["files"]?.object
        else {
            throw ConnectorError(
                .invalidValue,
                "\(file) was not written by this host, or was edited",
                fix: "take it from the project's history, or create the project again and copy your source"
            )
        }
        project = try Project(
            name: name,
            language: language,
            capability: capability,
            url: url,
            kit: json["kit"]?.string ?? ""
        )
        self.version = version
        digests = Dictionary(
            files.members.compactMap { member in member.value.string.map { (member.name, $0) } },
            uniquingKeysWith: { $1 }
        )
    }

    /// The record as a file.
    var file: ProjectFile {
        var object: JSONObject = [
            "record": 1, "host": .string(version), "name": .string(project.name),
            "language": .string(project.language.rawValue), "capability": .string(project.capability),
            "url": .string(project.url),
        ]
        if !project.kit.isEmpty { object["kit"] = .string(project.kit) }
        let files = digests.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
        object["files"] = .object(JSONObject(files))
        return ProjectFile(path: Self.path, text: JSONValue.object(object).serialized(pretty: true) + "\n")
    }
}
