// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorConsoleWeb
internal import ConnectorHost
internal import ConnectorServices

/// How the console in the browser is served.
struct WebConsoleOptions: ParsableArguments {
    /// Whether no one may act through it.
    @Flag(help: "Let no one act through the console in the browser.")
    var consoleReadOnly = false

    /// The token that lets anybody see and act.
    @Option(
        help: ArgumentHelp("A secret, env:NAME or file:PATH, that lets browsers and programs in.", valueName: "secret")
    )
    var consoleToken: String?

    /// The token that lets anybody see.
    @Option(help: ArgumentHelp("The same for those who may see, and not act.", valueName: "secret"))
    var consoleReadToken: String?

    /// The file of the certificate.
    @Option(
        help: ArgumentHelp("The certificate, in PEM; an address that others reach needs it.", valueName: "file"),
        completion: .file()
    )
    var consoleCertificate: String?

    /// The file of the certificate's key.
    @Option(help: ArgumentHelp("The certificate's key, in PEM.", valueName: "file"), completion: .file())
    var consoleKey: String?

    /// What browsers call the server.
    @Option(help: ArgumentHelp("A name that the URL may have besides the address; repeatable.", valueName: "host"))
    var consoleName: [String] = []

    func validate() throws {
        guard (consoleCertificate == nil) == (consoleKey == nil) else {
            throw ValidationError("--console-certificate and --console-key belong together.")
        }
    }

    /// The options of the console.
    ///
    /// - Throws: What is wrong with a secret, or lets in whom it should not.
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
    /// Reads an argument such as `127.0.0.1:8901`.
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
    /// Makes something of an option, if it was given; shows the error if that fails.
    ///
    /// - Throws: The status of wrong usage.
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
