// Replaces `grange server` and `grange worker` in tests of the processes that start and end them. Each process has an
// open connection to the test, which so detects its start and its end.
import { createServer } from "node:http";
import { connect } from "node:net";

const [role, ...words] = process.argv.slice(2);
const option = (name) => words[words.indexOf(name) + 1];
const { FAKE_REPORT_PORT, FAKE_GRAPH = "succeeded", FAKE_STUBBORN } = process.env;

const report = connect(Number(FAKE_REPORT_PORT), "127.0.0.1");
report.write(`${role} ${process.pid}\n`);
report.on("error", () => {});

process.on("SIGTERM", () => {
  if (FAKE_STUBBORN === undefined) process.exit(0);
});
process.on("SIGINT", () => process.exit(99));
process.stdin.on("end", () => process.exit(0)).resume();

if (role === "server") serve();

function serve() {
  const at = "2026-01-01T00:00:00.000Z";
  const graph = {
    id: "0f0f0f0f-0000-4000-8000-000000000000",
    repository: "here",
    project: "default",
    commit: "a".repeat(40),
    rev: "HEAD",
    subject: "Begin",
    author: "Ada",
    committedAt: at,
    catalog: "c",
    templates: "c",
    customised: 0,
    idleMs: 0,
    set: "0f0f0f0f-0000-4000-8000-000000000000",
    setName: null,
    parent: null,
    branch: "main",
    priority: 0,
    top: false,
    submittedBy: "anyone",
    state: FAKE_GRAPH,
    version: 2,
    jobs: 2,
    counts: {},
    createdAt: at,
    finishedAt: FAKE_GRAPH === "running" ? null : "2026-01-01T00:00:03.000Z",
  };
  const job = (name, state, cached) => ({
    name,
    kind: "command",
    state,
    version: 2,
    tags: {},
    runs: 1,
    cached,
    stale: false,
    customised: false,
    reason: null,
    readyAt: at,
    startedAt: at,
    finishedAt: "2026-01-01T00:00:02.000Z",
  });
  const jobList = [job("lint", "succeeded", true), job("tests", FAKE_GRAPH, false)];
  const server = createServer((request, response) => {
    request.resume();
    const path = request.url.replace("/api/v1", "");
    if (path.endsWith("/events")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": still here\n\n");
      return;
    }
    const answers = {
      "POST /graphs": { id: graph.id, url: `/graphs/${graph.id}`, graph },
      [`GET /graphs/${graph.id}`]: { ...graph, jobList, edges: [] },
    };
    const answer = answers[`${request.method} ${path}`];
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { error: { code: "not_found", message: path } }));
  });
  server.listen(Number(option("--port")), "127.0.0.1", () => {
    const url = `http://127.0.0.1:${server.address().port}`;
    process.stdout.write(`${JSON.stringify({ ready: true, url, databaseMs: 1 })}\n`);
  });
}
