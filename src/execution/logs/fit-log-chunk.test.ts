import fc from "fast-check";
import { expect, test } from "vitest";
import { fitLogChunk } from "./fit-log-chunk.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("bytes that are stored are skipped, and a gap is refused", () => {
  const at = (offset: number) =>
    fitLogChunk({ stored: 4, offset, bytes: bytes("abcdef"), limit: 100 });

  expect(at(4)).toMatchObject({
    store: { offset: 4, bytes: bytes("abcdef") },
    nextOffset: 10,
    accepted: true,
  });
  expect(at(2)).toMatchObject({
    store: { offset: 4, bytes: bytes("cdef") },
    nextOffset: 8,
    accepted: true,
  });
  expect(at(5)).toMatchObject({ store: undefined, nextOffset: 4, accepted: false });
});

test("a log that exceeds its limit ends with a note, and the rest is accepted and discarded", () => {
  const limit = 10;
  const cut = fitLogChunk({ stored: 8, offset: 8, bytes: bytes("abcdef"), limit });
  const stored = 8 + (cut.store?.bytes.length ?? 0);

  expect(new TextDecoder().decode(cut.store?.bytes)).toMatch(/^ab\n\[the log is cut here/);
  expect(cut).toMatchObject({ nextOffset: 14, accepted: true });
  expect(fitLogChunk({ stored, offset: 14, bytes: bytes("more"), limit })).toEqual({
    store: undefined,
    nextOffset: 18,
    accepted: true,
  });
});

test("whatever chunks a worker sends again, the log is what it wrote", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 200 }),
      fc.array(fc.tuple(fc.nat(200), fc.nat(50)), { maxLength: 40 }),
      (log, sends) => {
        let stored = new Uint8Array();
        let next = 0;
        for (const [from, length] of [...sends, [0, 200] as const]) {
          const answer = fitLogChunk({
            stored: stored.length,
            offset: from,
            bytes: log.subarray(from, from + length),
            limit: 1_000,
          });
          if (answer.store) stored = new Uint8Array([...stored, ...answer.store.bytes]);
          if (answer.accepted) next = Math.max(next, answer.nextOffset);
        }
        expect(stored).toEqual(log);
        expect(next).toBeLessThanOrEqual(log.length);
      },
    ),
  );
});
