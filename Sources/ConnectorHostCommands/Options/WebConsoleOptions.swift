// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorConsoleWeb
internal import ConnectorHost
internal import ConnectorServices

/// The options of the console in a browser.
struct WebConsoleOptions: ParsableArguments {
    /// Whether the console is read-only.
    @Flag(help: "Make the console in the browser read-only.")
    var consoleReadOnly = false

    /// The token that grants the rights to read and to act.
    @Option(
        help: ArgumentHelp(
            "The token, as env:NAME, file:PATH or credential:NAME, that admits browsers and programs.",
            valueName: "secret"
        )
    )
    var consoleToken: String?

    /// The token that grants only the right to read.
    @Option(
        help: ArgumentHelp(
            "The token, as env:NAME, file:PATH or credential:NAME, that admits them read-only.",
            valueName: "secret"
        )
    )
    var consoleReadToken: String?

    /// The file with the certificate.
    @Option(
        help: ArgumentHelp("The certificate, in PEM; required for an address other than loopback.", valueName: "file"),
        completion: .file()
    )
    var consoleCertificate: String?

    /// The file with the certificate's key.
    @Option(help: ArgumentHelp("The certificate's key, in PEM.", valueName: "file"), completion: .file())
    var consoleKey: String?

    /// Further host names of the server.
    @Option(
        help: ArgumentHelp(
            "A further host name that the URL may contain, with any port; repeatable.",
            valueName: "host"
        )
    )
    var consoleName: [String] = []

    func validate() throws {
        guard (consoleCertificate == nil) == (consoleKey == nil) else {
            throw ValidationError("--console-certificate and --console-key must be used together.")
        }
    }

    /// Checks that the options have a console in the browser to apply to.
    ///
    /// - Parameter option: The option that serves it, unless it was not given.
    func validate(isServed: Bool, by option: String) throws {
        let given = [
            ("--console-read-only", consoleReadOnly), ("--console-token", consoleToken != nil),
            ("--console-read-token", consoleReadToken != nil), ("--console-certificate", consoleCertificate != nil),
            ("--console-name", !consoleName.isEmpty),
        ]
        guard !isServed, let (name, _) = given.first(where: { $0.1 }) else { return }
        throw ValidationError("\(name) is for the console in a browser: add \(option), or remove it.")
    }

    /// The options of the console.
    ///
    /// - Throws: `invalid-value` for options that would admit clients by mistake; the error of a secret that cannot be read.
    func options(at address: WebConsole.Address, route: Route) throws(ConnectorError) -> WebConsole.Options {
        var options = WebConsole.Options()
        options.address = address
        options.route = route
        options.names = consoleName
        options.isReadOnly = consoleReadOnly
        if let consoleToken { options.token = try Secret(reference: consoleToken, environment: .process) }
        if let consoleReadToken { options.readToken = try Secret(reference: consoleReadToken, environment: .process) }
        if let consoleCertificate, let consoleKey {
            options.certificate = WebConsole.Certificate(file: consoleCertificate, key: consoleKey)
        }
        try options.check()
        return options
    }
}

extension WebConsole.Address {
    /// Parses an argument such as `127.0.0.1:8901`.
    ///
    /// - Throws: A `ValidationError`, which ends the process with status 64.
    static func argument(_ text: String) throws -> WebConsole.Address {
        guard let address = WebConsole.Address(text) else {
            throw ValidationError("'\(text)' is not an address with a port: write 127.0.0.1:8901, [::1]:8901 or 8901.")
        }
        return address
    }
}

extension OutputOptions {
    /// Converts an option if it was given, and shows the error if that fails.
    ///
    /// - Throws: The exit status for wrong usage.
    func checked<Given, Value>(
        _ given: Given?,
        _ make: (Given) throws(ConnectorError) -> Value
    ) throws -> Value? {
        guard let given else { return nil }
        do throws(ConnectorError) {
            return try make(given)
        } catch {
            report([error])
            throw ExitCode.validationFailure
        }
    }
}
