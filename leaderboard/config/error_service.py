"""Reporting errors to a service that speaks Sentry's protocol, where an address for it is set."""

from django.core.exceptions import ImproperlyConfigured


def start_error_reports(address: str) -> None:
    """Report errors of this process from now on; nothing happens without an address.

    Neither headers, cookies, forms and names of people nor local variables are sent: some of them are secrets.

    Raises:
        ImproperlyConfigured: there is an address, and the package is not installed.
    """
    if not address:
        return
    try:
        import sentry_sdk  # noqa: PLC0415 - only needed where an address is set
    except ImportError as error:
        raise ImproperlyConfigured("SENTRY_DSN is set: install sentry-sdk, or do not set it.") from error
    sentry_sdk.init(
        dsn=address,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        traces_sample_rate=0.0,
    )
