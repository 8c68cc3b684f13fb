import { expect, test } from "vitest";
import { mayMatchBelow } from "./may-match-below.ts";

test.each<{ patterns: string[] | undefined; may: boolean }>([
  { patterns: undefined, may: true },
  { patterns: [], may: false },
  { patterns: ["**"], may: true },
  { patterns: ["**/*.c"], may: true },
  { patterns: ["vendor"], may: true },
  { patterns: ["vendor/**"], may: true },
  { patterns: ["vendor/lib"], may: true },
  { patterns: ["vendor/lib/src/a.c"], may: true },
  { patterns: ["vendor/l*/src/*.c"], may: true },
  { patterns: ["{src,vendor}/**"], may: true },
  { patterns: ["src/**"], may: false },
  { patterns: ["vendor/other/**"], may: false },
  { patterns: ["*.md"], may: false },
  { patterns: ["**", "!vendor/lib/**"], may: false },
  { patterns: ["!docs/**"], may: true },
])("$patterns may mean files of the submodule vendor/lib: $may", ({ patterns, may }) => {
  expect(mayMatchBelow(patterns, "vendor/lib")).toBe(may);
});
