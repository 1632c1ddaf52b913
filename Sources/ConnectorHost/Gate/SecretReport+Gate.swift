// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorServices

extension SecretReport {
    /// Compares the secrets that were last read with those that the current generation uses.
    ///
    /// - Parameter fault: Why they could not be read since. What was read earlier may not be what the source has by now.
    static func reports(
        read: GatePlan.InstanceConfiguration,
        used: GatePlan.InstanceConfiguration?,
        fault: SecretFault?,
        evidence: [Evidence]
    ) -> [SecretReport] {
        guard !read.origins.isEmpty else { return [] }
        // The evidence is the current generation's, so it is newer than the secrets that the generation uses. It is not
        // compared with the times of files, which may come from another clock.
        let isAccepted = evidence.contains { $0.kind >= .authenticated }
        return read.origins.sorted { $0.key < $1.key }.map { field, origin in
            let isUnread = fault.map { $0.fields.isEmpty || $0.fields.contains(field) } ?? false
            let isInUse = !isUnread && used.map { $0.secrets[field] == read.secrets[field] } ?? false
            return SecretReport(
                field: field,
                source: origin.source,
                changedAt: origin.changedAt,
                isInUse: isInUse,
                isProved: isInUse && isAccepted,
                error: isUnread ? fault?.error.asCause : nil
            )
        }
    }
}
