// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CNATS
internal import ConnectorOutbox

/// Conversion of settings and texts for the C library.
extension NATSConnection {
    /// Calls a body with settings and the credentials in their file, valid for the call.
    static func withOptions<Value>(
        _ settings: NATSSettings,
        _ user: NATSCredentials?,
        _ body: (UnsafePointer<cnats_options>) -> Value
    ) -> Value {
        unsafe settings.url.withCString { url in
            unsafe withTexts(user?.jwt, user?.seed) { jwt, seed in
                unsafe withTexts(settings.user, settings.password) { user, password in
                    unsafe withTexts(settings.token, settings.authorities) { token, authorities in
                        unsafe withTexts(settings.certificate, settings.key) { certificate, key in
                            unsafe "connector-host".withCString { name in
                                var options = unsafe cnats_options(
                                    url: url,
                                    name: name,
                                    jwt: jwt,
                                    seed: seed,
                                    token: token,
                                    user: user,
                                    password: password,
                                    authorities: authorities,
                                    certificate: certificate,
                                    key: key,
                                    is_encrypted: settings.usesTLS,
                                    timeout: Int64(clamping: settings.waits.connection / 1_000_000)
                                )
                                return unsafe body(&options)
                            }
                        }
                    }
                }
            }
        }
    }

    /// Calls a body with two texts, valid for the call; nil becomes a null pointer.
    private static func withTexts<Value>(
        _ first: String?,
        _ second: String?,
        _ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Value
    ) -> Value {
        unsafe withText(first) { first in unsafe withText(second) { second in unsafe body(first, second) } }
    }

    /// Calls a body with a text, valid for the call; nil becomes a null pointer.
    static func withText<Value>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Value) -> Value {
        guard let text else { return body(nil) }
        return unsafe text.withCString { unsafe body($0) }
    }
}
