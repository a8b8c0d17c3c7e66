"""What requests, answers of hosts and admin requests are made of, for asked_mutants.py."""

NUMBERS = ["0", "1", "5", "200", "1000", "-1", "1.5", "x", "", "99999999999999999999"]
BOOLEANS = ["true", "false", "1", "0", "", "TRUE", "yes"]
ADDRESSES = [
    "1.2.3.4", "10.0.0.1", "::1", "[::1]:80", "1.2.3.4, 5.6.7.8", "10.0.0.1,8.8.8.8, 127.0.0.1", "bogus", "", " ",
    ",", "1.2.3.4:80", "256.1.1.1", "fe80::1", "1.2.3.4 ,",
]

REQUEST_HEADERS = {
    "host": [
        "kit.test", "KIT.test", "kit.test:80", "kit.test:443", "kit.test.", "a.kit.test", "", "[::1]:80", "127.0.0.1",
        "kit.test:", "kit.test:x", "a b", "user@kit.test", "kit.test/x", "*",
    ],
    "x-forwarded-for": ADDRESSES,
    "x-real-ip": ADDRESSES,
    "x-envoy-external-address": ADDRESSES,
    "x-forwarded-proto": ["http", "https", "HTTPS", "ftp", "", "http,https", "ws", " https"],
    "x-forwarded-host": ["a.test", "", "a.test, b.test"],
    "x-forwarded-port": ["80", "443", "x"],
    "x-forwarded-client-cert": ["Hash=abc", "By=a;URI=b", ""],
    "x-envoy-internal": ["true", "false", ""],
    "x-envoy-max-retries": NUMBERS,
    "x-envoy-retry-on": [
        "5xx", "gateway-error", "connect-failure", "retriable-4xx,5xx", "bogus", "", "5xx, reset",
        "retriable-status-codes", "refused-stream", "reset-before-request", "envoy-ratelimited",
        "http3-post-connect-failure", "retriable-headers",
    ],
    "x-envoy-retry-grpc-on": ["cancelled", "unavailable,internal", "bogus", ""],
    "x-envoy-retriable-status-codes": ["503", "400,503", "x", "", "99999", "503, 504"],
    "x-envoy-retriable-header-names": ["server", "a,b", ""],
    "x-envoy-upstream-rq-timeout-ms": NUMBERS,
    "x-envoy-upstream-rq-per-try-timeout-ms": NUMBERS,
    "x-envoy-upstream-rq-timeout-alt-response": ["1", ""],
    "x-envoy-upstream-stream-duration-ms": NUMBERS,
    "x-envoy-expected-rq-timeout-ms": NUMBERS,
    "x-envoy-hedge-on-per-try-timeout": BOOLEANS,
    "x-envoy-upstream-alt-stat-name": ["alt", "a.b", "", "a b"],
    "x-envoy-decorator-operation": ["op", ""],
    "x-envoy-downstream-service-cluster": ["me", ""],
    "x-envoy-downstream-service-node": ["me"],
    "x-envoy-force-trace": ["true", "", "false"],
    "x-envoy-original-path": ["/a", ""],
    "x-envoy-original-url": ["http://a/b"],
    "x-envoy-original-host": ["a.test"],
    "x-envoy-original-dst-host": ["127.0.0.1:1", "bogus", ""],
    "x-envoy-ip-tags": ["a,b"],
    "x-envoy-attempt-count": ["7"],
    "x-envoy-is-timeout-retry": ["true"],
    "x-envoy-fault-abort-request": ["503", "200", "x", "0"],
    "x-envoy-fault-abort-request-percentage": ["0", "100", "x"],
    "x-envoy-fault-abort-grpc-request": ["14", "99"],
    "x-envoy-fault-delay-request": ["10", "x"],
    "x-envoy-ratelimited": ["true"],
    "x-envoy-overloaded": ["true"],
    "x-envoy-livez": ["x"],
    "x-client-trace-id": ["abc", ""],
    "x-request-id": [
        "a", "", "00000000-0000-0000-0000-000000000000", "11111111-1111-4111-9111-111111111111",
        "11111111-1111-a111-9111-111111111111", "x y",
    ],
    "x-b3-traceid": ["463ac35c9f6413ad", "463ac35c9f6413ad48485a3953bb6124", "x", ""],
    "x-b3-spanid": ["a2fb4a1d1a96d312", "x"],
    "x-b3-sampled": ["0", "1", "d", "x"],
    "x-b3-flags": ["1", "0"],
    "b3": ["0", "1", "463ac35c9f6413ad48485a3953bb6124-a2fb4a1d1a96d312-1", "bogus"],
    "traceparent": [
        "00-463ac35c9f6413ad48485a3953bb6124-a2fb4a1d1a96d312-01",
        "00-463ac35c9f6413ad48485a3953bb6124-a2fb4a1d1a96d312-00", "bogus",
        "ff-463ac35c9f6413ad48485a3953bb6124-a2fb4a1d1a96d312-01",
    ],
    "tracestate": ["a=b", "", "a=b,c=d"],
    "baggage": ["a=b", ""],
    "grpc-timeout": ["1S", "100m", "0S", "1x", "", "999999999S", "1H", "-1S"],
    "grpc-encoding": ["gzip"],
    "content-type": [
        "application/grpc", "application/grpc+proto", "application/grpc-web", "application/grpc-web-text",
        "application/json", "text/plain; charset=utf-8", "", "application/connect+proto",
        "application/x-www-form-urlencoded", "APPLICATION/GRPC",
    ],
    "content-length": ["0", "1", "-1", "x", "", "+1", "1, 1", "1,2", "00", "18446744073709551616"],
    "content-encoding": ["gzip", "identity", "br", "gzip, gzip", ""],
    "transfer-encoding": ["chunked", "Chunked", "gzip", "chunked, chunked", "gzip, chunked", "identity", ""],
    "te": ["trailers", "gzip", "trailers, gzip", "", "Trailers"],
    "trailer": ["x-sum", "content-length"],
    "expect": ["100-continue", "100-Continue", "bogus", ""],
    "connection": [
        "close", "keep-alive", "Close", "upgrade", "x-thing", "close, x-thing", "te", "", "keep-alive, upgrade",
        "host", "x-forwarded-for", "x-forwarded-proto", "content-length", "transfer-encoding", "close,",
    ],
    "proxy-connection": ["close", "keep-alive"],
    "keep-alive": ["timeout=5"],
    "upgrade": ["websocket", "h2c", "bogus", "", "WebSocket", "websocket, h2c", "foo/2"],
    "http2-settings": ["AAMAAABkAAQAAP__"],
    "sec-websocket-version": ["13"],
    "accept-encoding": [
        "gzip", "br", "*", "gzip;q=0", "identity", "gzip;q=0, *", "GZIP", "gzip;q=0.5, br;q=0.9", "", "zstd",
        "gzip;q=x", "identity;q=0", "deflate, gzip",
    ],
    "accept": ["text/html", "*/*", "application/json"],
    "origin": [
        "http://a.test", "https://kit.test", "null", "", "http://kit.test", "http://KIT.test", "http://kit.test:80",
        "bogus",
    ],
    "referer": ["http://a.test/x", "https://kit.test/y?z#w", "bogus"],
    "access-control-request-method": ["GET", "PUT", "", "BOGUS"],
    "access-control-request-headers": ["x-a", ""],
    "access-control-request-private-network": ["true", "false"],
    "authorization": [
        "Basic dXNlcjpwYXNz", "Basic", "Bearer x", "Bearer", "basic dXNlcjpwYXNz", "Basic !!!", "", "Bearer a.b.c",
        "Digest x",
    ],
    "proxy-authorization": ["Basic dXNlcjpwYXNz"],
    "cookie": ["a=b", "a=b; c=d", "a", "", ";", "a=", "=b", "a=\"b\"", "session=x; session=y", " a=b"],
    "set-cookie": ["a=b"],
    "user-agent": ["curl", "", "Mozilla/5.0 (X11)"],
    "via": ["1.1 a", ""],
    "server": ["a"],
    "date": ["x"],
    "range": ["bytes=0-1", "bogus"],
    "if-none-match": ["*", "\"a\""],
    "if-modified-since": ["Sat, 28 Nov 2026 10:00:00 GMT", "bogus"],
    "cache-control": ["no-cache", "no-transform", "no-store", "max-age=0", "only-if-cached"],
    "pragma": ["no-cache"],
    "x-http-method-override": ["DELETE"],
    "x-thing": ["1", "a", "b", ""],
    "x-a": ["1", "a", ""],
    "x-do-status": ["503", "404", "304", "204", "429", "301"],
    "early-data": ["1"],
    "forwarded": ["for=1.2.3.4"],
    "max-forwards": ["0"],
    "alt-used": ["a"],
    "x-cluster": ["one", "two", "bogus", ""],
    "x-ratelimit-limit": ["1"],
    ":path": ["/x"],
    ":bogus": ["x"],
    "": ["x"],
    "a b": ["x"],
    "x_under": ["x"],
    "x-é": ["x"],
}
ODD_VALUES = [
    "", " ", "a" * 300, "é", "a\tb", "a  b", "\"", "a,b", ",", "%", "%41", "0x1", "\x7f", "a;b=c", "\x80", " lead",
    "trail ", "true", "null", "{}", "*", "%REQ(:path)%",
]

ANSWER_HEADERS = {
    "connection": ["close", "keep-alive", "upgrade", "x-thing"],
    "keep-alive": ["timeout=1"],
    "proxy-connection": ["close"],
    "upgrade": ["websocket"],
    "transfer-encoding": ["chunked", "identity"],
    "content-length": ["0", "5", "100000", "x", ""],
    "content-type": [
        "text/html", "application/json", "application/grpc", "application/grpc-web", "text/plain; charset=utf-8", "",
        "image/png", "text/event-stream",
    ],
    "content-encoding": ["gzip", "identity", "br", ""],
    "cache-control": ["no-transform", "no-cache", "max-age=3600", "no-store", "public"],
    "etag": ["\"a\"", "W/\"a\"", "bogus"],
    "vary": ["accept-encoding", "*", "origin", "Accept-Encoding", ""],
    "location": [
        "/next", "http://kit.test/next", "http://other.test/next", "https://kit.test/next", "", "bogus", "//x",
        "http://kit.test:80/a?b#c",
    ],
    "retry-after": ["1", "0", "x", "Sat, 28 Nov 2026 10:00:00 GMT"],
    "server": ["backend", ""],
    "date": ["Sat, 28 Nov 2026 10:00:00 GMT", "x"],
    "via": ["1.1 b"],
    "set-cookie": ["a=b", "a=b; Secure; HttpOnly", ""],
    "trailer": ["x-sum"],
    "grpc-status": ["0", "14", "7", "99", "x", ""],
    "grpc-message": ["oops", "a%20b"],
    "proxy-status": ["b; error=x"],
    "x-envoy-degraded": ["1", "true"],
    "x-envoy-immediate-health-check-fail": ["1"],
    "x-envoy-overloaded": ["true"],
    "x-envoy-ratelimited": ["true"],
    "x-envoy-upstream-canary": ["true", "false"],
    "x-envoy-upstream-service-time": ["7"],
    "x-envoy-upstream-healthchecked-cluster": ["one", "bogus"],
    "x-envoy-decorator-operation": ["op"],
    "x-envoy-attempt-count": ["9"],
    "x-envoy-is-timeout-retry": ["1"],
    "x-envoy-internal": ["true"],
    "x-request-id": ["a"],
    "x-b3-traceid": ["1"],
    "x-thing": ["1", "a"],
    "x-ratelimit-reset": ["1", "x", "0"],
    "x_under": ["1"],
    "access-control-allow-origin": ["*", "http://a.test"],
    "access-control-allow-credentials": ["true"],
    "endpoint-load-metrics": ["JSON {\"cpu_utilization\": 0.5}", "TEXT cpu_utilization=0.5", "bogus"],
    "strict-transport-security": ["max-age=1"],
    "alt-svc": ["h3=\":443\""],
    "content-disposition": ["attachment"],
    "www-authenticate": ["Basic realm=\"x\""],
    "link": ["<a>; rel=preload"],
    "age": ["5", "x"],
    "expires": ["0"],
    "last-modified": ["Sat, 28 Nov 2026 10:00:00 GMT"],
}
STATUSES = [
    200, 201, 202, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 409, 412, 413, 416, 417,
    421, 425, 426, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 511, 599, 600, 999,
]
METHODS = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "PROPFIND", "M-SEARCH", "get",
    "FOO", "PURGE", "GeT",
]
PATH_PIECES = [
    "?", "?a=b", "?a", "&c=d", "?a=b&a=c", "?a=%20", "?a+b", "?=", "?&", "??", "#frag", "/", "//", "/.", "/..", "/./",
    "/../", "/%2e/", "/%2E%2e/", "%2F", "%2f", "%5C",
    "\\", ";x=1", ";", "%", "%4", "%zz", "%41", "%00", "%7F", "%c3%a9", "é", "~", "*", "|", "\"", "<", "{", "}", "^",
    "`", "'", ":", "@", "!", "$", ",", "+", "(",
    "http://kit.test/", "http://kit.test", "https://other.test/a?b", "*", "/" + "a" * 300, "/A", "x", ".", "..",
    "/a/b/c/d", "%252e", "=", "[0]",
]
BYTES = [
    "", "\r", "\n", "\r\n", "\r\n\r\n", " ", "\t", "\0", ":", "\x7f", "\x80", "\xff", "0", "1", "9", "a", "A", "z",
    "-", "_", ",", ";", "%", "/", "\\", "?", "#", "HTTP/1.0", "HTTP/1.1",
    "x: y\r\n", "Connection: close\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n",
    "GET / HTTP/1.1\r\nHost: kit.test\r\n\r\n", "\x0b", "(", "\"", " \r\n", "\r\n ", "0\r\n\r\n", "ffffffffffffffff",
    "+", "*",
]

FILTERS = [
    "=cluster", "=http", "=rq_total", "=%5Eserver", "=one", "=(a%7Cb)", "=.*_total%24", "=", "=%5B", "=LISTENER",
    "=downstream_cx", "=%5Ecluster%5C.one%5C.upstream_rq", "=nothing_such",
]
STATS_PARAMETERS = {
    "usedonly": ["", "=1", "="],
    "filter": FILTERS,
    "format": ["=json", "=text", "=prometheus", "=bogus", "=", "=JSON", "=html"],
    "type": ["=All", "=Counters", "=Gauges", "=Histograms", "=TextReadouts", "=counters", "=bogus", "="],
    "histogram_buckets": ["=cumulative", "=disjoint", "=none", "=detailed", "=summary", "=bogus", "="],
    "hidden": ["=include", "=exclude", "=only", "=bogus", "="],
    "text_readouts": ["", "=1"],
    "sort": ["=1"],
    "scope": ["=cluster"],
    "active": ["=1"],
}
DUMP_PARAMETERS = {
    "resource": [
        "=bootstrap", "=static_clusters", "=dynamic_active_clusters", "=static_listeners", "=dynamic_listeners",
        "=static_route_configs", "=dynamic_route_configs", "=static_secrets", "=configs", "=bogus", "=",
        "=static_endpoint_configs", "=dynamic_endpoint_configs", "=dynamic_warming_clusters",
        "=inline_scoped_route_configs", "=dynamic_active_secrets", "=layered_runtime", "=last_updated",
        "=version_info",
    ],
    "mask": [
        "=bootstrap", "=bootstrap.node", "=bootstrap.node.id", "=static_clusters", "=static_clusters.cluster.name",
        "=cluster.name", "=cluster", "=listener.name", "=route_config.name",
        "=bootstrap.admin,bootstrap.node.cluster", "=bogus", "=", "=cluster.bogus",
        "=bootstrap.static_resources.clusters", "=cluster.name,cluster.name", "=last_updated", "=@type",
        "=static_listeners.listener", "=bootstrap.static_resources.listeners.name",
        "=cluster.load_assignment.endpoints", ",", "=cluster.*", "=name",
    ],
    "name_regex": ["=one", "=.*", "=%5Eo", "=t", "=%5B", "=", "=main", "=bogus"],
    "include_eds": ["", "=1", "=off", "="],
}
PAGES = {
    "/stats": STATS_PARAMETERS,
    "/stats/prometheus": {key: values for key, values in STATS_PARAMETERS.items() if key not in ("sort", "active")},
    "/stats/recentlookups": {},
    "/config_dump": DUMP_PARAMETERS,
    "/init_dump": {"mask": ["=listener", "=unready_targets_dumps", "=bogus", "="]},
    "/clusters": {
        "format": ["=json", "=text", "=bogus", "="], "filter": ["=one", "=%5B", "="], "name_regex": ["=one"],
    },
    "/listeners": {"format": ["=json", "=text", "=bogus", "="]},
    "/server_info": {},
    "/ready": {},
    "/certs": {},
    "/runtime": {"format": ["=json"]},
    "/memory": {},
    "/contention": {},
    "/help": {},
    "/bogus": {},
    "/clusters/": {},
    "//stats": {},
    "/Stats": {},
    "/stats/": {},
    "/config_dump/x": {},
    "/logging": {
        "level": ["=debug", "=info", "=bogus", "=", "=off", "=critical", "=err", "=error", "=warn", "=WARNING",
        "=warning", "=trace"], "http": ["=debug", "=bogus", "=", "=info"], "paths": ["=http:debug",
        "=http:debug,upstream:info", "=bogus:debug", "=", "=http", "=http:bogus", "=:"], "bogus": ["=debug"],
        "upstream": ["=info"],
    },
    "/runtime_modify": {
        "a": ["=b", "=", "=1"], "health_check.min_interval": ["=1000", "="], "x.y": ["=true"], "": ["=", "=x"],
    },
    "/healthcheck/fail": {},
    "/healthcheck/ok": {},
    "/reset_counters": {},
    "/reopen_logs": {},
    "/stats/recentlookups/clear": {},
    "/stats/recentlookups/enable": {},
    "/stats/recentlookups/disable": {},
    "/drain_listeners": {"inboundonly": ["", "=1"], "graceful": ["", "=1"], "skip_exit": [""]},
    "/heap_dump": {},
    "/cpuprofiler": {"enable": ["=n", "=x", "="]},
    "/allocprofiler": {"enable": ["=n"]},
    "/tap": {},
}
MUTATIONS = {
    "/logging", "/runtime_modify", "/healthcheck/fail", "/healthcheck/ok", "/reset_counters", "/reopen_logs",
    "/drain_listeners", "/cpuprofiler", "/allocprofiler", "/tap",
    "/stats/recentlookups/clear", "/stats/recentlookups/enable", "/stats/recentlookups/disable",
}
ODD_PARAMETERS = [
    "", "=", "==", "=%00", "=a%20b", "=a+b", "=%C3%A9", "=*", "=" + "a" * 300, "=1&", "=\"", "=%22", "=true", "[]=x",
]
ADMIN_HEADERS = [
    ("accept", "text/html"), ("accept", "application/json"), ("accept-encoding", "gzip"), ("host", "bogus"),
    ("expect", "100-continue"), ("connection", "close"), ("x-forwarded-for", "1.2.3.4"), ("content-type",
    "application/json"),
]


def check_of(page, query):
    """How the answer of `page` is compared: what no two runs have in common is left out."""
    if page in ("/memory", "/server_info"):
        return {"body": "json_shape"}
    if "html" in query or page in ("/heap_dump", "/stats/recentlookups", "/contention"):
        return {"body": "size"}
    if "stats" in page:
        return {"body": "count" if "istogram" in query else "lines", "mask": VARIED}
    if page == "/config_dump":
        return {"body": "json_set", "mask": [[r"\"last_updated\": \"[^\"]*\"", "\"last_updated\": TIME"]]}
    if page in ("/certs", "/init_dump", "/runtime"):
        return {"body": "json_set", "mask": [[r"\"days_until_expiration\": \"\d+\"", "\"days_until_expiration\": N"]]}
    if page in ("/clusters", "/listeners"):
        return {"body": "lines"}
    return {}


VARIED = [[r"([:=} ]) ?\d[\d.e+]*\b", r"\1 N"]]
