// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import SiteWatchModel
internal import Synchronization

/// The pictures of sites as scenes see them: at once, without waiting for a gate.
final class Pictures: Sendable {
    /// What is known about a picture.
    enum Picture: Sendable, Hashable {
        case found(String)
        case missing
        case failed(String)
    }

    private let known = Mutex<[String: Picture]>([:])

    /// What is known about a site's picture; nil before it was looked for.
    subscript(site: String) -> Picture? { known.withLock { $0[site] } }

    /// Looks for the picture of each site.
    func load(_ sites: [String], from store: PictureStore) async {
        for site in sites {
            let picture: Picture
            do throws(ConnectorError) {
                picture = try await store.picture(of: site).map { .found($0) } ?? .missing
            } catch {
                picture = .failed(error.message)
            }
            known.withLock { $0[site] = picture }
        }
    }
}
