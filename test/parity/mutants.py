"""Bootstraps that are wrong by chance, or right in a way that nobody wrote down: which ones this proxy and the
real server take.

    python mutants.py ORACLE-FOLDER --proxy CMD [--seed N] [--count N] [--cases DIR]… [--case GLOB]… [--jobs N]
                      [--refusals] [--keep FOLDER]

Each mutant is the bootstrap of a case (the oracle's and ours unless `--cases` says otherwise) in which one to three
fields are set, changed, taken away, doubled, misspelt, or taken from where a message of that type stands in another
case. What a field may hold, and what it may not, says dist/schema.jsonl. Both sides validate it (`--mode validate`)
and must come to the same verdict. What is refused here by name because it is not supported is counted, and only
listed with `--refusals`. `--keep` leaves the mutants that differ in a folder. The same seed makes the same mutants.

Runs under the oracle's own Python (`install --python`).
"""

import argparse
import base64
import concurrent.futures
import copy
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = HERE.parent.parent / "dist" / "schema.jsonl"
BOOTSTRAP = "envoy.config.bootstrap.v3.Bootstrap"
PATIENCE_SECONDS = 20
REPEATED, MAP = 1, 2
# Their values are JSON of any kind, or say themselves of which type they are.
OPEN = {f"google.protobuf.{name}" for name in ("Any", "Struct", "Value", "ListValue", "Empty")}
WRAPPERS = {f"google.protobuf.{name}Value": name.lower()
            for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")}
WORDS = ["", "a", "main", "no such", "x-name", "%REQ(X)%", "%NONE", "/a", "*", ".*", "(", "127.0.0.1", "::1",
         "a.test:80", "a\nb", "ä", "x" * 300]
NUMBERS = [0, 1, 2, 3, 50, 99, 100, 101, 200, 404, 599, 600, 65535, 65536, 2**31, 2**32 - 1]
ODD_NUMBERS = [-1, 2**32, 2**64, 0.5, "1", "x", None, True]
DURATIONS = ["0s", "0.000000001s", "0.001s", "0.25s", "1s", "5s", "3600s", "100000000s"]
ODD_DURATIONS = ["-1s", "1", "", "1ms", 1, "315576000001s", "1.0000000001s", None, {}]
ODD = [None, {}, [], "x", 7, True, [{}], {"x": 1}]
DIFFERENT = "DIFFERENT"
NOT_SUPPORTED = re.compile(r"supported|did(n't| not) find|unknown type|no such (filter|type)")


class Schema:
    """Messages and enums by name, as rows of dist/schema.jsonl; src/config/schema/schema-table.ts has the form."""

    def __init__(self, path):
        head, *rows = [json.loads(line) for line in path.read_text().splitlines()]
        enums = len(head["enums"])
        self.enums = rows[:enums]
        self.names = head["names"]
        self.messages = {row[0]: row[2] for row in rows[enums:]}

    def fields(self, message):
        """(name, type, flags, extra) of each: a type is a scalar's name, a message's name or a list of enum values."""
        for name, _, kind, *more in self.messages.get(message, []):
            flags, extra = (*more, *(0, {})[len(more):])
            if isinstance(kind, int):
                kind = self.names[kind] if kind >= 0 else self.enum_values(-1 - kind)
            yield name, kind, flags, extra

    def enum_values(self, index):
        return [value if isinstance(value, str) else value[0] for value in self.enums[index][1]]

    def field(self, message, name):
        return next((field for field in self.fields(message) if field[0] == name or camel(field[0]) == name), None)


def camel(name):
    return re.sub(r"_+(.|$)", lambda found: found[1].upper(), name)


def messages_of(schema, value, message, path=""):
    """Each message in `value`, itself included: (path, mapping, its type)."""
    if not isinstance(value, dict):
        return
    if message == "google.protobuf.Any":
        message = str(value.get("@type", "")).rpartition("/")[2]
        if message in OPEN or message in WRAPPERS:
            return
    if message not in schema.messages or message.startswith("google.protobuf."):
        return
    yield path, value, message
    for name, item in value.items():
        field = schema.field(message, name)
        if not field or not isinstance(field[1], str):
            continue
        place = f"{path}.{name}" if path else name
        if field[2] & REPEATED and isinstance(item, list):
            for index, one in enumerate(item):
                yield from messages_of(schema, one, field[1], f"{place}[{index}]")
        elif field[2] & MAP and isinstance(item, dict):
            for key, one in item.items():
                yield from messages_of(schema, one, field[1], f"{place}[{key}]")
        else:
            yield from messages_of(schema, item, field[1], place)


class Mutator:
    """Changes bootstraps by chance; `donors` has the messages of all cases by their types."""

    def __init__(self, schema, donors, seed):
        self.schema, self.donors, self.random = schema, donors, random.Random(seed)

    def mutate(self, bootstrap):
        """One to three changes of `bootstrap`; what they are, in words."""
        told = []
        while not told or self.random.random() < 0.2 and len(told) < 3:
            path, message, kind = self.random.choice(list(messages_of(self.schema, bootstrap, BOOTSTRAP)))
            told.append(f"{kind} {path or '(root)'}: {self.change(message, kind)}")
        return told

    def change(self, message, kind):
        """Changes one field of `message`."""
        fields = list(self.schema.fields(kind))
        present = [name for name in message if name != "@type"]
        ways = [self.set_field] * 8 if fields else []
        if present:
            ways += [self.remove] * 2 + [self.alter] * 3 + [self.double, self.misspell]
        return self.random.choice(ways or [self.misspell])(message, kind, fields, present)

    def set_field(self, message, _, fields, __):
        name, kind, flags, extra = self.random.choice(fields)
        message[name] = self.value(kind, flags, extra)
        return f"{name} = {short(message[name])}"

    def alter(self, message, kind, _, present):
        name = self.random.choice(present)
        field = self.schema.field(kind, name)
        message[name] = self.value(*field[1:]) if field else self.random.choice(ODD)
        return f"{name} becomes {short(message[name])}"

    def remove(self, message, _, __, present):
        name = self.random.choice(present)
        del message[name]
        return f"without {name}"

    def double(self, message, _, __, present):
        lists = [name for name in present if isinstance(message[name], list) and message[name]]
        if not lists:
            return self.remove(message, _, __, present)
        name = self.random.choice(lists)
        message[name] = [*message[name], copy.deepcopy(self.random.choice(message[name]))]
        return f"{name} has one twice"

    def misspell(self, message, _, __, present):
        name = self.random.choice(present) if present else "nothing"
        other = self.random.choice([camel(name), name.upper(), name + "s", "hidden_" + name])
        message[other] = message.pop(name, 1)
        return f"{other} for {name}"

    def value(self, kind, flags=0, extra=None, depth=0):
        rules = (extra or {}).get("rules", {})
        if depth == 0 and self.random.random() < 0.02:
            return self.random.choice(ODD)
        if flags & MAP:
            keys = ["a", "x-b", "1", ""] if extra.get("key", "string") == "string" else ["1", "2"]
            chosen = self.random.sample(keys, self.random.randint(0, 2))
            return {key: self.value(kind, 0, None, depth + 1) for key in chosen}
        if flags & REPEATED:
            rules = {"rules": rules.get("repeated", {}).get("items", {})}
            count = self.random.choice([0, 1, 1, 1, 2])
            return [self.value(kind, 0, rules, depth + 1) for _ in range(count)]
        if isinstance(kind, list):
            return self.random.choice([*kind * 6, len(kind), "NONE_SUCH", kind[0].lower(), 0])
        if kind == "google.protobuf.Duration":
            return self.random.choice(DURATIONS * 8 + ODD_DURATIONS)
        kind = WRAPPERS.get(kind, kind)
        if kind in self.schema.messages:
            return self.message(kind, depth)
        return self.scalar(kind, rules.get(kind, {}))

    def scalar(self, kind, rules):
        if kind == "bool":
            return self.random.choice([True, False] * 10 + ["true", 0, None])
        if kind == "string":
            return self.random.choice(rules.get("in", []) + WORDS)
        if kind == "bytes":
            return self.random.choice(["", "YQ==", "YQ", "-_-_", "a b"])
        bounds = [rules[name] for name in ("gt", "gte", "lt", "lte") if isinstance(rules.get(name), (int, float))]
        near = [number for bound in bounds for number in (bound - 1, bound, bound + 1)]
        return self.random.choice(near * 6 + NUMBERS * 4 + ODD_NUMBERS)

    def message(self, kind, depth):
        """One of a case, or one with what it must have and some of what it may."""
        donors = self.donors.get(kind, [])
        if donors and self.random.random() < 0.75:
            return copy.deepcopy(self.random.choice(donors))
        made = {}
        if kind in OPEN or depth > 4:
            return made
        for name, type_, flags, extra in self.schema.fields(kind):
            rules = extra.get("rules", {})
            needed = "required" in str(rules) or "min_len" in str(rules) or "min_items" in str(rules)
            if self.random.random() < (0.97 if needed else 0.08):
                made[name] = self.value(type_, flags, extra, depth + 1)
        return made


def short(value):
    text = json.dumps(value)
    return text if len(text) < 300 else text[:297] + "..."


class Player:
    """Has both sides validate bootstraps in one folder, which has the files that cases want."""

    def __init__(self, folder, commands, certs, render):
        self.folder, self.commands, self.certs, self.render = folder, commands, certs, render

    def variables(self, case):
        names = ["admin", "listener", *case.ports, *case.backends]
        ports = {f"{name}_port": 20000 + index for index, name in enumerate(names)}
        return {"tmp": self.folder / case.name, "certs": self.certs, "base_id": 7, "free_base_id": 8, **ports}

    def prepare(self, case):
        folder = self.folder / case.name
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in case.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, dict) and set(content) == {"base64"}:
                path.write_bytes(base64.b64decode(content["base64"]))
            else:
                content = self.render(content, self.variables(case))
                path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))

    def play(self, case, number, bootstrap):
        """(exit code, what it said) of each side."""
        path = self.folder / case.name / f"mutant-{number}.json"
        path.write_text(json.dumps(bootstrap))
        said = []
        for command in self.commands:
            args = [str(arg) for arg in self.render(case.args, self.variables(case))]
            env = {**os.environ, **self.render(case.env, self.variables(case))}
            try:
                words = [*command, "-c", path, *args, "--mode", "validate", "-l", "error"]
                done = subprocess.run(words, timeout=PATIENCE_SECONDS, cwd=path.parent, env=env,
                                      stdin=subprocess.DEVNULL, capture_output=True)
                said.append((done.returncode, (done.stderr + done.stdout).decode(errors="replace").strip()))
            except subprocess.TimeoutExpired:
                said.append(("no end", ""))
        path.unlink()
        return said


def verdict(code):
    return {0: "takes it", 1: "refuses it"}.get(code, f"ends with {code}")


def kind_of(theirs, ours):
    """What came of a mutant, of which each side said (exit code, words)."""
    if theirs[0] == ours[0]:
        return f"both: {verdict(ours[0])}"
    if ours[0] == 1 and theirs[0] == 0 and NOT_SUPPORTED.search(ours[1]):
        return "refused by name"
    if ours[0] == 1 and theirs[0] not in (0, 1):
        return "refused where the real server breaks down"
    return DIFFERENT


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("oracle", type=pathlib.Path)
    parser.add_argument("--proxy", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--cases", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--refusals", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    return parser.parse_args()


def main(told):
    oracle = subprocess.check_output([told.oracle / "install"], text=True).strip()
    folders = told.cases or [told.oracle / "cases", HERE / "cases"]
    cases = [case for folder in folders for case in load_cases(folder, told.case)
             if isinstance(case.bootstrap, dict) and case.only_args is None and not case.error]
    schema = Schema(SCHEMA)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        folder = pathlib.Path(folder)
        player = Player(folder, [[oracle], shlex.split(told.proxy)], make_certs(folder / "certs"), render)
        bases, donors = {}, {}
        for case in cases:
            bases[case.name] = render(case.bootstrap, player.variables(case))
            player.prepare(case)
            for _, message, kind in messages_of(schema, bases[case.name], BOOTSTRAP):
                donors.setdefault(kind, []).append(message)

        def one(number):
            mutator = Mutator(schema, donors, told.seed * 1_000_003 + number)
            case = mutator.random.choice(cases)
            mutant = copy.deepcopy(bases[case.name])
            changes = mutator.mutate(mutant)
            return number, case, changes, mutant, player.play(case, number, mutant)

        counts = {}
        with concurrent.futures.ThreadPoolExecutor(told.jobs) as pool:
            for number, case, changes, mutant, (theirs, ours) in pool.map(one, range(told.count)):
                kind = kind_of(theirs, ours)
                counts[kind] = counts.get(kind, 0) + 1
                if kind.startswith("both") or kind != DIFFERENT and not told.refusals:
                    continue
                print(f"{number} {case.name}\n  " + "\n  ".join(changes))
                print(f"  the real server {verdict(theirs[0])}: {theirs[1][-500:]}")
                print(f"  ours {verdict(ours[0])}: {ours[1][-700:]}", flush=True)
                if told.keep:
                    told.keep.mkdir(parents=True, exist_ok=True)
                    (told.keep / f"{told.seed}-{number}.json").write_text(json.dumps(mutant, indent=1))
        for kind, count in sorted(counts.items()):
            print(f"{count:6} {kind}")
        return 1 if DIFFERENT in counts else 0


if __name__ == "__main__":
    told = options()
    sys.path.insert(0, str(told.oracle))
    from kit.cases import load_cases, render
    from kit.certs import make_certs

    sys.exit(main(told))
