// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost

/// Shell completions for the connectors of a file and their operations. For a file with faults they may be incomplete.
enum ConnectorCompletion {
    /// The paths of the connectors.
    static let paths = CompletionKind.custom { words, _, _ in
        let configuration = Configuration.examine(file: file(words), environment: .process).0
        return configuration?.allConnectors.map(\.path) ?? []
    }

    /// The names of the operations of the connector whose path precedes.
    ///
    /// Only the manifests are read: no secret, and no program that prints one.
    static let operations = CompletionKind.custom { words, _, _ in
        let options = ConnectorHost.Options()
        guard
            let configuration = Configuration.examine(file: file(words), environment: options.environment).0
        else { return [] }
        let known = Set(configuration.allConnectors.map(\.path))
        // After the names of the program and the command.
        guard let path = words.dropFirst(2).first(where: known.contains) else { return [] }
        let lookup = PluginLookup(configuration: configuration, options: options)
        let document = OperationsDocument(configuration, path: path) { try? lookup.interface($1.plugin).get() }
        let names = document.connectors.flatMap(\.capabilities).flatMap(\.operations).map(\.name)
        return Set(names).sorted()
    }

    /// The configuration file that the words of a command name. Shells may split `--config=FILE` at the sign.
    static func file(_ words: [String]) -> String {
        for (index, word) in words.enumerated() where word.hasPrefix("--config") {
            if word.hasPrefix("--config=") { return String(word.dropFirst("--config=".count)) }
            if word == "--config", let next = words[(index + 1)...].first(where: { $0 != "=" }) { return next }
        }
        return "connectors.json"
    }
}
