// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The content of `connectors.json`, checked for its form but not yet against the plugins it names.
///
/// Making a ``ConnectorHost/ConnectorHost`` from it checks it against the plugins.
public struct Configuration: Sendable {
    /// The texts that were read, for the positions of faults found later: the main file, then those it includes. A connector's
    /// location says in which of them it stands.
    package let texts: [JSONText]
    /// The application's name, under which `storage/1` keeps its values; nil if the file has none.
    public package(set) var name: String?
    /// The directory where relative paths start.
    public let directory: String
    /// The directories with plugins that the file lists, in order.
    public let pluginDirectories: [String]
    /// The directory of the outbox, as the file names it; nil for the usual one.
    public let stateDirectory: String?
    /// The servers that keep the events, as the file names them; nil if a directory does.
    package var servers: NATSReference?
    /// Whether to refuse plugins and included files that other users could change: `"trust": "strict"`. Otherwise the report
    /// warns of such plugins.
    public let requiresTrust: Bool
    /// The roots of the tree, in the order of the file; those of an included file after those of the file that includes it.
    public let connectors: [Connector]

    /// The version of the format.
    public static let formatVersion: Int64 = 1
    /// The largest file, in bytes; also the limit for a file and all that it includes together.
    public static let sizeLimit = 4 << 20
    /// The most files, included ones among them.
    public static let fileLimit = 1000
    /// The most connectors in all files.
    public static let connectorLimit = 32_768
    /// The deepest nesting of connectors, and of files that include one another.
    public static let depthLimit = 32
}

extension Configuration {
    /// The file as the user named it; empty for a text without a file.
    public var file: String { texts.first?.file ?? "" }

    /// The files that the main one includes, directly or not, in the order of their reading.
    public var includedFiles: [String] { texts.dropFirst().map(\.file) }

    /// The directory where the relative paths in one of ``texts`` start.
    ///
    /// - Parameter text: The index of the text.
    func base(ofText text: Int) -> BaseDirectory {
        text == 0 ? BaseDirectory(directory) : BaseDirectory(of: texts[text].file)
    }

    /// Every connector, each before its children, in the order of the file.
    package var allConnectors: [Connector] { connectors.selvesAndDescendants }

    /// The leaves to open: enabled ones outside disabled composites.
    package var enabledLeaves: [(connector: Connector, leaf: Connector.Leaf)] {
        connectors.reduce(into: []) { $1.addEnabledLeaves(to: &$0) }
    }
}

/// Reading.
extension Configuration {
    /// Reads a file, and those it includes, without looking at any plugin.
    ///
    /// - Throws: Every fault in the form of the files.
    public static func read(
        file: String,
        environment: Environment = .process
    ) throws(ConfigurationErrors) -> Configuration {
        let (configuration, problems, omitted) = examine(file: file, environment: environment)
        guard let configuration, problems.isEmpty else {
            throw ConfigurationErrors(problems, omitted: omitted, files: configuration?.texts ?? [])
        }
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
        guard let configuration, problems.isEmpty else {
            throw ConfigurationErrors(problems, omitted: omitted, files: configuration?.texts ?? [])
        }
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
