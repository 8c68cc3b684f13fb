import { describe, expect, test } from "vitest";
import { cacheUrl, type Farm, grpcAddress, type Recipe } from "./recipe.ts";
import { recipeNames, recipes } from "./recipes.ts";

const open: Farm = { origin: "http://127.0.0.1:8980", project: "default", token: undefined };
const closed: Farm = { origin: "https://farm.example", project: "team/app", token: "grange_t0ken" };

const textOf = (recipe: Recipe, farm: Farm) =>
  recipe
    .lines(farm)
    .map(({ text }) => text)
    .join("");

test.each([
  ["http://127.0.0.1:8980", "grpc://127.0.0.1:8980"],
  ["http://farm.example", "grpc://farm.example:80"],
  ["https://farm.example", "grpcs://farm.example:443"],
  ["https://farm.example:8443", "grpcs://farm.example:8443"],
  ["http://[::1]:8980", "grpc://[::1]:8980"],
])("for %s, tools of gRPC are told %s", (origin, address) => {
  expect(grpcAddress(origin)).toBe(address);
});

test("slashes of a project stay slashes in the address of its cache", () => {
  expect(cacheUrl(closed, "nx")).toBe("https://farm.example/cache/team/app/nx");
});

describe.each(recipeNames)("the lines for %s", (name) => {
  const recipe: Recipe = recipes[name];

  test("contain the address of the farm", () => {
    expect(textOf(recipe, open)).toContain("127.0.0.1:8980");
    expect(textOf(recipe, closed)).toContain("farm.example");
    expect(textOf(recipe, closed)).not.toContain("grpc://");
  });

  test("contain a token only if the farm requires one", () => {
    expect(textOf(recipe, open)).not.toMatch(/Bearer|bearer|grange_/);
    expect(textOf(recipe, closed)).toContain("grange_t0ken");
  });

  test("have no unfilled placeholders, and end with a newline", () => {
    for (const farm of [open, closed]) {
      const text = textOf(recipe, farm);
      expect(text).not.toMatch(/undefined|false,|\bnull\b/);
      expect(text).toMatch(/\n$/);
    }
  });
});

test("Bazel's complete lines for remote execution", () => {
  const [rc] = recipes["bazel-remote"].lines(closed);

  expect(rc?.text).toBe(`build:grange --remote_executor=grpcs://farm.example:443
build:grange --remote_instance_name=team/app
build:grange --incompatible_strict_action_env
build:grange --jobs=50
build:grange --bes_backend=grpcs://farm.example:443
build:grange --bes_results_url=https://farm.example/in/team%2Fapp/
build:grange --project_id=team/app
build:grange --remote_header="authorization=Bearer grange_t0ken"
build:grange --bes_header="authorization=Bearer grange_t0ken"
`);
});
