import { expect, test } from "vitest";
import { requestedSizeClasses } from "./requested-size-classes.ts";

test.each([
  [{}, { least: 1, most: undefined }],
  [{ "min-size-class": "2" }, { least: 2, most: undefined }],
  [{ "max-size-class": "4" }, { least: 1, most: 4 }],
  [
    { "min-size-class": "2", "max-size-class": "4" },
    { least: 2, most: 4 },
  ],
  [{ "size-class": "2" }, { least: 2, most: 2 }],
  [
    { "size-class": "2", "min-size-class": "1", "max-size-class": "8" },
    { least: 2, most: 2 },
  ],
])("the properties %j request the size classes %j", (platform, asked) => {
  expect(requestedSizeClasses(platform)).toEqual(asked);
});

test.each([
  [{ "size-class": "big" }, 'size-class is a positive integer, 1000000 at most, not "big"'],
  [{ "min-size-class": "0" }, "min-size-class is a positive integer"],
  [{ "max-size-class": "1e3" }, "max-size-class is a positive integer"],
  [{ "max-size-class": "9999999" }, "max-size-class is a positive integer"],
  [
    { "min-size-class": "4", "max-size-class": "2" },
    "min-size-class=4, max-size-class=2 exclude each other",
  ],
  [
    { "size-class": "1", "min-size-class": "2" },
    "size-class=1, min-size-class=2 exclude each other",
  ],
])("the properties %j are refused", (platform, words) => {
  expect(() => requestedSizeClasses(platform)).toThrow(words);
});
