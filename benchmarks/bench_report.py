"""How large a report with many trajectories is, and how long a browser without a GPU takes to show it.

    python benchmarks/bench_report.py                 5,000 trajectories with 305,000 points, also raw
    python benchmarks/bench_report.py --objects 500   fewer

Limits that it holds: the report below 5 MB, opened with its maps in under 3 s; ends with 1 otherwise.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from bench import make_parser
from wayveil.model import KDelta, Verdict
from wayveil.report.report import ReportContext, render_report
from wayveil.report.views.pictures import make_pictures
from wayveil.workloads import WORKLOADS

MOST_BYTES = 5_000_000
MOST_S = 3.0


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--objects", type=int, default=2500, help="people, with two trips each")
    arguments = parser.parse_args()
    data = WORKLOADS["network_movers"](objects=arguments.objects, trips=2).generate(rng=np.random.default_rng(1))
    began = time.perf_counter()
    pictures = make_pictures(data, data, with_raw=True, published=True)
    claim = KDelta(k=2, delta=0)
    verdict = Verdict(holds=True, claim=claim, counted="owners", measured={}, reason="Not judged: a benchmark.")
    html = render_report(
        ReportContext(
            title="Benchmark", method_name="none", method_summary="Nothing is hidden.", parameters=(), claim=claim,
            promise=claim.promise, verdict=verdict, counted="", notes=(), input_facts={}, output_facts={}, attacks=(),
            scores=(), timings={}, versions={}, created="", published_ok=True, pictures=pictures,
        )
    )  # fmt: skip
    made = time.perf_counter() - began
    print(
        f"{len(data):,} trajectories, {data.n_rows:,} points; made in {made:.1f} s, {len(html.encode()) / 1e6:.2f} MB"
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "report.html"
        path.write_text(html, encoding="utf-8")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
            args=["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"],
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        began = time.perf_counter()
        page.goto(path.as_uri())
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        opened = time.perf_counter() - began
        began = time.perf_counter()
        for name in ("show-raw", "show-published"):
            page.get_by_test_id(name).check()
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        lines = time.perf_counter() - began
        frames = page.evaluate(FRAMES)
        browser.close()
    print(
        f"opens in {opened:.2f} s; all trajectories of both sides in {lines:.2f} s more; {frames:.0f} frames/s panning"
    )
    return int(len(html.encode()) > MOST_BYTES or opened > MOST_S)


FRAMES = """async () => {
  const target = document.querySelector('[data-testid=map-before]');
  target.focus();
  const began = performance.now();
  let frames = 0;
  for (let i = 0; i < 40; i++) {
    const key = i % 2 ? 'ArrowLeft' : 'ArrowRight';
    target.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    await new Promise(requestAnimationFrame);
    frames++;
  }
  return frames / (performance.now() - began) * 1000;
}"""


if __name__ == "__main__":
    raise SystemExit(main())
