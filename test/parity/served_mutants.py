"""Cases whose bootstraps are changed by chance, such that the real server still takes them: what they then serve,
count and log is compared as that of any other case.

    python served_mutants.py ORACLE-FOLDER INTO [--seed N] [--count N] [--case GLOB]…
    python patient-differ.py ORACLE-FOLDER --proxy CMD --cases INTO --verbose

One or two fields of a bootstrap are set or changed as mutants.py does it, but for addresses, names and what is
compared; the case then tells a log of all operators and all that was counted, as those of transpose.py. `about`
says what was changed. Chance is in what is served, too (hosts, ids, times, sizes of reads): a difference is a place
to look. The same seed makes the same cases.

Runs under the oracle's own Python (`install --python`).
"""

import argparse
import concurrent.futures
import copy
import pathlib
import subprocess
import sys
import tempfile

import mutants
import transpose

# Cases that wait for longer are too slow to be played by the hundred.
MOST_SECONDS_ASLEEP = 3
TRIES = 40
# What places and files are called, and what the comparison itself needs.
KEPT_PARTS = ("admin", "node", "stats_")
KEPT_MESSAGES = {
    "envoy.config.core.v3.Address",
    "envoy.config.core.v3.SocketAddress",
    "envoy.config.endpoint.v3.Endpoint",
    "envoy.config.endpoint.v3.LbEndpoint",
    "envoy.extensions.access_loggers.file.v3.FileAccessLog",
}
KEPT_FIELDS = {"access_log", "stat_prefix", "name"}


class ServedMutator(mutants.Mutator):
    """Changes what is served, and leaves alone by what it is found."""

    def mutate(self, bootstrap):
        """One or two changes of `bootstrap`; what they are, in words."""
        told = []
        wanted = 1 if self.random.random() < 0.7 else 2
        places = [
            place
            for place in mutants.messages_of(self.schema, bootstrap, mutants.BOOTSTRAP)
            if place[0] and not place[0].startswith(KEPT_PARTS) and place[2] not in KEPT_MESSAGES
        ]
        for _ in range(TRIES):
            path, message, kind = self.random.choice(places)
            fields = [field for field in self.schema.fields(kind) if field[0] not in KEPT_FIELDS]
            present = [field[0] for field in fields if field[0] in message]
            if not fields:
                continue
            change = self.alter if present and self.random.random() < 0.25 else self.set_field
            told.append(f"{kind} {path}: {change(message, kind, fields, present)}")
            if len(told) == wanted:
                break
        return told


def is_quick(case):
    naps = [step["sleep"] for step in case.steps if isinstance(step.get("sleep"), (int, float))]
    return case.start is True and sum(naps) <= MOST_SECONDS_ASLEEP


def quick_cases(told, load_cases):
    """Those that are asked for, of the oracle and our own."""
    folders = [told.oracle / "cases", mutants.HERE / "cases"]
    return [
        case
        for folder in folders
        for case in load_cases(folder, told.case)
        if transpose.transposable(case) and is_quick(case)
    ]


def parser_of(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("oracle", type=pathlib.Path)
    parser.add_argument("into", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--case", action="append", default=[])
    return parser


def main(told, load_cases, render, make_certs):
    real = subprocess.check_output([told.oracle / "install"], text=True).strip()
    schema = mutants.Schema(mutants.SCHEMA)
    cases = quick_cases(told, load_cases)
    donors = {}
    for case in cases:
        for _, message, kind in mutants.messages_of(schema, case.bootstrap, mutants.BOOTSTRAP):
            donors.setdefault(kind, []).append(message)
    with tempfile.TemporaryDirectory(prefix="served-mutants-") as folder:
        folder = pathlib.Path(folder)
        player = mutants.Player(folder, [[real]], make_certs(folder / "certs"), render)
        for case in cases:
            player.prepare(case)

        def one(number):
            for attempt in range(TRIES):
                mutator = ServedMutator(schema, donors, (told.seed * 1_000_003 + number) * TRIES + attempt)
                case = copy.deepcopy(mutator.random.choice(cases))
                changes = mutator.mutate(case.bootstrap)
                mutant = render(case.bootstrap, player.variables(case))
                if changes and player.play(case, f"{number}-{attempt}", mutant)[0][0] == 0:
                    return number, case, changes
            return None

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for number, case, changes in filter(None, pool.map(one, range(told.count))):
                transpose.tell_everything(case)
                case.about = " && ".join(changes)[:400]
                case.name = f"served/{number:04d}-{case.name.replace('/', '-')}"
                transpose.write(case, told.into)


if __name__ == "__main__":
    told = parser_of(__doc__.splitlines()[0]).parse_args()
    sys.path.insert(0, str(told.oracle))
    from kit.cases import load_cases, render
    from kit.certs import make_certs

    main(told, load_cases, render, make_certs)
