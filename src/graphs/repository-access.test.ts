import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { everybody, type Grant, type Principal } from "#access/principal.ts";
import type { Db } from "#db/db.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { nameRepository } from "./repository.store.ts";
import { type RepositoryAccess, repositoryAccess } from "./repository-access.ts";

const root = mkdtempSync(join(tmpdir(), "grange-access-"));
const path = (...names: string[]) => join(root, ...names);
let db: Db;
let access: RepositoryAccess;

beforeAll(async () => {
  for (const name of ["data/mirrors", "shared", "elsewhere"]) {
    mkdirSync(path(name), { recursive: true });
  }
  symlinkSync(path("elsewhere"), path("shared/link"));
  symlinkSync(path("data/mirrors"), path("shared/mirrors"));
  db = await freshDb();
  access = repositoryAccess({
    db,
    workingDirectory: root,
    sharedDirectories: [path("shared")],
    farmDirectories: [path("data", "mirrors")],
  });
});
afterAll(async () => {
  await db.close();
  await rm(root, { recursive: true });
});

function holderOf(verb: Grant["verb"], repository: string, branch = "*"): Principal {
  return { name: "mallory", grants: [{ verb, repository, branch, priorityCap: null, top: false }] };
}

const mallory = holderOf("submit", "mallory*");

test.each([
  ["https://host.example/mallory/project", mallory],
  ["https://me:secret@host.example/mallory/project.git", mallory],
  ["https://host.example/team/payroll", holderOf("submit", "team/payroll", "release")],
  ["https://host.example/team/payroll", holderOf("*", "*")],
])("%s may be read by who may submit it on some branch", async (repository, by) => {
  await expect(access.requireMayRead(by, repository)).resolves.toBeUndefined();
});

test.each([
  ["https://host.example/team/payroll", mallory],
  ["https://host.example/team/payroll", holderOf("cache", "*")],
])("%s may not be read by who may submit something else", async (repository, by) => {
  await expect(access.requireMayRead(by, repository)).rejects.toMatchObject({
    code: "permission_denied",
    message: expect.stringContaining("team/payroll"),
  });
});

test("a name that belongs to another address is not given to this one", async () => {
  await db.transaction((tx) => nameRepository(tx, "https://host.example/real/tools"));
  const holder = holderOf("submit", "real/tools");

  await expect(
    access.requireMayRead(holder, "https://host.example/real/tools"),
  ).resolves.toBeUndefined();
  await expect(
    access.requireMayRead(holder, "https://evil.example/real/tools"),
  ).rejects.toMatchObject({ code: "permission_denied" });
});

test("a path outside the listed directories is rejected with the same message, whether or not it exists", async () => {
  const refusal = async (repository: string) =>
    access.requireMayRead(holderOf("submit", "*"), repository).then(
      () => "allowed",
      (reason: Error) => reason.message.replace(repository, "PATH"),
    );

  const there = await refusal(path("elsewhere"));
  expect(there).toContain("GRANGE_LOCAL_REPOSITORIES");
  expect(await refusal(path("nowhere"))).toBe(there);
});

test.each(["shared/link", "shared/mirrors", "data/mirrors", "shared/../elsewhere"])(
  "%s leads out of the listed directories",
  async (name) => {
    await expect(access.requireMayRead(holderOf("submit", "*"), path(name))).rejects.toMatchObject({
      code: "permission_denied",
    });
  },
);

test("a path below a listed directory may be used by a principal that may submit for it", async () => {
  const inside = path("shared", "mallory-tools");

  await expect(access.requireMayRead(mallory, inside)).resolves.toBeUndefined();
  await expect(access.requireMayRead(mallory, path("shared", "payroll"))).rejects.toMatchObject({
    code: "permission_denied",
  });
});

test("an administrator may use every path except the farm's own data", async () => {
  await expect(access.requireMayRead(everybody, path("elsewhere"))).resolves.toBeUndefined();
  await expect(access.requireMayRead(everybody, path("data", "mirrors"))).rejects.toMatchObject({
    code: "permission_denied",
  });
});

test("a rejected request stores no name", async () => {
  await expect(
    access.requireMayRead(mallory, "https://evil.example/new/payroll"),
  ).rejects.toMatchObject({ code: "permission_denied" });

  expect(await db.transaction((tx) => nameRepository(tx, "https://real.example/new/payroll"))).toBe(
    "new/payroll",
  );
});
