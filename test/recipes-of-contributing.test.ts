import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { recipes } from "../bench/show/codebase/recipes.ts";

// `npm run show -- codebase` tries the recipes, which takes minutes. This test finds most of its failures at once.

test("CONTRIBUTING marks exactly the tested recipes with *", async () => {
  const contributing = await readFile("CONTRIBUTING.md", "utf8");
  const marked = [...contributing.matchAll(/^\| ([^|]+) \* \|/gm)].map((match) => match[1]);

  expect(new Set(marked)).toEqual(new Set(recipes.map(({ name }) => name)));
});

test.each(recipes)(
  "the recipe for $name finds the text that it changes exactly once",
  async (recipe) => {
    const missed: string[] = [];
    for (const edit of recipe.edits) {
      if ("content" in edit) continue;
      const times = (await readFile(edit.file, "utf8")).split(edit.behind).length - 1;
      if (times !== 1)
        missed.push(`${edit.file}: ${JSON.stringify(edit.behind)} is there ${times} times`);
    }

    expect(missed).toEqual([]);
  },
);
