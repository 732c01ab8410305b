"""What the dashboard's panel "Unjudged, 1 h" says, as cases for `promtool test rules`.

usage: unjudged.py DASHBOARD > CASES"""

import json
import sys

WEBHOOK = 'job="apiserver",instance="a",name="rails.taffrail.dev",type="validating"'
LET_THROUGH = f"apiserver_admission_webhook_fail_open_count{{{WEBHOOK}}}"
REFUSED = f'apiserver_admission_webhook_rejection_count{{{WEBHOOK},error_type="calling_webhook_error"}}'
DENIED = f'apiserver_admission_webhook_rejection_count{{{WEBHOOK},error_type="no_error"}}'
CALLS = f"apiserver_admission_webhook_admission_duration_seconds_count{{{WEBHOOK}}}"
UP = 'up{job="apiserver",instance="a"}'
HOUR_MINUTES = 60

# A name; series by what they are at each minute; what is let through and refused at the end of three hours (None:
# nobody knows).
CASES = [
    ("the API server is not scraped", {}, None, None),
    ("nothing was let through or refused", {UP: "1x180", CALLS: "0+1x180", DENIED: "0+1x180"}, 0, 0),
    ("the first ever, a while ago", {UP: "1x180", CALLS: "0+1x180", LET_THROUGH: "_x150 3x30"}, 3, 0),
    ("the first ever, and more", {UP: "1x180", CALLS: "0+1x180", REFUSED: "_x150 3x10 5x20"}, 0, 5),
    ("long ago", {UP: "1x180", CALLS: "0+1x180", LET_THROUGH: "_x20 7x160"}, 0, 0),
    ("a Prometheus that is new does not know since when", {UP: "_x150 1x30", CALLS: "_x150 0+1x30",
                                                           LET_THROUGH: "_x150 7x30"}, 0, 0),
]


def main(dashboard):
    with open(dashboard, encoding="utf-8") as file:
        panel = next(panel for panel in json.load(file)["panels"] if panel["title"] == "Unjudged, 1 h")
    queries = [target["expr"].replace("$cluster", ".*") for target in panel["targets"]]
    tests = [{
        "name": name, "interval": "1m",
        "input_series": [{"series": one, "values": values} for one, values in series.items()],
        "promql_expr_test": [{
            "expr": query, "eval_time": f"{3 * HOUR_MINUTES}m",
            "exp_samples": [] if wanted is None else [{"labels": "{}", "value": wanted}]}
            for query, wanted in zip(queries, (let_through, refused))]}
        for name, series, let_through, refused in CASES]
    json.dump({"tests": tests}, sys.stdout, indent=1)


main(sys.argv[1])
