// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CNATS

/// Conversion of settings and texts for the C library.
extension NATSConnection {
    /// Calls a body with settings, valid for the call.
    static func withOptions<Value>(
        _ settings: NATSSettings,
        _ body: (UnsafePointer<cnats_options>) -> Value
    ) -> Value {
        unsafe settings.url.withCString { url in
            unsafe withText(settings.credentials) { credentials in
                unsafe withText(settings.token) { token in
                    unsafe withText(settings.authorities) { authorities in
                        unsafe withText(settings.user) { user in
                            unsafe withText(settings.password) { password in
                                unsafe "connector-host".withCString { name in
                                    var options = unsafe cnats_options(
                                        url: url,
                                        name: name,
                                        credentials: credentials,
                                        token: token,
                                        user: user,
                                        password: password,
                                        authorities: authorities,
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
    }

    /// Calls a body with a text, valid for the call; nil becomes a null pointer.
    static func withText<Value>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Value) -> Value {
        guard let text else { return body(nil) }
        return unsafe text.withCString { unsafe body($0) }
    }
}
