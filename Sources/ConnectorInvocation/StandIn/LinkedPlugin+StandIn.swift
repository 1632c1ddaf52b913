// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorLoading
package import ConnectorManifest

extension LinkedPlugin {
    /// Creates a plugin without an image, from a manifest alone.
    ///
    /// The host calls it like any other plugin, through functions with the C types of the manifest's signatures, which exist until
    /// the process ends. So typed and described calls work, and the host checks results as it checks those of a real plugin.
    ///
    /// - Parameters:
    ///   - text: The manifest's text.
    ///   - standIn: Answers in place of the plugin's code. It is released with the last copy of the plugin and its last instance.
    /// - Throws: A fault of the manifest; `unsupported` for a foreign library, for a signature with handles, for functions that share
    ///   a symbol, and if this system does not let a process make code.
    package init(manifest text: [UInt8], file: String, standIn: StandIn) throws(ConnectorError) {
        let (read, problems) = Manifest.read(text, file: file)
        guard let manifest = read, problems.isEmpty else {
            throw problems.first ?? ConnectorError(.invalidManifest, "\(file) cannot be read")
        }
        let (entry, operations) = try Self.parts(of: manifest)
        var functions = [entry: try StandInTable.makeEntry(standIn)]
        for (label, operation, layout) in operations {
            functions[operation.symbol] = try StandInCall.makeFunction(of: operation, label, layout)
        }
        unsafe self.init(manifest: text, functions: functions, owner: standIn)
    }

    /// Checks that answers can take the place of a plugin's code, without making any function.
    ///
    /// - Throws: `unsupported`, as the initializer does for the manifest.
    package static func checkStandIn(for manifest: Manifest) throws(ConnectorError) { _ = try parts(of: manifest) }

    /// The functions to make: the entry, and one for each operation.
    private static func parts(
        of manifest: Manifest
    ) throws(ConnectorError) -> (
        entry: String, operations: [(label: String, operation: Operation, layout: CallLayout)]
    ) {
        guard let entry = manifest.entry else {
            throw ConnectorError(
                .unsupported,
                "\(manifest.id) is a foreign library, which has no interface to simulate"
            )
        }
        var symbols: Set = [entry]
        var operations: [(label: String, operation: Operation, layout: CallLayout)] = []
        for capability in manifest.capabilities {
            for operation in capability.operations {
                let label = manifest.capabilities.label(of: operation.name, in: capability.id)
                guard symbols.insert(operation.symbol).inserted else {
                    throw ConnectorError(
                        .unsupported,
                        "\(label) shares the symbol \(operation.symbol) with another function, so it cannot be simulated",
                        fix: "give each operation of \(manifest.id) a symbol of its own"
                    )
                }
                operations.append((label, operation, try StandInCall.layout(of: operation)))
            }
        }
        return (entry, operations)
    }
}
