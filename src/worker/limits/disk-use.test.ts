import { link, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { diskDirectory } from "../../../test/support/disk-directory.ts";
import { diskUse, exceedsQuota } from "./disk-use.ts";

const mebibyte = 1024 ** 2;
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(diskDirectory(), "grange-disk-use-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test("counts the files of all directories, also in directories below", async () => {
  const [one, two] = [join(directory, "one"), join(directory, "two")];
  await mkdir(join(one, "below"), { recursive: true });
  await mkdir(two);
  await writeFile(join(one, "below/a"), Buffer.alloc(mebibyte, 1));
  await writeFile(join(two, "b"), Buffer.alloc(2 * mebibyte, 1));

  const bytes = await diskUse([one, two]);

  expect(bytes).toBeGreaterThanOrEqual(3 * mebibyte);
  expect(bytes).toBeLessThan(3.5 * mebibyte);
});

test("a file with two names counts once, a link counts without its target", async () => {
  await writeFile(join(directory, "a"), Buffer.alloc(mebibyte, 1));
  const before = await diskUse([directory]);

  await link(join(directory, "a"), join(directory, "b"));
  await symlink("/", join(directory, "c"));

  expect(await diskUse([directory])).toBeLessThan(before + mebibyte / 4);
});

test("a directory that does not exist uses nothing", async () => {
  expect(await diskUse([join(directory, "none")])).toBe(0);
});

test("stops counting above the maximum", async () => {
  for (let n = 0; n < 10; n++)
    await writeFile(join(directory, `${n}`), Buffer.alloc(mebibyte / 4, 1));

  const bytes = await diskUse([directory], mebibyte);

  expect(bytes).toBeGreaterThan(mebibyte);
  expect(bytes).toBeLessThan(2 * mebibyte);
});

test("a quota is watched until it is exceeded, or until the end", async () => {
  const ended = new AbortController();
  const quota = { directories: [directory], bytes: mebibyte };
  const within = exceedsQuota(quota, ended.signal);
  ended.abort();
  expect(await within).toBe(false);

  const over = exceedsQuota(quota, new AbortController().signal);
  await writeFile(join(directory, "a"), Buffer.alloc(2 * mebibyte, 1));
  expect(await over).toBe(true);
});
