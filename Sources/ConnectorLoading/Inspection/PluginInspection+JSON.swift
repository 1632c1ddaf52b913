// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

extension PluginInspection {
    /// The version of the format of ``json``.
    package static let formatVersion: Int64 = 1

    /// The document that `connector-host inspect --json` prints.
    package var json: JSONValue {
        var object: JSONObject = ["version": .integer(Self.formatVersion), "path": .string(path)]
        object["sidecar"] = sidecar.map(JSONValue.string)
        object["loadable"] = .bool(problems.isEmpty)
        object["size"] = size.map { .integer(Int64($0)) }
        object["sha256"] = sha256.map(JSONValue.string)
        object["conformance"] = certificate.map(\.summary)
        object["architecture"] = architecture.map(JSONValue.string)
        object["language"] = language.map(JSONValue.string)
        object["soname"] = soname.map(JSONValue.string)
        object["swiftMetadata"] = .bool(containsSwiftMetadata)
        object["manifest"] = manifestText.flatMap { try? JSONValue(parsing: $0) }
        object["dependencies"] = .array(dependencies.map(\.json))
        object["symbolVersions"] = .array(symbolVersions.map(\.json))
        object["symbols"] = .array(symbols.map(\.json))
        object["problems"] = .array(problems.map(\.json))
        return .object(object)
    }
}

extension PluginInspection.Dependency {
    /// The object in the document of `inspect --json`.
    fileprivate var json: JSONValue {
        var object: JSONObject = ["name": .string(name), "neededBy": .string(neededBy)]
        object["path"] = path.map(JSONValue.string)
        object["loaded"] = .bool(isLoaded)
        object["missing"] = .bool(isMissing)
        return .object(object)
    }
}

extension PluginInspection.SymbolVersion {
    /// The object in the document of `inspect --json`.
    fileprivate var json: JSONValue {
        var object: JSONObject = ["library": .string(library), "version": .string(version)]
        object["present"] = isPresent.map(JSONValue.bool)
        return .object(object)
    }
}

extension PluginInspection.DeclaredSymbol {
    /// The object in the document of `inspect --json`.
    fileprivate var json: JSONValue {
        ["name": .string(name), "role": .string(role), "present": .bool(isPresent)]
    }
}
