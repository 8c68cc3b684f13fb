import { loadavg } from "node:os";
import type { Browser } from "playwright-core";
import { z } from "zod";
import { launchChromium } from "../../../test/support/chromium.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Measurement } from "../row.ts";

const tabs = 200;
/** The rest are streams without a browser: a machine of two cores cannot draw 200 pages. */
const realTabs = 10;
const jobs = 30;

const definitions = JSON.stringify({
  version: 1,
  jobs: Object.fromEntries(
    Array.from({ length: jobs }, (_, n) => [
      `step-${n}`,
      {
        inputs: ["none"],
        commands: [`sleep 0.3 # ${n}`],
        ...(n === 0 ? {} : { needs: [`step-${n - 1}`] }),
      },
    ]),
  ),
});

/** How long after its end a job is shown as ended, in each of many tabs that follow the graph. */
export const manyLiveTabs: Measurement = {
  title: "200 live tabs",
  long: false,
  async measure() {
    const farm = await startFarm({ workers: 0 });
    const repository = await sampleRepository({ ".grange/farm.yml": definitions, none: "" });
    const browser = await launchChromium();
    try {
      const { id } = await farm.submit({ repository: repository.path, parameters: {} });
      const streams = Array.from({ length: tabs - realTabs }, () => followed(farm, id));
      const pages = await Promise.all(
        Array.from({ length: realTabs }, () => shown(browser, farm, id)),
      );
      farm.startWorker();
      const seen = [
        ...(await Promise.all(streams)),
        ...(await Promise.all(pages.map((page) => page.seen()))),
      ];
      const graph = await farm.untilOver(id);
      const endOf = new Map(graph.jobList.map(({ name, finishedAt }) => [name, finishedAt]));
      const delaysOf = (tabsSeen: readonly SeenAt[]) =>
        tabsSeen.flatMap((jobsSeen) =>
          Object.entries(jobsSeen).map(([job, at]) => at - Date.parse(endOf.get(job) ?? "")),
        );
      const delays = delaysOf(seen);
      const inPages = delaysOf(seen.slice(streams.length));
      const complete = seen.filter((jobsSeen) => Object.keys(jobsSeen).length === jobs).length;
      const how = `from a job's end until a tab has it; ${jobs} jobs, one after the other; ${realTabs} pages in Chromium and ${tabs - realTabs} streams that parse each event; ${complete} of ${tabs} tabs saw every job; the pages alone: ${Math.round(quantile(inPages, 0.95))} ms; load ${loadavg()[0]?.toFixed(1)}`;
      return [
        atMost(
          "200 live tabs: a job's end is visible after, p95",
          complete === tabs ? quantile(delays, 0.95) : Number.POSITIVE_INFINITY,
          1_000,
          "ms",
          how,
        ),
      ];
    } finally {
      await browser.close();
      await farm.stop();
      await repository.remove();
    }
  },
};

/** When each job was first seen as succeeded, in ms since 1970. */
type SeenAt = Record<string, number>;

const Delta = z.object({
  jobs: z.array(z.object({ name: z.string(), state: z.string() })),
});

/** Follows a graph's stream until it ends. */
async function followed(farm: Farm, id: string): Promise<SeenAt> {
  const seen: SeenAt = {};
  const answer = await fetch(`${farm.url}/api/v1/graphs/${id}/events`);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of answer.body ?? []) {
    rest += decoder.decode(chunk, { stream: true });
    const events = rest.split("\n\n");
    rest = events.pop() ?? "";
    const now = Date.now();
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data === undefined) continue;
      const delta = Delta.safeParse(JSON.parse(data));
      for (const { name, state } of delta.data?.jobs ?? [])
        if (state === "succeeded") seen[name] ??= now;
    }
  }
  return seen;
}

/** Opens the graph's page, which notes when each job is drawn as succeeded. */
async function shown(browser: Browser, farm: Farm, id: string) {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
  await page.goto(`${farm.url}/graphs/${id}`, { waitUntil: "commit" });
  await page.getByRole("button", { name: /^step-0, / }).waitFor();
  await page.evaluate(`(() => {
    window.seenAt = {};
    const look = () => {
      for (const button of document.querySelectorAll('[aria-label*=", succeeded"]')) {
        const name = button.getAttribute("aria-label").split(",")[0];
        window.seenAt[name] ??= Date.now();
      }
    };
    // A loop over frames in each page would take the processors that the farm needs.
    new MutationObserver(() => requestAnimationFrame(look)).observe(document.body, {
      subtree: true, childList: true, attributes: true, attributeFilter: ["aria-label"],
    });
    look();
  })()`);
  return {
    async seen(): Promise<SeenAt> {
      // Not by waitForFunction: it evaluates a text in the page, which the policy of the pages forbids.
      for (;;) {
        const seen = z.record(z.string(), z.number()).parse(await page.evaluate("window.seenAt"));
        if (Object.keys(seen).length >= jobs) return seen;
        await page.waitForTimeout(50);
      }
    },
  };
}
