// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Coordinator {
    /// Input to the coordinator.
    public struct Event: Sendable, Hashable {
        let kind: Kind

        enum Kind: Sendable, Hashable {
            case move(Route), turn(Int), back, help, act(ConsoleAct), choose([ConsoleAct]), choice(Int), answer(Bool)
            case done(ActOutcome), quit
        }

        /// The operator opens a route.
        public static func move(_ route: Route) -> Event { Event(kind: .move(route)) }
        /// The operator opens the place that a value describes.
        public static func move(_ value: some RouteValue) -> Event { Event(kind: .move(Route(value))) }
        /// The operator moves this many tabs to the right.
        public static func turn(_ tabs: Int) -> Event { Event(kind: .turn(tabs)) }
        /// The operator goes back, or closes the dialog.
        public static let back = Event(kind: .back)
        /// The operator asks for the list of keys.
        public static let help = Event(kind: .help)
        /// The operator requests an act.
        public static func act(_ act: ConsoleAct) -> Event { Event(kind: .act(act)) }
        /// The operator asks for a menu of acts.
        public static func choose(_ acts: [ConsoleAct]) -> Event { Event(kind: .choose(acts)) }
        /// The operator chose an act of the menu, by its index.
        public static func choice(_ index: Int) -> Event { Event(kind: .choice(index)) }
        /// The operator answered the dialog's question.
        public static func answer(_ isYes: Bool) -> Event { Event(kind: .answer(isYes)) }
        /// An act has ended.
        public static func done(_ outcome: ActOutcome) -> Event { Event(kind: .done(outcome)) }
        /// The operator quits.
        public static let quit = Event(kind: .quit)
    }

    /// An action for the platform to perform.
    public struct Action: Sendable, Hashable {
        package let kind: Kind

        package enum Kind: Sendable, Hashable {
            case show(Route), present(Dialog), dismiss, perform(ConsoleAct), tell(String), quit
        }

        /// Mount the scene of a route.
        public static func show(_ route: Route) -> Action { Action(kind: .show(route)) }
        /// Mount a dialog in front.
        public static func present(_ dialog: Dialog) -> Action { Action(kind: .present(dialog)) }
        /// Remove the dialog.
        public static let dismiss = Action(kind: .dismiss)
        /// Pass the act to the console.
        public static func perform(_ act: ConsoleAct) -> Action { Action(kind: .perform(act)) }
        /// Show a message.
        public static func tell(_ sentence: String) -> Action { Action(kind: .tell(sentence)) }
        /// Quit.
        public static let quit = Action(kind: .quit)

        /// The route to show; nil for another action.
        public var shown: Route? { if case .show(let route) = kind { route } else { nil } }
        /// The dialog to present; nil for another action.
        public var presented: Dialog? { if case .present(let dialog) = kind { dialog } else { nil } }
        /// The act to perform; nil for another action.
        public var performed: ConsoleAct? { if case .perform(let act) = kind { act } else { nil } }
        /// The message to show; nil for another action.
        public var message: String? { if case .tell(let sentence) = kind { sentence } else { nil } }
    }
}
