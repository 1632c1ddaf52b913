// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The content of `connectors.json`, checked for its form but not yet against the plugins it names.
///
/// Making a ``ConnectorHost/ConnectorHost`` from it checks it against the plugins.
public struct Configuration: Sendable {
    /// The file as the user named it; empty for a text without a file.
    public let file: String
    /// The application's name, by which `storage/1` keeps its values apart from those of others; nil if the file has none.
    public package(set) var name: String?
    /// The directory where relative paths start.
    public let directory: String
    /// The directories with plugins that the file lists, in order.
    public let pluginDirectories: [String]
    /// The directory of the outbox, as the file names it; nil for the usual one.
    public let stateDirectory: String?
    /// The servers that keep the events, as the file names them; nil for the directory.
    package var servers: NATSReference?
    /// Whether a plugin that others could change is refused: `"trust": "strict"`. Otherwise it is a warning in the report.
    public let requiresTrust: Bool
    /// The roots of the tree, in the order of the file.
    public let connectors: [Connector]
    /// The text itself, to locate faults found later.
    package let text: [UInt8]

    /// The version of the format.
    public static let formatVersion: Int64 = 1
    /// The largest file, in bytes.
    public static let sizeLimit = 4 << 20
    /// The most connectors of a file.
    public static let connectorLimit = 32_768
    /// The deepest nesting of connectors.
    public static let depthLimit = 32
}

extension Configuration {
    /// Every connector, each before its children, in the order of the file.
    package var allConnectors: [Connector] { connectors.selvesAndDescendants }

    /// The leaves to open: enabled ones outside disabled composites.
    package var enabledLeaves: [(connector: Connector, leaf: Connector.Leaf)] {
        connectors.reduce(into: []) { $1.addEnabledLeaves(to: &$0) }
    }
}

/// Reading.
extension Configuration {
    /// Reads a file without looking at any plugin.
    ///
    /// - Throws: Every fault in the form of the file.
    public static func read(
        file: String,
        environment: Environment = .process
    ) throws(ConfigurationErrors) -> Configuration {
        let (configuration, problems, omitted) = examine(file: file, environment: environment)
        guard let configuration, problems.isEmpty else { throw ConfigurationErrors(problems, omitted: omitted) }
        return configuration
    }

    /// Reads the text of a file.
    ///
    /// - Parameters:
    ///   - text: JSON.
    ///   - directory: The directory where relative paths start.
    ///   - file: The name of the file in errors.
    ///   - environment: The variables that `${NAME}` reads in the list of plugin directories.
    /// - Throws: Every fault in the form of the text.
    public init(
        parsing text: String,
        directory: String = ".",
        file: String = "",
        environment: Environment = .process
    ) throws(ConfigurationErrors) {
        let base = BaseDirectory(directory)
        let (configuration, problems, omitted) = Self.examine(
            Array(text.utf8),
            file: file,
            base: base,
            environment: environment
        )
        guard let configuration, problems.isEmpty else { throw ConfigurationErrors(problems, omitted: omitted) }
        self = configuration
    }

    /// A configuration as far as it can be read, its faults, and how many further ones were found.
    package typealias Examination = (configuration: Configuration?, problems: [ConnectorError], omitted: Int)

    /// Reads as much of a file as possible, and collects every fault.
    package static func examine(
        file: String,
        environment: Environment
    ) -> Examination {
        do throws(ConnectorError) {
            let content = try SmallFile(reading: file, limit: sizeLimit)
            return examine(content.bytes, file: file, base: BaseDirectory(of: file), environment: environment)
        } catch {
            return (nil, [error], 0)
        }
    }

    /// Reads as much of a text as possible, and collects every fault.
    package static func examine(
        _ text: [UInt8],
        file: String,
        base: BaseDirectory,
        environment: Environment
    ) -> Examination {
        do throws(ConnectorError) {
            let value = try JSONValue(parsing: text, file: file)
            var reader = ConfigurationReader(text: text, file: file, base: base, environment: environment)
            let configuration = reader.configuration(value)
            return (configuration, reader.json.problems, reader.json.omitted)
        } catch {
            return (nil, [error], 0)
        }
    }
}
