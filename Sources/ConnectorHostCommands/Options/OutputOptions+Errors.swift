// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

extension OutputOptions {
    /// Runs a step and, if the configuration is invalid, shows the errors.
    ///
    /// With `--json` the errors are the answer on standard output; otherwise they go to standard error.
    ///
    /// - Throws: `ExitStatus.invalidConfiguration`.
    func checked<Value>(_ body: () throws(ConfigurationErrors) -> Value) throws -> Value {
        do throws(ConfigurationErrors) {
            return try body()
        } catch {
            report(error.errors, omitted: error.omitted)
            throw ExitStatus.invalidConfiguration
        }
    }

    /// Shows errors: with `--json` as the answer, otherwise on standard error.
    func report(
        _ errors: [ConnectorError],
        omitted: Int = 0,
        of occasion: Remedy.Occasion = .opening,
        isLocal: Bool = false,
        isValidation: Bool = false,
        sent: SentDocument? = nil
    ) {
        let document = ErrorsDocument(
            errors: errors,
            omitted: omitted,
            occasion: occasion,
            isLocal: isLocal,
            isValidation: isValidation,
            sent: sent
        )
        guard !isJSON else { return isLinewise ? output.writeLine(document) : output.write(document) }
        let text = Output(format: .text, style: .detected(for: .error)).render(document)
        StandardStream.error.write(text)
    }

    /// Shows why a call failed, with the remedy for a plugin such as its connector's.
    ///
    /// - Parameter report: The report of the host that made the call; nil if unknown.
    func report(callFailure error: ConnectorError, in report: Report?, sent: SentDocument? = nil) {
        self.report(
            [Remedy.completing(error, from: report)],
            of: .call,
            isLocal: Remedy.isLocal(error, in: report),
            sent: sent
        )
    }
}
