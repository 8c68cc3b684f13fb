import { spawnSync } from "node:child_process";
import { basename } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundleScript } from "../store/bundled-script.fixture.ts";
import { freshDirectory } from "../store/granary-store.fixture.ts";
import { openSpool } from "./spool.ts";

/** Creates a spool that records which files it had synced at which time. */
async function scene() {
  const synced: string[] = [];
  const spool = await openSpool(await freshDirectory(), 2, async (path) => {
    synced.push(basename(path));
  });
  onTestFinished(() => spool.close());
  return { spool, synced };
}

test("a durable index is durable with all results before it, also those that were returned after a failed sending", async () => {
  const { spool, synced } = await scene();
  spool.addResult("sent, and the farm is away");
  const [taken] = spool.files();
  await spool.lines(taken as NonNullable<typeof taken>);
  spool.addResult("a second file");
  spool.addResult("its last line");
  spool.addResult("a third file");

  await spool.add("index", "what names them");

  expect(synced.toSorted()).toEqual([1, 2, 3].map((n) => `00000000000${n}-results.jsonl`));
});

test("files that the farm has accepted are not synced any more", async () => {
  const { spool, synced } = await scene();
  spool.addResult("sent at once");
  const [taken] = spool.files();
  await spool.lines(taken as NonNullable<typeof taken>);
  await spool.remove(taken as NonNullable<typeof taken>);

  await spool.add("report", "of the build");

  expect(synced).toEqual([]);
});

/** Requests lines while this process has reached its limit of open files, and again when it has not. */
const withoutDescriptors = `
  import { closeSync, openSync } from "node:fs";
  import { openSpool } from "../outbox/spool.ts";

  const spool = await openSpool(process.argv[2] ?? "");
  spool.addResult("a result");
  await spool.add("report", "a report");
  const [file] = spool.files();
  const others: number[] = [];
  try {
    for (;;) others.push(openSync("/dev/null", "r"));
  } catch {}
  const without = await spool.lines(file!).catch((reason) => reason.code);
  for (const other of others) closeSync(other);
  process.stdout.write(JSON.stringify([without, await spool.lines(file!)]));
`;

test("a file that cannot be read because of too many open files is not lost", async () => {
  const script = await bundleScript(withoutDescriptors, await freshDirectory());
  const limited = ["-c", 'ulimit -n 100 && exec "$0" "$@"', process.execPath, script];
  const ran = spawnSync("sh", [...limited, await freshDirectory()], {
    encoding: "utf8",
    timeout: 120_000,
  });

  expect(ran.stderr).toBe("");
  expect(JSON.parse(ran.stdout)).toEqual(["EMFILE", ["a result"]]);
});
