// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CalculatorModel
import ConnectorConsole
import ConnectorHost

/// What the console shows: the host, and the calculator, which draws as soon as a key was pressed.
struct CalculatorConsole: ConsoleModel {
    private let host: HostConsoleModel
    private let presenter: any CalculatorPresenting

    init(_ host: ConnectorHost, _ presenter: any CalculatorPresenting) {
        self.host = HostConsoleModel(host)
        self.presenter = presenter
    }

    /// The scenes of plugins, which have tabs of their own.
    var scenes: [SceneDescriptor] { host.scenes }

    var changes: AsyncStream<Void> {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        presenter.onChange { continuation.yield() }
        let following = Task { [host] in
            for await _ in host.changes { continuation.yield() }
            continuation.finish()
        }
        continuation.onTermination = { _ in following.cancel() }
        return changes
    }

    func run() async { await host.run() }

    func snapshot(for routes: [Route]) async -> ConsoleSnapshot { await host.snapshot(for: routes) }

    func perform(_ act: ConsoleAct) async -> ActOutcome { await host.perform(act) }
}
