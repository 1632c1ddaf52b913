// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorPlatform

/// The files of a configuration that were read so far.
struct Inclusions {
    /// A file by the name that it is included by, and by the one that it has wherever it is included from.
    struct File: Hashable {
        var name: String
        var realPath: String
    }

    /// The files being read: the main one, then each that the one before it includes.
    var chain: [File]
    /// The real paths of all files read so far.
    var known: Set<String>
    /// The real paths of the names seen so far, so that each is looked up once.
    var realPaths: [String: String] = [:]
    /// How many bytes the files still to be read may have together.
    var room: Int
    /// Tells who could change a file; nil unless that is a fault.
    var trust: FileTrust?

    /// Starts with the main file.
    init(file: String, size: Int) {
        let main = File(name: file, realPath: file.realPath)
        chain = [main]
        known = [main.realPath]
        room = Configuration.sizeLimit - size
    }

    /// The file of a name.
    mutating func file(_ name: String) -> File {
        let realPath = realPaths[name] ?? name.realPath
        realPaths[name] = realPath
        return File(name: name, realPath: realPath)
    }
}

/// Reads the files that a file includes.
extension ConfigurationReader {
    /// The keys of the root that every file may have.
    static let sharedKeys = ["version", "include", "connectors"]
    /// The keys of the root that only the main file may have: they say how the host runs as a whole.
    static let mainKeys = ["name", "plugins", "state", "outbox", "trust"]

    /// The connectors at the root of a file, then those of the files it includes, in the order in which it names them.
    ///
    /// Included connectors stand at the root of the tree whichever file includes them. So a file that two others include needs
    /// to be read only once, and the path of a connector does not depend on who includes it.
    mutating func roots(in object: JSONObject, at root: JSONPath, names: inout [String: JSONPath]) -> [Connector] {
        let isRequired = object["include"] == nil
        let array =
            json.value("connectors", in: object, at: root, required: isRequired, kind: "an array") { $0.array } ?? []
        var result = connectors(array, at: root.appending("connectors"), under: nil, names: &names)
        json.connector = nil
        json.origin = JSONPath()
        for (path, place) in paths("include", to: "file", "files", in: object, at: root) {
            // Beyond the limit of faults, no further file is opened.
            guard json.problems.count < JSONReader.problemLimit else { break }
            result += included(path, at: place, names: &names)
        }
        return result
    }

    /// The connectors of an included file; none if it was read before.
    private mutating func included(_ name: String, at place: JSONPath, names: inout [String: JSONPath]) -> [Connector] {
        let file = inclusions.file(name)
        if let start = inclusions.chain.firstIndex(where: { $0.realPath == file.realPath }) {
            let circle = (inclusions.chain[start...].map(\.name) + [name]).map(\.excerpt)
            json.report(
                .dependencyCycle,
                "files include each other: \(circle.joined(separator: " → "))",
                fix: "remove one of these from \"include\"",
                at: place
            )
            return []
        }
        guard !inclusions.known.contains(file.realPath) else { return [] }
        guard let text = read(file, at: place) else { return [] }
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
                "\"\(key)\" belongs to the main file, and this one is included",
                at: root.appending(key),
                .name
            )
        }
        return roots(in: object, at: root, names: &names)
    }

    /// The text of an included file; nil, with an error, if it may not be read.
    private mutating func read(_ file: Inclusions.File, at place: JSONPath) -> JSONText? {
        guard json.texts.count < Configuration.fileLimit else {
            json.report(.tooLarge, "there are more than \(Configuration.fileLimit) files", at: place)
            return nil
        }
        guard inclusions.chain.count <= Configuration.depthLimit else {
            json.report(
                .invalidValue,
                "files include each other deeper than \(Configuration.depthLimit) levels",
                at: place
            )
            return nil
        }
        do throws(ConnectorError) {
            if let concern = inclusions.trust?.concern(file.name) {
                throw ConnectorError(
                    .denied,
                    "the included file is not trusted: \(concern)",
                    fix:
                        "give it and the directories that lead to it to this user or to root, and let nobody else write "
                        + "them: chmod go-w"
                )
            }
            let bytes = try SmallFile(reading: file.name, limit: Configuration.sizeLimit).bytes
            inclusions.known.insert(file.realPath)
            guard bytes.count <= inclusions.room else {
                let limit = Configuration.sizeLimit >> 10
                throw ConnectorError(
                    .tooLarge,
                    "with \(file.name.excerpt), the files have more than \(limit) KiB together"
                )
            }
            inclusions.room -= bytes.count
            return JSONText(bytes, file: file.name)
        } catch {
            json.report(error, at: place)
            return nil
        }
    }

    /// The paths in an array of the root, with their variables filled in and relative to the process, each with its place.
    ///
    /// - Parameters:
    ///   - key: The array's key.
    ///   - kind: What each path leads to.
    ///   - kinds: The plural of `kind`.
    mutating func paths(
        _ key: String,
        to kind: String,
        _ kinds: String,
        in object: JSONObject,
        at root: JSONPath
    ) -> [(path: String, place: JSONPath)] {
        let array = root.appending(key)
        let elements = json.value(key, in: object, at: root, kind: "an array of \(kinds)") { $0.array } ?? []
        guard elements.count <= Configuration.fileLimit else {
            json.report(.tooLarge, "\(key) names more than \(Configuration.fileLimit) \(kinds)", at: array)
            return []
        }
        var paths: [(path: String, place: JSONPath)] = []
        for (index, element) in elements.enumerated() {
            let place = array.appending(index)
            guard let text = element.string else {
                guard json.hasRoom() else { continue }
                json.report(.wrongType, "\(place) must be a string, not \(element.kind)", at: place)
                continue
            }
            guard let path = variables.filled(text, at: place, reporting: &json)?.text else { continue }
            guard !path.isEmpty, !path.utf8.contains(0), path.utf8.count <= Self.pathLimit else {
                json.report(.invalidValue, "\(place) does not name a \(kind)", at: place)
                continue
            }
            paths.append((base.resolve(path), place))
        }
        return paths
    }
}
