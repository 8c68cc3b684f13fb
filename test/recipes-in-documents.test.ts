import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recipeNames, recipes } from "../web/pages/connect/recipes.ts";

// The documents and the page Connect must show the same lines.

const doc = (name: string) => readFile(join(import.meta.dirname, "../docs", name), "utf8");

test("build-tools.md has the page's lines for remote execution, with a farm on this machine", async () => {
  const farm = { origin: "http://127.0.0.1:8980", project: "default", token: undefined };

  const [rc] = recipes["bazel-remote"].lines(farm);

  expect(await doc("build-tools.md")).toContain(rc?.text);
});

const cached = recipeNames.filter((name) => "cache" in recipes[name].seen);
test.each(cached)("caches.md has the page's lines of %s", async (name) => {
  const farm = { origin: "http://FARM", project: "default", token: "grange_…" };

  const [first] = recipes[name].lines(farm);

  expect(await doc("caches.md")).toContain(`\n${first?.text}\`\`\``);
});
