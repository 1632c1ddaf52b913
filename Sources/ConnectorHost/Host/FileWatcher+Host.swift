// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorDigest
internal import ConnectorPlatform
package import Logging

extension FileWatcher {
    /// Watches the files of a host: those of the running configuration, and those that its file names now.
    ///
    /// A change of the configuration or of a plugin causes a reload. The gates that read new secrets pick them up as
    /// they do after a proof.
    convenience init(_ options: ConnectorHost.Options, _ reloader: Reloader, _ running: RunningConfiguration) {
        let (gates, current) = (reloader.dependencies.gates, reloader.dependencies.current)
        let onReport = reloader.dependencies.onChange
        let directories = options.environmentDirectories
        let variables = options.environment
        self.init(
            Dependencies(
                clock: options.clock,
                threads: gates.calls.workers,
                files: {
                    let configuration = running.resolved.configuration
                    var files = ConfigurationFiles(configuration, environment: variables)
                    let file = configuration.path
                    if !file.isEmpty { files.add(ConfigurationFiles(of: file, environment: variables)) }
                    files.pluginDirectories.formUnion(directories + options.pluginDirectories)
                    return files
                },
                makeWatch: options.makeDirectoryWatch,
                onMode: { mode in
                    running.note(mode)
                    if let reason = mode.reason {
                        gates.logger.warning("files are polled", metadata: ["reason": "\(reason)"])
                    } else {
                        gates.logger.info("files are watched")
                    }
                    onReport()
                },
                onStart: { content in
                    let texts = running.resolved.configuration.texts.filter { !$0.path.isEmpty }
                    let isSame = texts.allSatisfy { text in
                        content.texts[text.path]?.digest?.description == RunningConfiguration.digest(of: text.bytes)
                    }
                    if !isSame { _ = await reloader.reload(Reloader.Request()) }
                },
                onChange: { configuration, secrets in
                    gates.logger.info(
                        "files have changed",
                        metadata: ["files": "\((configuration + secrets).joined(separator: ", "))"]
                    )
                    // If the file is not in use, the new secret may be what it lacked.
                    if !configuration.isEmpty || running.report.differs {
                        _ = await reloader.reload(Reloader.Request())
                    }
                    guard !secrets.isEmpty else { return }
                    for gate in current.tree.gates { gate.renewAfterRotation() }
                }
            )
        )
    }
}

extension ConnectorHost {
    /// Returns once a file exists and has stayed the same for a moment, or the task is cancelled; returns at once if it exists already.
    package static func awaitFile(_ path: String, logger: Logger) async {
        let (clock, appeared) = (SystemHostClock(), OneShot<Void>())
        var files = ConfigurationFiles()
        files.texts = [path]
        @Sendable func exists() -> Bool { FileStamp(path: path) != nil }
        guard !exists() else { return }
        let watcher = FileWatcher(
            FileWatcher.Dependencies(
                clock: clock,
                threads: WorkerThreads(clock: clock),
                files: { [files] in files },
                makeWatch: { onChange throws(SystemError) in try DirectoryWatch(onChange: onChange) },
                onMode: { _ in logger.info("waiting for the file", metadata: ["file": "\(path)"]) },
                onStart: { _ in if exists() { appeared.send() } },
                onChange: { _, _ in if exists() { appeared.send() } }
            )
        )
        watcher.start()
        _ = await appeared.waitUnlessCancelled()
        watcher.stop()
    }
}
