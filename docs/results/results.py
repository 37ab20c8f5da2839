#!/usr/bin/env python3
"""results.py - the runs behind docs/results.md.

  results.py collect NAME SWEEP...   write NAME.csv beside this file: a row for each finished run of sweep folders
  results.py page                    write ../results.md from the CSV files
  results.py claims                  print what the paper claims and what holds of it (part of the page)
  results.py compare SWEEP           compare the runs of a sweep folder with the committed rows, field by field

Python's standard library only. paper.csv has the published figures.
"""
import csv
import json
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, os.pardir, "results.md")
KEY = "data model norm layers missing_rate groups lambda seed epochs".split()
SETTINGS = "hidden dropout lr weight_decay preset feature_norm split".split()
SCORES = ("test_accuracy val_accuracy best_epoch loss instance_information_gain group_distance_ratio "
          "intra_group_distance").split()
ORIGIN = "version data_sha256 device driver date".split()
COLUMNS = KEY + SETTINGS + SCORES + ORIGIN
SETS = ["cora", "citeseer", "pubmed", "coauthor-cs"]
MODELS = ["gcn", "gat", "sgc"]
NORMS = ["none", "batch", "pair", "group"]
DEPTHS = {"gcn": [2, 15, 30], "gat": [2, 15, 30], "sgc": [5, 60, 120]}
TITLES = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed", "coauthor-cs": "CoauthorCS"}
PAPER_RUNS = 5  # "We run each experiment 5 times and report the average"


def short(value):
    """A field of a CSV: six digits of a number, nothing for null."""
    if value is None:
        return ""
    return "%.6g" % value if isinstance(value, float) else str(value)


def row_of(record):
    """The CSV row of one line of journal.jsonl."""
    record = dict(record, date=record["finished"][:10], data_sha256=record["data_sha256"][:12])
    return {column: short(record[column]) for column in COLUMNS}


def number(text):
    return float(text) if text else 0.0


def order(row):
    """The order of the paper's tables: set, model, depth, norm, then groups, lambda and seed."""
    place = lambda names, name: (names.index(name), "") if name in names else (len(names), name)
    return (place(SETS, row["data"]), place(MODELS, row["model"]), number(row["missing_rate"]), number(row["layers"]),
            place(NORMS, row["norm"]), number(row["groups"]), number(row["lambda"]), number(row["seed"]))


def read_sweeps(folders):
    rows = []
    for folder in folders:
        with open(os.path.join(folder, "journal.jsonl"), encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines if line.endswith("\n")]
        rows += [row_of(record) for record in records if record.get("status") == "ok"]
    return sorted(rows, key=order)


def read_csv(name):
    path = os.path.join(HERE, name)
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, text):
    """Replaces the file whole."""
    with open(path + ".part", "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.replace(path + ".part", path)


def collect(name, folders):
    rows = read_sweeps(folders)
    path = os.path.join(HERE, name + ".csv")
    with open(path + ".part", "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    os.replace(path + ".part", path)
    print("%s: %d runs" % (os.path.relpath(path), len(rows)))


def cells(rows, *columns):
    """Groups rows by columns: {key: [row, ...]}."""
    out = {}
    for row in rows:
        out.setdefault(tuple(row[column] for column in columns), []).append(row)
    return out


class Sample:
    """Mean, standard deviation and count of one figure over the seeds."""

    def __init__(self, values):
        self.count = len(values)
        self.mean = statistics.fmean(values) if values else math.nan
        self.deviation = statistics.stdev(values) if len(values) > 1 else math.nan

    def error(self, other_count=None):
        """Standard error of the mean, or of the difference to a mean of other_count runs with the same deviation."""
        return self.deviation * math.sqrt(1 / self.count + (1 / other_count if other_count else 0))

    def text(self):
        if not self.count:
            return "-"
        return "%.1f" % self.mean if self.count == 1 else "%.1f ± %.1f" % (self.mean, self.deviation)


def percent(rows, column="test_accuracy"):
    return Sample([100 * float(row[column]) for row in rows if row[column]])


def mean(rows, column):
    return Sample([float(row[column]) for row in rows if row[column]]).mean


def verdict(sample, paper):
    """"=": within two standard errors of the difference; "+", "-": above, below; "": too few runs to say."""
    if sample.count < 2:
        return ""
    distance = sample.mean - paper
    # The paper rounds to 0.1, and runs that all agree have no deviation.
    limit = max(2 * sample.error(PAPER_RUNS), 0.05)
    return "=" if abs(distance) <= limit else "+" if distance > 0 else "-"


def plural(count, noun):
    return "%d %s%s" % (count, noun, "" if count == 1 else "s")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def paper_rows(which):
    return {(row["data"], row["model"], row["norm"], int(row["layers"])): float(row["accuracy"])
            for row in read_csv("paper.csv") if row["table"] == which}


def count_verdicts(verdicts):
    marks = [verdicts.count(mark) for mark in "=+-"]
    return "%d entries: %d within two standard errors of the paper's, %d above, %d below" % (sum(marks), *marks)


def table1_part(rows):
    """Table 1: ours, the paper's in brackets, the verdict. Returns the text and its verdicts."""
    have, paper = cells(rows, "data", "model", "norm", "layers"), paper_rows("1")
    parts, verdicts = [], []
    for data in SETS:
        lines = []
        for model in MODELS:
            for depth in DEPTHS[model]:
                line = ["%s, %d layers" % (model.upper(), depth)]
                for norm in NORMS:
                    sample = percent(have.get((data, model, norm, str(depth)), []))
                    theirs = paper[data, model, norm, depth]
                    mark = verdict(sample, theirs)
                    verdicts += [mark] if mark else []
                    line.append("%s (%.1f) %s" % (sample.text(), theirs, mark) if sample.count else "- (%.1f)" % theirs)
                lines.append([cell.strip() for cell in line])
        if any(key[0] == data for key in have):
            seeds = sorted({len(group) for key, group in have.items() if key[0] == data})
            runs = "%d to %d seeds" % (seeds[0], seeds[-1]) if len(seeds) > 1 else plural(seeds[0], "seed")
            parts += ["### %s, %s" % (TITLES[data], runs), table([""] + NORMS, lines)]
    missing = [TITLES[data] for data in SETS if not any(key[0] == data for key in have)]
    if missing:
        parts.append("Not run yet: %s." % ", ".join(missing))
    return "\n\n".join(parts), verdicts


def best_depth(groups):
    """{depth: rows} to (depth, rows) of the best mean accuracy."""
    return max(groups.items(), key=lambda item: percent(item[1]).mean)


def table2_part(rows):
    """Table 2: the best depth of each model and norm without the features of other nodes."""
    parts, verdicts = [], []
    paper = {key[:3]: (key[3], value) for key, value in paper_rows("2").items()}
    for data in SETS:
        lines = []
        for model in MODELS:
            line = [model.upper()]
            for norm in NORMS:
                groups = cells([row for row in rows if (row["data"], row["model"], row["norm"], row["missing_rate"])
                                == (data, model, norm, "1")], "layers")
                depth, theirs = paper[data, model, norm]
                if not groups:
                    line.append("- (%.1f at %d)" % (theirs, depth))
                    continue
                (ours,), group = best_depth(groups)
                mark = verdict(percent(group), theirs)
                verdicts += [mark] if mark else []
                line.append(("%s at %s (%.1f at %d) %s" % (percent(group).text(), ours, theirs, depth, mark)).strip())
            lines.append(line)
        if any(cell[0] != "-" for line in lines for cell in line[1:]):
            parts += ["### %s" % TITLES[data], table([""] + NORMS, lines)]
    return "\n\n".join(parts), verdicts


def grid_part(rows):
    groups = cells(rows, "groups", "lambda")
    if not groups:
        return ""
    columns = sorted({key[1] for key in groups}, key=float)
    lines = [[count] + [percent(groups.get((count, value), [])).text() for value in columns]
             for count in sorted({key[0] for key in groups}, key=int)]
    return table(["groups"] + ["lambda " + value for value in columns], lines)


# --- the paper's claims -------------------------------------------------------
def claim_depth(rows):
    """Q1: at depth, group norm is the best norm or within noise of it (two standard errors of the difference)."""
    have, held, failed = cells(rows, "data", "model", "norm", "layers"), 0, []
    for data in SETS:
        for model in MODELS:
            for depth in DEPTHS[model][1:]:
                samples = {norm: percent(have.get((data, model, norm, str(depth)), [])) for norm in NORMS}
                if min(sample.count for sample in samples.values()) < 2:
                    continue
                ours, best = samples["group"], max((samples[norm] for norm in NORMS[:-1]), key=lambda s: s.mean)
                if ours.mean >= best.mean - 2 * math.hypot(ours.error(), best.error()):
                    held += 1
                else:
                    failed.append("%s %s at %d layers: %.1f against %.1f" %
                                  (TITLES[data], model.upper(), depth, ours.mean, best.mean))
    return held, failed


def claim_missing(rows):
    """Q2: group norm's best depth is larger without the features of other nodes."""
    held, failed = 0, []
    for data in SETS:
        for model in MODELS:
            depth = {}
            for rate in "0", "1":
                groups = cells([row for row in rows if (row["data"], row["model"], row["norm"], row["missing_rate"])
                                == (data, model, "group", rate)], "layers")
                if len(groups) > 3:  # a sweep over depth, not the three depths of table 1
                    depth[rate] = int(best_depth(groups)[0][0])
            if len(depth) < 2:
                continue
            if depth["1"] > depth["0"]:
                held += 1
            else:
                failed.append("%s %s: %d with missing features, %d with all" %
                              (TITLES[data], model.upper(), depth["1"], depth["0"]))
    return held, failed


def claim_lambda(rows):
    """Q3: lambda 0.001 loses accuracy at 20 layers: below the best lambda by more than two standard errors."""
    held, failed = 0, []
    for (groups,), group in cells(rows, "groups").items():
        samples = {value: percent(part) for (value,), part in cells(group, "lambda").items()}
        if groups == "1" or "0.001" not in samples or min(s.count for s in samples.values()) < 2:
            continue
        low, best = samples["0.001"], max(samples.values(), key=lambda s: s.mean)
        if low.mean < best.mean - 2 * math.hypot(low.error(), best.error()):
            held += 1
        else:
            failed.append("%s groups: %.1f against %.1f" % (groups, low.mean, best.mean))
    return held, failed


def claim_groups(rows):
    """Q3: the number of groups from 5 on changes the accuracy of the best lambda by at most three points."""
    best = {}
    for (groups, _), group in cells(rows, "groups", "lambda").items():
        if int(groups) >= 5 and len(group) > 1:
            best[groups] = max(best.get(groups, 0), percent(group).mean)
    if len(best) < 2:
        return 0, []
    spread = max(best.values()) - min(best.values())
    return (1, []) if spread <= 3 else (0, ["%.1f points between the best and the worst" % spread])


def claim_smoothing(rows):
    """Figure 1: SGC without norm smooths over: at 120 layers the information gain is below half of that at 5 layers,
    and the group distance ratio has lost at least four fifths of its distance from 1."""
    have, held, failed = cells(rows, "data", "model", "norm", "layers"), 0, []
    for data in SETS[:1]:  # the figure shows Cora
        few, many = (have.get((data, "sgc", "none", depth)) for depth in ("5", "120"))
        if not few or not many:
            continue
        gain = mean(many, "instance_information_gain") / mean(few, "instance_information_gain")
        ratio = (mean(many, "group_distance_ratio") - 1) / (mean(few, "group_distance_ratio") - 1)
        if gain < 0.5 and ratio < 0.2:
            held += 1
        else:
            failed.append("%s: %.2f of the gain, %.2f of the ratio's distance from 1 are left" %
                          (TITLES[data], gain, ratio))
    return held, failed


CLAIMS = [
    ("Q1: at depth, group norm is best or within noise of the best norm", claim_depth, "table1"),
    ("Q2: without the features of other nodes, group norm is best at a larger depth", claim_missing, "depth"),
    ("Q3: lambda = 0.001 costs accuracy at 20 layers", claim_lambda, "grid"),
    ("Q3: the number of groups (5 to 30) matters little at 20 layers", claim_groups, "grid"),
    ("Figure 1, Cora: gain and ratio of SGC without norm fall towards 0 and 1 at 120 layers", claim_smoothing, "table1"),
]


def claims_text():
    lines = []
    for text, check, name in CLAIMS:
        held, failed = check(read_csv(name + ".csv"))
        count = held + len(failed)
        lines.append("- %s: %s" % (text, "holds in %d of %d cases" % (held, count) if count else "not run yet"))
        lines += ["  - not: " + case for case in failed]
    return "\n".join(lines)


# --- the page -----------------------------------------------------------------
HEAD = """# The paper's results, repeated

Generated from the CSV files in [results](results) by `docs/results/results.py page`; a row of them is a run. Authors'
settings, seeds 100, 200, ...; mean test accuracy in % ± standard deviation over the seeds; in brackets the paper's figure.
The paper averages five runs and gives no spread, so the verdict takes ours for both: `=` within two standard errors of
the difference, `+` above, `-` below.
"""

REPEAT = """## Repeat a cell

Three commands give the same rows bit for bit on the same kind of CPU:

```sh
fathom data get cora
fathom sweep --recipe table1 --data cora --models gcn --norms group --layers 15 --device cpu --out cell
python3 docs/results/results.py compare cell
```

`docs/results/sweeps.sh DIR` runs everything on this page, continues after a stop, and writes the CSV files.
"""


def origin(rows):
    """One line: where the runs of a file come from."""
    if not rows:
        return ""
    some = lambda column: ", ".join(sorted({row[column] for row in rows}))
    dates = sorted({row["date"] for row in rows})
    return "%d runs of %s epochs; fathom %s; %s (%s); %s." % (
        len(rows), some("epochs"), some("version"), some("device"), some("driver"),
        dates[0] if len(dates) == 1 else dates[0] + " to " + dates[-1])


def section(title, name, body, verdicts=None):
    rows = read_csv(name + ".csv")
    if not rows or not body:
        return "## %s\n\nNot run yet.\n" % title
    counted = count_verdicts(verdicts) + ".\n\n" if verdicts else ""
    return "## %s\n\n%s%s ([%s.csv](results/%s.csv))\n\n%s\n" % (title, counted, origin(rows), name, name, body)


def page_text():
    first, marks = table1_part(read_csv("table1.csv"))
    missing = [row for row in read_csv("depth.csv") + read_csv("table2.csv") if row["missing_rate"] == "1"]
    second, marks2 = table2_part(missing)
    return "\n".join([
        HEAD,
        REPEAT,
        "## The paper's claims\n\n" + claims_text() + "\n",
        section("Table 1: accuracy at three depths", "table1", first, marks),
        section("Table 2: best depth without the features of other nodes", "depth", second, marks2),
        section("Figure 4: groups and lambda", "grid", grid_part(read_csv("grid.csv")))])


def compare(folder):
    committed = {}
    for name in "table1", "depth", "table2", "grid":
        for row in read_csv(name + ".csv"):
            committed[tuple(row[column] for column in KEY)] = row
    rows = read_sweeps([folder])
    known = [row for row in rows if tuple(row[column] for column in KEY) in committed]
    if not known:
        sys.exit("results.py: no run of %s is among the committed rows" % folder)
    different = 0
    for row in known:
        other = committed[tuple(row[column] for column in KEY)]
        columns = [c for c in SETTINGS + SCORES + ["data_sha256"] if row[c] != other[c]]
        different += bool(columns)
        for column in columns:
            print("%s: %s is %s, committed: %s" % (" ".join(row[c] for c in KEY), column, row[column], other[column]))
    print("%d of %d runs equal the committed rows" % (len(known) - different, len(known)))
    if different:
        print("committed rows: %s; here: %s. Losses differ in the last digits between instruction sets." %
              (committed[tuple(known[0][c] for c in KEY)]["driver"], known[0]["driver"]))
        sys.exit(1)


def main(words):
    if len(words) >= 3 and words[0] == "collect":
        collect(words[1], words[2:])
    elif words == ["page"]:
        write(PAGE, page_text())
    elif words == ["claims"]:
        print(claims_text())
    elif len(words) == 2 and words[0] == "compare":
        compare(words[1])
    elif words in (["--help"], ["-h"]):
        print(__doc__.strip())
    else:
        sys.exit(__doc__.strip())


if __name__ == "__main__":
    main(sys.argv[1:])
