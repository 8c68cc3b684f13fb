import { launchChromium } from "../../../test/support/chromium.ts";
import { startFarm } from "../../../test/support/farm.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { jobs, layeredDefinitions } from "../graphs/ten-thousand.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Measurement } from "../row.ts";

const repeats = 5;

/** The page of a graph of 10,000 jobs, from its address until its jobs are on the screen. */
export const tenThousandJobs: Measurement = {
  title: "10,000-job graph page",
  long: false,
  async measure() {
    // No worker: planning is measured elsewhere, and running is not shown here.
    const farm = await startFarm({ workers: 0 });
    const repository = await sampleRepository({ ...layeredDefinitions(), none: "" });
    const browser = await launchChromium();
    try {
      const { id } = await farm.submit({ repository: repository.path, parameters: {} });
      const times: number[] = [];
      for (let n = 0; n < repeats; n++) {
        // A context of its own has an empty cache.
        const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
        const page = await context.newPage();
        const begun = performance.now();
        await page.goto(`${farm.url}/graphs/${id}`, { waitUntil: "commit" });
        // Each job is a cell; the last one is drawn with all others.
        await page
          .locator("[data-job]")
          .nth(jobs - 1)
          .waitFor({ state: "attached" });
        await page.locator("[data-job]").first().waitFor();
        times.push(performance.now() - begun);
        await context.close();
      }
      return [
        atMost(
          "10,000-job graph page: jobs visible after",
          quantile(times, 0.5),
          2_000,
          "ms",
          `from the address, without a cache; ${jobs.toLocaleString("en")} jobs in 100 layers; median of ${repeats}, the slowest ${Math.round(Math.max(...times))} ms`,
        ),
      ];
    } finally {
      await browser.close();
      await farm.stop();
      await repository.remove();
    }
  },
};
