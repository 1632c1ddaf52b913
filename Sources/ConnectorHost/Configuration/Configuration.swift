// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// What `connectors.json` says, checked for its form but not yet against the plugins that it names.
///
/// Making a ``ConnectorHost/ConnectorHost`` of it checks it against the plugins.
public struct Configuration: Sendable {
    /// The file as the user named it; empty if the text came from no file.
    public let file: String
    /// The directory that paths in the file start from.
    public let directory: String
    /// Where the file says that plugins are, in order.
    public let pluginDirectories: [String]
    /// The roots of the tree, in the order of the file.
    public let connectors: [Connector]
    /// The text itself, for the positions of what is found wrong later.
    package let text: [UInt8]

    /// The version of the format.
    public static let formatVersion: Int64 = 1
    /// How many bytes a file may have.
    public static let sizeLimit = 4 << 20
    /// How deep connectors may nest.
    public static let depthLimit = 32
}

extension Configuration {
    /// Every connector, each before its children, in the order of the file.
    package var allConnectors: [Connector] { connectors.flatMap(\.selfAndDescendants) }

    /// The leaves that are to be opened: those that are enabled themselves and in no disabled composite.
    package var enabledLeaves: [(connector: Connector, leaf: Connector.Leaf)] {
        connectors.flatMap(\.enabledLeaves)
    }
}

/// Reading.
extension Configuration {
    /// Reads a file, without looking at any plugin.
    ///
    /// - Throws: Everything that is wrong with the form of the file.
    public static func read(
        file: String,
        environment: Environment = .process
    ) throws(ConfigurationErrors) -> Configuration {
        let (configuration, problems) = examine(file: file, environment: environment)
        guard let configuration, problems.isEmpty else { throw ConfigurationErrors(problems) }
        return configuration
    }

    /// Takes the text of a file.
    ///
    /// - Parameters:
    ///   - text: JSON.
    ///   - directory: The directory that paths in the text start from.
    ///   - file: Named in the position of errors.
    ///   - environment: What `${NAME}` means in the list of plugin directories.
    /// - Throws: Everything that is wrong with its form.
    public init(
        parsing text: String,
        directory: String = ".",
        file: String = "",
        environment: Environment = .process
    ) throws(ConfigurationErrors) {
        let base = BaseDirectory(directory)
        let (configuration, problems) = Self.examine(Array(text.utf8), file: file, base: base, environment: environment)
        guard let configuration, problems.isEmpty else { throw ConfigurationErrors(problems) }
        self = configuration
    }

    /// Reads a file as far as it can be read, with everything that is wrong with it.
    package static func examine(
        file: String,
        environment: Environment
    ) -> (configuration: Configuration?, problems: [ConnectorError]) {
        do throws(ConnectorError) {
            let content = try SmallFile(reading: file, limit: sizeLimit)
            return examine(content.bytes, file: file, base: BaseDirectory(of: file), environment: environment)
        } catch {
            return (nil, [error])
        }
    }

    /// Reads a text as far as it can be read, with everything that is wrong with it.
    package static func examine(
        _ text: [UInt8],
        file: String,
        base: BaseDirectory,
        environment: Environment
    ) -> (configuration: Configuration?, problems: [ConnectorError]) {
        do throws(ConnectorError) {
            let value = try JSONValue(parsing: text, file: file)
            var reader = ConfigurationReader(text: text, file: file, base: base, environment: environment)
            let configuration = reader.configuration(value)
            return (configuration, reader.json.problems)
        } catch {
            return (nil, [error])
        }
    }
}
