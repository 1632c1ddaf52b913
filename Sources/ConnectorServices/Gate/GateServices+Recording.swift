// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform

extension GateServices {
    /// The time of day for the plugin: that of the recording being replayed or made, otherwise the host's.
    package var wallTime: Timestamp { context.vendor?.time ?? recording?.readTime() ?? host.clock.wallTime() }

    /// The time of day of the recording being replayed or made, for the host itself; nil for the host's.
    package var fixedTime: Timestamp? { context.vendor?.time ?? recording?.shownTime }

    /// The recording that this gate is a part of; nil if it is not recorded.
    var recording: GateRecording? { context.recording.map { host.recording(of: $0) } }

    /// The recorder of a request; nil if the gate is not recorded.
    func recorder(of request: RequestTemplate, isInParts: Bool) -> RequestRecorder? {
        recording.map { recording in
            RequestRecorder(
                recording,
                request,
                below: context.vendor?.path ?? "",
                isInParts: isInParts,
                context.redactor,
                logger
            )
        }
    }

    /// Records a request that has ended, then completes it: whatever the plugin has received is in the recording.
    func completeRecorded(
        _ id: UInt64,
        _ result: Result<HTTPResponse, ServiceFailure>,
        _ recorder: RequestRecorder?
    ) {
        guard let recorder else { return completeRequest(id, result) }
        // Writing would block an event loop, or the timers.
        host.callbacks.run {
            recorder.end(result)
            self.completeRequest(id, result)
        }
    }

    /// The recorded failure that a replayed response stands for, or ends with; nil for every other response.
    func refusal(by reply: HTTPResponse) -> ServiceFailure? {
        guard context.vendor != nil, let failure = reply.failure else { return nil }
        return ServiceFailure(
            status: failure.code.abiStatus ?? Int32(CONNECTOR_FAILED),
            message: failure.message,
            isRetryable: failure.isRetryable
        )
    }
}
