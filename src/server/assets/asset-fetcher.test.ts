import { expect, test } from "vitest";
import { everybody } from "#access/principal.ts";
import { digestOf } from "#cas/digest-of.ts";
import { assetFetcher } from "./asset-fetcher.ts";
import { assetQueryOf } from "./asset-query.ts";

function aFetcher() {
  const answers: ((text: string) => void)[] = [];
  const kept: string[] = [];
  const fetcher = assetFetcher({
    rules: {
      fetch: () => new Promise((resolve) => answers.push((text) => resolve(new Response(text)))),
      hosts: undefined,
    },
    store: { keep: async ({ uris }) => void kept.push(uris[0]) },
    caches: {
      async take(_project, chunks) {
        const parts: Uint8Array[] = [];
        for await (const chunk of chunks) parts.push(chunk);
        return digestOf(Buffer.concat(parts));
      },
    },
    admit: async () => {},
    mostBytes: 1_000,
    nowMs: () => 0,
  });
  const by = { caller: everybody, project: "default" };
  const ask = (uri: string, header?: string) => {
    const qualifiers = header === undefined ? [] : [{ name: "http_header:x", value: header }];
    return fetcher.fetch(assetQueryOf("blob", { uris: [uri], qualifiers }), by, 60_000);
  };
  return { ask, answers, kept };
}

test("calls for the same content at the same time share a download", async () => {
  const { ask, answers, kept } = aFetcher();
  const calls = Array.from({ length: 5 }, () => ask("https://example.com/a"));
  await expect.poll(() => answers.length).toBe(1);
  answers[0]?.("content");

  const found = await Promise.all(calls);
  expect(new Set(found.map(({ digest }) => digest.hash)).size).toBe(1);
  expect(kept).toEqual(["https://example.com/a"]);
});

test("calls with headers share nothing, and store nothing under an address", async () => {
  const { ask, answers, kept } = aFetcher();
  const calls = ["one", "two"].map((header) => ask("https://example.com/a", header));
  await expect.poll(() => answers.length).toBe(2);
  for (const [n, answer] of answers.entries()) answer(`content ${n}`);

  const found = await Promise.all(calls);
  expect(new Set(found.map(({ digest }) => digest.hash)).size).toBe(2);
  expect(kept).toEqual([]);
});
