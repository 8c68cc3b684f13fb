import { join } from "node:path";
import { expect, test } from "vitest";
import { freshDirectory } from "../store/granary-store.fixture.ts";
import { openWasteMemory } from "./waste-file.ts";

test("knows which projects were built here, also after a restart", async () => {
  const path = join(await freshDirectory(), "waste.json");
  const memory = await openWasteMemory(path);
  await memory.remember('a"b', "make", { transferred: 0, wasted: 0 });

  for (const each of [memory, await openWasteMemory(path)]) {
    expect(each.hasBuilt('a"b')).toBe(true);
    expect(each.hasBuilt("a")).toBe(false);
    expect(each.hasBuilt('a"')).toBe(false);
  }
});
