import { expect, test } from "vitest";
import { colourSequence } from "#core/escape-sequences.ts";
import { paintFor } from "./paint.ts";
import { shortened, tableLines } from "./table.ts";

test("columns line up, whatever is coloured", () => {
  const paint = paintFor(true);

  const lines = tableLines([
    [paint.red("no"), "short", "end"],
    ["longer", paint.bold("é"), ""],
  ]);

  expect(lines.map((line) => line.replace(colourSequence, ""))).toEqual([
    "no      short  end",
    "longer  é",
  ]);
});

test("a text is cut only when it does not fit", () => {
  expect(shortened("abc", 3)).toBe("abc");
  expect(shortened("abcd", 3)).toBe("ab…");
});
