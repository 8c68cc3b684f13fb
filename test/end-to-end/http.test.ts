import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Failure } from "#api/failure.ts";
import { GraphDelta } from "#api/graph.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

let farm: Farm;
let repository: SampleRepository;

beforeAll(async () => {
  [farm, repository] = await Promise.all([
    startFarm({ workers: 0 }),
    sampleRepository({
      ".grange/farm.yml": `
version: 1
jobs:
  first: { commands: "true", inputs: [] }
  second: { commands: "true", inputs: [], needs: [first] }
  apart: { commands: "echo apart", inputs: [] }
`,
    }),
  ]);
});
afterAll(async () => {
  await farm.stop();
  await repository.remove();
});

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

/** Sends any Host header and an unchanged path, which fetch does not. */
function send(method: string, path: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(farm.url, { method, path, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("end", () => resolve({ status: response.statusCode, body }));
    });
    sent.on("error", reject);
    sent.end(method === "POST" ? "{}" : undefined);
  });
}

test.each(["/", "/api/v1/graphs", "/api/v1/events", "/assets/a.js"])(
  "%s is not answered under another name, as after DNS rebinding",
  async (path) => {
    const { status, body } = await send("GET", path, { host: "farm.evil.example:80" });

    expect(status).toBe(403);
    expect(Failure.parse(JSON.parse(body)).error.code).toBe("permission_denied");
  },
);

test.each([
  "/api/v1/graphs",
  "/api/v1/graphs/latest/cancel",
  "/api/v1/graphs/latest/jobs/first/cancel",
])("POST %s is refused as text/plain, which any page may send", async (path) => {
  const { id } = await farm.submit({ repository: repository.path });

  const { status, body } = await send("POST", path, { "content-type": "text/plain" });

  expect(status).toBe(400);
  expect(Failure.parse(JSON.parse(body)).error.message).toContain("application/json");
  expect((await farm.graph(id)).state).toBe("running");
});

test.each([
  ["GET", "/api/v1/no/such/thing", 404],
  ["GET", "/api/v1", 404],
  ["DELETE", "/api/v1/graphs", 404],
  ["POST", "/nowhere", 404],
  ["GET", "/api/v1/graphs/00000000-0000-4000-8000-000000000000", 404],
  ["GET", "/api/v1/graphs/latest/jobs/nobody", 404],
  ["GET", "/api/v1/graphs/latest/jobs/first/runs/9/log", 404],
  ["GET", "/api/v1/graphs/latest/jobs/first/runs/x/log", 400],
  ["GET", "/api/v1/graphs?limit=many", 400],
  ["GET", "/api/v1/graphs?before=nonsense", 400],
  ["GET", "/api/v1/graphs/latest/events?since=-1", 400],
  ["GET", "/api/v1/graphs/%00", 404],
  ["GET", "/api/v1/graphs/%25%27;drop", 404],
] as const)("%s %s is a failure in JSON, %i", async (method, path, status) => {
  const answer = await send(method, path, { "content-type": "application/json" });

  expect({ ...answer, body: Failure.parse(JSON.parse(answer.body)) }).toMatchObject({ status });
});

test.each(["/%zz", "/api/v1/graphs/%zz", "/assets/..%2f..%2fpackage.json", "/assets/%00.js"])(
  "%s is nobody's failure but the asker's",
  async (path) => {
    const { status, body } = await send("GET", path, {});

    expect(status).toBeLessThan(500);
    expect(body).not.toContain("devDependencies");
  },
);

test("a stream that continues after Last-Event-ID contains exactly the changes since then", async () => {
  const { id } = await farm.submit({ repository: repository.path });
  const path = `${farm.url}/api/v1/graphs/${id}/events`;
  expect((await nextEvent(path, 0)).names).toEqual(["apart", "first", "second"]);
  const { jobList } = await farm.until(id, (graph) =>
    graph.jobList.every(({ name, state }) => state === (name === "second" ? "blocked" : "queued")),
  );
  // The summary is read before the jobs, and may be older than what they show.
  const version = Math.max(...jobList.map((job) => job.version));

  await cancel(`/api/v1/graphs/${id}/jobs/apart/cancel`);
  const first = await nextEvent(path, version);
  // No other change happened: the next event is that of the next change.
  const waiting = nextEvent(path, first.id);
  await cancel(`/api/v1/graphs/${id}/cancel`);

  expect(first).toEqual({ id: first.version, version: first.version, names: ["apart"] });
  expect((await waiting).names).toEqual(["first", "second"]);
});

/** Returns the next event of a graph's stream after a version. */
async function nextEvent(path: string, after: number) {
  const response = await fetch(path, { headers: { "last-event-id": String(after) } });
  let text = "";
  // Leaving the loop closes the connection.
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const event = text
      .split("\n\n")
      .slice(0, -1)
      .find((each) => each.includes("data:"));
    if (event === undefined) continue;
    const { graph, jobs } = GraphDelta.parse(JSON.parse(/^data: ?(.*)$/m.exec(event)?.[1] ?? ""));
    const names = jobs.map(({ name }) => name).toSorted();
    return { id: Number(/^id: ?(.*)$/m.exec(event)?.[1]), version: graph.version, names };
  }
  throw new Error(`the stream ended early:\n${text}`);
}

async function cancel(path: string): Promise<void> {
  const { status } = await send("POST", path, { "content-type": "application/json" });
  expect(status).toBe(200);
}
