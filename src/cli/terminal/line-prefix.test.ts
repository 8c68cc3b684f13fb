import { expect, test } from "vitest";
import { LinePrefix } from "./line-prefix.ts";

test("puts its words before each line, however the bytes come", () => {
  const written: string[] = [];
  const prefix = new LinePrefix("a | ", (text) => written.push(text));
  const bytes = Buffer.from("one\ntwö\nthree");

  for (const byte of bytes) prefix.write(Uint8Array.of(byte));
  prefix.end();
  prefix.end();

  expect(written.join("")).toBe("a | one\na | twö\na | three\n");
});
