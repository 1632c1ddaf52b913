// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorDigest

extension ImageBytes {
    /// The SHA-256 of the whole file, which is read to its end.
    ///
    /// - Throws: `load-failed` if the file was truncated since it was opened.
    package func sha256() throws(ConnectorError) -> SHA256Digest {
        guard let digest = unsafe withAllBytes({ unsafe SHA256Digest(of: $0) }) else { throw Preflight.changed(path) }
        return digest
    }
}
