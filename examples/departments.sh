#!/bin/sh
# Creates a department and prints the tree, with curl.
#
#   BANYAN_URL=http://localhost:8080 BANYAN_KEY=byk_… sh examples/departments.sh
#
# The key needs `dept:read` and `dept:write`.
set -eu

# --retry repeats the request after 408, 429, 500, 502, 503 and 504, and waits as long as Retry-After says. The
# Idempotency-Key stays the same, so the department is created once.
curl --fail-with-body --silent --show-error --retry 5 \
  --header "Authorization: Bearer $BANYAN_KEY" \
  --header "Idempotency-Key: $(date +%s)-$$" \
  --header 'Content-Type: application/json' \
  --data '{"deptName": "前端组", "orderNum": 1}' \
  "$BANYAN_URL/system/dept-api"
echo

curl --fail-with-body --silent --show-error --retry 5 \
  --header "Authorization: Bearer $BANYAN_KEY" \
  "$BANYAN_URL/system/dept-api/tree"
echo
