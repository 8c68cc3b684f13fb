import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { CreatedToken } from "#api/access.ts";
import { JobDetail, SubmittedGraph } from "#api/graph.ts";
import { CreatedShareLink } from "#api/share.ts";
import { sql } from "#db/sql.ts";
import { readServerConfig } from "../../src/server/config.ts";
import { type RunningServer, startServer } from "../../src/server/start-server.ts";
import { askServer, postTo } from "../support/ask-server.ts";
import { freshDatabase } from "../support/fresh-db.ts";
import { sampleRepository } from "../support/sample-repository.ts";
import { axeFindings } from "./axe-findings.ts";
import { pagesInBrowser } from "./farm-in-browser.ts";

const databaseUrl = await freshDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "grange-shared-"));
const repository = await sampleRepository({
  ".grange/farm.yml": "version: 1\njobs:\n  build: { commands: echo hello, inputs: [] }\n",
});
afterAll(async () => {
  await rm(dataDir, { recursive: true, force: true });
  await repository.remove();
});

let running: RunningServer;
const { open, server } = await pagesInBrowser(async (webDir) => {
  running = await startServer(
    readServerConfig({ dataDir, databaseUrl, port: 0, webDir }, {}),
    pino({ level: "silent" }),
  );
  return { url: running.url.replace(/\/$/, ""), stop: () => running.stop() };
});

let graph: string;
let root: string;
beforeAll(async () => {
  root = CreatedToken.parse(await postTo(server, "/tokens", { principal: "root" })).token;
  await postTo(server, "/grants", { principal: "root", verb: "*" });
  const submitted = await postTo(server, "/graphs", { repository: repository.path, rev: "main" });
  graph = SubmittedGraph.parse(submitted).id;
  const execution = await executionOfRun();
  // No worker is needed: the log of a run that waits is what is stored of it.
  await running.services.db.run(sql`
    insert into log_chunk (execution_id, attempt, byte_offset, bytes)
    values (${execution}, 1, 0, ${Buffer.from("told in the log\n")})
  `);
});

/** Waits until the job's run was prepared, and returns its execution. */
async function executionOfRun(): Promise<string> {
  const events = await fetch(`${server.url}/api/v1/graphs/${graph}/events`);
  for await (const _ of events.body ?? []) {
    const { body } = await askServer(server, "GET", `/graphs/${graph}/jobs/build`);
    const id = JobDetail.parse(body).runList[0]?.executionId;
    if (id !== undefined && id !== null) return z.uuid().parse(id);
  }
  throw new Error("the run got no execution");
}

/** Saves a screenshot if GRANGE_TEST_SCREENSHOTS names a directory. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env["GRANGE_TEST_SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

test("a button of the log makes a link, which opens the log", async () => {
  const { page, faults } = await open(`/graphs/${graph}/jobs/build`);
  await page.getByRole("button", { name: "Share the log of run 1 of build" }).click();
  await page.getByRole("spinbutton", { name: "Valid for (days)" }).fill("3");
  await look(page, "share-log");
  await page.getByRole("button", { name: "Make link" }).click();
  const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
  await look(page, "share-log-made");

  await page.goto(link);
  await page.getByRole("heading", { level: 1, name: "Log of run 1 of build" }).waitFor();
  await page.getByText("told in the log").waitFor();

  expect(link).toMatch(/\/shared#grange_share_[A-Za-z0-9_-]{43}$/);
  expect(faults).toEqual([]);
  await page.context().close();
});

test("a page lists links, and revokes one", async () => {
  // The newest is the first.
  await postTo(server, `/graphs/${graph}/jobs/build/runs/1/shares`, {});
  const { page, faults } = await open("/share-links");
  const row = page.getByRole("listitem").filter({ hasText: "the log of run 1 of build" }).first();
  await row.waitFor();
  await look(page, "share-links");
  const problems = await axeFindings(page);
  await row.getByRole("button", { name: "Revoke…" }).click();
  await page.getByRole("button", { name: "Revoke the link" }).click();
  await row.getByText("revoked by anyone").waitFor();
  await look(page, "share-links-revoked");

  await expect.poll(() => row.getByRole("button").count()).toBe(0);
  expect(problems).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test("on a private farm a link opens its log without signing in, until it is revoked", async () => {
  await askServer(server, "PUT", "/access", { access: "private" }, root);
  const path = `/graphs/${graph}/jobs/build/runs/1/shares`;
  const link = CreatedShareLink.parse(await postTo(server, path, {}, root));
  const { page, faults } = await open(`/shared#${link.token}`);
  await page.getByText("told in the log").waitFor();
  await page.getByText("root shared this until").waitFor();
  await look(page, "shared-log");
  expect(faults).toEqual([]);

  await postTo(server, `/shares/${link.id}/revoke`, {}, root);
  await page.reload();
  await page.getByRole("alert").getByText("there is no such share link").waitFor();
  await look(page, "shared-log-over");
  await page.context().close();
});
