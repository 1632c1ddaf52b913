#![deny(unsafe_code)]

use connector::{secret, Error, Evidence, Host, Json, Plugin, Request, Response, Url};

/// One gate.
struct Adapter {
    host: Host,
    endpoint: String,
}

impl Plugin for Adapter {
    fn create(host: Host, configuration: &Json) -> Result<Self, Error> {
        Ok(Adapter { host, endpoint: configuration.text("endpoint")? })
    }

    /// Requests something that needs the key, changes nothing and costs nothing.
    async fn open(&self) -> Result<Evidence, Error> {
        let answer = self.fetch(self.host.get(Url::new(&self.endpoint).path("account"))).await?;
        // A status alone proves nothing: a captive portal says 200, too.
        let Some(account) = answer["account"].as_str() else {
            return Err(Error::protocol("the answer is not the vendor's: it has no account"));
        };
        Ok(Evidence::authenticated(account))
    }
}

impl Adapter {
@OPERATIONS@

    /// Fetches JSON; an empty body is null. A web page is no answer.
    async fn fetch(&self, request: Request) -> Result<Json, Error> {
        let response = self.send(request).await?;
        if response.body.is_empty() {
            return Ok(Json::Null);
        }
        response.json().map_err(|_| Error::protocol("the answer is not the vendor's: it is not JSON"))
    }

    /// Sends a request with the key, which the host puts in as it sends the request.
    async fn send(&self, request: Request) -> Result<Response, Error> {
        let authorization = format!("Bearer {}", secret("apiKey"));
        request.header("Authorization", &authorization).send_to("@NAME@").await
    }
}

connector::plugin! {
    type: Adapter,
    manifest: include_str!("../@NAME@.manifest.json"),
    entry: @SNAKE@_plugin,
    operations: {
        @EXPORTS@
    }
}
