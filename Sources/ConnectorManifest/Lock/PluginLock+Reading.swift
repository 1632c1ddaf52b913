// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension PluginLock {
    /// Reads the text of a lock, and collects every problem with line and column.
    ///
    /// - Returns: The lock, or nil if it has a problem; the problems; and the number of further problems left out.
    package static func read(
        _ text: [UInt8],
        file: String
    ) -> (lock: PluginLock?, problems: [ConnectorError], omitted: Int) {
        do throws(ConnectorError) {
            let value = try JSONValue(parsing: text, file: file)
            var reader = JSONReader(text: text, file: file)
            let lock = reader.lock(value, file: file)
            guard reader.problems.isEmpty else { return (nil, reader.problems.map(remedied), reader.omitted) }
            return (lock, [], 0)
        } catch {
            return (nil, [remedied(error)], 0)
        }
    }

    /// Adds the fix for a damaged lock.
    private static func remedied(_ error: ConnectorError) -> ConnectorError {
        var error = error
        error.fix =
            (error.fix.map { $0 + "; or " } ?? "")
            + "restore the file, or delete it and write it again with connector-host lock"
        return error
    }
}

extension JSONReader {
    private static let lockKeys = [
        "id", "version", "platform", "sha256", "size", "sidecar", "abi", "capabilities", "services", "optionalServices",
        "hosts", "uses", "dependencies",
    ]

    /// Reads the root of a lock.
    fileprivate mutating func lock(_ value: JSONValue, file: String) -> PluginLock {
        var lock = PluginLock(file: file)
        let root = JSONPath()
        guard let object = members(of: value, at: root, allowed: ["lock", "plugins"]) else { return lock }
        if let format = integer("lock", in: object, at: root, required: true, within: 1...Int64(UInt32.max)),
            format != PluginLock.formatVersion
        {
            report(
                .invalidValue,
                "the lock's format is \(format), this host reads \(PluginLock.formatVersion)",
                fix: "use a newer host",
                at: root.appending("lock")
            )
            return lock
        }
        let here = root.appending("plugins")
        let elements = self.value("plugins", in: object, at: root, required: true, kind: "an array") { $0.array } ?? []
        var known: [[String]: Int] = [:]
        for (index, element) in elements.enumerated() {
            guard let entry = lockedPlugin(element, at: here.appending(index)) else { continue }
            let key = [entry.id, entry.version.description, entry.platform]
            if let earlier = known[key] {
                report(
                    .duplicateName,
                    "\(entry.name) for \(entry.platform) is locked already by plugins[\(earlier)]",
                    at: here.appending(index)
                )
            }
            known[key] = index
            lock.append(entry)
        }
        lock.sort()
        return lock
    }

    private mutating func lockedPlugin(_ value: JSONValue, at path: JSONPath) -> LockedPlugin? {
        guard let object = members(of: value, at: path, allowed: Self.lockKeys) else { return nil }
        let id = string("id", in: object, at: path, required: true)
        if let id, !isIdentifier(id) {
            report(.invalidValue, "id is \"\(id.excerpt)\"; it must be \(identifierRule)", at: path.appending("id"))
        }
        let platform = string("platform", in: object, at: path, required: true)
        if let platform, !isIdentifier(platform) {
            report(
                .invalidValue,
                "platform is \"\(platform.excerpt)\"; it must be like linux-x86_64",
                at: path.appending("platform")
            )
        }
        let version = string("version", in: object, at: path, required: true).flatMap { text in
            let version = SemanticVersion(text)
            if version == nil {
                report(
                    .invalidValue,
                    "version is \"\(text.excerpt)\"; it must be like 1.2.3",
                    at: path.appending("version")
                )
            }
            return version
        }
        let abi = abi(in: object, at: path)
        let size = integer("size", in: object, at: path, required: true, within: 0...(1 << 40))
        let digest = string("sha256", in: object, at: path, required: true)
        checkDigest(digest, at: path.appending("sha256"))
        let sidecar = string("sidecar", in: object, at: path)
        checkDigest(sidecar, at: path.appending("sidecar"))
        let capabilities = lockedCapabilities(in: object, at: path)
        let uses = Set(uses(in: object, at: path, isForeign: false))
        let dependencies = texts("dependencies", in: object, at: path)
        for (name, digest) in dependencies {
            checkDigest(digest, at: path.appending("dependencies").appending(name))
        }
        let services = Set(strings("services", in: object, at: path))
        let optionalServices = Set(strings("optionalServices", in: object, at: path))
        let hosts = Set(strings("hosts", in: object, at: path))
        guard let id, let platform, let version, let abi, let size, let digest else { return nil }
        return LockedPlugin(
            id: id,
            platform: platform,
            version: version,
            abi: abi,
            size: Int(size),
            sha256: digest,
            sidecar: sidecar,
            capabilities: capabilities,
            services: services,
            optionalServices: optionalServices,
            hosts: hosts,
            uses: uses,
            dependencies: Set(dependencies.map { LockedPlugin.Dependency(name: $0.key, sha256: $0.value) })
        )
    }

    /// Reports a text that is not a SHA-256 in lower-case hexadecimal.
    private mutating func checkDigest(_ text: String?, at path: JSONPath) {
        guard let text, text.utf8.count != 64 || !text.utf8.allSatisfy(\.isLowercaseHexDigit) else { return }
        report(.invalidValue, "\(name(of: path)) must be 64 digits in lower-case hexadecimal", at: path)
    }

    /// Reads an object of texts by name.
    private mutating func texts(_ name: String, in object: JSONObject, at path: JSONPath) -> [String: String] {
        let here = path.appending(name)
        var texts: [String: String] = [:]
        for member in self.object(name, in: object, at: path)?.members ?? [] {
            guard let text = member.value.string else {
                guard hasRoom() else { continue }
                let here = here.appending(member.name)
                report(.wrongType, "\(self.name(of: here)) must be a string, not \(member.value.kind)", at: here)
                continue
            }
            texts[member.name] = text
        }
        return texts
    }

    private mutating func lockedCapabilities(in object: JSONObject, at path: JSONPath) -> [String: [String: Signature]]
    {
        let here = path.appending("capabilities")
        let members = self.value("capabilities", in: object, at: path, required: true, kind: "an object") { $0.object }
        var capabilities: [String: [String: Signature]] = [:]
        for capability in members?.members ?? [] {
            let place = here.appending(capability.name)
            guard let operations = capability.value.object else {
                report(.wrongType, "\(name(of: place)) must be an object, not \(capability.value.kind)", at: place)
                continue
            }
            capabilities[capability.name] = [:]
            for operation in operations.members where hasRoom() {
                let place = place.appending(operation.name)
                do throws(ConnectorError) {
                    let signature = try Signature(parsing: operation.value.string ?? "")
                    capabilities[capability.name]?[operation.name] = signature
                } catch {
                    report(.invalidValue, "\(name(of: place)) is not a signature: \(error.message)", at: place)
                }
            }
        }
        return capabilities
    }
}
