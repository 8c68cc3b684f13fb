import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hashOfSources } from "../../../scripts/machine-code.ts";

test("the machine code was compiled from the present files: else run `npm run machine-code`", () => {
  const written = readFileSync(join(import.meta.dirname, "machine-code.ts"), "utf8");

  expect(written).toContain(`// The hash of the files: ${hashOfSources()}\n`);
});
