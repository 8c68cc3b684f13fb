import { Hono } from "hono";
import {
  AddCollector,
  ChangeCollector,
  ClaimBenchmarkJob,
  CollectorHello,
  EndBenchmarkJob,
  JobHeartbeat,
  ReportSelfTest,
  ReportTest,
} from "#api/collector.ts";
import type { BenchmarkCollectorFarm } from "./benchmark-collector-farm.ts";
import { jsonBody, noOptions } from "./json-body.ts";
import { principalOf } from "./principal.ts";

/** Collectors: their register, and what they ask and tell while they measure. */
export function benchmarkCollectorRoutes(farm: BenchmarkCollectorFarm): Hono {
  const routes = new Hono();
  const collectors = "/benchmarks/collectors";
  const jobs = "/benchmarks/jobs";

  routes.get(collectors, async (c) => c.json({ collectors: await farm.benchmarkCollectors() }));
  routes.post(collectors, async (c) =>
    c.json(await farm.addBenchmarkCollector(await jsonBody(c, AddCollector), principalOf(c)), 201),
  );
  routes.post(`${collectors}/:name`, async (c) =>
    c.json(
      await farm.changeBenchmarkCollector(
        c.req.param("name"),
        await jsonBody(c, ChangeCollector),
        principalOf(c),
      ),
    ),
  );
  routes.delete(`${collectors}/:name`, async (c) => {
    await noOptions(c);
    await farm.removeBenchmarkCollector(c.req.param("name"), principalOf(c));
    return c.json({});
  });

  routes.post(`${collectors}/:name/hello`, async (c) =>
    c.json(
      await farm.benchmarkCollectorHello(
        c.req.param("name"),
        await jsonBody(c, CollectorHello),
        principalOf(c),
      ),
    ),
  );
  routes.post(`${collectors}/:name/claim`, async (c) =>
    c.json(
      await farm.claimBenchmarkJob(
        c.req.param("name"),
        await jsonBody(c, ClaimBenchmarkJob),
        principalOf(c),
        c.req.raw.signal,
      ),
    ),
  );
  routes.post(`${collectors}/:name/self-test`, async (c) =>
    c.json(
      await farm.reportBenchmarkSelfTest(
        c.req.param("name"),
        await jsonBody(c, ReportSelfTest, { bytes: 4 * 1024 * 1024, verb: "measure" }),
        principalOf(c),
      ),
    ),
  );

  routes.post(`${jobs}/:id/heartbeat`, async (c) => {
    const { holder } = await jsonBody(c, JobHeartbeat);
    return c.json(await farm.benchmarkJobHeartbeat(c.req.param("id"), holder, principalOf(c)));
  });
  routes.post(`${jobs}/:id/test`, async (c) =>
    c.json(
      await farm.reportBenchmarkTest(
        c.req.param("id"),
        await jsonBody(c, ReportTest, { bytes: 16 * 1024 * 1024, verb: "measure" }),
        principalOf(c),
      ),
    ),
  );
  routes.post(`${jobs}/:id/end`, async (c) =>
    c.json(
      await farm.endBenchmarkJob(
        c.req.param("id"),
        await jsonBody(c, EndBenchmarkJob),
        principalOf(c),
      ),
    ),
  );

  return routes;
}
