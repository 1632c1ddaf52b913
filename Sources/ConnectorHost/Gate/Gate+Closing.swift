// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Logging
internal import Synchronization

extension Gate {
    /// Disconnects and frees the instance.
    ///
    /// Calls that are inside may finish within the gate's timeout; what is still pending then ends with `not-open`. An
    /// attempt to open that is under way is given up.
    func close() async {
        let (mustClose, instance, probe, attempt, pause) = change { storage in
            (
                storage.machine.close(), storage.instance.take(), storage.probe.take(), storage.attempt.take(),
                storage.pause.take()
            )
        }
        if let probe { environment.clock.cancel(probe) }
        guard mustClose else { return }
        environment.onChange()
        pause?.end()
        attempt?.giveUp(closed)
        if let instance { await end(instance) }
        storage.withLock { storage in
            storage.machine.closed()
            storage.evidence = []
        }
        environment.onChange()
    }

    /// Drains, closes and frees an instance that calls no longer reach.
    func end(_ instance: PluginInstance) async {
        let isEmpty = await instance.drain(by: environment.deadline(after: plan.timeout))
        instance.giveUpAll(closed)
        if instance.canClose, isEmpty || !instance.isForeign { await disconnect(instance) }
        let isDestroyed = await instance.disposed(by: environment.deadline(after: plan.timeout))
        if !isDestroyed { logger.warning("the plugin holds a thread of the host: its instance stays in memory") }
    }

    /// Lets the plugin close. A foreign library knows nothing of that, so it must not while one of its functions still runs.
    private func disconnect(_ instance: PluginInstance) async {
        let deadline = environment.deadline(after: plan.timeout)
        let outcome = await environment.call(
            "close",
            owner: instance.context.owner,
            deadline: deadline,
            { instance.begin(.close, operation: $0, deadline: deadline) },
            onDeadline: { instance.cancel($0) }
        )
        if case .failure(let error) = outcome {
            logger.warning("close failed", metadata: ["error": "\(described(error))"])
        }
    }

    private var closed: ConnectorError {
        ConnectorError(.notOpen, "the gate closed", connector: plan.path, isRetryable: true)
    }
}
