import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPostgres } from "#db/postgres.ts";
import { insertDelivery } from "#forge/delivery.store.ts";
import { ForgePolicy } from "#forge/forge-policy.ts";
import { want } from "#forge/outbox/outbox.store.ts";
import { keepPull } from "#forge/pull.store.ts";
import { keepRefs, settleRef } from "#forge/ref.store.ts";
import { insertRepository } from "#forge/repository.store.ts";
import { readServerConfig } from "../../src/server/config.ts";
import { startServer } from "../../src/server/start-server.ts";
import { freshDatabase } from "../support/fresh-db.ts";
import { axeFindings } from "./axe-findings.ts";
import { pagesInBrowser } from "./farm-in-browser.ts";

const databaseUrl = await freshDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "grange-forge-page-"));
const db = openPostgres({ url: databaseUrl, poolSize: 2 });
afterAll(async () => {
  await db.close();
  await rm(dataDir, { recursive: true, force: true });
});

const { open } = await pagesInBrowser((webDir) =>
  startServer(
    readServerConfig({ dataDir, databaseUrl, port: 0, webDir }, {}),
    pino({ level: "silent" }),
  ),
);

const now = new Date();
const name = "octo/demo";
const a = "a".repeat(40);
const hostile = `<img src=x onerror=alert(1)> ${"very".repeat(40)} long`;

beforeAll(async () => {
  const repository = { name, slug: name, url: `https://github.test/${name}.git` } as const;
  const policy = ForgePolicy.parse({});
  await insertRepository(db, {
    ...repository,
    kind: "github",
    defaultBranch: "main",
    policy,
    addedBy: "root",
    addedAt: now,
  });
  const main = { ref: "refs/heads/main", sha: a };
  await db.transaction((tx) => keepRefs(tx, name, [main], [], now));
  const problem = ".grange/jobs.yml:4:3: there is no job tset";
  await db.transaction((tx) => settleRef(tx, name, { ref: main.ref, head: a, problem }));
  const pull = (number: number, more: Partial<Parameters<typeof keepPull>[2]>) =>
    keepPull(db, name, {
      number,
      state: "open",
      title: `Pull request ${number}`,
      author: "colleague",
      head: a,
      headSince: now,
      baseRef: main.ref,
      baseSha: a,
      headRepository: name,
      isFork: false,
      updatedAt: now,
      ...more,
    });
  await pull(6, { state: "merged" });
  await pull(7, { title: hostile, author: "stranger", isFork: true });
  const hint = { about: "nothing" } as const;
  await insertDelivery(db, {
    kind: "github",
    id: "one",
    event: "push",
    slug: name,
    hint,
    receivedAt: now,
  });
  const comment = { kind: "comment", pull: 7, body: "what was measured" } as const;
  await db.transaction((tx) => want(tx, name, "comment/7", comment, now));
});

/** Saves a screenshot if GRANGE_TEST_SCREENSHOTS names a directory. */
async function look(page: Page, shown: string): Promise<void> {
  const folder = process.env["GRANGE_TEST_SCREENSHOTS"];
  if (folder !== undefined)
    await page.screenshot({ path: join(folder, `${shown}.png`), fullPage: true });
}

test("watched repositories are shown with their problems, in wide and narrow windows", async () => {
  const { page, faults } = await open("/forge");
  await page.getByRole("heading", { name }).waitFor();
  await page.getByRole("alert").getByText("this farm has no GitHub App").waitFor();
  await page.getByRole("button", { name: "More" }).click();
  const pulls = page.getByRole("region", { name: "Pull requests" });
  await pulls
    .getByRole("row")
    .filter({ hasText: "stranger" })
    .getByText("waits for approval")
    .waitFor();
  await pulls.getByText("<img src=x").waitFor();
  await page.getByRole("region", { name: "Branches and tags" }).getByText("no job tset").waitFor();
  await page
    .getByRole("region", { name: "Reports not delivered to the forge yet" })
    .getByText("comment/7")
    .waitFor();
  await look(page, "forge-wide");
  expect(await axeFindings(page)).toEqual([]);

  await page.setViewportSize({ width: 400, height: 800 });
  await look(page, "forge-narrow");
  const overflow = await page.evaluate(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );

  expect(overflow).toBeLessThanOrEqual(0);
  expect(faults).toEqual([]);
  await page.close();
});
