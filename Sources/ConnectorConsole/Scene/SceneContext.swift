// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The input that a scene is made from.
public struct SceneContext: Sendable {
    /// The route to show.
    public let route: Route
    /// The state of the host, and the values of the application's model.
    public let snapshot: ConsoleSnapshot
    let registry: ConsoleRegistry
    /// The closures of the acts that the scene offers.
    let handlers = ActHandlers()

    /// Makes the component of a model: see ``ConsoleRegistry/component(_:title:_:)``.
    public func component<Model: Sendable>(_ id: String, title: String = "", _ model: Model) -> Component {
        registry.component(id, title: title, model)
    }

    /// Makes the component of a model that is out of date or still being loaded.
    ///
    /// - Parameter state: The state that a platform shows beside the rows.
    public func component<Model: Sendable>(
        _ id: String,
        title: String = "",
        _ model: Model,
        _ state: ViewState
    ) -> Component {
        var component = registry.component(id, title: title, model)
        component.state = state
        return component
    }

    /// Makes a component without a model: one that is loading, empty or failed.
    ///
    /// - Parameter type: The type of model that would fill it.
    public func component<Model: Sendable>(
        _ id: String,
        title: String = "",
        _ type: Model.Type,
        _ state: ViewState
    ) -> Component {
        registry.component(id, title: title, type, state)
    }

    /// The value of a type that the console's model put into the snapshot; nil if there is none.
    public func value<Value: Sendable>(_ type: Value.Type = Value.self) -> Value? { snapshot[type] }
}

/// The closures of a scene's acts, by the name of the act.
final class ActHandlers: Sendable {
    private let handlers = Mutex<[String: ActHandler]>([:])

    /// Adds a closure. If two acts of a scene share a name, performing either throws, because it is ambiguous which is meant.
    func add(_ id: String, _ handler: @escaping ActHandler) {
        handlers.withLock { handlers in
            guard handlers[id] != nil else {
                handlers[id] = handler
                return
            }
            handlers[id] = { _ in throw AmbiguousAct(id: id) }
        }
    }

    /// The closure of an act; nil if the scene does not offer it.
    subscript(id: String) -> ActHandler? { handlers.withLock { $0[id] } }

    private struct AmbiguousAct: Error, CustomStringConvertible {
        var id: String
        var description: String { "the scene has two acts named \(id)" }
    }
}
