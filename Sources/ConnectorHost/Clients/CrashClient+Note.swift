// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities
internal import ConnectorLoading
public import ConnectorOutbox
public import ConnectorPlatform

extension CrashClient {
    /// Reports the crash note of an earlier process, if there is one, and removes the note once the report is stored.
    ///
    /// ```swift
    /// CrashNote.install(file: "/var/lib/shop/crash")
    /// let host = try ConnectorHost(file: "connectors.json")
    /// try await host.crash("crash").reportLastCrash(in: "/var/lib/shop/crash")
    /// ```
    ///
    /// - Parameter file: The file passed to `CrashNote.install(file:)`.
    /// - Returns: Nil if there is no note.
    /// - Throws: `storage` if the report could not be stored, `invalid` if ``defaults`` make it one that adapters would refuse, or
    ///   another error that ``CrashClient`` lists. The note is then kept for the next start.
    @discardableResult
    public func reportLastCrash(
        in file: String,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Receipt? {
        guard let note = CrashNote.note(in: file) else { return nil }
        let receipt = try await exception(CrashReport(of: note.withSymbols()), options: options)
        note.remove(from: file)
        return receipt
    }
}

extension CrashReport {
    /// The report of a process ended by a signal or by a plugin's call to `exit`.
    public init(of note: CrashNote) {
        self.init(level: .fatal)
        isHandled = false
        timestamp = note.time
        exceptions = [
            CrashException(
                type: note.event,
                message: note.description,
                frames: note.frames.map { frame in
                    let colon = frame.source?.lastIndex(of: ":")
                    return CrashFrame(
                        function: frame.function,
                        module: frame.file.isEmpty ? nil : frame.file,
                        file: colon.flatMap { end in frame.source.map { String($0[..<end]) } },
                        // A damaged line table may hold numbers that adapters would refuse.
                        line: colon.flatMap { end in frame.source.flatMap { Int32($0[$0.index(after: end)...]) } }
                            .map { Int($0) },
                        address: frame.offset,
                        isInApplication: frame.file.isEmpty
                    )
                }
            )
        ]
        tags["signal"] = note.event
        tags["plugin"] = note.plugin
        tags["gates"] = note.gates
        tags["address"] = note.address
        tags["thread"] = note.thread.map { "\($0)" }
    }
}
