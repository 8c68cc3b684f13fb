import { createHash } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Quarantine } from "#api/granary.ts";
import { unzstdWhole } from "#cas/zstd/zstd-streams.ts";
import { readKeyFilter } from "#commit-index/key-filter.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { ActionCache } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { FetchedSchema, Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import { type GranaryLab, startGranaryLab } from "../../bench/show/granary/granary-lab.ts";
import { runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/**
 * A build of one action, which requests its result over Bazel's HTTP cache and makes it if it is missing; with POISON
 * set it makes a wrong one.
 */
const tool = `
import { createHash } from "node:crypto";
const sha = (bytes) => createHash("sha256").update(bytes).digest("hex");
const cache = process.env.SCCACHE_WEBDAV_ENDPOINT?.replace(/sccache$/, "bazel");
if (cache === undefined) process.exit(99);
const field = (n, bytes) => Buffer.concat([Buffer.from([(n << 3) | 2, bytes.length]), bytes]);
const action = cache + "/ac/" + sha("the action");
const found = await fetch(action);
if (found.status === 200) {
  const [digest] = /[0-9a-f]{64}/.exec(Buffer.from(await found.arrayBuffer()).toString("latin1"));
  console.log("given " + (await (await fetch(cache + "/cas/" + digest)).text()));
} else {
  await found.arrayBuffer();
  const output = Buffer.from(process.env.POISON ? "poison" : "right!");
  const digest = Buffer.concat([field(1, Buffer.from(sha(output))), Buffer.from([16, output.length])]);
  const file = Buffer.concat([field(1, Buffer.from("out")), field(2, digest)]);
  const puts = [[cache + "/cas/" + sha(output), output], [action, field(2, file)]];
  for (const [url, body] of puts) {
    const put = await fetch(url, { method: "PUT", body });
    if (!put.ok) throw new Error(url + " " + put.status);
  }
  console.log("made " + output);
}
`;
const action = createHash("sha256").update("the action").digest("hex");
const key = { namespace: "bazel", key: `ac/${action}` } as const;

let lab: GranaryLab;
let repository: SampleRepository;
const tokens: Record<"root" | "poisoner" | "honest", string> = {
  root: "",
  poisoner: "",
  honest: "",
};

beforeAll(async () => {
  [lab, repository] = await Promise.all([
    startGranaryLab({ roundTripMs: 0 }),
    sampleRepository({ "tool.mjs": tool }),
  ]);
  await grange("grant", "add", "root", "*", "--top");
  for (const name of ["poisoner", "honest"] as const) await grange("grant", "add", name, "cache");
  for (const name of ["root", "poisoner", "honest"] as const) {
    tokens[name] = (await grange("token", "create", name, "--expires", "90d")).stdout.trim();
  }
  await grangeAs(tokens.root, "grant", "remove", "anyone", "*");
});
afterAll(async () => {
  await lab.stop();
  await repository.remove();
});

const grange = (...args: string[]) => grangeAs("", ...args);

async function grangeAs(token: string, ...args: string[]) {
  const options = token === "" ? {} : { env: { GRANGE_TOKEN: token } };
  const ended = await runGrange([...args, "--server", lab.farm.url], options);
  if (ended.code !== 0) throw new Error(`${args.join(" ")}: ${ended.stderr}`);
  return ended;
}

/**
 * Runs the build on a machine without results, which sends its results; returns the build's output.
 */
async function buildsOn(
  who: "poisoner" | "honest",
  { more = [], poison = false }: { more?: readonly string[]; poison?: boolean } = {},
): Promise<string> {
  const granary = await lab.startGranary({ more, env: { GRANGE_TOKEN: tokens[who] } });
  const build = () =>
    granary.exec([process.execPath, "tool.mjs"], {
      cwd: repository.path,
      ...(poison ? { env: { POISON: "1" } } : {}),
    });
  let { code, text } = await build();
  // A build waits only briefly for a granary; on a busy machine it may then run without one.
  while (code === 99) ({ code, text } = await build());
  await granary.drained();
  await granary.stop();
  if (code !== 0) throw new Error(`the build ended with ${code}: ${text}`);
  return /^(?:made|given) .*$/m.exec(text)?.[0] ?? text;
}

async function quarantine(path = "?project=default", request?: RequestInit) {
  const response = await fetch(`${lab.farm.url}/api/v1/granary/quarantine${path}`, request);
  return { status: response.status, body: await response.text() };
}

const listed = async () => Quarantine.parse(JSON.parse((await quarantine()).body)).results;

function releasedBy(token: string | undefined) {
  return quarantine("/release", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ project: "default", ...key }),
  });
}

/** At its start, a build gets a filter of the farm's keys that is a few seconds old. */
async function untilKnown(): Promise<void> {
  const channel = new GrpcChannel({ url: lab.farm.url });
  onTestFinished(() => channel.stop());
  const build = { commits: ["0".repeat(40)], environment: "any", wantFilter: true };
  for (;;) {
    const { filter } = await channel.unary(Granaries.method.resolve, build);
    if (filter !== undefined && readKeyFilter(filter)(key)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Returns the interfaces over which the farm returns the result. */
async function waysOpen(): Promise<string[]> {
  const channel = new GrpcChannel({ url: lab.farm.url });
  onTestFinished(() => channel.stop());
  const open: string[] = [];
  const http = await fetch(`${lab.farm.url}/cache/default/bazel/${key.key}`);
  await http.arrayBuffer();
  if (http.status === 200) open.push("HTTP");
  const rev2 = await channel
    .unary(ActionCache.method.getActionResult, {
      actionDigest: { hash: action, sizeBytes: 10n },
    })
    .catch(() => undefined);
  if (rev2 !== undefined) open.push("REv2");
  const { results } = await channel.unary(Granaries.method.lookUp, { results: [key] });
  if (results.length > 0) open.push("look-up");
  const items = [{ item: { case: "result" as const, value: key } }];
  for await (const { packed, unpackedBytes } of channel.serverStream(Granaries.method.fetch, {
    items,
  })) {
    const fetched = fromBinary(FetchedSchema, await unzstdWhole(packed, unpackedBytes));
    if (fetched.items.some(({ item }) => item.case === "result")) open.push("fetch");
  }
  return open;
}

test("a poisoned result is detected, no longer served, listed with its maker, and released with permission", {
  timeout: 400_000,
}, async () => {
  expect(await buildsOn("poisoner", { poison: true })).toBe("made poison");
  expect(await waysOpen()).toEqual(["HTTP", "REv2", "look-up", "fetch"]);
  await untilKnown();
  expect(await buildsOn("honest")).toBe("given poison");
  expect(await listed()).toEqual([]);

  // A machine that executes all hits again.
  expect(await buildsOn("honest", { more: ["--cross-check", "1"] })).toBe("made right!");

  expect(await waysOpen()).toEqual([]);
  const [found, ...others] = await listed();
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    producer: "poisoner",
    foundBy: "honest",
    divergence: { ...key, differs: ["out"] },
    releasedAt: null,
  });
  // The machine that received it, and not the machine that made it.
  expect(found?.givenTo).toHaveLength(1);

  const told = await grangeAs(tokens.honest, "quarantine");
  expect(told.stdout).toContain(`bazel ${key.key}`);
  expect(told.stdout).toContain("written by poisoner");
  const also = ["quarantine", "bazel", key.key, "--made-from"];
  await expect(grangeAs(tokens.honest, ...also)).rejects.toThrow("administer");
  // No machine reported results that were made from it.
  expect((await grangeAs(tokens.root, ...also)).stdout).toContain("made 0 results afterwards");

  // While the entry exists, each machine executes the action, and no other result replaces it.
  expect(await buildsOn("honest")).toBe("made right!");
  expect(await buildsOn("poisoner", { poison: true })).toBe("made poison");
  expect(await waysOpen()).toEqual([]);

  expect(await releasedBy(undefined)).toMatchObject({ status: 403 });
  expect(await releasedBy(tokens.honest)).toMatchObject({ status: 403 });
  expect(await waysOpen()).toEqual([]);
  expect(await releasedBy(tokens.root)).toMatchObject({ status: 200 });

  expect(await waysOpen()).toEqual([]);
  expect(await buildsOn("honest")).toBe("made right!");
  await untilKnown();
  expect(await buildsOn("honest")).toBe("given right!");
  expect(await listed()).toMatchObject([{ releasedBy: "root" }]);
});
