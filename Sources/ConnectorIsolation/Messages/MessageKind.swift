// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a message between a host and its runner says. The numbers are part of the protocol's version.
package enum MessageKind: UInt16, Sendable {
    // Host to runner.
    /// The first message: magic, version, layout, with the memory that both share. See ``Handshake``.
    case hello = 1
    /// Load a plugin and make an instance of it; the image comes as a descriptor.
    case create = 2
    /// Begin a phase of an instance.
    case begin = 3
    /// Call an operation.
    case call = 4
    /// The host has given an operation up.
    case cancel = 5
    /// Destroy an instance.
    case dispose = 6
    /// The answer of a service.
    case answer = 7
    /// The end of a request, a part of its response, or room for more of its body.
    case reply = 8
    /// The end of a call of another gate.
    case gateReply = 9
    /// The host has stopped an instance's services: no reply follows.
    case stopped = 10
    /// Answer with `pong`.
    case ping = 11
    /// Serve a lane; its memory comes as a descriptor.
    case lane = 12
    /// Load a library that the plugin of an instance needs; its image comes as a descriptor. Comes before `create`.
    case library = 13
    /// A timer that the plugin has started on the host's clock has fired.
    case timerFired = 14

    // Runner to host.
    /// The answer to `hello`.
    case ready = 64
    /// The instance exists.
    case created = 65
    /// The instance cannot be made.
    case refused = 66
    /// An operation, or a phase, has completed.
    case completed = 67
    /// The progress of an operation.
    case progress = 68
    /// The function of a phase has returned; or that of a call that is still pending, or that the host has given up.
    case returned = 69
    /// The plugin broke a rule of the ABI.
    case misbehaved = 70
    /// The instance is destroyed.
    case disposed = 71
    /// Stop an instance's services.
    case stop = 72
    /// The answer to `ping`.
    case pong = 73
    /// There is room in the ring of the host's messages again.
    case room = 74
    /// A call waits (see ``CallWait``), or no longer; it is not made before the host can read the latter.
    case inLine = 76
    /// The plugin's `cancel` or `destroy`, or a callback of a service, is about to run or has returned.
    case lifeCycle = 77
    /// The plugin has started a timer, for the first time: the host cannot tell what completes its operations.
    case hasTimers = 78

    /// The sandbox holds less than the runner said in `ready`; about no instance.
    case weakened = 75

    // Services, by the names of their functions. The host answers those that have a result.
    /// The plugin asked for a service that it may not use.
    case denied = 127
    /// `log/1`: `log`.
    case log = 128
    /// `events/1`: `emit`.
    case emit = 129
    /// `storage/1`: `get`.
    case storageGet = 130
    /// `storage/1`: `set`.
    case storageSet = 131
    /// `storage/1`: `remove`.
    case storageRemove = 132
    /// `storage/1`: `list`.
    case storageList = 133
    /// `http/1`: `request` or `stream`.
    case request = 134
    /// `http/1`: `cancel`.
    case requestCancel = 135
    /// `http/1`: `resume`.
    case requestResume = 136
    /// `http/1`: `write`.
    case requestWrite = 137
    /// `gates/1`: `call`.
    case gateCall = 138
    /// `gates/1`: `cancel`.
    case gateCancel = 139
    /// `gates/1`: `bound`.
    case gateBound = 140
    /// `clock/1`: `wall_ns`, of a gate that is recorded or replayed, or follows the host's clock.
    case wallTime = 141
    /// `clock/1`: `monotonic_ns`, of a gate that follows the host's clock, as the two below.
    case monotonicTime = 142
    /// `clock/1`: `start_timer`.
    case timerStart = 143
    /// `clock/1`: `cancel_timer`.
    case timerCancel = 144
    /// `storage/1`: `replace`.
    case storageReplace = 145
}
