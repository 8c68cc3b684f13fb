import { generateKeyPairSync } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openFarmKey, passingFarmKey } from "./farm-key.ts";
import { publicKeyId } from "./public-key.ts";

const root = await mkdtemp(join(tmpdir(), "grange-key-"));
afterAll(() => rm(root, { recursive: true, force: true }));
const aDirectory = () => mkdtemp(join(root, "farm-"));
const words = Buffer.from("what the farm says");

test("a farm makes its key once, for itself alone to read", async () => {
  const directory = await aDirectory();

  const first = await openFarmKey(directory);
  const again = await openFarmKey(directory);

  expect((await stat(join(directory, "farm.key"))).mode & 0o777).toBe(0o600);
  expect(again.id).toBe(first.id);
  expect(first.id).toBe(publicKeyId(first.publicKey));
  expect(again.verify(first.id, words, first.sign(words))).toBe(true);
});

test("of many servers that make the key at once, all have the same", async () => {
  const file = join(await aDirectory(), "shared.key");

  const keys = await Promise.all(
    Array.from({ length: 12 }, async () => openFarmKey(await aDirectory(), file)),
  );

  expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
});

test("another farm's signature does not hold, nor one of other words", async () => {
  const ours = passingFarmKey();
  const theirs = passingFarmKey();
  const signature = theirs.sign(words);

  expect(ours.verify(theirs.id, words, signature)).toBe(false);
  expect(ours.verify(ours.id, words, signature)).toBe(false);
  expect(theirs.verify(theirs.id, Buffer.from("other words"), signature)).toBe(false);
  expect(theirs.verify(theirs.id, words, new Uint8Array(3))).toBe(false);
});

test("what an older key signed holds as long as the key is in the file, behind the new one", async () => {
  const directory = await aDirectory();
  const path = join(directory, "farm.key");
  const old = await openFarmKey(directory);
  const signature = old.sign(words);
  const oldText = await readFile(path, "utf8");
  const other = await openFarmKey(await aDirectory(), join(directory, "new.key"));
  const newText = await readFile(join(directory, "new.key"), "utf8");

  await writeFile(path, newText + oldText);
  const rotated = await openFarmKey(directory);
  expect(rotated.id).toBe(other.id);
  expect(rotated.knows(old.id)).toBe(true);
  expect(rotated.verify(old.id, words, signature)).toBe(true);

  await writeFile(path, newText);
  const without = await openFarmKey(directory);
  expect(without.knows(old.id)).toBe(false);
  expect(without.verify(old.id, words, signature)).toBe(false);
});

test("a key that others may read is closed to them", async () => {
  const directory = await aDirectory();
  await openFarmKey(directory);
  await chmod(join(directory, "farm.key"), 0o644);

  await openFarmKey(directory);

  expect((await stat(join(directory, "farm.key"))).mode & 0o777).toBe(0o600);
});

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 })
  .privateKey.export({ format: "pem", type: "pkcs8" })
  .toString();

test.each([
  ["empty", ""],
  ["cut", "-----BEGIN PRIVATE KEY-----\nMC4CAQ"],
  ["of another kind", rsa],
  ["no PEM", "-----BEGIN PRIVATE KEY-----\n!!!\n-----END PRIVATE KEY-----"],
])("a key file that is %s stops the farm, and stays as it is", async (_, text) => {
  const directory = await aDirectory();
  await writeFile(join(directory, "farm.key"), text);

  await expect(openFarmKey(directory)).rejects.toMatchObject({
    code: "failed_precondition",
    message: expect.stringMatching(/farm\.key is not the key of a farm.*backup/),
  });
  expect(await readFile(join(directory, "farm.key"), "utf8")).toBe(text);
});
