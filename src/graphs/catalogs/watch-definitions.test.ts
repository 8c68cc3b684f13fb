import { rmSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { type TestRepository, testRepository } from "#git/repository.fixture.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { setBranch, showBranch } from "./branches.ts";
import { farmOfCatalogs } from "./farm-of-catalogs.fixture.ts";
import { isKept } from "./template-catalog.store.ts";
import { watchDefinitions, watchEveryMs } from "./watch-definitions.ts";

const db = await freshDb();
const farm = await farmOfCatalogs(db);
const others: TestRepository[] = [];
afterAll(async () => {
  await farm.stop();
  await db.close();
  for (const { path } of others) rmSync(path, { recursive: true });
});

const start = Date.UTC(2030, 0, 1);
const after = (minutes: number) => new Date(start + minutes * watchEveryMs);
const job = (name: string) => ({
  ".grange/a.yml": `version: 1\njobs: {${name}: {commands: x}}\n`,
});

async function branchWith(branch: string, rev: string | undefined) {
  const repository = await farm.nameOfRepository();
  const other = testRepository();
  others.push(other);
  other.write(job("first"));
  const sha = other.commit("Define a job");
  const source = { kind: "repository" as const, repository: other.path, rev: rev ?? sha };
  await setBranch(
    farm.services,
    repository,
    branch,
    { body: { source }, dryRun: false },
    everybody,
  );
  const noticed = async () =>
    (await showBranch(farm.services, repository, branch, everybody)).noticed;
  return { other, sha, repository, noticed };
}

test("a commit to the source repository of a branch is noticed, stored and shown, without a submission", async () => {
  const { other, sha, noticed } = await branchWith("try", "main");
  expect(await noticed()).toBeNull();

  await watchDefinitions(farm.services, after(0));
  const first = await noticed();
  other.write(job("second"));
  const next = other.commit("Define another");
  await watchDefinitions(farm.services, after(1));
  const second = await noticed();
  await watchDefinitions(farm.services, after(2));

  expect(first).toEqual({
    commit: sha,
    catalog: expect.any(String),
    since: after(0).toISOString(),
    problem: null,
  });
  expect(second).toMatchObject({ commit: next, since: after(1).toISOString() });
  expect(second?.catalog).not.toBe(first?.catalog);
  expect(await isKept(db, second?.catalog ?? "")).toBe(true);
  // Nothing has changed since then.
  expect(await noticed()).toEqual(second);
});

test("two servers that check at once read each source once, and none before its time", async () => {
  await watchDefinitions(farm.services, after(10));

  const both = await Promise.all([
    watchDefinitions(farm.services, after(11)),
    watchDefinitions(farm.services, after(11)),
  ]);

  const [one, other] = both;
  expect(one + other).toBe(1);
  expect(await watchDefinitions(farm.services, after(11.5))).toBe(0);
});

test("invalid definitions are reported with the branch, and the last valid ones stay", async () => {
  const { other, sha, noticed } = await branchWith("wrong", "HEAD");
  await watchDefinitions(farm.services, after(20));
  other.write({ ".grange/a.yml": "version: 1\njobs: {first: {commands: x}\n" });
  other.commit("Forget a bracket");

  await watchDefinitions(farm.services, after(21));

  expect(await noticed()).toMatchObject({
    commit: sha,
    problem: expect.stringContaining(".grange/a.yml:"),
  });
  other.write(job("mended"));
  const mended = other.commit("Mend it");
  await watchDefinitions(farm.services, after(22));
  expect(await noticed()).toMatchObject({ commit: mended, problem: null });
});

test("neither commit ids nor sources without a branch are watched", async () => {
  const pinned = await branchWith("pinned", undefined);
  const { repository, noticed } = await branchWith("gone", "main");
  await watchDefinitions(farm.services, after(30));
  expect(await noticed()).not.toBeNull();
  expect(await pinned.noticed()).toBeNull();

  for (const branch of ["gone", "wrong", "try"])
    await setBranch(farm.services, repository, branch, { body: null, dryRun: false }, everybody);

  expect(await watchDefinitions(farm.services, after(31))).toBe(0);
});
