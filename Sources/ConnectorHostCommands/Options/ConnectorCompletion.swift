// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost

/// What a shell offers for the connectors of a file, and for their operations. A file with faults offers what it can.
enum ConnectorCompletion {
    /// The paths of the connectors.
    static let paths = CompletionKind.custom { words, _, _ in
        let configuration = Configuration.examine(file: file(words), environment: .process).0
        return configuration?.allConnectors.map(\.path) ?? []
    }

    /// The names of the operations of the connector whose path comes before.
    static let operations = CompletionKind.custom { words, _, _ in
        let options = ConnectorHost.Options()
        do throws(ConfigurationErrors) {
            let resolved = try Configuration.load(
                file: file(words),
                environment: options.environment,
                simulation: nil
            ) { configuration in
                let lookup = PluginLookup(configuration: configuration, options: options)
                return { lookup.interface($0) }
            }
            let known = Set(resolved.configuration.allConnectors.map(\.path))
            guard let path = words.first(where: known.contains) else { return [] }
            let leaves = OperationsDocument(resolved: resolved, path: path).connectors
            let names = leaves.flatMap { $0.capabilities }.flatMap(\.operations).map(\.name)
            return Set(names).sorted()
        } catch {
            return []
        }
    }

    /// The file that the words name.
    private static func file(_ words: [String]) -> String {
        guard let option = words.firstIndex(of: "--config"), option + 1 < words.count else { return "connectors.json" }
        return words[option + 1]
    }
}
