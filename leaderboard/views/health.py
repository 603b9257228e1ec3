"""What a container's manager, a load balancer and monitoring ask."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard import queue
from leaderboard.selectors.readiness import Check, database_checks

NOT_READY = 503


@require_safe
@never_cache
def live(request: HttpRequest) -> HttpResponse:
    """Answer, as a process that works. Nothing else is asked: restarting the site mends no database."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
def ready(request: HttpRequest) -> HttpResponse:
    """Whether all that a board needs is there, each by name; status 503 when something is not."""
    broker = Check("broker", "" if queue.broker_answers() else "it does not answer; runs wait until it does")
    checks = [*database_checks(), broker]
    is_ready = all(check.is_ready for check in checks)
    content = {check.name: {"ready": check.is_ready, "message": check.words} for check in checks}
    return JsonResponse({"ready": is_ready, "checks": content}, status=200 if is_ready else NOT_READY)
