import AsyncHTTPClient
import Crypto
import Logging
import ServiceLifecycle
import NIOHTTP1
