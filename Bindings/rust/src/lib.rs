// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

//! Plugins for connector-host: a type that implements [`Plugin`], and one [`plugin!`] that names its operations.
//!
//! Nothing here is unsafe to use. Operations are asynchronous without a runtime: the end of a request, on a thread of the
//! host, resumes the future that awaits it. A panic becomes an error of the call.
//!
//! [`Host`] has a function for each service that the manifest names: requests over `http/1`, the time and [`Host::sleep`],
//! [`Host::log`], [`Host::emit`] for events, [`Host::storage`] for values that survive a restart, and [`Host::gate`] for the
//! gates under `uses`. [`Host::spawn`] runs a future in the background.
//!
//! ```
//! use connector::{Error, Evidence, Host, Json, Plugin, Url};
//!
//! struct Rates {
//!     host: Host,
//!     endpoint: String,
//! }
//!
//! impl Plugin for Rates {
//!     fn create(host: Host, configuration: &Json) -> Result<Self, Error> {
//!         Ok(Rates { host, endpoint: configuration.text("endpoint")? })
//!     }
//!
//!     async fn open(&self) -> Result<Evidence, Error> {
//!         let url = Url::new(&self.endpoint).path("usage.json").query_secret("app_id", "appId");
//!         let answer = self.host.get(url).send_to("rates").await?.json()?;
//!         let rest = answer["requests_remaining"].as_i64().ok_or(Error::protocol("no requests_remaining"))?;
//!         Ok(Evidence::authenticated(format!("requests left: {rest}")))
//!     }
//! }
//! ```

#![warn(missing_docs)]

mod error;
mod gate;
mod host;
mod http;
mod json;
mod manifest;
mod plugin;
#[doc(hidden)]
pub mod sys;
mod storage;
mod task;
mod waiting;

pub use error::{Error, Status};
pub use gate::UsedGate;
pub use host::{Host, Level};
pub use http::{percent_encode, secret, Request, Response, Url};
pub use json::Json;
pub use plugin::{Evidence, OperationResult, Plugin};
pub use storage::Storage;

/// What [`plugin!`] expands to; not for other use.
#[doc(hidden)]
pub mod private {
    pub use crate::manifest::{padded, Note};
    pub use crate::plugin::{answer, blob, hand_over, json, perform, table, text};
}

/// Exports a plugin: its manifest, its entry and its operations, in a crate of the type `cdylib`.
///
/// ```ignore
/// connector::plugin! {
///     type: Rates,
///     manifest: include_str!("../rates.connector.json"),
///     entry: rates_plugin,
///     operations: {
///         async fn rates_rate(currency: String) -> Json = Rates::rate;
///         fn rates_currencies() -> Json = Rates::currencies;
///         fn rates_forget(currency: String) = Rates::forget;
///     }
/// }
/// ```
///
/// Each operation has the symbol and the signature that the manifest says: `string` is `String`, `json` is `Json`, `bytes` is
/// `Vec<u8>`, `i64` is `i64` and so on, and `T?` is `Option<T>`. An asynchronous operation names an async method, any other a
/// plain method. An operation without a result has no `->`, and its method returns `Result<(), Error>`.
///
/// A method that returns another type does not compile:
///
/// ```compile_fail,E0308
/// # use connector::{Error, Evidence, Host, Json, Plugin};
/// # struct Gate;
/// # impl Plugin for Gate {
/// #     fn create(_: Host, _: &Json) -> Result<Self, Error> {
/// #         Ok(Gate)
/// #     }
/// #     async fn open(&self) -> Result<Evidence, Error> {
/// #         Ok(Evidence::configured(""))
/// #     }
/// # }
/// impl Gate {
///     async fn value(&self) -> Result<Json, Error> {
///         Ok(Json::Null)
///     }
/// }
/// # connector::plugin! {
/// #     type: Gate,
/// #     manifest: "{}",
/// #     entry: gate_plugin,
/// #     operations: {
/// // In the manifest: "() async -> bytes".
/// async fn gate_value() -> Vec<u8> = Gate::value;
/// #     }
/// # }
/// ```
#[macro_export]
macro_rules! plugin {
    (type: $gate:ty, manifest: $manifest:expr, entry: $entry:ident, operations: { $($operations:tt)* } $(,)?) => {
        const _: () = {
            const MANIFEST: &str = $manifest;
            #[used]
            #[link_section = ".note.connector"]
            static NOTE: $crate::private::Note<{ $crate::private::padded(MANIFEST) }> =
                $crate::private::Note::new(MANIFEST);

            static PLUGIN: $crate::sys::Plugin = $crate::private::table::<$gate>();

            #[no_mangle]
            extern "C" fn $entry() -> *const $crate::sys::Plugin {
                &PLUGIN
            }

            $crate::__operations! { $gate; $($operations)* }
        };
    };
}

/// Expands one operation after another.
#[doc(hidden)]
#[macro_export]
macro_rules! __operations {
    ($gate:ty;) => {};
    ($gate:ty; async fn $symbol:ident($($parameters:tt)*) $(-> $result:ty)? = $method:path; $($rest:tt)*) => {
        $crate::__parameters! { (async $gate; $symbol; ($($result)?); $method) [] [] $($parameters)*, }
        $crate::__operations! { $gate; $($rest)* }
    };
    ($gate:ty; fn $symbol:ident($($parameters:tt)*) = $method:path; $($rest:tt)*) => {
        $crate::__parameters! { (sync (); $gate; $symbol; $method) [] [] $($parameters)*, }
        $crate::__operations! { $gate; $($rest)* }
    };
    ($gate:ty; fn $symbol:ident($($parameters:tt)*) -> Vec<u8> = $method:path; $($rest:tt)*) => {
        $crate::__parameters! { (sync Bytes; $gate; $symbol; $method) [] [] $($parameters)*, }
        $crate::__operations! { $gate; $($rest)* }
    };
    ($gate:ty; fn $symbol:ident($($parameters:tt)*) -> $result:tt = $method:path; $($rest:tt)*) => {
        $crate::__parameters! { (sync $result; $gate; $symbol; $method) [] [] $($parameters)*, }
        $crate::__operations! { $gate; $($rest)* }
    };
}

/// Turns parameters into those of C, and into the arguments of a method. Each step has its own `length`.
#[doc(hidden)]
#[macro_export]
macro_rules! __parameters {
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : String, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, unsafe { $crate::private::text($name, length) }?),] $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Json, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, unsafe { $crate::private::json($name, length) }?),] $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Vec<u8>, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, unsafe { $crate::private::blob($name, length) }?),] $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Option<String>, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, if $name.is_null() { None } else { Some(unsafe { $crate::private::text($name, length) }?) }),]
            $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Option<Json>, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, if $name.is_null() { None } else { Some(unsafe { $crate::private::json($name, length) }?) }),]
            $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Option<Vec<u8>>, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const u8, length: u64,]
            [$($argument)* ($name, if $name.is_null() { None } else { Some(unsafe { $crate::private::blob($name, length) }?) }),]
            $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : Option<$scalar:ident>, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: *const $scalar,]
            [$($argument)* ($name, unsafe { $name.as_ref() }.copied()),] $($rest)* }
    };
    ($kind:tt [$($c:tt)*] [$($argument:tt)*] $name:ident : $scalar:ident, $($rest:tt)*) => {
        $crate::__parameters! { $kind [$($c)* $name: $scalar,] [$($argument)* ($name, $name),] $($rest)* }
    };
    ((async $gate:ty; $symbol:ident; $result:ty; $method:path) [$($c:tt)*] [$(($name:ident, $argument:expr),)*] $(,)?) => {
        #[no_mangle]
        unsafe extern "C" fn $symbol(
            instance: *mut ::std::os::raw::c_void,
            call: *const $crate::sys::Call,
            $($c)*
            error: *mut $crate::sys::Error,
        ) -> i32 {
            unsafe {
                $crate::private::perform(instance, call, error, |gate: ::std::sync::Arc<$gate>| {
                    // Copied here: what the host lent is gone when the future continues.
                    $(let $name = $argument;)*
                    Ok(async move {
                        let result: ::std::result::Result<$result, $crate::Error> = $method(&gate, $($name),*).await;
                        result
                    })
                })
            }
        }
    };
    ((sync (); $($rest:tt)*) $($more:tt)*) => { $crate::__synchronous! { ($($rest)*) $($more)* nothing } };
    ((sync Bytes; $($rest:tt)*) $($more:tt)*) => {
        $crate::__synchronous! { ($($rest)*) $($more)* bytes ::std::vec::Vec<u8> }
    };
    ((sync String; $($rest:tt)*) $($more:tt)*) => {
        $crate::__synchronous! { ($($rest)*) $($more)* bytes ::std::string::String }
    };
    ((sync Json; $($rest:tt)*) $($more:tt)*) => { $crate::__synchronous! { ($($rest)*) $($more)* bytes $crate::Json } };
    ((sync $scalar:ident; $($rest:tt)*) $($more:tt)*) => {
        $crate::__synchronous! { ($($rest)*) $($more)* $scalar }
    };
}

/// A synchronous operation, whose method returns the type of the result:
///
/// ```compile_fail,E0308
/// # use connector::{Error, Evidence, Host, Json, Plugin};
/// # struct Gate;
/// # impl Plugin for Gate {
/// #     fn create(_: Host, _: &Json) -> Result<Self, Error> {
/// #         Ok(Gate)
/// #     }
/// #     async fn open(&self) -> Result<Evidence, Error> {
/// #         Ok(Evidence::configured(""))
/// #     }
/// # }
/// impl Gate {
///     fn value(&self) -> Result<Json, Error> {
///         Ok(Json::Null)
///     }
/// }
/// # connector::plugin! {
/// #     type: Gate,
/// #     manifest: "{}",
/// #     entry: gate_plugin,
/// #     operations: {
/// // In the manifest: "() -> bytes".
/// fn gate_value() -> Vec<u8> = Gate::value;
/// #     }
/// # }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __synchronous {
    (($gate:ty; $symbol:ident; $method:path) [$($c:tt)*] [$(($name:ident, $argument:expr),)*] $(,)? nothing) => {
        #[no_mangle]
        unsafe extern "C" fn $symbol(
            instance: *mut ::std::os::raw::c_void,
            $($c)*
            error: *mut $crate::sys::Error,
        ) -> i32 {
            unsafe {
                $crate::private::answer(
                    instance,
                    error,
                    |gate: &$gate| {
                        $(let $name = $argument;)*
                        $method(gate, $($name),*)
                    },
                    |()| (),
                )
            }
        }
    };
    (($gate:ty; $symbol:ident; $method:path) [$($c:tt)*] [$(($name:ident, $argument:expr),)*] $(,)? bytes $result:ty) => {
        #[no_mangle]
        unsafe extern "C" fn $symbol(
            instance: *mut ::std::os::raw::c_void,
            $($c)*
            result: *mut $crate::sys::BytesOwned,
            error: *mut $crate::sys::Error,
        ) -> i32 {
            unsafe {
                $crate::private::answer(
                    instance,
                    error,
                    |gate: &$gate| {
                        $(let $name = $argument;)*
                        let result: ::std::result::Result<$result, $crate::Error> = $method(gate, $($name),*);
                        result.map($crate::OperationResult::into_bytes)
                    },
                    |bytes| $crate::private::hand_over(bytes, result),
                )
            }
        }
    };
    (($gate:ty; $symbol:ident; $method:path) [$($c:tt)*] [$(($name:ident, $argument:expr),)*] $(,)? $scalar:ident) => {
        #[no_mangle]
        unsafe extern "C" fn $symbol(
            instance: *mut ::std::os::raw::c_void,
            $($c)*
            result: *mut $scalar,
            error: *mut $crate::sys::Error,
        ) -> i32 {
            unsafe {
                $crate::private::answer(
                    instance,
                    error,
                    |gate: &$gate| {
                        $(let $name = $argument;)*
                        $method(gate, $($name),*)
                    },
                    |value| result.write(value),
                )
            }
        }
    };
}
