import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { JobDetail } from "#api/graph.ts";
import { JobPage } from "#api/job-page.ts";
import { JobWaiting } from "#api/waiting.ts";
import { testRepository } from "#git/repository.fixture.ts";
import { freshDatabase } from "../../../test/support/fresh-db.ts";
import { readServerConfig } from "../config.ts";
import { type RunningServer, startServer } from "../start-server.ts";

const databaseUrl = await freshDatabase();
let dataDir: string;
let server: RunningServer;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "grange-waiting-"));
  const config = readServerConfig({ dataDir, databaseUrl, port: 0, host: "127.0.0.1" }, {});
  server = await startServer(config, pino({ level: "silent" }));
});
afterAll(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true });
});

const ask = (path: string, init: RequestInit = {}) => fetch(`${server.url}/api/v1${path}`, init);

test("a farm without workers says of each job why it waits, on its own and with the job", async () => {
  const repository = testRepository(dataDir);
  repository.write({
    ".grange/farm.yml":
      "version: 1\njobs:\n  build: {commands: make}\n  test: {commands: ./test, needs: [build]}\n",
  });
  repository.commit("Begin");
  const submitted = await ask("/graphs", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ repository: repository.path }),
  });
  const { id } = (await submitted.json()) as { id: string };
  await untilTold(`/graphs/${id}/events?since=0`, '"state":"queued"');

  const build = JobWaiting.parse(await (await ask(`/graphs/${id}/jobs/build/waiting`)).json());
  const detail = JobDetail.parse(await (await ask(`/graphs/${id}/jobs/test`)).json());
  const page = JobPage.parse(await (await ask(`/graphs/${id}/jobs/test/page`)).json());

  expect(build.waiting).toMatchObject({
    kind: "capacity-none",
    sentence: "waits for a worker: none is connected",
    advice: "start one: grange worker",
  });
  expect(detail.waiting).toMatchObject({
    kind: "dependency",
    sentence: "waits for build; build waits for a worker: none is connected",
  });
  expect(page).toEqual({
    detail,
    neighbours: [{ name: "build", state: "queued" }],
    failure: null,
  });
  expect((await ask(`/graphs/${id}/jobs/nothing/waiting`)).status).toBe(404);
  expect((await ask(`/graphs/${id}/jobs/nothing/page`)).status).toBe(404);
});

/** Follows a stream of events until an event contains the text. */
async function untilTold(path: string, text: string): Promise<void> {
  const stopped = new AbortController();
  const { body } = await ask(path, { signal: stopped.signal });
  if (body === null) throw new Error("the stream has no body");
  const decoder = new TextDecoder();
  let told = "";
  for await (const chunk of body) {
    told += decoder.decode(chunk, { stream: true });
    if (told.includes(text)) break;
  }
  stopped.abort();
}
