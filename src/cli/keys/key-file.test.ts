import { generateKeyPairSync, verify } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createKeyFile, publicHalf, readKeyFile, readPublicKey, signatureOf } from "./key-file.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-keys-"));
afterAll(() => rm(dir, { recursive: true }));
const file = (name: string) => join(dir, name);

test("a key is written for its owner alone, and gives the public half that was told", async () => {
  const told = await createKeyFile(file("one"));

  expect((await stat(file("one"))).mode & 0o777).toBe(0o600);
  expect(publicHalf(await readKeyFile(file("one")))).toBe(told);
  expect(told).toMatch(/^ed25519:[A-Za-z0-9_-]{43}$/);
});

test("a key is never overwritten", async () => {
  await createKeyFile(file("two"));
  const before = await readFile(file("two"), "utf8");

  await expect(createKeyFile(file("two"))).rejects.toThrow("never overwritten");

  expect(await readFile(file("two"), "utf8")).toBe(before);
});

test("a key that others can read does not sign", async () => {
  await createKeyFile(file("three"));
  await chmod(file("three"), 0o640);

  await expect(readKeyFile(file("three"))).rejects.toThrow("chmod 600");
});

test("the public half is taken as a text, from a file with it, or from the key", async () => {
  const told = await createKeyFile(file("four"));
  await writeFile(file("four.pub"), `${told}\n`);

  expect(await readPublicKey(told)).toBe(told);
  expect(await readPublicKey(file("four.pub"))).toBe(told);
  expect(await readPublicKey(file("four"))).toBe(told);
});

test("what is no key of ours is told apart", async () => {
  await writeFile(file("text"), "not a key", { mode: 0o600 });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const pem = privateKey.export({ format: "pem", type: "pkcs8" });
  await writeFile(file("rsa"), pem, { mode: 0o600 });

  await expect(readKeyFile(file("text"))).rejects.toThrow("does not contain a key");
  await expect(readKeyFile(file("rsa"))).rejects.toThrow(
    "a key of type rsa; signing needs Ed25519",
  );
  await expect(readKeyFile(file("none"))).rejects.toThrow("cannot read the key");
});

test("a signature is one that any tool can check", async () => {
  await createKeyFile(file("five"));
  const key = await readKeyFile(file("five"));

  const signature = Buffer.from(signatureOf("grange catalog v1\nx\n", key), "base64");

  expect(signature).toHaveLength(64);
  expect(verify(null, Buffer.from("grange catalog v1\nx\n"), key, signature)).toBe(true);
});
