import { expect, test } from "vitest";
import { printableLine, printableLog } from "./printable-text.ts";

test.each([
  { what: "a window title", text: "fix\u001b]0;owned\u0007 it", expected: "fix it" },
  { what: "a cursor move", text: "fix\u001b[2A it", expected: "fix it" },
  { what: "a colour", text: "\u001b[31mfix\u001b[0m it", expected: "fix it" },
  { what: "line breaks", text: "fix\r\n\tit", expected: "fix it" },
  { what: "an 8-bit control", text: "fix\u009b2J it", expected: "fix2J it" },
])("a line loses $what", ({ text, expected }) => {
  expect(printableLine(text)).toBe(expected);
});

test("a log keeps colours and line breaks, and loses what steers the terminal", () => {
  const log = "\u001b[1;31mred\u001b[0m\n\u001b[2Jwiped\u001b]52;c;cGFzdGU=\u0007\tend\r\n\u0008";

  expect(printableLog(log)).toBe("\u001b[1;31mred\u001b[0m\nwiped\tend\r\n");
});
