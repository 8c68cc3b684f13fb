import type { Browser } from "playwright-core";
import { z } from "zod";
import { settled } from "../../../test/browser/axe-findings.ts";
import { launchChromium } from "../../../test/support/chromium.ts";
import { startFarm } from "../../../test/support/farm.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { atMost, type Measurement } from "../row.ts";
import { PageWatch } from "./page-watch.ts";

const definitions = `
version: 1
jobs:
  build: { commands: "cat main.txt", inputs: [main.txt] }
  test: { commands: "exit 1", inputs: [main.txt], needs: [build] }
`;

const staticPaths =
  "/ /repositories /new /times /searches /invocations /connect /workers /size-classes /retention /rights /forge " +
  "/benchmarks /benchmarks/series /benchmarks/help /cache /flaky /workers/timeline /granary /granary/indexes /granary/help";

function pathsOf(graph: string, repository: string): string[] {
  return [
    ...staticPaths.split(" "),
    `/repositories/${repository}`,
    `/repositories/${repository}/branches`,
    `/repositories/${repository}/trends`,
    `/graphs/${graph}`,
    `/graphs/${graph}/jobs/build`,
    `/graphs/${graph}/jobs/test`,
  ];
}

interface FirstLoad {
  readonly path: string;
  readonly requests: number;
  readonly kilobytes: number;
  /** From navigation until the page's heading is visible, the median of `repeats`, in ms. */
  readonly visibleMs: number;
  /** How far the content moved while it was loaded, as a share of the window: the greatest of `repeats`. */
  readonly shift: number;
}

const repeats = 3;

/** What a browser without a cache loads, for each page of a real farm. */
export const firstLoads: Measurement = {
  title: "first load of each page",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 1 });
    const repository = await sampleRepository({ ".grange/farm.yml": definitions, "main.txt": "a" });
    const browser = await launchChromium();
    try {
      const graph = await farm.submit({ repository: repository.path, parameters: {} });
      await farm.untilOver(graph.id);
      const paths = pathsOf(graph.id, encodeURIComponent(graph.repository));
      const loads: FirstLoad[] = [];
      for (const path of paths) loads.push(await loadOf(browser, farm.url, path));
      const most = (figure: (load: FirstLoad) => number) => {
        const worst = loads.toSorted((a, b) => figure(b) - figure(a))[0];
        if (worst === undefined) throw new Error("no page was loaded");
        return { figure: figure(worst), how: `${paths.length} pages; the most: ${worst.path}` };
      };
      const requests = most((load) => load.requests);
      const kilobytes = most((load) => load.kilobytes);
      const visible = most((load) => load.visibleMs);
      const shift = most((load) => load.shift);
      return [
        atMost("first load: requests", requests.figure, 8, "", requests.how),
        atMost("first load: compressed", kilobytes.figure, 200, "kB", kilobytes.how),
        atMost("first load: heading visible after", visible.figure, 1_000, "ms", visible.how),
        // "Good" in https://web.dev/articles/cls.
        atMost(
          "first load: content moves by (cumulative layout shift)",
          shift.figure,
          0.1,
          "",
          shift.how,
        ),
      ];
    } finally {
      await browser.close();
      await farm.stop();
      await repository.remove();
    }
  },
};

/** Streams of events count as a request; their bytes, which depend on time, do not. */
async function loadOf(browser: Browser, url: string, path: string): Promise<FirstLoad> {
  const times: number[] = [];
  let requests = 0;
  let bytes = 0;
  let shift = 0;
  for (let n = 0; n < repeats; n++) {
    // A context of its own has an empty cache.
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    requests = 0;
    bytes = 0;
    session.on("Network.requestWillBeSent", () => {
      requests += 1;
    });
    session.on("Network.loadingFinished", ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    const watch = await PageWatch.on(page, "document.querySelector('h1') !== null");
    const visibleAfter = await watch.open(`${url}${path}`).catch((reason: unknown) => {
      throw new Error(`${path} shows no heading`, { cause: reason });
    });
    times.push(visibleAfter);
    await settled(page);
    shift = Math.max(shift, z.number().parse(await page.evaluate(layoutShift)));
    await context.close();
  }
  const visibleMs = times.toSorted((a, b) => a - b)[Math.floor(repeats / 2)] ?? Number.NaN;
  return { path, requests, kilobytes: bytes / 1_000, visibleMs, shift };
}

/** In the page: the sum of its layout shifts since it was opened. */
const layoutShift = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0));
  }).observe({ type: "layout-shift", buffered: true });
  // Without an entry, the observer is never called.
  setTimeout(() => resolve(0), 100);
})`;
