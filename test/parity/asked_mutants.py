"""Cases whose requests, answers of hosts, and admin requests are changed by chance.

    python asked_mutants.py ORACLE-FOLDER INTO [--seed N] [--count N] [--what traffic|admin] [--case GLOB]…
    python patient-differ.py ORACLE-FOLDER --proxy CMD --cases INTO --verbose

`traffic` gives requests other headers, paths, methods and bytes, and hosts other answers; `admin` asks a dozen
admin pages with parameters drawn by chance. Each case then tells a log of all operators, what its hosts have seen,
and all that was counted, as those of transpose.py. `about` says what was changed. Chance is in what is served, too
(hosts, ids, times, sizes of reads): a difference is a place to look. The same seed makes the same cases.

Runs under the oracle's own Python (`install --python`).
"""

import copy
import random
import sys

import asked_words as words
import served_mutants
import transpose

# Ids, and messages that hold such and times.
SEEN_BY_CHANCE = [
    [r"(?im)^(\s+(x-b3-\w+|b3|traceparent|x-request-id|x-ot-span-context)): .*", r"\1: SOME"],
    [r"(?m)^(\s+body ).{100,}$", r"\1LONG"],
    [r"(?m)^(\s+content-length: )\d{3,}$", r"\1LONG"],
]


class AskedMutator:
    """Changes what a case asks and what its hosts answer."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def mutate(self, case):
        """Up to three changes in `case`; what they are, in words."""
        asked = [step for step in case.steps if {"http", "h2", "raw"} & step.keys() and step.get("to") != "admin"]
        hosts = [name for name, options in case.backends.items() if kind_of(options) in ("http", "h2", "either")]
        told = []
        for _ in range(self.random.randint(1, 3)):
            if hosts and self.random.random() < 0.3:
                told.append(self.host(case, self.random.choice(hosts)))
            elif asked:
                told.append(self.step(self.random.choice(asked)))
        return list(filter(None, told))

    def host(self, case, name):
        options = case.backends[name] = dict(case.backends[name] or {})
        choice = self.random.random()
        if choice < 0.4:
            options["status"] = self.random.choice(words.STATUSES)
            return f"{name} status {options['status']}"
        if choice < 0.9:
            header, value = self.header(words.ANSWER_HEADERS)
            options["headers"] = {**dict(options.get("headers") or {}), header: value}
            return f"{name} {header}: {value[:40]}"
        changed = self.random.choice([{"chunked": True}, {"close": True}, {"body": ""}, {"close": "before"}])
        options.update(changed)
        return f"{name} {changed}"

    def step(self, step):
        if "raw" in step:
            return self.bytes(step)
        if "h2" in step and not isinstance(step["h2"], str):
            requests = step["h2"] = step["h2"] if isinstance(step["h2"], list) else [step["h2"]]
            place = self.random.randrange(len(requests))
            if isinstance(requests[place], str):
                requests[place] = {"request": requests[place]}
            return self.request(requests[place], "request")
        return self.request(step, "http" if "http" in step else "h2")

    def request(self, step, key):
        if key not in step or " " not in step[key]:
            return None
        method, path = step[key].split(" ", 1)
        choice = self.random.random()
        if choice < 0.12:
            method = self.random.choice(words.METHODS)
        elif choice < 0.4:
            path = self.path(path)
        elif choice < 0.47:
            step["body"] = "x" * self.random.choice([1, 10, 1000, 70000])
            return f"{step[key]} body of {len(step['body'])}"
        else:
            return f"{step[key]} {self.add_header(step, key)}"
        step[key] = f"{method} {path}"
        return step[key]

    def add_header(self, step, key):
        name, value = self.header(words.REQUEST_HEADERS)
        headers = step.get("headers") or []
        pairs = [list(pair) for pair in (headers.items() if isinstance(headers, dict) else headers)]
        if self.random.random() < 0.2 and pairs:
            name = self.random.choice(pairs)[0]
        if self.random.random() < 0.1:
            name = self.random.choice([name.upper(), name.title(), f" {name}", f"{name} ", name.replace("-", "_")])
        if key == "http" and name.strip().lower() == "host":
            pairs = [pair for pair in pairs if pair[0].lower() != "host"]
        step["headers"] = [*pairs, [name, value]]
        return f"{name}: {value[:60]}"

    def header(self, known):
        name = self.random.choice(list(known))
        values = known[name] if self.random.random() < 0.85 else words.ODD_VALUES
        return name, self.random.choice(values)

    def path(self, path):
        piece = self.random.choice(words.PATH_PIECES)
        if self.random.random() < 0.2:
            return piece if piece.startswith(("/", "*", "http")) else f"/{piece}"
        place = self.random.choice([len(path), len(path.split("?")[0]), self.random.randint(1, max(1, len(path)))])
        return path[:place] + piece + path[place:]

    def bytes(self, step):
        pieces = step["raw"] if isinstance(step["raw"], list) else [step["raw"]]
        texts = [place for place, piece in enumerate(pieces) if isinstance(piece, str) and piece]
        if not texts:
            return None
        place = self.random.choice(texts)
        text = pieces[place]
        at = self.random.randrange(len(text))
        length = self.random.randint(0, 2)
        piece = self.random.choice(words.BYTES)
        pieces[place] = text[:at] + piece + text[at + length :]
        step["raw"] = pieces
        return f"raw {text[max(0, at - 20) : at]!r} [{text[at : at + length]!r} -> {piece!r}]"


def kind_of(options):
    return (options or {}).get("kind", "http")


def ask_admin(case, draw):
    """A dozen pages at the end of `case`."""
    told = []
    for _ in range(12):
        page = draw.choice(list(words.PAGES))
        known = words.PAGES[page]
        asked = []
        for name in draw.sample(list(known), min(len(known), draw.choice([0, 1, 1, 2, 3]))):
            values = known[name] if draw.random() < 0.9 else words.ODD_PARAMETERS
            asked.append(name + draw.choice(values))
        if draw.random() < 0.08:
            asked.append(draw.choice(["bogus", "bogus=1", "=", "&", "usedonly", "format=json", "%00", "a=%zz"]))
        query = "?" + "&".join(asked) if asked else ""
        method = "POST" if page in words.MUTATIONS and draw.random() < 0.9 else "GET"
        method = draw.choice(["HEAD", "PUT", "POST", "OPTIONS"]) if draw.random() < 0.04 else method
        step = {"http": f"{method} {page}{query}", "to": "admin", "check": words.check_of(page, query)}
        if draw.random() < 0.1:
            step["headers"] = dict([draw.choice(words.ADMIN_HEADERS)])
        case.steps.append(step)
        told.append(step["http"])
    return told


def tell_seen(case):
    """What hosts have had of the changed requests."""
    hosts = [name for name, options in case.backends.items() if kind_of(options) in ("http", "h2", "either")]
    if hosts:
        case.steps.append({"seen": hosts, "check": {"mask": SEEN_BY_CHANCE}})


def options():
    parser = served_mutants.parser_of(__doc__.splitlines()[0])
    parser.add_argument("--what", choices=["traffic", "admin"], default="traffic")
    return parser.parse_args()


def main(told, load_cases):
    cases = served_mutants.quick_cases(told, load_cases)
    number = attempt = 0
    while number < told.count and attempt < told.count * 10:
        attempt += 1
        mutator = AskedMutator(told.seed * 1_000_003 + attempt)
        case = copy.deepcopy(mutator.random.choice(cases))
        if told.what == "admin":
            changes = ask_admin(case, mutator.random)
        else:
            changes = mutator.mutate(case)
            tell_seen(case)
            transpose.tell_everything(case)
        if not changes:
            continue
        case.about = " && ".join(changes)[:600]
        case.name = f"asked/{number:04d}-{case.name.replace('/', '-')}"
        transpose.write(case, told.into)
        number += 1


if __name__ == "__main__":
    told = options()
    sys.path.insert(0, str(told.oracle))
    from kit.cases import load_cases

    main(told, load_cases)
