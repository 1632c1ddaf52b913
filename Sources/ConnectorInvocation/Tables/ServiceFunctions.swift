// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// What the functions of one instance's tables do, on values: ``ServiceTables`` has read and checked the plugin's memory. The host's
/// implementation does the work, and a runner's asks the host.
package protocol ServiceFunctions: AnyObject, Sendable {
    /// A new id for a timer, a request or a call; never 0.
    func newIdentifier() -> UInt64

    // MARK: clock/1

    /// The time of day.
    var wallTime: Timestamp { get }

    /// The monotonic time, in nanoseconds.
    var monotonicTime: UInt64 { get }

    /// Starts a timer under an id that the plugin already knows.
    ///
    /// - Parameter delay: The delay in nanoseconds.
    /// - Returns: The status of `start_timer`.
    func startTimer(_ id: UInt64, after delay: UInt64, _ callback: TimerCallback) -> Int32

    /// Prevents a timer from firing.
    ///
    /// - Returns: The status of `cancel_timer`.
    func cancelTimer(_ id: UInt64) -> Int32

    // MARK: log/1

    /// The lowest level that the application records, a number of `log/1`.
    var logLevel: Int32 { get }

    /// Writes a line, unless its level is not recorded or there is no room for it.
    ///
    /// - Parameters:
    ///   - level: Any number.
    ///   - message: The plugin's memory, which need not be UTF-8. One that is too long is cut after ``LogTable/readLimit``.
    ///   - fields: The same; nil for null.
    /// - Returns: False if the line broke the rules and was repaired.
    func log(_ level: Int32, _ message: UnsafeRawBufferPointer, _ fields: UnsafeRawBufferPointer?) -> Bool

    // MARK: events/1

    /// Whether an event may have a listener; otherwise its JSON is not read.
    var mayHaveListeners: Bool { get }

    /// Sends an event.
    ///
    /// - Parameters:
    ///   - name: A valid name.
    ///   - payload: What the JSON says; null for none.
    ///   - json: The JSON as the plugin wrote it; nil for none.
    func emit(_ name: String, _ payload: JSONValue, json: [UInt8]?)

    // MARK: storage/1

    /// The value of a key. Throws `CONNECTOR_NOT_FOUND` if there is none.
    func storedValue(of key: [UInt8]) throws(ServiceFailure) -> [UInt8]

    /// The keys that start with a prefix, as a JSON array.
    func storedKeys(startingWith prefix: [UInt8]) throws(ServiceFailure) -> [UInt8]

    /// Writes a value.
    func store(_ value: [UInt8], as key: [UInt8]) throws(ServiceFailure)

    /// Writes a value if the key has the expected one, nil for none. Throws `CONNECTOR_CONFLICT` if it has another.
    func replaceStored(_ expected: [UInt8]?, with value: [UInt8], of key: [UInt8]) throws(ServiceFailure)

    /// Removes a value. Throws `CONNECTOR_NOT_FOUND` if there is none.
    func removeStored(_ key: [UInt8]) throws(ServiceFailure)

    // MARK: http/1

    /// The maximum size of a request's body that comes whole, in bytes.
    var requestLimit: Int { get }

    /// Compresses a body straight from the plugin's memory; nil to have it copied as it is.
    func compressed(_ body: UnsafeBufferPointer<UInt8>) throws(ServiceFailure) -> [UInt8]?

    /// Sends a request under an id that the plugin already knows, and completes it with a callback.
    ///
    /// - Parameter silence: The longest wait for a part of the response, in nanoseconds; 0 for no limit, nil if the response comes whole.
    func startRequest(
        _ id: UInt64,
        _ request: RequestTemplate,
        _ callback: RequestCallback,
        silence: UInt64?
    ) throws(ServiceFailure)

    /// Asks for the next part of a response.
    func resumeRequest(_ id: UInt64)

    /// Sends the next part of a request's body.
    func writeRequest(_ id: UInt64, _ part: [UInt8], isLast: Bool) throws(ServiceFailure)

    /// Cancels a request.
    func cancelRequest(_ id: UInt64)

    // MARK: gates/1

    /// Calls a used gate under an id that the plugin already knows, and completes the call with a callback.
    func startCall(_ id: UInt64, _ call: GateCallTemplate, _ callback: GatesCallback) throws(ServiceFailure)

    /// Cancels a call.
    func cancelCall(_ id: UInt64)

    /// Throws unless a connector is bound to a use: `CONNECTOR_UNSUPPORTED` if the use is optional, `CONNECTOR_INVALID` if the manifest
    /// names no such use.
    func checkUse(_ use: String) throws(ServiceFailure)
}
