// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorManifest

/// A host that runs on a file, as other commands meet it.
struct AttachedHost: Sendable {
    /// The host.
    let identity: HostIdentity
    private let client: ControlClient

    /// Finds the host that runs on a file.
    ///
    /// - Returns: Nil if none does, or the file cannot be read: the command then says why.
    /// - Throws: The error of a host that does not answer.
    static func find(_ file: ConfigurationOption) async throws(ConnectorError) -> AttachedHost? {
        guard let configuration = try? Configuration.read(file: file.file, environment: .process),
            let directory = configuration.hostDirectory()
        else { return nil }
        let client = ControlClient(directory)
        guard let identity = try await client.get("/api/v1/host").flatMap(HostIdentity.init(json:)),
            identity.file == HostIdentity.realPath(of: configuration.file)
        else { return nil }
        return AttachedHost(identity: identity, client: client)
    }

    /// The host's report.
    ///
    /// - Throws: `protocol` for a document of another version.
    func report() async throws(ConnectorError) -> Report {
        if let report = try await client.get("/api/v1/status").flatMap(Report.init(json:)) { return report }
        throw ConnectorError(
            .protocolViolation,
            "process \(identity.process) does not answer with a report that this release reads",
            fix: "it has the release \(identity.release); use the same, or ask with --no-attach"
        )
    }
}
