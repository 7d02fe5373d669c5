"""A Django service whose callers share a limit kept by Fleetgate, so that it holds over all its replicas.

    pip install django
    FLEETGATE_URL=https://gate.example.com FLEETGATE_KEY=fg_... python service.py
"""

import json
import os
import sys
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import Request, urlopen
from wsgiref.simple_server import make_server

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import path

LIMIT = os.environ.get("LIMIT", "api")


def ask(limit, body):
    """One take; None without an answer."""
    request = Request(
        f"{os.environ['FLEETGATE_URL']}/v1/limits/{quote(limit)}/take",
        data=json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['FLEETGATE_KEY']}",
            "Content-Type": "application/json",
        },
    )
    try:
        with urlopen(request, timeout=1) as answer:
            return answer.headers, json.load(answer)
    except (URLError, OSError, ValueError) as error:
        print(f"no limit without Fleetgate: {error}", file=sys.stderr)
        return None


def rate_limit(get_response):
    """Middleware: takes one for every request; the limit's key is the caller's address."""

    def middleware(request):
        take = ask(LIMIT, {"key": request.META["REMOTE_ADDR"]})
        # Without an answer the service goes on; one that must not would answer 503 here.
        if take is None:
            return get_response(request)
        headers, body = take
        if body["allowed"]:
            response = get_response(request)
        else:
            refusal = {"error": "too many requests", "retry_after_ms": body["retry_after_ms"]}
            response = JsonResponse(refusal, status=429)
        for name in ("RateLimit", "RateLimit-Policy", "Retry-After"):
            if headers.get(name):
                response[name] = headers[name]
        return response

    return middleware


def hello(_request):
    return JsonResponse({"hello": "world"})


urlpatterns = [path("", hello)]
settings.configure(ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, MIDDLEWARE=[f"{__name__}.rate_limit"])

if __name__ == "__main__":
    django.setup()
    with make_server("127.0.0.1", int(os.environ.get("PORT", "3000")), get_wsgi_application()) as server:
        print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
