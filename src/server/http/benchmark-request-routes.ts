import { type Context, Hono } from "hono";
import { z } from "zod";
import { PushSuite } from "#api/benchmark-history.ts";
import {
  ArtifactsReady,
  ArtifactTag,
  RequestKind,
  RequestState,
  SubmitBenchmarkRequest,
} from "#api/benchmark-request.ts";
import { type Digest, parseDigestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { SuiteWord } from "#core/test-case.ts";
import { found } from "../handlers/found.ts";
import type { Farm } from "./farm.ts";
import { jsonBody, noOptions, requireJson } from "./json-body.ts";
import { principalOf } from "./principal.ts";

const Limit = z.coerce.number().int().min(1).max(1_000).default(50);

const ArtifactQuery = z.object({
  suite: SuiteWord,
  kind: RequestKind.optional(),
  before: ArtifactTag.optional(),
  limit: Limit,
});

const RequestQuery = z.object({
  suite: SuiteWord.optional(),
  state: RequestState.optional(),
  before: z.uuid().optional(),
  limit: Limit,
});

/** Suites, artifacts, and requests to measure them. */
export function benchmarkRequestRoutes(farm: Farm): Hono {
  const routes = new Hono();
  const suiteOf = (c: Context) => queried(SuiteWord, c.req.param("suite"));

  routes.get("/benchmarks/suites", async (c) => c.json(await farm.benchmarkSuites()));

  routes.get("/benchmarks/suites/:suite", async (c) => {
    const suite = suiteOf(c);
    return c.json(found(await farm.benchmarkSuite(suite), `suite "${suite}"`));
  });

  routes.put("/benchmarks/suites/:suite", async (c) => {
    requireJson(c);
    const { definition } = await jsonBody(c, PushSuite, {
      bytes: 4 * 1024 * 1024,
      verb: "benchmark",
    });
    return c.json(await farm.pushBenchmarkSuite(suiteOf(c), definition, principalOf(c)));
  });

  routes.get("/benchmarks/artifacts", async (c) => {
    const { kind, before, ...query } = queried(ArtifactQuery, c.req.query());
    return c.json(await farm.benchmarkArtifacts({ ...query, kind, before }));
  });

  routes.put("/benchmarks/tarballs/:hash/:size", async (c) => {
    const digest = tarballOf(c.req.param("hash"), c.req.param("size"));
    const body = c.req.raw.body ?? new Blob([]).stream();
    await farm.keepBenchmarkTarball(digest, body, principalOf(c));
    return c.json({ digest: `${digest.hash}/${digest.sizeBytes}` });
  });

  routes.get("/benchmarks/requests", async (c) => {
    const { suite, state, before, limit } = queried(RequestQuery, c.req.query());
    return c.json(await farm.benchmarkRequests({ suite, state, before, limit }));
  });

  routes.post("/benchmarks/requests", async (c) => {
    const request = await jsonBody(c, SubmitBenchmarkRequest);
    const submitted = await farm.submitBenchmarkRequest(request, principalOf(c));
    return c.json(submitted, submitted.outcome === "created" ? 201 : 200);
  });

  routes.get("/benchmarks/requests/:id", async (c) => {
    const id = c.req.param("id");
    return c.json(found(await farm.benchmarkRequest(id), `benchmark request ${id}`));
  });

  routes.post("/benchmarks/requests/:id/cancel", async (c) => {
    await noOptions(c);
    const id = c.req.param("id");
    const now = await farm.cancelBenchmarkRequest(id, principalOf(c));
    return c.json(found(now, `benchmark request ${id}`));
  });

  routes.post("/benchmarks/requests/:id/retry", async (c) => {
    await noOptions(c);
    const submitted = await farm.retryBenchmarkRequest(c.req.param("id"), principalOf(c));
    return c.json(submitted, submitted.outcome === "created" ? 201 : 200);
  });

  routes.post("/benchmarks/requests/:id/artifacts-ready", async (c) => {
    const id = c.req.param("id");
    const { tarballs = {} } = await jsonBody(c, ArtifactsReady);
    const now = await farm.benchmarkArtifactsReady(id, tarballs, principalOf(c));
    return c.json(found(now, `benchmark request ${id}`));
  });

  routes.get("/benchmarks/status", async (c) => c.json(await farm.benchmarkStatus()));

  return routes;
}

function tarballOf(hash: string, size: string): Digest {
  const written = `${hash}/${size}`;
  if (/^[0-9a-f]{64}\/\d{1,15}$/.test(written)) return parseDigestKey(written);
  throw new Fault("invalid_argument", "a tarball is named by its SHA-256 and size: HASH/SIZE");
}

function queried<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (!parsed.success) throw new Fault("invalid_argument", z.prettifyError(parsed.error));
  return parsed.data;
}
