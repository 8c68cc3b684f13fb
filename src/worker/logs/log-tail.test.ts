import fc from "fast-check";
import { expect, test } from "vitest";
import { LogTail } from "./log-tail.ts";

function tailOf(limit: number, ...chunks: string[]): { text: string; dropped: number } {
  const tail = new LogTail(limit);
  for (const chunk of chunks) tail.add(Buffer.from(chunk));
  const { bytes, droppedBytes } = tail.read();
  return { text: bytes.toString(), dropped: droppedBytes };
}

test("all of a short stream is held", () => {
  expect(tailOf(10, "ab\ncd", "ef")).toEqual({ text: "ab\ncdef", dropped: 0 });
});

test("of a long stream the last lines are held, from the beginning of a line", () => {
  expect(tailOf(8, "one\ntwo\n", "three\n4\n")).toEqual({ text: "4\n", dropped: 14 });
});

test("of a line without an end, the last bytes are held", () => {
  expect(tailOf(4, "0123456789")).toEqual({ text: "6789", dropped: 6 });
});

test("whatever the division into chunks, the held bytes are the end of the stream", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 20 })),
      fc.integer({ min: 0, max: 30 }),
      (chunks, limit) => {
        const whole = chunks.join("");
        const { text, dropped } = tailOf(limit, ...chunks);
        expect(whole.slice(dropped)).toBe(text);
        expect(text.length).toBeLessThanOrEqual(limit);
        expect(tailOf(limit, whole)).toEqual({ text, dropped });
      },
    ),
  );
});
