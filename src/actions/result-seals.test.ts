import { generateKeyPairSync, randomBytes, randomUUID, sign, verify } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { TrustDomain } from "#core/trust-domain.ts";
import {
  type ResultStatement,
  resultSeals,
  type SealedStatement,
  type SealingKey,
} from "./result-seals.ts";

/** Returns a key, and the number of calls to it. */
function aKey(id = "k") {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const asked = { verified: 0 };
  const key: SealingKey = {
    id,
    sign: (bytes) => sign(null, bytes, privateKey),
    verify(keyId, bytes, signature) {
      asked.verified += 1;
      return keyId === id && verify(null, bytes, publicKey, signature);
    },
  };
  return { key, asked };
}

const statement = (more: Partial<ResultStatement> = {}): ResultStatement => ({
  project: "p",
  domain: TrustDomain.parse("protected"),
  action: `${"a".repeat(64)}/7`,
  result: Buffer.from("a result"),
  origin: { kind: "execution", executionId: randomUUID(), attempt: 1, worker: "w" },
  isAdopted: false,
  ...more,
});

function sealed(seals: ReturnType<typeof resultSeals>, more: Partial<ResultStatement> = {}) {
  const said = statement(more);
  return { ...said, seal: seals.sealOf(said) } satisfies SealedStatement;
}

test("a sealed result holds for every server that has the key, and is verified once at each", async () => {
  const { key, asked } = aKey();
  const writer = resultSeals(key, () => {});
  const reader = resultSeals(key, () => {});
  const row = sealed(writer);

  expect([writer.holds(row), reader.holds(row), reader.holds(row)]).toEqual([true, true, true]);
  expect(await reader.thatHold([row, row])).toEqual([row, row]);
  expect(asked.verified).toBe(1);
  expect(reader.counts).toEqual({ verified: 1, remembered: 3, refused: 0 });
});

test("no word of a sealed result can be another", () => {
  const { key } = aKey();
  const seals = resultSeals(key, () => {});
  const row = sealed(seals);
  const client = { kind: "client", principal: "w" } as const;
  const other = <Origin extends object>(change: Origin) => ({ ...row.origin, ...change });
  const changes: Partial<SealedStatement>[] = [
    { project: "q" },
    { action: `${"b".repeat(64)}/7` },
    { action: `${"a".repeat(64)}/8` },
    { result: Buffer.from("a resulT") },
    { result: new Uint8Array() },
    { origin: other({ attempt: 2 }) as never },
    { origin: other({ worker: "v" }) as never },
    { origin: other({ worker: null }) as never },
    { origin: other({ executionId: randomUUID() }) as never },
    { origin: client },
    { isAdopted: true },
    { seal: undefined },
    { seal: { keyId: "other", signature: row.seal?.signature ?? new Uint8Array() } },
    { seal: { keyId: "k", signature: new Uint8Array(64) } },
    { seal: { keyId: "k", signature: new Uint8Array() } },
    // The result's first byte is moved to the end of the signature.
    {
      result: row.result.subarray(1),
      seal: {
        keyId: "k",
        signature: Buffer.concat([row.seal?.signature ?? Buffer.of(), row.result.subarray(0, 1)]),
      },
    },
  ];

  // The earlier verification must not apply to this row.
  expect(seals.holds(row)).toBe(true);
  expect(changes.map((change) => seals.holds({ ...row, ...change }))).toEqual(
    changes.map(() => false),
  );
  expect(seals.counts.refused).toBe(changes.length);
});

test("names cannot run into each other", () => {
  const { key } = aKey();
  const seals = resultSeals(key, () => {});
  const text = fc.string({ maxLength: 4, unit: fc.constantFrom("a", '"', ",", "\\", "\n", "]") });
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 4, maxLength: 4 }),
      ([p = "", a = "", q = "", b = ""]) => {
        const one = sealed(seals, { project: p, origin: { kind: "client", principal: a } });
        const asOther = { ...one, project: q, origin: { kind: "client" as const, principal: b } };
        expect(seals.holds(asOther)).toBe(p === q && a === b);
      },
    ),
  );
});

test("results of other domains are not signed, and never pass for protected ones", () => {
  const { key, asked } = aKey();
  const seals = resultSeals(key, () => {});
  const row = sealed(seals, { domain: TrustDomain.parse("pr/7@a/b") });

  expect(row.seal).toBeUndefined();
  expect(seals.holds(row)).toBe(true);
  expect(seals.holds({ ...row, domain: TrustDomain.parse("protected") })).toBe(false);
  expect(asked.verified).toBe(0);
});

test("of many, those that hold stay in their order, and each other one is told", async () => {
  const { key } = aKey();
  const told: string[] = [];
  const seals = resultSeals(key, ({ action }) => told.push(action));
  const rows = Array.from({ length: 30 }, (_, i) => {
    const row = sealed(seals, { action: `${"c".repeat(64)}/${i}` });
    return i % 10 === 3 ? { ...row, result: randomBytes(4) } : row;
  });

  const held = await resultSeals(key, ({ action }) => told.push(action)).thatHold(rows);

  expect(held).toEqual(rows.filter((_, i) => i % 10 !== 3));
  expect(told).toEqual([3, 13, 23].map((i) => rows[i]?.action));
});

test("what is remembered is bounded: the rest is verified anew, and holds", () => {
  const { key, asked } = aKey();
  const seals = resultSeals(key, () => {}, 4);
  const rows = Array.from({ length: 12 }, (_, i) => sealed(seals, { project: `p${i}` }));

  for (const row of rows.toReversed()) expect(seals.holds(row)).toBe(true);

  expect(seals.counts.remembered).toBe(4);
  expect(asked.verified).toBe(8);
});

test("many results hold nobody up for long", async () => {
  const { key } = aKey();
  const writer = resultSeals(key, () => {});
  const rows = Array.from({ length: 400 }, (_, i) => sealed(writer, { project: `p${i}` }));
  let turns = 0;
  let isOver = false;
  const others = () => {
    turns += 1;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);

  await resultSeals(key, () => {}).thatHold(rows);
  isOver = true;

  // 400 verifications of 75 µs, in slices of half a millisecond.
  expect(turns).toBeGreaterThan(15);
});

test("a result that was refused is looked at again each time", () => {
  const { key, asked } = aKey();
  const seals = resultSeals(key, () => {});
  const bad = { ...sealed(seals), result: Buffer.from("other") };

  expect([seals.holds(bad), seals.holds(bad)]).toEqual([false, false]);
  expect(asked.verified).toBe(2);
});
