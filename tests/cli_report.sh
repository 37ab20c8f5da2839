# cli_report.sh - the report of a run and of sweeps; in a real browser: no console message, every chart has marks, nothing from data runs as
# script, it fits a phone; and the report from the command line.
need_command
command -v python3 >/dev/null || skip "python3 is not there to read the results with"
maker=$BUILD_DIR/tests/unit_report
[ -x "$maker" ] || skip "unit_report is not built"

# --- all four recipes in one folder, partly run, make one page
for recipe in table1 depth grid; do
    "$maker" make "all/$recipe" "$recipe" 12 || fail "no made-up sweep of $recipe"
done
expect_exit 0 "$FATHOM" report all -o page.html --csv all.csv --svg svg --json
python3 - <<'PY' || fail "the page, the CSV or the SVG files"
import csv, glob, json, re
import xml.etree.ElementTree as tree
summary = json.load(open("out"))
assert [s["recipe"] for s in summary["sweeps"]] == ["depth", "grid", "table1"], summary
rows = list(csv.DictReader(open("all.csv")))
assert len(rows) == sum(s["finished"] for s in summary["sweeps"]) > 500, len(rows)
files = glob.glob("svg/*.svg")
assert len(files) == summary["svg_files"] > 100, len(files)
for name in files:
    root = tree.parse(name).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg", name
page = open("page.html").read()
assert len(re.findall("<svg ", page)) == len(files)
assert "nan" not in re.sub("<style>.*?</style>|<script>.*?</script>", "", page, flags=re.S)
assert not re.search(r"(src|href)=\"(?!#|data:)", page), "the page fetches something"
for tag in ("table", "svg", "section", "div", "figure", "td", "tr", "details"):
    assert len(re.findall("<%s[ >]" % tag, page)) == len(re.findall("</%s>" % tag, page)), tag
PY

# --- the terminal: the same numbers as the page
expect_exit 0 "$FATHOM" report all/table1 --text
grep -q 'paper  *82.2' out || fail "no figure of the paper in the text report"
grep -q 'not run' out || fail "missing entries are not marked in the text report"

# --- one run: learning curves, also where accuracies are null between evaluations, and of a run that was cut off
expect_exit 0 "$FATHOM" train --quiet --device cpu --layers 2 --epochs 30 --eval-every 7 --out run
expect_exit 0 "$FATHOM" report run --csv epochs.csv --svg run-svg --json
python3 - <<'PY' || fail "the report of one run"
import csv, glob, json, re
summary = json.load(open("out"))
record = json.load(open("run/run.json"))
assert summary["run"]["epochs"] == 30 and summary["run"]["status"] == "ok", summary
assert summary["run"]["test_accuracy"] == record["result"]["test_accuracy"], summary
assert summary["svg_files"] == 2 == len(glob.glob("run-svg/*.svg")), summary
page = open("run/report.html").read()
assert len(re.findall("<svg ", page)) == 2 and "nan" not in re.sub("<style>.*?</style>", "", page, flags=re.S)
assert "%.1f %%" % (100 * record["result"]["test_accuracy"]) in page
rows = list(csv.DictReader(open("epochs.csv")))
lines = [json.loads(line) for line in open("run/epochs.jsonl")]
assert len(rows) == 30 and rows[0]["val_acc"] == "" and float(rows[6]["val_acc"]) == lines[6]["val_acc"], rows[:7]
# the accuracy chart has a point at each of the epochs 7, 14, 21, 28 and 30: a line, not gaps
accuracy = open(glob.glob("run-svg/*accuracy.svg")[0]).read()
longest = max(len(re.findall(r"[-\d.]+[ ,][-\d.]+", d)) for d in re.findall(r'points="([^"]*)"|\bd="([^"]*)"', accuracy) for d in d)
assert longest == 5, longest
PY
expect_exit 0 "$FATHOM" report run --text
grep -q '30 of 30 epochs, finished' out && grep -Eq '^ +28 ' out || fail "the text report of a run: $(cat out)"
cp -r run cut
python3 - <<'PY'
import json
record = json.load(open("cut/run.json"))
del record["result"], record["time"]
record["status"] = "running"
json.dump(record, open("cut/run.json", "w"))
text = open("cut/epochs.jsonl").read()
open("cut/epochs.jsonl", "w").write(text[:text.index('{"epoch":21') + 9])  # killed while it wrote epoch 21
PY
expect_exit 0 "$FATHOM" report cut --text
grep -q '20 of 30 epochs, not finished' out || fail "the report of a run that was cut off: $(cat out)"
sed -i 3d cut/epochs.jsonl
expect_exit 4 "$FATHOM" report cut --text
grep -q 'epochs.jsonl, line 3: epoch 4 where epoch 3' err || fail "a missing epoch: $(cat err)"

expect_exit 4 "$FATHOM" report .
grep -q 'holds no sweep' err || fail "a folder without a sweep: $(cat err)"
expect_exit 2 "$FATHOM" report

# --- in a browser
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || skip "the page was not looked at in a browser: chromium is not installed"
export HOME=$PWD
chrome() { timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --hide-scrollbars "$@"; }
# The page in a frame of the width (a window cannot be as narrow as a phone), with a script that looks at what the browser
# made of it and passes it to the page around it, which writes it into its title.
for width in 1280 390; do
    python3 - "$width" <<'PY'
import sys
page = open("page.html").read()
look = """<script>addEventListener('load',function(){var bad=[],svgs=document.querySelectorAll('svg.chart'),empty=0;
svgs.forEach(function(s){var n=s.querySelectorAll('.mark,.field,.gone,.dots,.thin').length;
var run=s.textContent.indexOf('0 of')<0;if(!n&&run){empty++}
s.querySelectorAll('text').forEach(function(t){var b=t.getBBox(),v=s.viewBox.baseVal;
if(b.x<-1||b.x+b.width>v.width+1||b.y+b.height>v.height+1){bad.push(t.textContent)}});
var a=Array.from(s.querySelectorAll('text.name')).map(function(t){return t.getBBox()});
a.forEach(function(p,i){a.forEach(function(q,j){if(j<i&&Math.abs(p.y-q.y)<10&&p.x<q.x+q.width&&q.x<p.x+p.width){bad.push('overlap')}})})});
document.querySelectorAll('table.sortable thead th')[8].click();
parent.postMessage(JSON.stringify({charts:svgs.length,empty:empty,bad:bad.slice(0,5),wide:document.documentElement.scrollWidth,
alerts:window.alerted||0,sorted:!!document.querySelector('[aria-sort]')}),'*')})</script>"""
open("frame-%s.html" % sys.argv[1], "w").write("<!DOCTYPE html><title>nothing</title><link rel=icon href='data:,'><script>"
    "addEventListener('message',function(e){document.title=e.data})</script>"
    "<iframe style='width:%spx;height:2000px;border:0' src='look-%s.html'></iframe>" % (sys.argv[1], sys.argv[1]))
open("look-%s.html" % sys.argv[1], "w").write(page.replace("</head>", "<script>window.alert=function(){window.alerted=1}</script></head>").replace("</body>", look + "</body>"))
PY
    chrome --window-size="$width,2000" --enable-logging=stderr --v=0 --virtual-time-budget=20000 --dump-dom "file://$PWD/frame-$width.html" >"dom-$width" 2>"log-$width" ||
        skip "chromium does not start here: $(tail -n 1 "log-$width")"
    grep -E 'CONSOLE' "log-$width" && fail "the browser wrote to its console at width $width"
    python3 - "$width" <<'PY' || fail "what the browser made of the page at width $width"
import html, json, re, sys
dom = open("dom-" + sys.argv[1]).read()
seen = json.loads(html.unescape(re.search("<title>(.*?)</title>", dom, re.S).group(1)))
assert seen["charts"] > 100 and seen["empty"] == 0 and seen["bad"] == [] and seen["alerts"] == 0, seen
assert seen["wide"] <= int(sys.argv[1]), seen
assert seen["sorted"], "a click on a head does not sort"
PY
    chrome --window-size="$width,2000" --screenshot="page-$width.png" "file://$PWD/page.html" >/dev/null 2>&1 || fail "no screenshot at width $width"
    [ "$(stat -c %s "page-$width.png")" -gt 20000 ] || fail "the screenshot at width $width is empty"
done
