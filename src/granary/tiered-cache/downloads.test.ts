import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { downloads } from "./downloads.ts";
import { SilenceBudget } from "./silence-budget.ts";

test("a blob that one project of the farm lacks is requested for another project, also at the same time", async () => {
  const bytes = Buffer.from("b has it");
  const digest = digestOf(bytes);
  const there = memoryBlobStore();
  await there.put(digest, bytes);
  const projects = { a: memoryBlobStore(), b: there } as Record<string, typeof there>;
  const bringing = downloads({
    farm: { blobs: (project) => projects[project] ?? memoryBlobStore() },
    blobs: memoryBlobStore(),
    onKept: () => {},
  });

  const [inA, inB] = await Promise.all(
    ["a", "b"].map((project) =>
      bringing.bring(project, digest, new SilenceBudget(() => undefined)),
    ),
  );
  await bringing.stop();

  expect([inA?.kind, inB?.kind]).toEqual(["absent", "here"]);
});
