import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readServerConfig } from "../../src/server/config.ts";
import { startServer } from "../../src/server/start-server.ts";
import { postTo } from "../support/ask-server.ts";
import { freshDatabase } from "../support/fresh-db.ts";
import { axeFindings } from "./axe-findings.ts";
import { pagesInBrowser } from "./farm-in-browser.ts";

const databaseUrl = await freshDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "grange-rights-"));
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const { open, server } = await pagesInBrowser(async (webDir) => {
  const running = await startServer(
    readServerConfig({ dataDir, databaseUrl, port: 0, webDir }, {}),
    pino({ level: "silent" }),
  );
  return { url: running.url.replace(/\/$/, ""), stop: () => running.stop() };
});

beforeAll(async () => {
  const grants = [
    { principal: "carol", verb: "role:viewer", repository: "web" },
    { principal: "carol", verb: "submit", repository: "api", branch: "try/*", priorityCap: 20 },
    { principal: "dave", verb: "cancel", repository: "web", branch: "main" },
  ];
  for (const grant of grants) await postTo(server, "/grants", grant);
});

/** Saves a screenshot if GRANGE_TEST_SCREENSHOTS names a directory. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env["GRANGE_TEST_SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

test("the page shows who may do what at a place, and leads to what a principal may do", async () => {
  const { page, faults } = await open("/rights?repository=web");
  await page.getByRole("heading", { name: "Who may do what on web" }).waitFor();
  const row = page.getByRole("row", { name: /carol/ });
  await row.getByText("read, read-logs, read-sources").waitFor();
  await row.getByText("role:viewer").waitFor();
  await page.getByRole("row", { name: /dave/ }).getByText("main").waitFor();
  await look(page, "rights-at-place");
  expect(await axeFindings(page)).toEqual([]);

  await page.getByRole("textbox", { name: "Branch" }).fill("topic");
  await page.getByRole("textbox", { name: "Branch" }).press("Enter");
  await page.getByRole("heading", { name: "Who may do what on topic of web" }).waitFor();
  await expect.poll(() => page.getByRole("row", { name: /dave/ }).count()).toBe(0);

  await page.getByRole("link", { name: "carol" }).click();
  await page.getByRole("heading", { name: "What carol may do" }).waitFor();
  await page
    .getByRole("row", { name: /submit/ })
    .getByText("priority ≤ 20")
    .waitFor();
  await look(page, "rights-of-principal");
  expect(faults).toEqual([]);
  await page.close();
});
