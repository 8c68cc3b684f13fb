import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { PublicKeyText } from "#core/public-key-text.ts";
import { sql } from "#db/sql.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { keepSignature } from "./keep-signature.ts";
import { publicKeyId, textOfPublicKey } from "./public-key.ts";
import { type SignedSubject, signedSubject, verifySignatures } from "./signed-subject.ts";
import { revokeKey, trustKey } from "./trust-keys.ts";

const db = await freshDb();
afterAll(() => db.close());

const now = new Date("2026-01-01T00:00:00Z");
const said = { by: "root", now };
const subject: SignedSubject = { kind: "catalog", digest: `${"a".repeat(64)}/12` };

interface KeyPair {
  readonly id: string;
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

function keyPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const bytes = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  return { id: publicKeyId(bytes), publicKey: textOfPublicKey(bytes), privateKey };
}

async function trusted(name: string): Promise<KeyPair> {
  const pair = keyPair();
  await db.transaction((tx) => trustKey(tx, name, pair.publicKey, said));
  return pair;
}

function signedBy(pair: KeyPair, about: SignedSubject = subject) {
  const signature = sign(null, signedSubject(about.kind, about.digest), pair.privateKey);
  return { subject, keyId: pair.id, signature, signedBy: "alice" };
}

const keep = (offered: ReturnType<typeof signedBy>) =>
  db.transaction((tx) => keepSignature(tx, offered, now));
const signers = async () => (await verifySignatures(db, subject)).map(({ name }) => name);

test("what is signed is a text of two lines, so that any tool can check it", () => {
  expect(new TextDecoder().decode(signedSubject("catalog", subject.digest))).toBe(
    `grange catalog v1\n${subject.digest}\n`,
  );
});

test("a signature counts from when it is kept until its key is revoked", async () => {
  const pair = await trusted("release-2026");
  expect(await signers()).toEqual([]);

  await keep(signedBy(pair));
  await keep(signedBy(pair));
  const before = await signers();
  await db.transaction((tx) => revokeKey(tx, "release-2026", said));

  expect(before).toEqual(["release-2026"]);
  expect(await signers()).toEqual([]);
});

test("a signature of another catalog, or of an untrusted or revoked key, is not kept", async () => {
  const pair = await trusted("one");
  const stranger = keyPair();
  const other = { ...subject, digest: `${"b".repeat(64)}/12` };

  await expect(keep(signedBy(pair, other))).rejects.toThrow(
    `the signature is not a signature of key ${pair.id} for catalog ${subject.digest}`,
  );
  await expect(keep(signedBy(stranger))).rejects.toThrow(`does not trust key ${stranger.id}`);
  await db.transaction((tx) => revokeKey(tx, "one", said));
  await expect(keep(signedBy(pair))).rejects.toThrow("(one) was revoked by root");
});

test("a row that somebody wrote into the table is not believed", async () => {
  const pair = await trusted("two");
  await db.run(sql`
    insert into signature (kind, digest, key_id, signature, signed_at, signed_by)
    values ('catalog', ${subject.digest}, ${pair.id}, ${Buffer.alloc(64, 7)}, ${now}, 'mallory')
  `);

  expect(await signers()).toEqual([]);

  await keep(signedBy(pair));
  expect(await signers()).toEqual(["two"]);
});

test("a name means one key at a time, and a revoked key is never trusted again", async () => {
  const first = await trusted("three");
  const second = keyPair();
  const trust = (name: string, { publicKey }: KeyPair) =>
    db.transaction((tx) => trustKey(tx, name, publicKey, said));

  expect((await trust("three", first)).id).toBe(first.id);
  await expect(trust("three", second)).rejects.toThrow('"three" is the name of another key');
  await expect(trust("four", first)).rejects.toThrow('trusted already, under the name "three"');
  await db.transaction((tx) => revokeKey(tx, "three", said));
  expect((await trust("three", second)).id).toBe(second.id);
  await expect(trust("four", first)).rejects.toThrow(
    "was revoked by root, and cannot be trusted again",
  );
});

test("a key that two trust at once under two names is trusted under one", async () => {
  const { publicKey } = keyPair();

  const outcomes = await Promise.allSettled(
    ["five", "six"].map((name) => db.transaction((tx) => trustKey(tx, name, publicKey, said))),
  );

  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test.each([
  "ed25519:",
  `ed25519:${"A".repeat(42)}`,
  `ed25519:${"A".repeat(42)}B`,
  `rsa:${"A".repeat(43)}`,
  `ed25519:${"A".repeat(1_000)}`,
])("%s is no public key", (text) => {
  expect(PublicKeyText.safeParse(text).success).toBe(false);
});
