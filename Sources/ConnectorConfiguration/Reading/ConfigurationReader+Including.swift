// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorPlatform

/// The files of a configuration read so far.
struct Inclusions {
    /// A file: the name that it is included by, and its real path.
    struct File: Hashable {
        var name: String
        var realPath: String
    }

    /// The files being read: the main file first, each included by the one before it.
    var chain: [File]
    /// The real paths of all files read so far.
    var known: Set<String>
    /// The names of the files that could not be read.
    var unread: [String] = []
    /// The real path of each name seen so far, a cache.
    var realPaths: [String: String] = [:]
    /// The number of bytes that the remaining files may have in total.
    var remainingBytes: Int
    /// Checks whether other users can modify a file; nil if that is allowed.
    var trust: FileTrust?

    /// Creates a value that lists only the main file.
    init(file: String, size: Int) {
        let main = File(name: file, realPath: file.realPath)
        chain = [main]
        known = [main.realPath]
        remainingBytes = Configuration.sizeLimit - size
    }

    /// Looks up a file by name.
    mutating func file(_ name: String) -> File {
        let realPath = realPaths[name] ?? name.realPath
        realPaths[name] = realPath
        return File(name: name, realPath: realPath)
    }
}

/// Reads the files that a file includes.
extension ConfigurationReader {
    /// The root keys allowed in every file.
    static let sharedKeys = ["version", "include", "connectors"]
    /// The root keys allowed only in the main file: they configure the host as a whole.
    static let mainKeys = [
        "name", "plugins", "state", "outbox", "trust", "reload", "isolation", "quiet", "standby", "sandbox",
    ]

    /// The root connectors of a file, then those of the files it includes, in the order of `include`.
    ///
    /// Included connectors are always at the root of the tree. So a file that two others include is read only once, and a
    /// connector's path does not depend on which file includes it.
    mutating func roots(in object: JSONObject, at root: JSONPath, names: inout [String: JSONPath]) -> [Connector] {
        let isRequired = object["include"] == nil
        let array =
            json.value("connectors", in: object, at: root, required: isRequired, kind: "an array") { $0.array } ?? []
        var result = connectors(array, at: root.appending("connectors"), under: nil, names: &names)
        json.connector = nil
        json.origin = JSONPath()
        for (path, location) in paths("include", to: "file", "files", in: object, at: root) {
            // Open no more files once the error limit is reached.
            guard json.problems.count < JSONReader.problemLimit else { break }
            result += included(path, at: location, names: &names)
        }
        return result
    }

    /// The connectors of an included file; none if the file was already read.
    private mutating func included(_ name: String, at location: JSONPath, names: inout [String: JSONPath])
        -> [Connector]
    {
        let file = inclusions.file(name)
        if let start = inclusions.chain.firstIndex(where: { $0.realPath == file.realPath }) {
            let cycle = (inclusions.chain[start...].map(\.name) + [name]).map(\.withGivenPaths.excerpt)
            json.report(
                .dependencyCycle,
                "files include each other: \(cycle.joined(separator: " → "))",
                fix: "remove one of these from \"include\"",
                at: location
            )
            return []
        }
        guard !inclusions.known.contains(file.realPath) else { return [] }
        guard let text = read(file, at: location) else { return [] }
        let value: JSONValue
        let root = json.add(text)
        do throws(ConnectorError) {
            value = try JSONValue(parsing: text.bytes, file: text.file)
        } catch {
            if json.hasRoom() { json.problems.append(error) }
            return []
        }
        let base = self.base
        self.base = BaseDirectory(of: name)
        inclusions.chain.append(file)
        defer {
            self.base = base
            inclusions.chain.removeLast()
        }
        guard let object = json.members(of: value, at: root, allowed: Self.sharedKeys + Self.mainKeys) else {
            return []
        }
        checkVersion(in: object, at: root)
        for key in Self.mainKeys where object[key] != nil {
            json.report(
                .unknownKey,
                "\"\(key)\" is allowed only in the main file, and this file is included",
                at: root.appending(key),
                .name
            )
        }
        return roots(in: object, at: root, names: &names)
    }

    /// The text of an included file; nil, with an error reported, if it cannot be read or is not trusted.
    private mutating func read(_ file: Inclusions.File, at location: JSONPath) -> JSONText? {
        guard json.texts.count < Configuration.fileLimit else {
            json.report(.tooLarge, "the configuration has more than \(Configuration.fileLimit) files", at: location)
            return nil
        }
        guard inclusions.chain.count <= Configuration.depthLimit else {
            json.report(
                .invalidValue,
                "includes nest deeper than \(Configuration.depthLimit) levels",
                at: location
            )
            return nil
        }
        do throws(ConnectorError) {
            if let concern = inclusions.trust?.concern(file.name) {
                throw ConnectorError(
                    .denied,
                    "the included file is not trusted: \(concern)",
                    fix:
                        "make this user or root the owner of the file and its parent directories, and remove write access for "
                        + "others: chmod go-w"
                )
            }
            let bytes = try SmallFile(named: file.name, limit: Configuration.sizeLimit).bytes
            inclusions.known.insert(file.realPath)
            guard bytes.count <= inclusions.remainingBytes else {
                let limit = Configuration.sizeLimit >> 10
                throw ConnectorError(
                    .tooLarge,
                    "with \(file.name.withGivenPaths.excerpt), the files exceed \(limit) KiB in total",
                    fix: "check that they are the right files"
                )
            }
            inclusions.remainingBytes -= bytes.count
            return JSONText(bytes, file: file.name)
        } catch {
            inclusions.unread.append(file.name)
            json.report(error, at: location)
            return nil
        }
    }

    /// Reads an array of paths at the root, with variables expanded and relative paths resolved.
    ///
    /// - Parameters:
    ///   - key: The array's key.
    ///   - kind: What each path refers to.
    ///   - kinds: The plural of `kind`.
    /// - Returns: The valid paths, each with its location in the file.
    mutating func paths(
        _ key: String,
        to kind: String,
        _ kinds: String,
        in object: JSONObject,
        at root: JSONPath
    ) -> [(path: String, location: JSONPath)] {
        let array = root.appending(key)
        let elements = json.value(key, in: object, at: root, kind: "an array of \(kinds)") { $0.array } ?? []
        guard elements.count <= Configuration.fileLimit else {
            json.report(.tooLarge, "\(key) names more than \(Configuration.fileLimit) \(kinds)", at: array)
            return []
        }
        var paths: [(path: String, location: JSONPath)] = []
        for (index, element) in elements.enumerated() {
            let location = array.appending(index)
            guard let text = element.string else {
                guard json.hasRoom() else { continue }
                json.report(.wrongType, "\(location) must be a string, not \(element.kind)", at: location)
                continue
            }
            guard let path = filled(text, at: location) else { continue }
            guard path.canBePath else {
                json.report(.invalidValue, "\(location) must be the path of a \(kind)", at: location)
                continue
            }
            paths.append((base.resolve(path), location))
        }
        return paths
    }
}
