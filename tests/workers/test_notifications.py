"""People are told that a run has ended, by real e-mails and real requests, once, and never through a private door."""

import hashlib
import hmac
import http.server
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.models import Delivery, Run, Submission, User
from leaderboard.models.vocabulary import DeliveryState, RunState
from leaderboard.services import notifications, runs
from tests.factories import make_published_run, make_run, make_suite, make_user
from workers.notifications.addresses import AddressRefused, AddressUnknown, Target, is_public, resolve
from workers.notifications.sending import send_due
from workers.notifications.webhook import post, signature


@dataclass
class Receiver:
    """A server that answers with `status` and remembers what it got."""

    status: int = 204
    location: str = ""
    url: str = ""
    port: int = 0
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    received = Receiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.requests.append((dict(self.headers), body))
            self.send_response(received.status)
            if received.location:
                self.send_header("Location", received.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: Any) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received.port = server.server_address[1]
        received.url = f"http://127.0.0.1:{received.port}/hook?key=1"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield received
        server.shutdown()
        thread.join()


@pytest.fixture
def submitter(db: None) -> User:
    user = make_user("submitter")
    user.email = "submitter@example.org"
    user.save()
    return user


@pytest.fixture
def private_webhooks(settings: Any) -> None:
    settings.WEBHOOKS_TO_PRIVATE_ADDRESSES = True


def submitted(user: User, **facts: Any) -> Run:
    run = make_run(user=user, **facts)
    run.submission = Submission.objects.create(revision=run.revision, suite=run.suite, submitter=user)
    run.save()
    return run


def failed(user: User) -> Run:
    run = submitted(user)
    return runs.run_fail(
        run_id=run.pk, actor="w1", code="model_unsafe", kind="model", message="It needs code of its own."
    )


def with_webhook(user: User, url: str, *, by_email: bool = False) -> str:
    stored = notifications.notification_settings_save(user=user, values={"by_email": by_email, "webhook_url": url})
    return stored.webhook_secret


def make_due() -> None:
    Delivery.objects.filter(state=DeliveryState.WAITING).update(next_attempt_at=timezone.now() - timedelta(seconds=1))


def test_a_failure_is_told_by_email_in_plain_words(submitter: User) -> None:
    run = failed(submitter)
    assert send_due() == 1
    (message,) = mail.outbox
    assert message.to == ["submitter@example.org"]
    assert message.subject == f"{run.revision.model.repo_id} on A suite for tests: the evaluation failed"
    for words in ["It needs code of its own.", "submit the new revision", f"/submissions/{run.submission_id}/"]:
        assert words in message.body
    assert Delivery.objects.get().state == DeliveryState.DELIVERED
    assert send_due() == 0


def test_a_success_is_told_to_the_submitter(submitter: User) -> None:
    run = submitted(submitter)
    Run.objects.filter(pk=run.pk).update(state=RunState.SCORING)
    run.refresh_from_db()
    runs.run_move(run, RunState.SUCCEEDED, actor="w1")
    send_due()
    assert mail.outbox[0].subject.endswith(": evaluated")


def test_nobody_is_told_of_what_changes_nothing_for_them(submitter: User) -> None:
    cancelled = submitted(submitter, suite=make_suite("one"))
    runs.run_cancel(run_id=cancelled.pk, actor="submitter")
    stands = make_published_run(suite=make_suite("two"), user=submitter)
    stands.submission = Submission.objects.create(
        revision=stands.revision, suite=stands.suite, submitter=submitter, closed_at=timezone.now()
    )
    stands.save()
    rerun = runs.run_rerun(run_id=stands.pk, actor=make_user(is_staff=True))
    runs.run_fail(run_id=rerun.pk, actor="w1", code="worker_lost", kind="infrastructure", message="Lost.")
    silent = make_user("silent")
    failed(silent)
    assert not Delivery.objects.exists()


@pytest.mark.usefixtures("private_webhooks")
def test_a_webhook_is_signed_over_what_arrives(submitter: User, receiver: Receiver) -> None:
    secret = with_webhook(submitter, receiver.url)
    run = failed(submitter)
    assert send_due() == 1
    ((headers, body),) = receiver.requests
    expected = hmac.new(
        secret.encode(), headers["MedBoard-Timestamp"].encode() + b"." + body, hashlib.sha256
    ).hexdigest()
    assert headers["MedBoard-Signature"] == f"sha256={expected}"
    assert abs(int(headers["MedBoard-Timestamp"]) - timezone.now().timestamp()) < 60
    told = json.loads(body)
    assert (told["event"], told["run"], told["error"]["code"]) == ("run.failed", str(run.pk), "model_unsafe")
    delivery = Delivery.objects.get()
    assert headers["MedBoard-Delivery"] == str(delivery.pk)
    assert (delivery.state, delivery.status, delivery.attempts) == (DeliveryState.DELIVERED, 204, 1)


def test_the_signature_is_a_hmac_by_its_definition() -> None:
    # RFC 2104: H(K ^ opad, H(K ^ ipad, text))
    key = b"Jefe".ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + b"1.{}").digest()
    outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).hexdigest()
    assert signature("Jefe", timestamp=1, body=b"{}") == f"sha256={outer}"


@pytest.mark.usefixtures("private_webhooks")
def test_what_is_not_received_is_tried_again_later_and_in_the_end_given_up(submitter: User, receiver: Receiver) -> None:
    with_webhook(submitter, receiver.url)
    failed(submitter)
    receiver.status = 503
    pauses = []
    for attempt in range(1, 7):
        assert send_due() == 1
        delivery = Delivery.objects.get()
        assert (delivery.attempts, delivery.status) == (attempt, 503)
        pauses.append(round((delivery.next_attempt_at - timezone.now()).total_seconds() / 60))
        assert send_due() == 0
        make_due()
    assert pauses[:5] == [1, 5, 30, 120, 720]
    assert delivery.state == DeliveryState.FAILED
    assert delivery.trouble == "The receiver answered with status 503."
    ids = {headers["MedBoard-Delivery"] for headers, _ in receiver.requests}
    assert (len(receiver.requests), len(ids), len({body for _, body in receiver.requests})) == (6, 1, 1)


@pytest.mark.usefixtures("private_webhooks")
def test_a_receiver_that_comes_back_gets_the_message(submitter: User, receiver: Receiver) -> None:
    with_webhook(submitter, receiver.url)
    failed(submitter)
    receiver.status = 500
    send_due()
    receiver.status = 200
    make_due()
    send_due()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.trouble) == (DeliveryState.DELIVERED, 2, "")


@pytest.mark.usefixtures("private_webhooks")
def test_gone_is_taken_at_its_word_and_redirections_are_not_followed(submitter: User, receiver: Receiver) -> None:
    with_webhook(submitter, receiver.url)
    failed(submitter)
    receiver.status, receiver.location = 307, receiver.url
    send_due()
    assert Delivery.objects.get().trouble == "The receiver answered with status 307."
    receiver.status = 410
    make_due()
    send_due()
    assert Delivery.objects.get().state == DeliveryState.FAILED
    assert len(receiver.requests) == 2


@pytest.mark.parametrize("url", ["https://127.0.0.1:{port}/", "https://localhost:{port}/", "https://[::1]:{port}/"])
def test_nothing_is_sent_into_a_private_network(url: str, submitter: User, receiver: Receiver) -> None:
    with_webhook(submitter, url.format(port=receiver.port))
    failed(submitter)
    send_due()
    delivery = Delivery.objects.get()
    assert delivery.state == DeliveryState.FAILED
    assert "inside a private network" in delivery.trouble
    assert receiver.requests == []


@pytest.mark.django_db
def test_what_a_name_means_is_looked_up_when_it_is_sent_to(
    submitter: User, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_webhook(submitter, "https://hook.example.org/")
    failed(submitter)
    answers = [("93.184.216.34", 443), ("10.0.0.7", 443)]
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", answer) for answer in answers],
    )
    send_due()
    assert "hook.example.org is inside a private network" in Delivery.objects.get().trouble


def test_the_connection_goes_to_the_number_that_was_checked(receiver: Receiver) -> None:
    target = Target(scheme="http", host="hook.invalid", numbers=("127.0.0.1",), port=receiver.port, path="/x")
    status = post(target, content={"event": "run.failed"}, secret="s", delivery_id=Delivery().pk, timestamp=1)
    assert status == 204
    assert receiver.requests[0][0]["Host"] == f"hook.invalid:{receiver.port}"


def test_a_number_that_does_not_answer_is_passed_over(receiver: Receiver) -> None:
    target = Target(scheme="http", host="hook.invalid", numbers=("::1", "127.0.0.1"), port=receiver.port, path="/x")
    assert post(target, content={"event": "e"}, secret="s", delivery_id=Delivery().pk, timestamp=1) == 204


def test_a_receiver_that_answers_drop_by_drop_is_cut_off() -> None:
    stop = threading.Event()

    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            while not stop.wait(0.05):
                try:
                    connection.sendall(b"H")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=[listener], daemon=True)
        thread.start()
        target = Target("http", "slow.invalid", ("127.0.0.1",), listener.getsockname()[1], "/")
        with pytest.raises((OSError, http.client.HTTPException)):
            post(target, content={"event": "e"}, secret="s", delivery_id=Delivery().pk, timestamp=1, seconds=0.3)
        stop.set()
        thread.join()


PRIVATE = [
    "0.0.0.0", # noqa: S104 - looked at, not bound to
    "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "192.168.1.1",
    "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "fe80::1",
    "fe80::1%eth0", "fc00::1", "fd12:3456::1", "ff02::1", "2002:7f00:1::", "64:ff9b::a00:1", "64:ff9b::7f00:1",
]  # fmt: skip


@pytest.mark.parametrize("number", PRIVATE)
def test_private_numbers_in_every_dress_are_not_public(number: str) -> None:
    assert not is_public(number)


@pytest.mark.parametrize("number", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_numbers_of_the_internet_are_public(number: str) -> None:
    assert is_public(number)


@given(st.ip_addresses(v=4).map(int), st.sampled_from([(10, 8), (172, 12), (192, 16), (127, 8), (169, 16)]))
def test_every_number_of_a_private_block_is_private(number: int, block: tuple[int, int]) -> None:
    first = {10: "10.0.0.0", 172: "172.16.0.0", 192: "192.168.0.0", 127: "127.0.0.0", 169: "169.254.0.0"}[block[0]]
    host_bits = (1 << (32 - block[1])) - 1
    inside = int.from_bytes(socket.inet_aton(first)) | (number & host_bits)
    text = socket.inet_ntoa(inside.to_bytes(4))
    assert not is_public(text)
    assert not is_public(f"::ffff:{text}")


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org/", "https://user:word@1.1.1.1/", "http://1.1.1.1/", "https://", "https://1.1.1.1:99999/", "x"],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        resolve(url, private=False)


def test_decimal_and_short_forms_of_numbers_are_seen_through() -> None:
    for host in ["2130706433", "127.1", "0x7f.1"]:
        with pytest.raises((AddressRefused, AddressUnknown)):
            resolve(f"https://{host}/", private=False)


def test_a_message_whose_address_was_taken_away_is_not_sent(
    submitter: User, receiver: Receiver, private_webhooks: None
) -> None:
    with_webhook(submitter, receiver.url)
    failed(submitter)
    with_webhook(submitter, "")
    send_due()
    assert "changed or removed" in Delivery.objects.get().trouble
    assert receiver.requests == []


@pytest.mark.django_db
def test_an_attempt_that_was_taken_for_lost_writes_nothing(submitter: User) -> None:
    failed(submitter)
    lost = notifications.delivery_claim()
    assert notifications.delivery_claim() is None
    make_due()
    again = notifications.delivery_claim()
    assert (again.pk, again.attempts) == (lost.pk, 2)
    notifications.delivery_succeed(delivery_id=lost.pk, attempt=lost.attempts)
    assert Delivery.objects.get().state == DeliveryState.WAITING
    notifications.delivery_succeed(delivery_id=again.pk, attempt=again.attempts)
    assert Delivery.objects.get().state == DeliveryState.DELIVERED


def test_attempts_that_never_report_come_to_an_end(submitter: User) -> None:
    failed(submitter)
    for _ in range(6):
        make_due()
        assert notifications.delivery_claim() is not None
    make_due()
    assert notifications.delivery_claim() is None
    assert Delivery.objects.get().state == DeliveryState.FAILED


def test_a_person_chooses_and_sees_what_became_of_it(submitter: User, receiver: Receiver) -> None:
    client = Client()
    client.force_login(submitter)
    page = reverse("notifications")
    for refused in ["http://example.org/", "javascript:alert(1)", "example.org"]:
        answer = client.post(page, {"webhook_url": refused, "by_email": "on"})
        assert "Give an address of the form" in answer.content.decode()
    client.post(page, {"webhook_url": "https://127.0.0.1/hook"})
    stored = submitter.notification_settings
    assert not stored.by_email
    assert stored.webhook_secret in client.get(page).content.decode()
    before = stored.webhook_secret
    client.post(reverse("notifications-secret"))
    stored.refresh_from_db()
    assert stored.webhook_secret not in {before, ""}
    failed(submitter)
    send_due()
    text = client.get(page).content.decode()
    for words in ["Given up", "inside a private network"]:
        assert words in text
    client.post(page, {"webhook_url": "", "by_email": "on"})
    stored.refresh_from_db()
    assert (stored.webhook_secret, stored.by_email) == ("", True)
