// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform

/// The result of `connector-host test --certify` for a plugin: the level of exactly these bytes.
///
/// The file `conformance.json` beside the image has one certificate for each image in the folder.
package struct ConformanceCertificate: Sendable, Hashable {
    /// The name of the file.
    package static let fileName = "conformance.json"

    /// The last component of the image's path.
    package var file: String
    /// The plugin's id and version.
    package var plugin: String
    /// The SHA-256 of the image, in hexadecimal.
    package var sha256: String
    /// The level, from 1 to 10.
    package var level: Int
    /// The version of the host that checked the plugin.
    package var host: String

    /// Creates a certificate without writing it.
    package init(file: String, plugin: String, sha256: String, level: Int, host: String) {
        self.file = file
        self.plugin = plugin
        self.sha256 = sha256
        self.level = level
        self.host = host
    }

    /// The certificate of an image; nil if there is none for its bytes.
    ///
    /// - Parameter sha256: Computes the digest, only if there is a certificate of a file of this name.
    package static func of(_ path: String, sha256: () -> String?) -> ConformanceCertificate? {
        let file = path.lastPathComponent
        guard let certificate = all(beside: path).first(where: { $0.file == file }) else { return nil }
        return certificate.sha256 == sha256() ? certificate : nil
    }

    /// Writes the certificate beside an image, replacing an older one; those of other images stay.
    ///
    /// - Throws: `storage` with the system's reason, or if those of other images cannot be read and would be lost.
    package func write(beside path: String) throws(ConnectorError) {
        let target = Self.path(beside: path)
        let others = try Self.entries(of: target).filter { $0["file"]?.string != file }
        let all = (others + [json]).sorted { ($0["file"]?.string ?? "") < ($1["file"]?.string ?? "") }
        let document: JSONValue = ["version": 1, "plugins": .array(all)]
        do throws(SystemError) {
            try OutputFile.replace(target, with: Array((document.serialized(pretty: true) + "\n").utf8))
        } catch {
            throw ConnectorError(
                .storage,
                "\(target) cannot be written",
                fix: error.diskRemedy ?? "make the folder writable, or test a copy of the plugin",
                cause: error.description
            )
        }
    }

    private var json: JSONValue {
        [
            "file": .string(file), "plugin": .string(plugin), "sha256": .string(sha256),
            "level": .integer(Int64(level)),
            "host": .string(host),
        ]
    }

    /// The level and the host that found it, for JSON documents about plugins.
    package var summary: JSONValue { ["level": .integer(Int64(level)), "host": .string(host)] }

    private static func path(beside image: String) -> String { "\(image.absolutePath.parentPath)/\(fileName)" }

    /// The certificates in the folder of an image; those that cannot be read are left out.
    private static func all(beside image: String) -> [ConformanceCertificate] {
        ((try? entries(of: path(beside: image))) ?? []).compactMap { entry in
            guard let file = entry["file"]?.string, let plugin = entry["plugin"]?.string,
                let sha256 = entry["sha256"]?.string, let level = entry["level"]?.integer, (1...10).contains(level),
                let host = entry["host"]?.string
            else { return nil }
            return ConformanceCertificate(file: file, plugin: plugin, sha256: sha256, level: Int(level), host: host)
        }
    }

    /// What a file has about each image; nothing if there is no file.
    ///
    /// - Throws: `storage` if it cannot be read, or is one of another release with another version.
    private static func entries(of file: String) throws(ConnectorError) -> [JSONValue] {
        var cause: String?
        do throws(ConnectorError) {
            let bytes = try ImageBytes(path: file, limit: 1 << 20)
            let document = try JSONValue(parsing: bytes.copy(at: 0, count: bytes.count) ?? [])
            if document["version"]?.integer != 1 {
                cause = document["version"].map { "its version is \($0)" }
            } else if let entries = document["plugins"]?.array {
                return entries
            } else {
                cause = "it has no list of plugins"
            }
        } catch {
            if error.code == .notFound { return [] }
            cause = error.message
        }
        throw ConnectorError(
            .storage,
            "\(file) cannot be written, because the certificates in it cannot be read and would be lost",
            fix: "certify with the release that wrote it, or remove it",
            cause: cause
        )
    }
}
