#!/usr/bin/env python3
"""Draws what each algorithm lets through, from decisions of the executable.

    docs/pictures/draw.py WEIR          writes decisions.txt and the pictures
    docs/pictures/draw.py WEIR --check  are they what WEIR decides?

One trace is decided by a limit of each algorithm. decisions.txt holds the
limits and, second by second, how many calls passed and how many were denied;
the pictures are drawn from nothing else. Drawing needs matplotlib; checking
compares decisions.txt, and the pictures too where matplotlib is the one that
decisions.txt names. The same decisions give the same bytes.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 240
WINDOW = 60

# (name, limit): 60 a minute in the terms of each.
LIMITS = [
    ("gcra", "limit=60 window=60s burst=20"),
    ("token_bucket", "capacity=20 refill=60 interval=60s"),
    ("leaky_bucket", "capacity=20 leak=60 interval=60s"),
    ("uniform", "interval=1s"),
    ("fixed_window", "limit=60 window=60s align=epoch"),
    ("sliding_log", "limit=60 window=60s"),
    ("sliding_log_list", "limit=60 window=60s"),
    ("bucketed_window", "limit=60 window=60s resolution=10s"),
    ("sliding_window_counter", "limit=60 window=60s"),
    ("windowed_token_bucket", "limit=60 window=60s burst=20"),
    ("ar1", "limit=60 decay_factor=2 resolution=30s"),
    ("unlimited", ""),
]


def trace():
    """The calls, as microseconds: quiet, two bursts around a minute's end, a
    minute of too many, silence, and calls at just the rate."""
    times = []

    def evenly(start, end, per_second):
        step = 1_000_000 // per_second
        times.extend(range(start * 1_000_000, end * 1_000_000, step))

    for second in range(0, 40, 4):
        times.append(second * 1_000_000)
    evenly(55, 58, 30)
    evenly(62, 65, 30)
    evenly(80, 150, 2)
    evenly(185, 240, 1)
    return sorted(times)


def rule(name, text):
    """A rule of limits.json."""
    made = {"algorithm": name, "key": "all"}
    for pair in text.split():
        field, value = pair.split("=")
        made[field] = int(value) if value.isdigit() else value
    return {"rules": [made]}


def decide(weir, name, text):
    """[[allowed, denied] of each second]."""
    with tempfile.TemporaryDirectory() as folder:
        limits = pathlib.Path(folder, "limits.json")
        limits.write_text(json.dumps(rule(name, text)))
        rows = "time_us\n" + "".join(f"{t}\n" for t in trace())
        done = subprocess.run(
            [weir, "replay", "--limits", str(limits), "--decisions", "-", "-"],
            input=rows, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, check=True)
    counts = [[0, 0] for _ in range(SECONDS)]
    for line in done.stdout.splitlines():
        decision = json.loads(line)
        second = decision["time_us"] // 1_000_000
        counts[second][0 if decision["allowed"] else 1] += 1
    return counts


def draw(name, text, counts, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({
        "svg.hashsalt": "weir", "svg.fonttype": "none", "font.size": 9,
        "font.family": "sans-serif", "axes.spines.top": False,
        "axes.spines.right": False, "path.simplify": False})
    from matplotlib import pyplot

    allowed = [a for a, _ in counts]
    inside = [sum(allowed[max(0, s - WINDOW + 1):s + 1])
              for s in range(SECONDS)]
    seconds = range(SECONDS)
    figure, (top, low) = pyplot.subplots(
        2, 1, figsize=(7.2, 3.4), sharex=True, height_ratios=[3, 2])
    edges = range(SECONDS + 1)
    top.stairs([a + d for a, d in counts], edges, fill=True, color="#e8c4b0",
               label="denied")
    top.stairs(allowed, edges, fill=True, color="#1f6fb4", label="passed")
    top.set_ylabel("calls a second")
    top.set_ylim(0, 34)
    top.legend(frameon=False, loc="upper right", ncols=2)
    top.set_title(f"{name} {text}".strip(), loc="left", family="monospace",
                  fontsize=9)
    low.step(seconds, inside, where="post", color="#1f6fb4")
    low.axhline(60, color="#888888", linewidth=0.8, linestyle=(0, (4, 3)))
    low.set_ylabel("passed in\nthe last 60 s")
    low.set_ylim(0, 270 if name == "unlimited" else 130)
    low.set_xlim(0, SECONDS)
    low.set_xticks(range(0, SECONDS + 1, 30))
    low.set_xlabel("seconds")
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None,
                                                 "Creator": None})
    pyplot.close(figure)


def record(all_counts, version):
    lines = [f"drawn with matplotlib {version}"]
    for (name, text), counts in zip(LIMITS, all_counts):
        lines.append("")
        lines.append(f"{name} {text}".strip())
        lines.append("passed: " + " ".join(str(a) for a, _ in counts))
        lines.append("denied: " + " ".join(str(d) for _, d in counts))
    return "\n".join(lines) + "\n"


def matplotlib_version():
    try:
        import matplotlib
    except ImportError:
        return None
    return matplotlib.__version__


def check(all_counts):
    kept = (HERE / "decisions.txt").read_text()
    version = kept.split("\n")[0].split(" ")[-1]
    wrong = []
    if record(all_counts, version) != kept:
        wrong.append("decisions.txt")
    if matplotlib_version() == version:
        with tempfile.TemporaryDirectory() as folder:
            for (name, text), counts in zip(LIMITS, all_counts):
                path = pathlib.Path(folder, f"{name}.svg")
                draw(name, text, counts, path)
                picture = HERE / f"{name}.svg"
                if (not picture.exists()
                        or picture.read_bytes() != path.read_bytes()):
                    wrong.append(picture.name)
    for name in wrong:
        print(f"docs/pictures/{name} is not what the executable decides; "
              "run docs/pictures/draw.py", file=sys.stderr)
    return 1 if wrong else 0


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    all_counts = [decide(sys.argv[1], name, text) for name, text in LIMITS]
    if "--check" in sys.argv[2:]:
        return check(all_counts)
    version = matplotlib_version()
    if version is None:
        print("matplotlib is missing (python3-matplotlib)", file=sys.stderr)
        return 2
    for (name, text), counts in zip(LIMITS, all_counts):
        draw(name, text, counts, HERE / f"{name}.svg")
    (HERE / "decisions.txt").write_text(record(all_counts, version))
    return 0


if __name__ == "__main__":
    sys.exit(main())
