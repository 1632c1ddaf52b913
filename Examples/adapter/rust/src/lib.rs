// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0
//
// Exchange rates of openexchangerates.org, the adapter of ../Sources/rates in Rust.

#![deny(unsafe_code)]

use connector::{Error, Evidence, Host, Json, Plugin, Status, Url};

struct Rates {
    host: Host,
    endpoint: String,
}

impl Plugin for Rates {
    fn create(host: Host, configuration: &Json) -> Result<Self, Error> {
        Ok(Rates { host, endpoint: configuration.text("endpoint")? })
    }

    /// Fetches what is left of the account's quota, which proves the key and costs nothing.
    async fn open(&self) -> Result<Evidence, Error> {
        let answer = self.fetch(Url::new(&self.endpoint).path("usage.json")).await?;
        // A status alone proves nothing: a captive portal says 200, too.
        let Some(rest) = answer["data"]["usage"]["requests_remaining"].as_i64() else {
            return Err(Error::protocol("the answer is not the vendor's: it has no requests_remaining"));
        };
        Ok(Evidence::authenticated(format!("requests left: {rest}")))
    }
}

impl Rates {
    async fn rate(&self, currency: String) -> Result<Json, Error> {
        if currency.len() != 3 || !currency.bytes().all(|letter| letter.is_ascii_uppercase()) {
            return Err(Error::invalid("a currency has three capital letters, such as EUR"));
        }
        let answer = self.fetch(Url::new(&self.endpoint).path("latest.json").query("symbols", &currency)).await?;
        if !answer["rates"].is_object() {
            return Err(Error::protocol("the answer is not the vendor's: it has no rates"));
        }
        match answer["rates"].get(&currency) {
            Some(rate @ Json::Number(_)) => Ok(rate.clone()),
            _ => Err(Error::new(Status::NOT_FOUND, format!("there is no rate of {currency}")).in_domain("rates")),
        }
    }

    /// The host puts the secret in as it sends the request.
    async fn fetch(&self, url: Url) -> Result<Json, Error> {
        let response = self.host.get(url.query_secret("app_id", "appId")).send_to("rates").await?;
        response.json().map_err(|_| Error::protocol("the answer is not the vendor's: it is not JSON").in_domain("rates"))
    }
}

connector::plugin! {
    type: Rates,
    manifest: include_str!("../rates-rust.manifest.json"),
    entry: rates_plugin,
    operations: {
        async fn rates_rate(currency: String) -> Json = Rates::rate;
    }
}
