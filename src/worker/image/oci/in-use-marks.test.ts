import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ownOwner } from "#machine/owner.ts";
import { InUseMarks } from "./in-use-marks.ts";

function marksIn() {
  const directory = mkdtempSync(join(tmpdir(), "grange-marks-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return { directory, marks: new InUseMarks(directory, ownOwner()) };
}

test("a part is in use until its last user is gone and idle marks are removed", async () => {
  const { directory, marks } = marksIn();
  await marks.mark("a");
  await marks.mark("a");
  marks.unmark("a");
  await marks.removeIdle();
  expect(await marks.names()).toEqual(new Set(["a"]));

  marks.unmark("a");
  await marks.removeIdle();

  expect(await marks.names()).toEqual(new Set());
  expect(readdirSync(directory)).toEqual([]);
});

test("a part can only be retained while somebody uses it", async () => {
  const { marks } = marksIn();
  expect(marks.retain("a")).toBe(false);
  await marks.mark("a");
  expect(marks.retain("a")).toBe(true);
  marks.unmark("a");
  await marks.removeIdle();
  expect(await marks.names()).toEqual(new Set(["a"]));
});

test("the mark of a process that has ended does not count, and is removed", async () => {
  const { directory, marks } = marksIn();
  const ended = ownOwner().replace(/\d+/, "4194303");
  writeFileSync(join(directory, `a~${ended}`), "");
  expect(await marks.names()).toEqual(new Set());
  expect(readdirSync(directory)).toEqual([]);
});
