// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
    import ConnectorManifest

    extension PluginLoader {
        /// Checks an image, seals what was checked, and loads that.
        func loadFile(_ candidate: PluginCandidate) throws(ConnectorError) -> (ImageDigest, LoadedImage) {
            let prepared = try PreparedImage(candidate, storage: storage)
            return (prepared.digest, try prepared.load())
        }

        /// Loads a plugin as ``load(_:)`` does, without waiting while another thread loads one.
        ///
        /// - Parameters:
        ///   - passOn: Runs code on another thread.
        ///   - completion: Runs here or on another thread that may block.
        func load(
            _ candidate: PluginCandidate,
            passOn: (@escaping @Sendable () -> Void) -> Void,
            completion: @escaping @Sendable (Result<Plugin, ConnectorError>) -> Void
        ) {
            guard case .file = candidate.image else {
                return completion(Result { () throws(ConnectorError) in try load(candidate) })
            }
            let prepared: PreparedImage
            do throws(ConnectorError) {
                prepared = try PreparedImage(candidate, storage: storage)
            } catch {
                return completion(.failure(error))
            }
            LoadingLane.shared.run(
                {
                    let image = Result(catching: prepared.load)
                    return {
                        completion(
                            Result { () throws(ConnectorError) in
                                try plugin(candidate, prepared.digest, image.get())
                            }
                        )
                    }
                },
                passOn: passOn
            )
        }
    }
#endif
