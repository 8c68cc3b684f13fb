import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { type Namespace, namespaceOf, ownNamespace } from "#cas/namespaces/namespace.ts";
import { digestFrom } from "#core/digest.ts";
import { HeldBlobs, Holds } from "./held-blobs.ts";

const some = (count: number) =>
  Array.from({ length: count }, () => digestFrom("sha256", randomBytes(32).toString("hex"), 7));

test("holds what was added, and nothing else, however much it grows", () => {
  const held = new HeldBlobs();
  const [inside, outside] = [some(20_000), some(20_000)];

  for (const digest of inside) expect(held.add(digest)).toBe(false);

  expect(held.count).toBe(inside.length);
  expect(inside.every((digest) => held.has(digest) && held.add(digest))).toBe(true);
  expect(outside.some((digest) => held.has(digest))).toBe(false);
});

test("a hash of zeroes is one like all others", () => {
  const held = new HeldBlobs();
  const zeroes = digestFrom("sha256", "0".repeat(64), 1);

  expect(held.has(zeroes)).toBe(false);
  held.add(zeroes);
  expect(held.has(zeroes)).toBe(true);
});

test("what is held both ways is held firmly, and in its own namespace alone", () => {
  const holds = new Holds();
  const [both, light, none] = some(3) as [never, never, never];
  const { firm, light: lightly } = holds.in(ownNamespace);
  firm.add(both);
  lightly.add(both);
  lightly.add(light);

  const inNamespace = (namespace: Namespace) =>
    [both, light, none].map((digest) => holds.of(namespace, digest));
  expect(inNamespace(ownNamespace)).toEqual(["firm", "light", undefined]);
  expect(inNamespace(namespaceOf("another"))).toEqual([undefined, undefined, undefined]);
});
