import type { Db } from "#db/db.ts";
import { ForgePolicy } from "../forge-policy.ts";
import { insertRepository } from "../repository.store.ts";

export const forgeEpoch = new Date("2030-01-01T12:00:00Z");

/** Makes the farm watch a repository of this name, as if just now. */
export async function watch(
  db: Db,
  name = "demo",
  policy: Partial<ForgePolicy> = {},
): Promise<void> {
  await insertRepository(db, {
    name,
    kind: "github",
    slug: name === "demo" ? "octo/demo" : `octo/${name}`,
    url: `https://github.test/octo/${name}`,
    defaultBranch: "main",
    policy: ForgePolicy.parse(policy),
    addedBy: "root",
    addedAt: forgeEpoch,
  });
}
