// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
import ConnectorPlatform

/// Reading.
extension Configuration {
    /// Reads a file and the files it includes, without looking up any plugin.
    ///
    /// - Throws: Every error in the files that can be found without the plugins.
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

    /// Parses the text of a file.
    ///
    /// - Parameters:
    ///   - text: The configuration as JSON.
    ///   - directory: The directory that relative paths are resolved against.
    ///   - file: The file name to show in errors.
    ///   - environment: The variables that `${NAME}` reads in the list of plugin directories.
    /// - Throws: Every error in the text that can be found without the plugins.
    public init(
        parsing text: String,
        directory: String = ".",
        file: String = "",
        environment: Environment = .process
    ) throws(ConfigurationErrors) {
        let base = BaseDirectory(given: directory)
        let (configuration, problems, omitted) = Self.examine(
            Array(text.utf8),
            file: file.lastingPath,
            base: base,
            environment: environment
        )
        guard let configuration, problems.isEmpty else {
            throw ConfigurationErrors(problems, omitted: omitted, files: configuration?.texts ?? [])
        }
        try configuration.requireLastingPaths()
        self = configuration
    }

    /// Throws if a relative path starts at a working directory that was removed.
    func requireLastingPaths() throws(ConfigurationErrors) {
        guard !baseDirectory.path.starts(ascii: "/") else { return }
        let plugins = allConnectors.compactMap { connector -> String? in
            guard case .leaf(let leaf) = connector.kind, leaf.plugin.isPath else { return nil }
            return leaf.plugin.name
        }
        for path in pluginPaths + [statePath].compactMap(\.self) + plugins {
            do throws(ConnectorError) {
                _ = try path.requireLastingPath()
            } catch {
                throw ConfigurationErrors([error])
            }
        }
    }

    /// A configuration as far as it could be read, its errors, and the number of errors omitted.
    package typealias Examination = (configuration: Configuration?, problems: [ConnectorError], omitted: Int)

    /// Reads as much of a file as possible, and collects every error.
    package static func examine(
        file: String,
        environment: Environment
    ) -> Examination {
        do throws(ConnectorError) {
            let path = try file.requireLastingPath()
            let content = try SmallFile(named: path, limit: sizeLimit)
            let base = BaseDirectory(of: path)
            return addingLock(to: examine(content.bytes, file: path, base: base, environment: environment), of: path)
        } catch {
            return (nil, [error], 0)
        }
    }

    /// Reads as much of a text as possible, and collects every error.
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

    /// The configuration as its file is now, with the connectors that were appended in Swift; the same one if it has no file.
    ///
    /// - Throws: Every error in the files that can be found without the plugins.
    package func reread(environment: Environment) throws(ConfigurationErrors) -> Configuration {
        guard !file.isEmpty else { return self }
        let configuration = try Configuration.read(file: path, environment: environment)
        return appended.isEmpty ? configuration : try configuration.appending(appended, environment: environment)
    }
}
