import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { CatalogSignatures, CreatedToken, GrantRule, SigningKey } from "#api/access.ts";
import { SubmittedGraph } from "#api/graph.ts";
import { GraphPriority } from "#api/graph-priority.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { grangeJson, runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

let farm: Farm;
let repository: SampleRepository;
let directory: string;

beforeAll(async () => {
  [farm, repository, directory] = await Promise.all([
    startFarm({ workers: 0 }),
    sampleRepository({
      ".grange/farm.yml": 'version: 1\njobs:\n  a: { commands: "true", inputs: [] }\n',
    }),
    mkdtemp(join(tmpdir(), "grange-access-")),
  ]);
});
afterAll(async () => {
  await farm.stop();
  await repository.remove();
  await rm(directory, { recursive: true });
});

/** Returns a function that runs a command against the farm with a token, or without one. */
function as(token: string | undefined) {
  const env: Record<string, string> = token === undefined ? {} : { GRANGE_TOKEN: token };
  return {
    async ask<Shape extends z.ZodType>(shape: Shape, ...args: string[]): Promise<z.output<Shape>> {
      return shape.parse(await grangeJson([...args, "--server", farm.url], { env }));
    },
    run: (...args: string[]) => runGrange([...args, "--server", farm.url], { env }),
  };
}

test("an open farm can be closed with commands alone, and a caller without permission is told which one is missing", async () => {
  const nobody = as(undefined);
  const made = await nobody.run("token", "create", "root", "--expires", "90d");
  const token = made.stdout.trim();
  const lockedOut = await nobody.run("grant", "remove", "anyone", "*");
  await nobody.ask(z.array(GrantRule), "grant", "add", "root", "*", "--top");

  const root = as(token);
  const closed = await root.run("grant", "remove", "anyone", "*");
  const refused = await nobody.run("submit", "--repo", repository.path);
  const submitted = await root.ask(SubmittedGraph, "submit", "--repo", repository.path);

  expect(made.stdout).toMatch(/^grange_[A-Za-z0-9_-]{43}\n$/);
  expect(lockedOut.stderr).toContain("nobody could administer the farm");
  expect(closed.stdout).toBe("One grant was removed.\n");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("a caller without a token may not submit anywhere on this farm");
  expect(submitted.graph.submittedBy).toBe("root");

  await signAndPrioritise(root, submitted);
  await useTokenFiles(token);
});

async function signAndPrioritise(
  root: ReturnType<typeof as>,
  { id, graph }: SubmittedGraph,
): Promise<void> {
  const file = join(directory, "release.key");
  const created = await runGrange(["key", "create", "release", "--out", file]);
  const again = await runGrange(["key", "create", "release", "--out", file]);
  const trusted = await root.ask(SigningKey, "key", "trust", "release", created.stdout.trim());
  const signed = await root.ask(CatalogSignatures, "sign", graph.catalog, "--key", file);
  const changed = await root.ask(GraphPriority, "priority", id, "50", "--reason", "first");

  expect(again.code).toBe(2);
  expect(again.stderr).toContain("never overwritten");
  expect(signed.signers).toMatchObject([{ keyId: trusted.id, name: "release" }]);
  expect(changed).toMatchObject({ id, priority: 50, top: false, notice: null });
}

async function useTokenFiles(token: string): Promise<void> {
  const good = join(directory, "token");
  const bad = join(directory, "no-token");
  await writeFile(good, `${token}\n`);
  await chmod(good, 0o600);
  await writeFile(bad, "secret");

  const made = await as(undefined).ask(CreatedToken, "token", "create", "ci", "--token-file", good);
  const refused = await as(undefined).run("token", "list", "--token-file", bad);

  expect(made.principal).toBe("ci");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("contains no token");
  expect(refused.stderr).not.toContain("secret");
}
