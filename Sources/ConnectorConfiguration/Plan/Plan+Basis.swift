// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorServices

extension Plan {
    /// What a plan was made from, as digests. A plan is applied only while all of them are the same.
    ///
    /// Values of variables and secrets are digests with a key that only the host has: a restarted host refuses the plan, too.
    public struct Basis: Sendable, Hashable {
        /// The digest of the configuration that runs, and more if a connector has stayed as it was before.
        public internal(set) var running: String
        /// The digests of the file and of those that it includes, by name.
        public internal(set) var files: [String: String]
        /// The fingerprints of the environment variables that the file refers to, by name.
        public internal(set) var variables: [String: String]
        /// The fingerprints of the secrets, by `PATH.FIELD`.
        public internal(set) var secrets: [String: String]
        /// The digests of the images, by file.
        public internal(set) var images: [String: String]

        /// Describes what a plan was made from.
        package init(
            running: String,
            files: [String: String],
            variables: [String: String],
            secrets: [String: String],
            images: [String: String]
        ) {
            self.running = running
            self.files = files
            self.variables = variables
            self.secrets = secrets
            self.images = images
        }

        /// Names what differs from another basis, such as `the file connectors.json`; empty if nothing does.
        public func moved(since other: Basis) -> [String] {
            var names = running == other.running ? [] : ["the configuration that runs"]
            for (kind, now, then) in [
                ("the file", files, other.files), ("the variable", variables, other.variables),
                ("the secret", secrets, other.secrets), ("the image", images, other.images),
            ] {
                names += Set(now.keys).union(then.keys).filter { now[$0] != then[$0] }.sorted().map { "\(kind) \($0)" }
            }
            return names
        }
    }
}

extension ResolvedConfiguration {
    /// The variables that the files refer to, with the fingerprints of their values; an unset one has an empty fingerprint.
    package func variables(_ fingerprint: (String) -> String) -> [String: String] {
        var names: Set<String> = []
        for text in configuration.texts {
            guard let value = try? JSONValue(parsing: text.bytes, file: text.file) else { continue }
            value.collectVariables(into: &names)
        }
        return names.reduce(into: [:]) { $0[$1] = environment[$1].map(fingerprint) ?? "" }
    }

    /// The fingerprints of the secrets of all leaves, by `PATH.FIELD`.
    package func secrets(_ fingerprint: (String) -> String) -> [String: String] {
        var result: [String: String] = [:]
        for (path, leaf) in leaves {
            for (field, secret) in (try? leaf.get())?.secrets ?? [:] {
                result["\(path).\(field)"] = fingerprint(secret.reveal())
            }
        }
        return result
    }
}

extension JSONValue {
    /// Collects the names of the variables in every text.
    fileprivate func collectVariables(into names: inout Set<String>) {
        switch self {
        case .null, .bool, .integer, .number: break
        case .string(let text):
            guard text.utf8.contains(UInt8(ascii: "$")) || text.hasPrefix("env:") else { return }
            if text.hasPrefix("env:") { names.insert(String(text.dropFirst(4))) }
            for case .variable(let name, _) in (try? Template(parsing: text))?.parts ?? [] { names.insert(name) }
        case .array(let elements): for element in elements { element.collectVariables(into: &names) }
        case .object(let object): for member in object.members { member.value.collectVariables(into: &names) }
        }
    }
}
