// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorDigest
package import ConnectorManifest

/// The content of `connectors.json`, validated on its own but not yet against the plugins it names.
///
/// Creating a ``ConnectorHost/ConnectorHost`` from it validates it against the plugins.
public struct Configuration: Sendable {
    /// The texts of the main file and of the files it includes, in this order, to locate errors found later. A connector's
    /// location refers to one of them.
    package let texts: [JSONText]
    /// The included files that could not be read.
    var unreadFiles: [String] = []
    /// The application's name, under which `storage/1` stores its values; nil if the file has none.
    public package(set) var name: String?
    /// The directory that relative paths are resolved against.
    package let baseDirectory: BaseDirectory
    /// The paths of the plugin directories that the file lists, in order.
    package let pluginPaths: [String]
    /// The path of the directory of the outbox that the file names; nil for the default.
    package let statePath: String?
    /// The servers that store events, as named in the file; nil if a directory does.
    package var servers: NATSReference?
    /// Whether to refuse plugins and included files that other users can modify: `"trust": "strict"`. Otherwise the report warns of
    /// such plugins.
    public let requiresTrust: Bool
    /// The keys that sign plugins; empty if signatures are not checked.
    package var trustedKeys: [MinisignKey] = []
    /// The plugins that may be loaded: `connectors.lock.json` beside the file; nil if there is none.
    package var lock: PluginLock?
    /// What a reload does if a connector's successor does not open.
    public package(set) var reloadMode: ReloadMode = .atomic
    /// The connectors that were appended in Swift, which a reload of the file appends again.
    package var appended: [Connector] = []
    /// The roots of the tree, in file order; those of an included file follow those of the file that includes it.
    public let connectors: [Connector]

    /// The version of the format.
    public static let formatVersion: Int64 = 1
    /// The maximum size of a file together with all the files it includes, in bytes.
    public static let sizeLimit = 4 << 20
    /// The maximum number of files, including the main one.
    public static let fileLimit = 1000
    /// The maximum number of connectors in all files together.
    public static let connectorLimit = 32_768
    /// The maximum nesting depth of connectors, and of includes.
    public static let depthLimit = 32
}

extension Configuration {
    /// The main file's name, as the user gave it; empty if the text is not from a file.
    public var file: String { texts.first?.file ?? "" }

    /// The path by which to open the main file; empty if the text is not from a file.
    package var path: String { texts.first?.path ?? "" }

    /// The directory that relative paths are resolved against, as it was given.
    public var directory: String { baseDirectory.given }

    /// The plugin directories that the file lists, in order; relative ones start at the working directory in which it was read.
    public var pluginDirectories: [String] { pluginPaths.map(\.withGivenPaths) }

    /// The directory of the outbox that the file names, as ``pluginDirectories`` are; nil for the default.
    public var stateDirectory: String? { statePath?.withGivenPaths }

    /// The files that the main file includes, directly or indirectly, in the order they were read.
    public var includedFiles: [String] { texts.dropFirst().map(\.file).filter { !$0.isEmpty } }

    /// The directory that the relative paths in one of ``texts`` are resolved against.
    ///
    /// - Parameter text: The index of the text.
    func base(ofText text: Int) -> BaseDirectory {
        text == 0 || texts[text].path.isEmpty ? baseDirectory : BaseDirectory(of: texts[text].path)
    }

    /// Every connector in preorder, siblings in file order.
    package var allConnectors: [Connector] { connectors.selvesAndDescendants }

    /// The paths of the leaves that have a further place at a path, or below it.
    package func leaves(placedAt path: String) -> Set<String> {
        Set(allConnectors.filter { $0.path == path || $0.path.hasPrefix(path + "/") }.compactMap(\.same))
    }

    /// The other paths of each leaf that is in several places, in the order of the files.
    package var places: [String: [String]] {
        allConnectors.reduce(into: [:]) { places, connector in
            if let leaf = connector.same { places[leaf, default: []].append(connector.path) }
        }
    }

    /// The connectors with queues of their own in the outbox. An `all` has none, since its children have.
    package var queues: [Connector] {
        enabledConnectors.filter { connector in
            if case .all? = connector.policy { return false }
            return connector.same == nil && connector.delivery != nil
        }
    }

    /// The leaves to open: those enabled, with no disabled composite above them.
    package var enabledLeaves: [(connector: Connector, leaf: Connector.Leaf)] {
        connectors.reduce(into: []) { $1.addEnabledLeaves(to: &$0) }
    }
}

extension Configuration {
    /// Passes on everything that a digest of the configuration has to include: the texts of the files, and what is in no file.
    package func contents(_ add: ([UInt8]) -> Void) {
        for text in texts {
            add(text.bytes)
            add([0])
        }
        for connector in allConnectors where texts[connector.location.text].bytes.isEmpty {
            add(Array("\(connector.path) \(connector.isEnabled) \(connector.gateFields)".utf8))
            if case .leaf(let leaf) = connector.kind {
                add(Array("\(leaf.plugin)".utf8) + JSONValue.object(leaf.config).utf8())
            }
        }
    }
}
