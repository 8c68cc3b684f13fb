import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { actionsIn, localOutputs } from "./local-outputs.ts";
import { trimOutputs } from "./trim-outputs.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-go-"));
});
afterEach(() => rm(directory, { recursive: true }));

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const day = 86_400_000;

async function* bodyOf(text: string) {
  yield Buffer.from(text);
}

function store(action: string, text: string, storedAtMs = 1_000) {
  const expected = { output: sha256(text), sizeBytes: text.length };
  return localOutputs(directory).store(sha256(action), expected, storedAtMs, bodyOf(text));
}
const find = (action: string) => localOutputs(directory).find(sha256(action));

test.each(["", "some output"])(
  "the output %j is found by other processes, with its time",
  async (text) => {
    const { path } = await store("action", text);

    expect(await find("action")).toEqual({
      output: sha256(text),
      sizeBytes: text.length,
      storedAtMs: 1_000,
      path,
    });
    expect(await readFile(path, "utf8")).toBe(text);
    expect(await find("another")).toBeUndefined();
  },
);

test.each([
  ["other bytes", "other output"],
  ["fewer bytes", "some"],
  ["more bytes", "some output and more"],
])("%s than expected are refused, and nothing stays", async (_, text) => {
  const expected = { output: sha256("some output!"), sizeBytes: 12 };

  await expect(
    localOutputs(directory).store(sha256("a"), expected, 0, bodyOf(text)),
  ).rejects.toMatchObject({ code: "data_loss" });
  expect(await find("a")).toBeUndefined();
  expect(await readdir(join(directory, "temp"))).toEqual([]);
});

test("a damaged file is a miss, and the next output of the action is found", async () => {
  const { path } = await store("action", "some output");
  await writeFile(path, "SOME OUTPUT");

  expect(await find("action")).toBeUndefined();
  await store("action", "some output");
  expect(await find("action")).toMatchObject({ output: sha256("some output") });
});

test("a file that was only touched is verified once more, and then found", async () => {
  const { path } = await store("action", "some output");
  await utimes(path, 5, 5);

  expect(await find("action")).toMatchObject({ path });
  expect(await find("action")).toMatchObject({ path });
});

test("many processes may store the same action at the same time", async () => {
  const stored = await Promise.all(Array.from({ length: 20 }, () => store("action", "same")));

  expect(new Set(stored.map(({ path }) => path)).size).toBe(1);
  expect(await find("action")).toMatchObject({ output: sha256("same") });
});

test("what was unused for five days is removed with its output, once a day", async () => {
  const now = Date.now();
  const never = new AbortController().signal;
  for (const name of ["old", "new"]) await store(name, `the ${name} output`);
  await store("shares", "the old output");
  const file = join(actionsIn(directory), sha256("old").slice(0, 2), sha256("old"));
  await utimes(file, new Date(now - 6 * day), new Date(now - 6 * day));
  await store("lonely", "lonely output");
  await rm(join(actionsIn(directory), sha256("lonely").slice(0, 2), sha256("lonely")));

  await trimOutputs(directory, now + 2 * 3_600_000, never);
  expect(await find("old")).toBeUndefined();
  // Its action was used: the output has another one.
  expect(await find("shares")).toBeDefined();
  expect(await find("new")).toBeDefined();
  expect(await outputs()).not.toContain(sha256("lonely output"));

  await utimes(
    join(actionsIn(directory), sha256("new").slice(0, 2), sha256("new")),
    new Date(now - 6 * day),
    new Date(now - 6 * day),
  );
  await trimOutputs(directory, now + 3 * 3_600_000, never);
  expect(await outputs()).toContain(sha256("the new output"));
});

async function outputs(): Promise<string[]> {
  const names = await readdir(join(directory, "outputs"), { recursive: true });
  return names.map((name) => name.slice(name.lastIndexOf("/") + 1));
}
