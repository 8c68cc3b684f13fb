import fc from "fast-check";
import { expect, test } from "vitest";
import { LogLines } from "../../../web/pages/log/log-lines.ts";
import { LineCutter } from "./line-cutter.ts";

const piece = fc.oneof(
  fc.constantFrom("\n", "\r\n", "error: x", "\u001b[31m", "é", " "),
  fc.integer({ min: 0, max: 50_000 }).map((length) => "y".repeat(length)),
  fc.constantFrom("10%\r20%\r30%", "\r", "\r\r\n"),
);

test("a line has the number that the log's page shows", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      const shown = new LogLines();
      shown.push(text);
      const cutter = new LineCutter();

      const lines = [...cutter.push(new TextEncoder().encode(text)), ...cutter.end()];

      for (const { number, text: judged } of lines) {
        const onPage = shown.at(number - 1)?.raw.replaceAll("\u001b[31m", "");
        expect(onPage?.slice(0, 500)).toBe(judged.slice(0, 500));
      }
    }),
    { numRuns: 500 },
  );
});
