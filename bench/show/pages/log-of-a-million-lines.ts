import { execFileSync } from "node:child_process";
import type { Page } from "playwright-core";
import { z } from "zod";
import { launchChromium } from "../../../test/support/chromium.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Measurement, type Row } from "../row.ts";
import { PageWatch } from "./page-watch.ts";

const lines = 1_000_000;
/** With its number and its newline, each line has 200 bytes: together 200 MB. */
const lineFill = "x".repeat(170);
const opens = 5;
const jumps = 20;
const searches = 5;
const liveLines = 50;

/** Prints the lines, an error in the middle, and one word that only two lines have, and the command, which the farm prints. */
const printLines = `awk 'BEGIN { for (i = 1; i <= ${lines}; i++) printf "line %08d %s %s\\n", i, (i == ${lines / 2} ? "error: broken" : (i % ${lines / 2 - 1} == 0 ? "needle12 word" : "............ ")), "${lineFill}" }'`;
/** Prints the time in ms, ten times a second. */
const printTimes = `i=0; while [ $i -lt 200 ]; do echo "at=$(date +%s%3N)"; sleep 0.1; i=$((i+1)); done`;

const definitions = JSON.stringify({
  version: 1,
  jobs: {
    long: { inputs: ["none"], commands: printLines },
    live: { inputs: ["none"], commands: printTimes },
  },
});

/** The page of a log: how soon it shows its first lines, another line, what it finds, and what a job prints now. */
export const logOfAMillionLines: Measurement = {
  title: "log of 1,000,000 lines",
  long: false,
  async measure() {
    const farm = await startFarm();
    const repository = await sampleRepository({ ".grange/farm.yml": definitions, none: "" });
    const browser = await launchChromium();
    try {
      const submit = async (job: string) => {
        const request = { repository: repository.path, parameters: {}, select: job };
        return (await farm.submit(request)).id;
      };
      const id = await submit("long");
      await farm.untilOver(id);
      // The first look at a log of a server that has just started also counts its lines.
      farm.server.signal("SIGTERM");
      await farm.restartServer();
      // The job has just written 200 MB several times; a reader rarely comes while the disk still writes them.
      execFileSync("sync");
      const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
      const address = `${farm.url}/graphs/${id}/jobs/long`;
      return [
        ...(await firstScreens(page, address)),
        await jumpsOn(page),
        await searchesOn(page),
        await tailOn(page, farm, await submit("live")),
      ];
    } finally {
      await browser.close();
      await farm.stop();
      await repository.remove();
    }
  },
};

async function firstScreens(page: Page, address: string): Promise<Row[]> {
  // A person's browser is already running: its first page of all, and the driver's first look at it, take up to 0.4 s.
  await page.goto("data:text/html,<p>another page</p>");
  await page.getByText("another page").waitFor();
  const times: number[] = [];
  const watch = await PageWatch.on(
    page,
    `[...document.querySelectorAll(".log-text")].some((line) => line.textContent.startsWith("line 00000001 "))`,
  );
  for (let nth = 0; nth < opens; nth++) {
    await page.goto("about:blank");
    times.push(await watch.open(address));
  }
  // The first line is the command, which the farm prints.
  await page.getByText(`${(lines + 1).toLocaleString("en")} lines · complete`).waitFor();
  const how = `from the address to the first line, in Chromium; 200 MB; the first look of a server that has just started, with all data on the disk: ${Math.round(times[0] ?? 0)} ms`;
  return [
    atMost(
      "log of 1,000,000 lines: first screen",
      Math.max(...times),
      1_000,
      "ms",
      `${how}; the slowest of ${opens}`,
    ),
  ];
}

async function jumpsOn(page: Page): Promise<Row> {
  const times: number[] = [];
  for (let nth = 1; nth <= jumps; nth++) {
    const line = 2 + ((nth * 387_907) % lines);
    const shown = page.getByText(`line ${String(line - 1).padStart(8, "0")} `);
    await page.getByRole("textbox", { name: "Go to line" }).fill(String(line));
    const startedAt = performance.now();
    await page.keyboard.press("Enter");
    await shown.waitFor();
    times.push(performance.now() - startedAt);
  }
  const how = `from Enter until the line is shown; p95 of ${jumps} lines that were not loaded before`;
  return atMost("log of 1,000,000 lines: jump", quantile(times, 0.95), 300, "ms", how);
}

async function searchesOn(page: Page): Promise<Row> {
  const times: number[] = [];
  const box = page.getByRole("searchbox", { name: "Search the log" });
  for (let nth = 0; nth < searches; nth++) {
    const startedAt = performance.now();
    await box.fill("NEEDLE12 word".slice(0, 13 - nth));
    await page.getByText("/ 3", { exact: false }).waitFor();
    times.push(performance.now() - startedAt);
    await box.fill("");
    await page.getByText("/ 3", { exact: false }).waitFor({ state: "detached" });
  }
  const how = `from the text to the number of its matches in all 200 MB, ignoring case; the slowest of ${searches} texts`;
  return atMost("log of 1,000,000 lines: search", Math.max(...times), 2_000, "ms", how);
}

/** Returns by how much the page is behind a job that prints the time. */
async function tailOn(page: Page, farm: Farm, id: string): Promise<Row> {
  await farm.untilLogged(id, "live", "at=");
  await page.goto(`${farm.url}/graphs/${id}/jobs/live`);
  const delays = z.array(z.number()).parse(await page.evaluate(delaysOfLines));
  const how = `from the time that a job prints until the page shows it; p95 of ${liveLines} lines`;
  return atMost("log: live tail", quantile(delays, 0.95), 500, "ms", how);
}

/** In the page: how long after its time each line appeared, in ms. Lines that were there before do not count. */
const delaysOfLines = `new Promise((resolve) => {
  const seen = new Map();
  let isFirst = true;
  const look = () => {
    for (const line of document.querySelectorAll(".log-text")) {
      const text = line.textContent;
      if (!text.startsWith("at=") || seen.has(text)) continue;
      seen.set(text, isFirst ? 0 : Date.now() - Number(text.slice(3)));
    }
    if (seen.size > 0) isFirst = false;
    const counted = [...seen.values()].filter((delay) => delay > 0);
    if (counted.length >= ${liveLines}) resolve(counted);
    else requestAnimationFrame(look);
  };
  look();
})`;
