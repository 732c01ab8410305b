"""Draws the dashboard's panels from what a real Prometheus answers to their queries, as an SVG.

usage: picture.py TAFFRAIL FAKEAPI SECONDS FILE"""

import html
import math
import sys
import tempfile
import time

from monitored import ApiServer, Monitored, filled, panels, put, spec, template, thing

UNIT_X, UNIT_Y, MARGIN = 50, 26, 6  # pixels of a unit of the grid
POINTS = 60
COLOURS = ["#3274d9", "#e0752d", "#56a64b", "#a352cc", "#e02f44", "#1f9e9e", "#b8860b", "#8f3bb8", "#5195ce", "#7a7a7a"]
NAMED = {"green": "#56a64b", "orange": "#e0752d", "red": "#e02f44"}


def shown(value, unit):
    """As Grafana shortens it."""
    if unit == "s":
        for name, seconds in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1), ("ms", 1e-3)):
            if abs(value) >= 0.9995 * seconds:
                return f"{value / seconds:.3g} {name}"
        return "0 s" if value == 0 else f"{value * 1e6:.3g} µs"
    return f"{value:.3g}" + (" /s" if unit == "reqps" else "")


def text(x, y, words, size=11, colour="#444", more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}"{more}>{html.escape(words)}</text>'


def legend(target, labels, title):
    words = target.get("legendFormat") or title
    for name, value in labels.items():
        words = words.replace("{{" + name + "}}", value)
    return words


def draw_stat(panel, monitored, x, y, width, height):
    drawn, targets = [], panel["targets"]
    for i, target in enumerate(targets):
        middle = x + width * (i + 0.5) / len(targets)
        found = monitored.value(filled(target["expr"]))
        words, colour = stat_of(panel["fieldConfig"]["defaults"], list(found.values())[0] if found else math.nan)
        drawn.append(text(middle, y + height / 2 + 22, words, 24, NAMED[colour], ' text-anchor="middle"'))
        if len(targets) > 1:
            drawn.append(text(middle, y + height / 2 + 38, target["legendFormat"], 10, "#777", ' text-anchor="middle"'))
    return drawn


def stat_of(defaults, value):
    """Its words and their colour."""
    colour = "green"
    for step in defaults["thresholds"]["steps"]:
        if step["value"] is None or value >= step["value"]:
            colour = step["color"]
    words = shown(round(value) if defaults.get("decimals") == 0 and defaults["unit"] == "short" else value,
                  defaults["unit"])
    for mapping in defaults["mappings"]:
        words = mapping["options"].get(f"{value:.0f}", {}).get("text", words)
    return words, colour


def draw_table(panel, monitored, x, y, *_):
    drawn = []
    for i, labels in enumerate(monitored.value(filled(panel["targets"][0]["expr"]))):
        drawn.append(text(x + 10, y + 46 + 18 * i, "   ".join(f"{name}: {value}" for name, value in labels)))
    return drawn


def series_of(panel, monitored, begin, end):
    found = []
    for target in panel["targets"]:
        asked = monitored.ask("query_range", query=filled(target["expr"]), start=begin, end=end,
                              step=(end - begin) / POINTS)
        for one in asked["result"]:
            values = {float(at): float(value) for at, value in one["values"] if not math.isnan(float(value))}
            if values:
                found.append((legend(target, one["metric"], panel["title"]), values))
    return found


def draw_series(panel, monitored, x, y, width, height, begin, end):
    custom, unit = panel["fieldConfig"]["defaults"]["custom"], panel["fieldConfig"]["defaults"]["unit"]
    found = series_of(panel, monitored, begin, end)
    if custom["stacking"]["mode"] == "normal":
        sums = {}
        for _, values in found:
            for at in values:
                sums[at] = values[at] = values[at] + sums.get(at, 0)
    log = custom.get("scaleDistribution", {}).get("type") == "log"
    numbers = [value for _, values in found for value in values.values() if value > 0 or not log]
    most, least = max(numbers, default=1) or 1, min(numbers, default=1)
    left, right, top, bottom = x + 62, x + width - 12, y + 30, y + height - 34

    def across(at):
        return left + (at - begin) / (end - begin) * (right - left)

    def up(value):
        if log:
            part = math.log(max(value, least) / least) / (math.log(most / least) or 1)
        else:
            part = value / (1.08 * most)
        return bottom - part * (bottom - top)
    drawn = []
    for part in (0, 0.5, 1):
        value = least * (most / least) ** part if log else part * most
        drawn += [f'<path d="M{left:.0f} {up(value):.0f}H{right:.0f}" stroke="#ddd"/>',
                  text(left - 6, up(value) + 4, shown(value, unit), 10, "#777", ' text-anchor="end"')]
    at_legend = left
    for i, (name, values) in enumerate(found):
        colour = COLOURS[i % len(COLOURS)]
        line = "L".join(f"{across(at):.0f} {up(value):.0f}" for at, value in sorted(values.items()))
        drawn.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        if at_legend + 14 + 6.2 * len(name) < right:
            drawn += [f'<rect x="{at_legend:.0f}" y="{bottom + 16:.0f}" width="9" height="3" fill="{colour}"/>',
                      text(at_legend + 13, bottom + 21, name, 10)]
            at_legend += 24 + 6.2 * len(name)
    return drawn


def draw(monitored, begin, end):
    drawn, height = [], 0
    for panel in panels(rows=True):
        grid = panel["gridPos"]
        x, y = grid["x"] * UNIT_X + MARGIN, grid["y"] * UNIT_Y + MARGIN
        width, tall = grid["w"] * UNIT_X - MARGIN, grid["h"] * UNIT_Y - MARGIN
        if panel["type"] == "row":
            drawn.append(text(x, y + 16, panel["title"], 14, "#222"))
            continue
        height = max(height, y + tall + MARGIN)
        drawn += [f'<rect x="{x}" y="{y}" width="{width}" height="{tall}" rx="3" fill="#fff" stroke="#d8d8d8"/>',
                  text(x + 10, y + 18, panel["title"], 12, "#222")]
        kinds = {"stat": draw_stat, "table": draw_table}
        if panel["type"] in kinds:
            drawn += kinds[panel["type"]](panel, monitored, x, y, width, tall)
        else:
            drawn += draw_series(panel, monitored, x, y, width, tall, begin, end)
    size = f"{24 * UNIT_X + MARGIN} {height}"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" font-family="sans-serif">\n'
            f'<rect width="100%" height="100%" fill="#f4f5f5"/>\n' + "\n".join(drawn) + "\n</svg>\n")


def live(monitored, seconds):
    """Work, some of it wrong; late in the time something that was right is made wrong in the cluster."""
    wrong = thing("apps/v1", "Deployment", "late", "quiet", spec={"template": template(spec(key="zone"))})
    for i in range(6):
        monitored.load(seconds / 6)
        if i == 3:
            monitored.fake.do(put(wrong))
        if i == 2:
            ApiServer.let_through = 2


def main(folder):
    monitored = Monitored(*sys.argv[1:3], folder)
    try:
        monitored.wait("reports", lambda: monitored.value("taffrail_reports_last_success_timestamp_seconds > 0"))
        begin = time.time()
        live(monitored, float(sys.argv[3]))
        picture = draw(monitored, begin, time.time())
    finally:
        monitored.end()
    with open(sys.argv[4], "w", encoding="utf-8") as file:
        file.write(picture)
    print(f"{sys.argv[4]}: {len(picture)} bytes")


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)
