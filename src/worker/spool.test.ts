import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { FinishedSchema, Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { Spool } from "./spool.ts";

async function openSpool() {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-spool-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  return { spool: await Spool.open(dataDir, "w1"), directory: join(dataDir, "spool", "w1") };
}

const finished = create(FinishedSchema, {
  lease: { executionId: "e1", attempt: 1, epoch: 1n },
  outcome: Outcome.SUCCEEDED,
});

test("a result is available to the next process until it is dropped", async () => {
  const { spool, directory } = await openSpool();

  await spool.keep(finished);
  expect(await spool.left()).toEqual({ results: [finished], broken: [] });

  await spool.drop(finished.lease);
  expect(readdirSync(directory)).toEqual([]);
});

test.each([
  { what: "empty", name: "e2.1", bytes: Buffer.alloc(0) },
  { what: "full of zeros", name: "e2.1", bytes: Buffer.alloc(64) },
  { what: "cut off", name: "e2.1", bytes: Buffer.from([0x0a, 0x40, 0x0a]) },
  { what: "half written", name: "e2.1.part", bytes: Buffer.alloc(8) },
])("a file that is $what is removed, and what is whole is found", async ({ name, bytes }) => {
  const { spool, directory } = await openSpool();
  await spool.keep(finished);
  writeFileSync(join(directory, name), bytes);

  expect(await spool.left()).toEqual({ results: [finished], broken: [name] });

  expect(readdirSync(directory)).toEqual(["e1.1"]);
});

test("an unreadable file does not prevent a worker from starting", async () => {
  const { spool, directory } = await openSpool();
  mkdirSync(join(directory, "e2.1"));

  expect((await spool.left()).broken).toEqual(["e2.1"]);

  expect(readdirSync(directory)).toEqual([]);
});
