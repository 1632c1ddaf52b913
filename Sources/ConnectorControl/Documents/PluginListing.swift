// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorHost
package import ConnectorLoading
internal import ConnectorManifest

/// The files in the plugin directories, and the problems that prevent each from loading: the document of
/// `connector-host plugins --json`.
package struct PluginListing: Sendable {
    /// The directories searched.
    package let directories: [String]
    /// The files found.
    package let entries: [PluginEntry]
    /// For each file, the problems that prevent it from loading.
    package let problems: [[ConnectorError]]
    /// For each file, the certificate of its bytes; nil if it has none.
    package let certificates: [ConformanceCertificate?]
    /// For each file, warnings about other users who could modify it.
    package let warnings: [[String]]
    /// The directories in which no plugin can be found, with the reason.
    package let directoryWarnings: [String]
    /// The images that the host's process has loaded; nil if no host runs.
    package var images: [HeldImages]?

    /// Checks the files of a catalog as the loader would. Reads the files, which blocks the calling thread.
    ///
    /// - Parameter admission: The lock and the keys of the host; it admits every file unless told otherwise.
    package init(_ catalog: PluginCatalog, admission: PluginAdmission = PluginAdmission()) {
        directories = catalog.directories
        entries = catalog.entries
        directoryWarnings = catalog.warnings
        let inspections = catalog.entries.map {
            $0.candidate == nil ? nil : PluginInspection(path: $0.sidecar ?? $0.path)
        }
        problems = zip(catalog.entries, inspections).map { Self.problems(of: $0, $1, in: catalog, admission) }
        certificates = inspections.map { $0?.certificate }
        warnings = catalog.entries.map { PluginTrust.concerns($0, within: catalog.directories, catalog.trust) }
    }

    /// The problems that prevent a file from loading, which include another file with the same plugin.
    private static func problems(
        of entry: PluginEntry,
        _ inspection: PluginInspection?,
        in catalog: PluginCatalog,
        _ admission: PluginAdmission
    ) -> [ConnectorError] {
        guard let candidate = entry.candidate, let inspection else { return entry.errors }
        var problems = inspection.problems
        do throws(ConnectorError) {
            _ = try catalog.find(candidate.manifest.id, version: candidate.manifest.version)
        } catch {
            problems.append(error)
        }
        if problems.isEmpty, let refusal = admission.problem(of: candidate) { problems.append(refusal) }
        return problems
    }

    /// The document.
    package var json: JSONValue {
        var object: JSONObject = [
            "version": 1,
            "directories": .array(directories.map(JSONValue.string)),
            "plugins": .array(entries.indices.map(json(at:))),
        ]
        if !directoryWarnings.isEmpty { object["warnings"] = .array(directoryWarnings.map(JSONValue.string)) }
        object["loaded"] = images.map { .array($0.map(\.json)) }
        return .object(object)
    }

    /// The document of the images that a host's process has loaded, without the files in the plugin directories.
    package static func document(of images: [HeldImages]) -> JSONValue {
        ["version": 1, "loaded": .array(images.map(\.json))]
    }

    /// Reads the images that a host's process has loaded from a document; nil if the document has none.
    package static func images(json: JSONValue) -> [HeldImages]? {
        json["loaded"]?.array?.compactMap(HeldImages.init(json:))
    }

    private func json(at index: Int) -> JSONValue {
        let (entry, problems) = (entries[index], problems[index])
        var object = JSONObject()
        object["path"] = .string(entry.path.withGivenPaths)
        object["sidecar"] = entry.sidecar.map { .string($0.withGivenPaths) }
        object["usable"] = .bool(problems.isEmpty)
        if let manifest = entry.manifest {
            object["id"] = .string(manifest.id)
            object["version"] = .string(manifest.version.description)
            object["documentation"] = .string(manifest.documentation)
            object["language"] = manifest.language.map(JSONValue.string)
            object["capabilities"] = .array(manifest.capabilities.map { .string($0.id.description) })
        }
        object["conformance"] = certificates[index].map(\.summary)
        object["error"] = problems.first.map(\.json)
        if problems.count > 1 { object["problems"] = .array(problems.map(\.json)) }
        if !warnings[index].isEmpty { object["warnings"] = .array(warnings[index].map(JSONValue.string)) }
        return .object(object)
    }
}
