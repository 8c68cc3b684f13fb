import { launchChromium } from "../../../test/support/chromium.ts";
import { startFarm } from "../../../test/support/farm.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Measurement, type Row } from "../row.ts";

const jobs = 1_000;
const repeats = 5;
const width = 40;

/** Layers of forty jobs; each needs three of the layer before. */
function definitions(): string {
  const lines = Array.from({ length: jobs }, (_, i) => {
    const before = Math.floor(i / width) * width - width;
    const needs = [0, 7, 19].map((step) => `job-${before + ((i + step) % width)}`);
    const needing = before < 0 ? "" : `needs: [${[...new Set(needs)].join(", ")}], `;
    return `  job-${i}: { ${needing}inputs: [none], commands: "true" }`;
  });
  return ["version: 1", "jobs:", ...lines, ""].join("\n");
}

export const largeGraph: Measurement = {
  title: "a graph of 1,000 jobs",
  long: false,
  async measure() {
    // No worker: planning, storing and showing are measured.
    const farm = await startFarm({ workers: 0 });
    const repository = await sampleRepository({ ".grange/farm.yml": definitions(), none: "" });
    try {
      const times: number[] = [];
      let id = "";
      for (let i = 0; i < repeats; i++) {
        const startedAt = performance.now();
        id = (await farm.submit({ repository: repository.path, parameters: {} })).id;
        times.push(performance.now() - startedAt);
      }
      return [
        atMost(
          "1,000 jobs: planned and stored",
          quantile(times, 0.5),
          500,
          "ms",
          `POST /api/v1/graphs as a client sees it: fetch, read, plan, store; median of ${repeats}`,
        ),
        ...(await pageRows(`${farm.url}/graphs/${id}`)),
      ];
    } finally {
      await farm.stop();
      await repository.remove();
    }
  },
};

async function pageRows(url: string): Promise<Row[]> {
  const browser = await launchChromium();
  try {
    const times: number[] = [];
    for (let i = 0; i < repeats; i++) {
      const page = await browser.newPage();
      const startedAt = performance.now();
      await page.goto(url, { waitUntil: "commit" });
      // Interactive: the jobs are visible, and the page reacts to a key.
      await page
        .locator("[data-job]")
        .nth(jobs - 1)
        .waitFor();
      await page.keyboard.press("j");
      await page.getByRole("complementary", { name: /^Job / }).waitFor();
      times.push(performance.now() - startedAt);
      await page.close();
    }
    return [
      atMost(
        "1,000 jobs: page interactive",
        quantile(times, 0.5),
        1_000,
        "ms",
        `Chromium, new page: from navigation until all jobs are shown and a key is answered; median of ${repeats}`,
      ),
    ];
  } finally {
    await browser.close();
  }
}
