// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration

extension AttachOption {
    /// The running host to use; nil to open the gates in this process.
    ///
    /// - Parameter isSimulated: Whether the command simulates; a running host does not, nor does it record for `connector-host record`.
    /// - Throws: `not-open` if none runs and `--attach` requires one; the error of a host that does not respond.
    func host(of file: ConfigurationOption, isSimulated: Bool = false) async throws(ConnectorError) -> AttachedHost? {
        let isOwn = isSimulated || RecordingRequest(.process) != nil
        guard attach ?? !isOwn else { return nil }
        if let host = try await AttachedHost.find(file) { return host }
        guard attach == true else { return nil }
        throw ConnectorError(
            .notOpen,
            "no host runs on \(file.file)",
            fix: "start one with connector-host run, or remove --attach"
        )
    }
}
