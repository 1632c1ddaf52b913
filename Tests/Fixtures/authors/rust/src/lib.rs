// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// Uses what the host lends to a plugin in Rust.

#![deny(unsafe_code)]

use connector::{Error, Evidence, Host, Json, Plugin};
use std::time::Duration;

struct Services {
    host: Host,
}

impl Plugin for Services {
    fn create(host: Host, _: &Json) -> Result<Self, Error> {
        Ok(Services { host })
    }

    async fn open(&self) -> Result<Evidence, Error> {
        Ok(Evidence::configured("asks nobody"))
    }
}

impl Services {
    async fn remember(&self, key: String, value: Option<String>) -> Result<Json, Error> {
        let storage = self.host.storage();
        let old = storage.get(&key)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match value {
            Some(value) => storage.set(&key, value.as_bytes())?,
            None => storage.remove(&key)?,
        }
        Ok(old.map_or(Json::Null, Json::from))
    }

    fn keys(&self, prefix: String) -> Result<Json, Error> {
        let keys = self.host.storage().keys(&prefix)?;
        Ok(keys.into_iter().map(Json::from).collect::<Vec<Json>>().into())
    }

    fn announce(&self, name: String, value: Json) -> Result<Json, Error> {
        self.host.emit(&name, &value)?;
        Ok(Json::Null)
    }

    async fn pass(&self, operation: String, arguments: Json) -> Result<Json, Error> {
        self.host.gate("inner").call(&operation, &arguments).await
    }

    fn bound(&self, name: String) -> Result<Json, Error> {
        Ok(self.host.optional_gate(&name).is_some().into())
    }

    async fn wait(&self, seconds: u64) -> Result<(), Error> {
        self.host.sleep(Duration::from_secs(seconds)).await?;
        self.host.gate("inner").call("counts", &Json::Null).await.map(|_| ())
    }

    async fn work(&self, name: String) -> Result<(), Error> {
        let (host, inner) = (self.host, self.host.gate("inner"));
        host.spawn(async move {
            let begun = inner.call("begin", &Json::object([("name", name.into())])).await;
            let counted = inner.call("counts", &Json::Null).await;
            let outcome = begun.and(counted).map_or_else(|error| error.message.into(), |_| true.into());
            let _ = host.emit("worked", &outcome);
        })?;
        host.sleep(Duration::from_secs(1_000_000)).await
    }
}

connector::plugin! {
    type: Services,
    manifest: include_str!("../services-rust.manifest.json"),
    entry: services_plugin,
    operations: {
        async fn services_remember(key: String, value: Option<String>) -> Json = Services::remember;
        fn services_keys(prefix: String) -> Json = Services::keys;
        fn services_announce(name: String, value: Json) -> Json = Services::announce;
        async fn services_pass(operation: String, arguments: Json) -> Json = Services::pass;
        fn services_bound(name: String) -> Json = Services::bound;
        async fn services_wait(seconds: u64) = Services::wait;
        async fn services_work(name: String) = Services::work;
    }
}
