import { expect, test } from "vitest";
import { hitsIn } from "./build-with-ccache.ts";

test("hits of both kinds are added", () => {
  const printed = "cache_miss\t1\ndirect_cache_hit\t2\npreprocessed_cache_hit\t3\n";

  expect(hitsIn(printed)).toBe(5);
  expect(hitsIn("")).toBe(0);
});
