import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { digestOf } from "../digest-of.ts";
import { openDiskBlobStore } from "./disk-blob-store.ts";

const root = await mkdtemp(join(tmpdir(), "grange-crash-"));
afterAll(() => rm(root, { recursive: true }));

const half = Buffer.alloc(500_000, 1);
const whole = Buffer.concat([half, half]);

/** Writes half of the blob, reports it, and waits until it is killed. */
const writer = `
  import { openDiskBlobStore } from ${JSON.stringify(join(import.meta.dirname, "disk-blob-store.ts"))};
  import { digestOf } from ${JSON.stringify(join(import.meta.dirname, "../digest-of.ts"))};
  const half = Buffer.alloc(500_000, 1);
  const store = await openDiskBlobStore(process.argv[1]);
  setInterval(() => {}, 1_000);
  await store.write(digestOf(Buffer.concat([half, half])), (async function* () {
    yield half;
    // The last chunk is held back; one more makes the first one be written.
    yield half.subarray(0, 10);
    process.stdout.write("half\\n");
    await new Promise(() => {});
  })());
`;

test("a process that is killed in the middle of a blob leaves nothing of it", async () => {
  const directory = await mkdtemp(join(root, "store-"));
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "--eval", writer, "--", directory],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const ended = new Promise((resolve) => child.once("close", resolve));
  const wroteHalf = new Promise((resolve) => child.stdout.once("data", () => resolve("half")));
  expect(await Promise.race([wroteHalf, ended.then(() => "ended")])).toBe("half");

  child.kill("SIGKILL");
  await ended;

  expect(await readdir(join(directory, "temp"))).toHaveLength(1);
  const store = await openDiskBlobStore(directory);
  expect(await readdir(join(directory, "temp"))).toEqual([]);
  expect(await store.findMissing([digestOf(whole)])).toHaveLength(1);
  await store.put(digestOf(whole), whole);
  expect(await store.get(digestOf(whole))).toHaveLength(1_000_000);
});
