"""Writes the departments of a tenant as CSV. It needs Python 3.9 or later and no packages.

    BANYAN_URL=http://localhost:8080 BANYAN_KEY_ID=1001 BANYAN_KEY=byk_… python3 examples/export_departments.py > departments.csv

It first exchanges the key for a short-lived access token (OAuth 2.0, client credentials), so that the key itself is sent
only once and the token can only read departments.
"""

import csv
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

BASE = os.environ["BANYAN_URL"].rstrip("/")


def send(request):
    """Sends a request; waits and tries again when the service is busy."""
    for attempt in range(6):
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (408, 429, 502, 503, 504) or attempt == 5:
                sys.exit(f"{error.code} {error.read().decode()}")
            time.sleep(float(error.headers.get("Retry-After") or 2**attempt))


def get_token():
    form = {
        "grant_type": "client_credentials",
        "client_id": os.environ["BANYAN_KEY_ID"],
        "client_secret": os.environ["BANYAN_KEY"],
        "scope": "dept:read",
    }
    body = urllib.parse.urlencode(form).encode()
    return send(urllib.request.Request(f"{BASE}/auth/token", data=body))["access_token"]


def departments(token):
    cursor = ""
    while cursor is not None:
        query = urllib.parse.urlencode({"pageSize": 500, "cursor": cursor})
        request = urllib.request.Request(f"{BASE}/system/dept-api/list?{query}")
        request.add_header("Authorization", f"Bearer {token}")
        page = send(request)["data"]
        yield from page["rows"]
        cursor = page["next"]


writer = csv.writer(sys.stdout)
writer.writerow(["deptId", "parentId", "deptName", "leader"])
for row in departments(get_token()):
    writer.writerow([row["deptId"], row["parentId"], row["deptName"], row["leader"] or ""])
