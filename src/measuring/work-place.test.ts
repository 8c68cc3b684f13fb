import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownOwner } from "#machine/owner.ts";
import { openWorkPlace } from "./work-place.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-place-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const cache = {
  placeSource: () => Promise.reject(new Error("not asked for")),
  release: () => Promise.resolve(),
};

test("belongs to one process at a time, and is free after that process has closed it", async () => {
  const place = await openWorkPlace({ directory, cache });

  await expect(openWorkPlace({ directory, cache })).rejects.toThrow(/already measures on/);
  await place.close();
  await (await openWorkPlace({ directory, cache })).close();

  expect(await readdir(directory)).toEqual([]);
});

test("of a killed process is taken over, even if its process id is in use again", async () => {
  const child = spawn("sleep", ["60"]);
  const [, ticks, namespace] = ownOwner().split("-");
  child.kill("SIGKILL");
  await once(child, "exit");
  const lock = join(directory, "measuring.lock");
  await writeFile(lock, `${child.pid}-${ticks}-${namespace}\nmeasuring\n`);
  await (await openWorkPlace({ directory, cache })).close();

  await writeFile(lock, `${process.pid}-1-${namespace}\nmeasuring\n`);
  await (await openWorkPlace({ directory, cache })).close();

  expect(await readdir(directory)).toEqual([]);
});

test("works without a sandbox when none is wanted; a required sandbox is used or refused", async () => {
  const place = await openWorkPlace({ directory, cache, sandbox: "none" });
  expect(place.tools.sandbox.kind).toBe("none");
  await place.close();
});
