#![deny(unsafe_code)]

use connector::{secret, Error, Evidence, Host, Json, Plugin, Url};

/// One gate.
struct @TYPE@ {
    host: Host,
    endpoint: String,
}

impl Plugin for @TYPE@ {
    fn create(host: Host, configuration: &Json) -> Result<Self, Error> {
        Ok(@TYPE@ { host, endpoint: configuration.text("endpoint")? })
    }

    /// Asks for something that needs the key, changes nothing and costs nothing.
    async fn open(&self) -> Result<Evidence, Error> {
        let answer = self.ask(Url::new(&self.endpoint).path("account")).await?;
        // A status alone proves nothing: a captive portal says 200, too.
        let Some(account) = answer["account"].as_str() else {
            return Err(Error::protocol("the answer is not the vendor's: it has no account"));
        };
        Ok(Evidence::authenticated(account))
    }
}

impl @TYPE@ {
    /// The operation `get`.
    async fn get(&self, key: String) -> Result<Json, Error> {
        if key.is_empty() {
            return Err(Error::invalid("a key is not empty"));
        }
        let answer = self.ask(Url::new(&self.endpoint).path("items").path(&key)).await?;
        let value = answer.get("value").cloned();
        value.ok_or_else(|| Error::protocol("the answer is not the vendor's: it has no value"))
    }

    /// Sends a GET with the key, which the host puts in as it sends the request.
    async fn ask(&self, url: Url) -> Result<Json, Error> {
        let authorization = format!("Bearer {}", secret("apiKey"));
        let response = self.host.get(url).header("Authorization", &authorization).send_to("@NAME@").await?;
        response.json().map_err(|_| Error::protocol("the answer is not the vendor's: it is not JSON"))
    }
}

connector::plugin! {
    type: @TYPE@,
    manifest: include_str!("../@NAME@.manifest.json"),
    entry: @SNAKE@_plugin,
    operations: {
        async fn @SNAKE@_get(key: String) -> Json = @TYPE@::get;
    }
}
