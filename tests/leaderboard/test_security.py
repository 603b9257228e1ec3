"""What protects the site whatever a page does: headers, cookies, limits of requests, and silence about secrets."""

import logging
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, RequestFactory
from django.views.debug import ExceptionReporter
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.config.logs import HIDDEN, Hiding, JsonFormatter, PlainFormatter
from leaderboard.models import User
from tests.factories import make_published_run, make_suite

ROOT = Path(__file__).resolve().parents[2]

HEADERS = {
    "Content-Security-Policy": "default-src 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=()",
}


@pytest.mark.django_db
class TestEveryAnswer:
    @pytest.mark.parametrize(
        ("method", "address", "status"),
        [
            ("get", "/methods/", 200),
            ("get", "/nosuchpage/", 404),
            ("get", "/?sort=nosuch", 200),
            ("get", "/methods/?a=%00", 400),
            ("post", "/methods/", 405),
            ("get", "/submit/", 302),
            ("get", "/accounts/login/", 200),
        ],
    )
    def test_has_the_headers(self, client: Client, method: str, address: str, status: int) -> None:
        answer = getattr(client, method)(address)
        assert answer.status_code == status
        for name, part in HEADERS.items():
            assert part in answer[name], name
        assert "unsafe" not in answer["Content-Security-Policy"]

    def test_an_error_of_ours_too(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr("leaderboard.views.boards.live_suites")
        client.raise_request_exception = False
        answer = client.get("/")
        assert answer.status_code == 500
        assert all(part in answer[name] for name, part in HEADERS.items())
        assert "live_suites" not in answer.content.decode()

    def test_cookies_are_out_of_reach_of_scripts_and_other_sites(self, client: Client) -> None:
        user = User.objects.create_user("ada", password="a-long-passphrase")
        client.post("/accounts/login/", {"login": user.username, "password": "a-long-passphrase"})
        session = client.cookies["sessionid"]
        assert (session["httponly"], session["samesite"]) == (True, "Lax")
        assert client.cookies["csrftoken"]["samesite"] == "Lax"

    @pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1@evil.example", "a b"])
    def test_other_hosts_are_refused(self, client: Client, host: str) -> None:
        assert client.get("/methods/", headers={"host": host}).status_code == 400


@pytest.mark.django_db
class TestRequestsThatAreRefused:
    @pytest.mark.parametrize(
        "address",
        [
            "/%00",
            "/models/lab%00/x/",
            "/?q=%00",
            "/?%00=1",
            "/queue/?page=1%00",
            "/tasks/medheb/a%00b/",
            "/audit/?words=%00",
        ],
    )
    def test_null_characters_in_addresses(self, client: Client, address: str) -> None:
        answer = client.get(address)
        assert answer.status_code == 400
        assert "null character" in answer.content.decode()

    def test_null_characters_in_forms_and_cookies(self, client: Client) -> None:
        assert client.post("/accounts/login/", {"login": "a\x00", "password": "b"}).status_code == 400
        assert client.post("/accounts/login/", {"login\x00": "a"}).status_code == 400
        client.cookies["sessionid"] = "aaaaaaaaaaaa\x00aaaaaaaaaaaaaaaaaaaa"
        assert client.get("/methods/").status_code == 400

    def test_too_much_of_a_form(self, client: Client) -> None:
        assert client.post("/accounts/login/", {"login": "a" * 1_200_000}).status_code == 400
        assert client.post("/accounts/login/", {f"field{number}": "a" for number in range(2001)}).status_code == 400

    def test_files(self, client: Client) -> None:
        file = SimpleUploadedFile("model.safetensors", b"weights")
        assert client.post("/accounts/login/", {"login": "a", "file": file}).status_code == 400

    def test_a_bad_request_is_told_what_is_wrong_and_an_attack_is_not(self, client: Client) -> None:
        make_published_run(suite=make_suite())
        answer = client.get("/tasks/?sort=<nosuch>")
        assert answer.status_code == 400
        assert "There is no column &#x27;&lt;nosuch&gt;&#x27; to sort by" in answer.content.decode()
        answer = client.get("/methods/", headers={"host": "<b>evil</b>"})
        assert answer.status_code == 400
        assert "evil" not in answer.content.decode()

    def test_a_page_says_how_an_address_is_used(self, client: Client) -> None:
        answer = client.post("/methods/")
        assert answer["Allow"] == "GET, HEAD"
        assert "This address cannot be used like that" in answer.content.decode()
        assert client.post("/methods/", headers={"accept": "application/json"}).content == b""


def test_djangos_deployment_check_has_nothing_to_say() -> None:
    """The settings as a production site has them: behind TLS, with a key of its own."""
    environment = {
        "PATH": os.environ["PATH"],
        "SECRET_KEY": "k" * 25 + "abcdefghijklmnopqrstuvwxyz0123456789",
        "BEHIND_TLS": "true",
        "ALLOWED_HOSTS": "medboard.example",
        "SITE_URL": "https://medboard.example",
        "DATABASE_URL": "postgres://nobody:nothing@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    command = [sys.executable, "-W", "error", "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "no issues" in done.stdout


PLANTED = {
    "a key": "s3cr3t-key-of-this-site",
    "a hub token": "hf_AbCdEfGhIjKlMnOpQrStUvWx",
    "a password": "pa55:word/with@signs",
}
KNOWN = list(PLANTED.values())


def logged(formatter: logging.Formatter, message: str, *arguments: object, error: Exception | None = None) -> str:
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logger = logging.getLogger("planted")
    logger.addHandler(handler)
    logger.error(message, *arguments, exc_info=error)
    logger.removeHandler(handler)
    return stream.getvalue()


@pytest.mark.parametrize(
    "formatter", [PlainFormatter(secrets=KNOWN), JsonFormatter(secrets=KNOWN)], ids=["plain", "json"]
)
class TestNoSecretInLogs:
    @pytest.mark.parametrize("secret", PLANTED.values(), ids=PLANTED)
    def test_of_the_settings(self, formatter: logging.Formatter, secret: str) -> None:
        assert secret not in logged(formatter, f"in the message: {secret}")
        assert secret not in logged(formatter, "in an argument: %s, %r", secret, {"token": secret})
        line = logged(formatter, "it broke", error=raised(f"the connection to {secret} failed"))
        assert secret not in line
        assert HIDDEN in line

    @pytest.mark.parametrize(
        ("text", "secret"),
        [
            ("postgres://board:hunter22@db:5432/x", "hunter22"),
            ("redis://:hunter22@cache/0", "hunter22"),
            ("Authorization: Bearer abc.def-ghi_jkl", "abc.def-ghi_jkl"),
            ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
            ("GET /x?access_token=abcdef123&b=1", "abcdef123"),
            ("{'password': 'hunter22', 'login': 'ada'}", "hunter22"),
            ("cookie sessionid=0123456789abcdef; csrftoken=fedcba9876543210", "0123456789abcdef"),
            ("cookie sessionid=0123456789abcdef; csrftoken=fedcba9876543210", "fedcba9876543210"),
            ("pulling with hf_ZyXwVuTsRqPoNmLkJi from the hub", "ZyXwVuTsRqPoNmLkJi"),
        ],
    )
    def test_that_nobody_has_listed(self, formatter: logging.Formatter, text: str, secret: str) -> None:
        line = logged(formatter, text)
        assert secret not in line
        assert HIDDEN in line

    @pytest.mark.parametrize(
        "text",
        ["run 1f2e on http://host:8000/a@b failed", "token 12 of 128 tokens", "basic things, bearer of news", "a: b"],
    )
    def test_other_texts_stay(self, formatter: logging.Formatter, text: str) -> None:
        assert text in logged(formatter, text)


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_secret_is_hidden_wherever_it_stands(before: str, after: str) -> None:
    secret = "s3cr3t-key-of-this-site"
    assert secret not in Hiding([secret, secret[:8]])(before + secret + after)


def test_short_secrets_do_not_eat_words() -> None:
    assert Hiding(["a", "to"])("a walk to the sea") == "a walk to the sea"


def test_the_settings_hide_their_own_secrets(settings: object) -> None:
    chosen = settings.LOGGING["formatters"]["chosen"]
    assert settings.SECRET_KEY in chosen["secrets"]


def raised(words: str) -> ValueError:
    """An exception with its traceback."""
    try:
        int(words)
    except ValueError as error:
        return error
    raise AssertionError("a number was planted")


def test_the_page_of_an_exception_hides_addresses_with_passwords(settings: object) -> None:
    planted = [f"planted-{number}" for number in range(3)]  # the page quotes the lines of this test
    settings.DEBUG, settings.REDIS_URL, settings.HUB_TOKEN = True, f"redis://:{planted[0]}@cache/0", planted[1]
    request = RequestFactory().get("/", REDIS_URL=settings.REDIS_URL, DATABASE_URL=planted[2])
    request.session = {}
    error = raised("broken")
    html = ExceptionReporter(request, type(error), error, error.__traceback__).get_traceback_html()
    assert "invalid literal" in html
    assert "REDIS_URL" in html
    assert not [secret for secret in planted if secret in html]
