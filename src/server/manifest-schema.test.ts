import { join } from "node:path";
import { expect, test } from "vitest";
import { manifestSchema } from "./manifest-schema.ts";

const file = join(import.meta.dirname, "../../docs/schema/run-manifest.schema.json");

test("the published schema of manifests is that of the code; `vitest -u` writes it anew", async () => {
  await expect(`${JSON.stringify(manifestSchema(), undefined, 2)}\n`).toMatchFileSnapshot(file);
});
