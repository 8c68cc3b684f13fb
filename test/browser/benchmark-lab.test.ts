import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { caseKey } from "#core/test-case.ts";
import { openPostgres } from "#db/postgres.ts";
import { aCase, aLine, nth, storeFigures, storeLine } from "#perf/history/history.fixture.ts";
import { storeJob, storeRequest } from "#perf/perf.fixture.ts";
import { findSuite } from "#perf/suites.store.ts";
import { readServerConfig } from "../../src/server/config.ts";
import { startServer } from "../../src/server/start-server.ts";
import { freshDatabase } from "../support/fresh-db.ts";
import { pagesInBrowser } from "./farm-in-browser.ts";

const databaseUrl = await freshDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "grange-lab-"));
const db = openPostgres({ url: databaseUrl, poolSize: 2 });
afterAll(async () => {
  await db.close();
  await rm(dataDir, { recursive: true, force: true });
});

const { open, server } = await pagesInBrowser(
  (webDir) =>
    startServer(
      readServerConfig({ dataDir, databaseUrl, port: 0, webDir }, {}),
      pino({ level: "silent" }),
    ),
  { inOneProfile: true },
);

const days = 40;
const child = `n${days}`;
const parent = `n${days - 1}`;
/** Instructions of `alpha`: a step of 10 % in the middle, and one of 5 % at the end. */
const figures = Array.from({ length: days }, (_, n) =>
  Math.round((n < 20 ? 1e9 : 1.1e9) * (n === days - 1 ? 1.05 : 1) * (1 + (n % 3) * 1e-4)),
);
let line: Awaited<ReturnType<typeof aLine>>;

beforeAll(async () => {
  line = await aLine(db, days);
  await storeLine(db, line, figures);
  for (const benchmark of ["beta", "gamma"]) {
    for (const profile of ["check", "emit"]) {
      for (const day of [days - 1, days]) {
        const values = { instructions: 5e8 + day, "wall-time": 1.5, throughput: 300 };
        await storeFigures(db, {
          artifact: nth(line, day),
          case: aCase({ benchmark, profile }),
          values,
        });
      }
    }
  }
  const suite = await db.transaction((tx) => findSuite(tx, "demo"));
  const request = await storeRequest(db, {
    artifact: nth(line, days),
    parent: nth(line, days - 1),
  });
  const digest = suite?.digest ?? "";
  await storeJob(db, { request, artifact: nth(line, days), digest });
  await storeJob(db, { request, artifact: nth(line, days), digest, set: 1 });
  await tell("/benchmarks/collectors", { name: "barn-1", target: "linux-x64", set: 0 });
});

async function tell(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

test("the pages show the stored figures of the farm", async () => {
  const { page, faults } = await open("/benchmarks");
  const running = page.getByRole("region", { name: "In progress" });
  await running.getByText("0 of 2 jobs").waitFor();
  await page.getByRole("region", { name: "Collectors" }).getByText("never seen").waitFor();
  await running.getByRole("link", { name: child }).click();
  await page.getByRole("heading", { level: 1, name: child }).waitFor();
  await expect
    .poll(() => page.getByRole("region", { name: "Jobs" }).locator("tbody tr").count())
    .toBe(2);

  await page.getByRole("link", { name: "compare", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: `${parent} → ${child}` }).waitFor();
  await page.getByText("1 of 5 cases").waitFor();
  await page.getByText("regressed", { exact: false }).first().waitFor();
  await page.getByRole("button", { name: /^More about alpha/ }).click();
  await page.getByRole("img", { name: /^The last 40 figures: from 1 G to/ }).waitFor();

  await page.getByRole("link", { name: "alpha" }).click();
  await page.getByRole("heading", { level: 1, name: /^alpha/ }).waitFor();
  await expect
    .poll(() => page.getByRole("slider").getAttribute("aria-valuemax"))
    .toBe(String(days));
  await page.getByLabel("every sample").check();
  await page.getByRole("columnheader", { name: "Samples" }).waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

test("graphs show all measurements", async () => {
  const { page, faults } = await open("/benchmarks/graphs");
  await page.getByText(`5 series of ${days} artifacts`).waitFor();

  await page.getByRole("combobox", { name: "profile" }).selectOption("emit");
  await page.getByText(/^2 series of/).waitFor();

  expect(faults).toEqual([]);
  await page.close();
});

test("an accepted step is marked", async () => {
  await tell("/benchmarks/change-points", {
    suite: "demo",
    case: aCase(),
    metric: "instructions",
    fingerprint: "one",
    artifact: "n21",
    standing: "accepted",
    note: "a new checker",
  });
  const address = new URLSearchParams({ suite: "demo", case: caseKey(aCase()) });
  const { page, faults } = await open(`/benchmarks/series?${address.toString()}`);

  const steps = page.getByRole("region", { name: "Steps", exact: true });
  await steps.getByRole("row").filter({ hasText: "n21" }).getByText("a new checker").waitFor();
  await expect.poll(() => page.locator(".large-chart .step .flag").count()).toBe(1);

  await page.goto(`${server.url}/benchmarks/graphs?benchmark=alpha`);
  await page.locator(".small-chart .step .flag").waitFor();
  expect(faults).toEqual([]);
  await page.close();
});

let cancelled = 0;

test("a request can be cancelled on its page", async () => {
  // An artifact has one open request: each try needs its own.
  cancelled += 1;
  const request = await storeRequest(db, { artifact: nth(line, cancelled) });
  const { page, faults } = await open(`/benchmarks/requests/${request}`);

  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("button", { name: "Cancel the request" }).click();

  await page.getByText("cancelled", { exact: true }).first().waitFor();
  expect(faults).toEqual([]);
  await page.close();
});
