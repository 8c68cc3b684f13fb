import { expect, test } from "vitest";
import { packagesOf } from "../../scripts/dev/packages-of.ts";

test("the packages of a bundle are its imports beside files and Node's modules", () => {
  const bundle = [
    'import { z } from "zod";',
    'import pg from "pg";',
    'import { z as again } from "zod";',
    'import "pino";',
    'import { join } from "node:path";',
    'import { a } from "./a.js";',
    '  import { b } from "text in a template";',
  ].join("\n");

  expect(packagesOf(bundle)).toEqual(["zod", "pg", "pino"]);
});
