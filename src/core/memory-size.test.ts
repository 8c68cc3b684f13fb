import { expect, test } from "vitest";
import { memorySizeText, parseMemorySize } from "./memory-size.ts";

test.each([
  ["512MiB", 512 * 2 ** 20],
  ["1.5 GiB", 1.5 * 2 ** 30],
  ["2GB", 2e9],
  ["4G", 4 * 2 ** 30],
  ["much", undefined],
  ["-1G", undefined],
  ["4", undefined],
])("%s is %s bytes", (text, bytes) => {
  expect(parseMemorySize(text)).toBe(bytes);
});

test.each([
  [12, "12 B"],
  [2 ** 30, "1 GiB"],
  [1.5 * 2 ** 30, "1.5 GiB"],
  [150 * 2 ** 20, "150 MiB"],
  [23.54 * 2 ** 30, "23.5 GiB"],
])("%s bytes are shown as %s", (bytes, text) => {
  expect(memorySizeText(bytes)).toBe(text);
});
