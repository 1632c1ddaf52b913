// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorControl

extension AttachOption {
    /// The running host to use; nil to open the gates in this process.
    ///
    /// - Parameters:
    ///   - names: The sockets to try, in this order: a command that simulates needs a host that simulates.
    ///   - isOwn: Whether the command needs a host of its own, for example because it simulates in a way that no running host does.
    ///     A command under `connector-host record` also uses its own host, unless `--attach` says otherwise.
    /// - Throws: `not-open` if no host runs and `--attach` requires one; the error of a host that does not respond, or
    ///   that this user cannot reach. A command that simulates then needs no other host, unless `--attach` says otherwise.
    func host(
        of file: ConfigurationOption,
        on names: [ControlSocket.Name],
        isOwn: Bool = false
    ) async throws(ConnectorError) -> AttachedHost? {
        guard attach ?? (!isOwn && RecordingRequest(.process) == nil) else { return nil }
        do throws(ConnectorError) {
            if let host = try await AttachedHost.find(file, on: names) { return host }
        } catch {
            // A simulation disturbs no host, not even one that this user cannot reach.
            guard error.code == .denied, attach == nil, names == [.simulated] else { throw error }
        }
        guard attach == true else { return nil }
        if names == [.control], let host = try await AttachedHost.find(file, on: [.simulated]) {
            throw ConnectorError(
                .notOpen,
                "only a simulated host runs on \(file.file): process \(host.identity.process)",
                fix: "add --simulate to ask it, or start another one with connector-host run"
            )
        }
        let isSimulated = names == [.simulated]
        // The host may listen in a directory that a damaged file no longer names.
        let (configuration, problems, _) = Configuration.examine(file: file.file, environment: .process)
        throw ConnectorError(
            .notOpen,
            "no \(isSimulated ? "simulated " : "")host runs on \(file.file)",
            fix: "start one with connector-host run\(isSimulated ? " --simulate" : ", or remove --attach")",
            cause: configuration == nil ? problems.first?.description : nil
        )
    }

    /// The running host that simulates, or that does not; nil to open the gates in this process. See ``host(of:on:isOwn:)``.
    func host(
        of file: ConfigurationOption,
        isSimulated: Bool,
        isOwn: Bool = false
    ) async throws(ConnectorError) -> AttachedHost? {
        try await host(of: file, on: isSimulated ? [.simulated] : [.control], isOwn: isOwn)
    }
}
