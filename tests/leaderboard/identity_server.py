"""A server that people sign in at: OpenID Connect as a hub of models speaks it, and what GitHub speaks."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, SECRET = "board", "a-secret-of-the-board"
KEY_ID = "key"


class IdentityServer:
    """Signs in whoever `person` describes, with the claims of OpenID Connect, and remembers what it was asked."""

    def __init__(self) -> None:
        self.person: dict[str, Any] = {"sub": "1", "preferred_username": "lab"}
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.audience = CLIENT_ID
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []
        self.address = ""

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "userinfo_endpoint": f"{self.address}/userinfo",
            "jwks_uri": f"{self.address}/jwks",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser is sent back to: the person is taken to agree."""
        code = f"code{len(self.codes)}"
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        """Tokens for a code that is used once, with the right secret and, where it was begun so, the right proof."""
        query = self.codes.pop(form["code"], None)
        if query is None or (form["client_id"], form["client_secret"]) != (CLIENT_ID, SECRET):
            return None
        if "code_challenge" in query:
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            assert query["code_challenge"] == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        claims = {"iss": self.address, "aud": self.audience, "iat": int(time.time()), "exp": int(time.time()) + 60}
        id_token = jwt.encode({**claims, **self.person}, self.key, algorithm="RS256", headers={"kid": KEY_ID})
        return {"access_token": "opens-nothing", "token_type": "Bearer", "id_token": id_token}


@contextmanager
def identity_server() -> Iterator[IdentityServer]:
    """A server on loopback, for the length of the block."""
    state = IdentityServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            state.asked.append(address.path)
            query = {name: values[0] for name, values in parse_qs(address.query).items()}
            match address.path:
                case "/.well-known/openid-configuration":
                    self.answer(state.configuration())
                case "/authorize" | "/login/oauth/authorize":
                    self.send_response(302)
                    self.send_header("Location", state.authorize(query))
                    self.end_headers()
                case "/userinfo":
                    self.answer(state.person)
                case "/api/v3/user":
                    self.answer({"id": 7, "login": "octo", "email": None, "name": "Octo"})
                case "/api/v3/user/emails":
                    self.answer([{"email": "octo@example.org", "primary": True, "verified": True}])
                case _:
                    self.answer(None)

        def do_POST(self) -> None:
            state.asked.append(self.path)
            content = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.answer(state.token({name: values[0] for name, values in parse_qs(content).items()}))

        def answer(self, value: Any) -> None:
            content = json.dumps(value or {"error": "invalid_grant"}).encode()
            self.send_response(200 if value else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
