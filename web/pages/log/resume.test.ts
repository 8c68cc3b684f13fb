import { expect, test } from "vitest";
import { freshText, lastChunk } from "./fresh-text.ts";
import { incompleteTail } from "./incomplete-tail.ts";

test("a repeated chunk adds only its new part", () => {
  const last = { offset: 10, text: "abc" };

  expect(freshText(last, { offset: 10, text: "abc" })).toBe("");
  expect(freshText(last, { offset: 10, text: "abcdef" })).toBe("def");
  expect(freshText(last, { offset: 5, text: "older" })).toBe("");
  expect(freshText(last, { offset: 13, text: "next" })).toBe("next");
  expect(freshText(undefined, { offset: 7, text: "first" })).toBe("first");
});

test("remembers the chunk with the furthest end", () => {
  const last = { offset: 10, text: "abc" };

  expect(lastChunk(last, { offset: 5, text: "older" })).toBe(last);
  expect(lastChunk(last, { offset: 10, text: "abcd" }).text).toBe("abcd");
  expect(lastChunk(last, { offset: 13, text: "d" }).offset).toBe(13);
});

test.each([
  ["ASCII", [0x61], 0],
  ["a whole é", [0xc3, 0xa9], 0],
  ["half an é", [0x61, 0xc3], 1],
  ["two thirds of €", [0xe2, 0x82], 2],
  ["three quarters of 😀", [0xf0, 0x9f, 0x98], 3],
  ["a whole 😀", [0xf0, 0x9f, 0x98, 0x80], 0],
  ["bytes that are no UTF-8", [0xff], 0],
  ["only continuations", [0x80, 0x80, 0x80, 0x80], 0],
  ["nothing", [], 0],
])("knows how much of a character is missing after %s", (_, bytes, expected) => {
  expect(incompleteTail(new Uint8Array(bytes))).toBe(expected);
});
