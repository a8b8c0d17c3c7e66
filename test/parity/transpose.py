"""Cases played in another key: each case that serves requests, changed in one way throughout.

    python transpose.py MODE ORACLE-FOLDER INTO [GLOB…]
    python patient-differ.py ORACLE-FOLDER --proxy CMD --cases INTO

What a case tests by one way of speaking has to hold for the others: its steps over HTTP/2, its hosts behind TLS,
its listeners by discovery, beside a second worker, behind filters that hold bodies. Every case then also tells a
log of all operators, and all counters and gauges that were used. A case that makes no sense in another key differs
from itself in the same way on both sides, which is no difference.

Modes: as-is, downstream-h2, upstream-h2, downstream-tls, upstream-tls, workers, discovery, filters, retry, mirror.

Runs under the oracle's own Python (`install --python`).
"""

import copy
import pathlib
import sys

import yaml

API = "type.googleapis.com/envoy."
HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
MANAGER = "HttpConnectionManager"
OPERATORS = """
PROTOCOL RESPONSE_CODE RESPONSE_CODE_DETAILS CONNECTION_TERMINATION_DETAILS RESPONSE_FLAGS
RESPONSE_FLAGS_LONG BYTES_RECEIVED BYTES_SENT UPSTREAM_CLUSTER UPSTREAM_CLUSTER_RAW UPSTREAM_HOST_NAME_WITHOUT_PORT
UPSTREAM_TRANSPORT_FAILURE_REASON DOWNSTREAM_TRANSPORT_FAILURE_REASON DOWNSTREAM_LOCAL_CLOSE_REASON ROUTE_NAME
VIRTUAL_CLUSTER_NAME UPSTREAM_REQUEST_ATTEMPT_COUNT UPSTREAM_PROTOCOL REQUESTED_SERVER_NAME DOWNSTREAM_TLS_VERSION
UPSTREAM_TLS_VERSION FILTER_CHAIN_NAME GRPC_STATUS METADATA(ROUTE) REQ(:METHOD) REQ(:AUTHORITY)
REQ(X-ENVOY-ORIGINAL-PATH?:PATH) REQ(X-FORWARDED-FOR) RESP(CONTENT-TYPE) RESP(CONTENT-LENGTH) RESP(SERVER)
TRAILER(GRPC-STATUS) UPSTREAM_LOCAL_CLOSE_REASON
""".split()
# Sizes that nobody has in common, and what hangs on time.
VARIED = [
    [r"server\.(memory_\w+|stats_recent_lookups|initialization_time_ms|seconds_until_\w+): \d+", r"\1: SOME"],
    [r"(\w*cx_[rt]x_bytes\w*|filesystem\.\w+|\w*reload_time_ms|\w*update_time|\w*\.version): \d+", r"\1: SOME"],
]
# Which names and labels there are; what was counted is told by the pages before.
LABELS_ALONE = [[r"(?m)^(envoy_\w+_bucket\{.*)\n", ""], [r"(?m) [-+\d.e]+$", ""]]
NOT_TRANSPOSED = ("admin/", "cli/", "hotrestart/", "limits/")


def managers(node):
    """Every HTTP connection manager under `node`, with the listener's chain it stands in unknown."""
    if isinstance(node, dict):
        if str(node.get("@type", "")).endswith(MANAGER):
            yield node
        for value in node.values():
            yield from managers(value)
    elif isinstance(node, list):
        for value in node:
            yield from managers(value)


def resources(case, kind):
    return (case.bootstrap.get("static_resources") or {}).get(kind) or []


def requests_in(case):
    return [step for step in case.steps if "http" in step and step.get("to") not in ("admin",)]


def tell_everything(case):
    """A log of all operators, and what was counted, at the end of the case."""
    form = "|".join(f"%{name}%" for name in OPERATORS)
    log = {
        "name": "all",
        "typed_config": {
            "@type": API + "extensions.access_loggers.file.v3.FileAccessLog",
            "path": "${tmp}/all.log",
            "log_format": {"text_format_source": {"inline_string": form + "\n"}},
        },
    }
    found = list(managers(resources(case, "listeners")))
    for manager in found:
        manager.setdefault("access_log", []).append(copy.deepcopy(log))
    if "--file-flush-interval-msec" not in case.args:
        case.args = [*case.args, "--file-flush-interval-msec", "50"]
    case.steps.append({"sleep": 0.5})
    if found:
        case.steps.append({"file": "${tmp}/all.log", "check": {"body": "lines"}})
    for kind in ("Counters", "Gauges"):
        case.steps.append({"http": f"GET /stats?usedonly&type={kind}", "to": "admin", "check": {"body": "lines", "mask": VARIED}})
    case.steps.append({"http": "GET /stats/prometheus", "to": "admin", "check": {"body": "lines", "mask": LABELS_ALONE}})


def downstream_h2(case):
    """Requests over HTTP/2, where they were HTTP/1.1."""
    changed = False
    for step in requests_in(case):
        headers = step.get("headers") or {}
        if "tls" in step or not isinstance(headers, dict):
            continue
        names = {name.lower(): name for name in headers}
        if set(names) & {"connection", "upgrade", "transfer-encoding", "expect", "te"}:
            continue
        request = step.pop("http")
        headers = dict(headers)
        if "host" in names:
            step["authority"] = headers.pop(names["host"])
        if headers:
            step["headers"] = {name.lower(): value for name, value in headers.items()}
        elif "headers" in step:
            del step["headers"]
        times = step.pop("times", 1) if isinstance(step.get("times", 1), int) else 1
        step.pop("parallel", None)
        step["h2"] = [request] * times if times > 1 else request
        step_first(step, "h2")
        changed = True
    return changed


def step_first(step, key):
    """The key of a step's kind stands first in it."""
    rest = {name: step.pop(name) for name in list(step) if name != key}
    step.update(rest)


def upstream_h2(case):
    """Hosts speak HTTP/2, by prior knowledge."""
    changed = set()
    for name, options in case.backends.items():
        options = {} if options is None else options
        case.backends[name] = options
        if options.get("kind", "http") == "http" and "tls" not in options:
            options["kind"] = "h2"
            changed.add("${" + name + "_port}")
    for cluster in resources(case, "clusters"):
        if uses(cluster, changed):
            options = cluster.setdefault("typed_extension_protocol_options", {}).setdefault(
                HTTP_OPTIONS, {"@type": API + "extensions.upstreams.http.v3.HttpProtocolOptions"}
            )
            options.pop("use_downstream_protocol_config", None)
            options["explicit_http_config"] = {"http2_protocol_options": {}}
    return bool(changed)


def uses(node, ports):
    if isinstance(node, dict):
        return any(uses(value, ports) for value in node.values())
    if isinstance(node, list):
        return any(uses(value, ports) for value in node)
    return isinstance(node, str) and node in ports


def downstream_tls(case):
    """Listeners behind TLS, and requests to them."""
    context = {
        "@type": API + "extensions.transport_sockets.tls.v3.DownstreamTlsContext",
        "common_tls_context": {
            "tls_certificates": [
                {
                    "certificate_chain": {"filename": "${certs}/server.crt"},
                    "private_key": {"filename": "${certs}/server.key"},
                }
            ]
        },
    }
    for listener in resources(case, "listeners"):
        for chain in listener.get("filter_chains", []):
            if "transport_socket" in chain:
                return False
            chain["transport_socket"] = {"name": "tls", "typed_config": copy.deepcopy(context)}
    case.certs = True
    changed = False
    for step in case.steps:
        if step.get("to") == "admin" or "tls" in step:
            continue
        if "http" in step or "h2" in step or "raw" in step:
            step["tls"] = {"sni": "server.test"}
            changed = True
    return changed


def upstream_tls(case):
    """Hosts behind TLS."""
    changed = set()
    for name, options in case.backends.items():
        options = {} if options is None else options
        case.backends[name] = options
        if options.get("kind", "http") in ("http", "tcp", "canned") and "tls" not in options:
            options["tls"] = True
            changed.add("${" + name + "_port}")
    case.certs = True
    for cluster in resources(case, "clusters"):
        if not uses(cluster, changed):
            continue
        if "transport_socket" in cluster or "transport_socket_matches" in cluster:
            return False
        cluster["transport_socket"] = {
            "name": "tls",
            "typed_config": {
                "@type": API + "extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                "sni": "server.test",
                "common_tls_context": {"validation_context": {"trusted_ca": {"filename": "${certs}/ca.crt"}}},
            },
        }
    return bool(changed)


def workers(case):
    """Two of them."""
    case.args = [*case.args, "--concurrency", "2"]
    return True


def discovery(case):
    """Listeners and clusters from files of LDS and CDS."""
    static = case.bootstrap.get("static_resources") or {}
    if "dynamic_resources" in case.bootstrap:
        return False
    changed = False
    sources = {}
    for kind, message, source in (
        ("listeners", "listener.v3.Listener", "lds_config"),
        ("clusters", "cluster.v3.Cluster", "cds_config"),
    ):
        if not static.get(kind):
            continue
        typed = [{"@type": API + "config." + message, **resource} for resource in static.pop(kind)]
        case.files = {**case.files, f"transposed-{kind}.yaml": {"resources": typed}}
        sources[source] = {
            "resource_api_version": "V3",
            "path_config_source": {"path": "${tmp}/transposed-" + kind + ".yaml"},
        }
        changed = True
    case.bootstrap["dynamic_resources"] = sources
    return changed


def filters(case):
    """Filters that may hold bodies, in front of all others."""
    added = [
        ("envoy.filters.http.fault", "http.fault.v3.HTTPFault", {}),
        ("envoy.filters.http.header_mutation", "http.header_mutation.v3.HeaderMutation", {}),
        ("envoy.filters.http.buffer", "http.buffer.v3.Buffer", {"max_request_bytes": 1048576}),
    ]
    found = list(managers(resources(case, "listeners")))
    for manager in found:
        front = [
            {"name": name, "typed_config": {"@type": API + "extensions.filters." + message, **config}}
            for name, message, config in added
        ]
        present = {each.get("name") for each in manager.get("http_filters", [])}
        front = [each for each in front if each["name"] not in present]
        manager["http_filters"] = front + manager.get("http_filters", [])
    return bool(found)


def routes_in(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "routes" and isinstance(value, list):
                for route in value:
                    if isinstance(route, dict) and isinstance(route.get("route"), dict):
                        yield route["route"]
            yield from routes_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from routes_in(value)


def retry(case):
    """Whatever fails is tried again once."""
    changed = False
    for route in routes_in(resources(case, "listeners")):
        if "retry_policy" not in route:
            route["retry_policy"] = {
                "retry_on": "5xx,reset,connect-failure,refused-stream,gateway-error",
                "retry_back_off": {"base_interval": "0.01s", "max_interval": "0.02s"},
            }
            changed = True
    return changed


def mirror(case):
    """Every request goes to its cluster twice; the second one's end has its time before somebody looks."""
    changed = False
    for route in routes_in(resources(case, "listeners")):
        if "request_mirror_policies" not in route and isinstance(route.get("cluster"), str):
            route["request_mirror_policies"] = [{"cluster": route["cluster"]}]
            changed = True
    if changed:
        case.steps = [step for told in case.steps for step in pausing(told)]
    return changed


def pausing(step):
    return [{"sleep": 0.15}, step] if step.get("to") == "admin" else [step]


def as_is(_case):
    """Only what is told at the end is more."""
    return True


MODES = {
    function.__name__.replace("_", "-"): function
    for function in (
        as_is, downstream_h2, upstream_h2, downstream_tls, upstream_tls, workers, discovery, filters, retry, mirror,
    )
}


def write(case, folder):
    keys = ("about", "backends", "ports", "files", "env", "certs", "args")
    told = {key: getattr(case, key) for key in keys if getattr(case, key)}
    if case.start is not True:
        told["start"] = case.start
    path = folder / f"{case.name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        yaml.safe_dump({**told, "bootstrap": case.bootstrap, "steps": case.steps}, sort_keys=False, width=1000)
    )


def transposable(case):
    return (
        not case.error
        and not case.name.startswith(NOT_TRANSPOSED)
        and isinstance(case.bootstrap, dict)
        and case.only_args is None
        and case.start is not False
        and not any("start" in step for step in case.steps)
    )


def main(modes, oracle, into, globs):
    sys.path.insert(0, oracle)
    from kit.cases import load_cases  # the oracle's folder is known only now

    changes = [MODES[mode] for mode in modes.split("+")]
    written = 0
    for folder in (pathlib.Path(oracle) / "cases", pathlib.Path(__file__).parent / "cases"):
        for case in load_cases(folder, globs):
            if not transposable(case):
                continue
            case = copy.deepcopy(case)
            if all(change(case) for change in changes):
                tell_everything(case)
                write(case, pathlib.Path(into))
                written += 1
    print(f"{written} cases")


if __name__ == "__main__":
    if len(sys.argv) < 4 or not set(sys.argv[1].split("+")) <= set(MODES):
        sys.exit(f"usage: transpose.py MODE[+MODE] ORACLE-FOLDER INTO [GLOB…]; modes: {', '.join(MODES)}")
    main(*sys.argv[1:4], sys.argv[4:])
