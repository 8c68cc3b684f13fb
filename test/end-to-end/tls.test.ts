import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { GrpcChannel } from "#grpc/channel.ts";
import {
  ActionCache,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { grange } from "../support/farm.ts";
import { curl } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import { linkCluster, removeWithCluster } from "../support/prepared-cluster.ts";
import { type Program, startProgram } from "../support/process.ts";
import { grangeJson, lastLine, runGrange, startGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";
import { type TestCertificate, testCertificate } from "../support/test-certificate.ts";

const definitions = `
version: 1
jobs:
  make: { commands: "sort words > sorted", inputs: [words], outputs: [sorted] }
  use: { needs: [make], commands: "cat sorted", inputs: [] }
`;

let scratch: string;
let certificate: TestCertificate;
let repository: SampleRepository;
let server: Program;
let worker: Program;
let url: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "grange-tls-"));
  certificate = await testCertificate(scratch);
  repository = await sampleRepository({ ".grange/farm.yml": definitions, words: "b\na\n" });
  const { cert, key } = certificate;
  await linkCluster(join(scratch, "data"));
  const options = ["--data", join(scratch, "data"), "--tls-cert", cert, "--tls-key", key];
  server = startGrange(["server", "--port", "0", ...options]);
  const line = await server.line((each) => each.startsWith('{"ready":true'));
  ({ url } = JSON.parse(line) as { url: string });
  const named = ["--server", url, "--name", "w1", "--data", join(scratch, "worker")];
  worker = startProgram(process.execPath, [grange, "worker", ...named], {
    env: { GRANGE_CA: cert },
  });
});
afterAll(async () => {
  worker?.signal("SIGTERM");
  await worker?.finished;
  server?.signal("SIGTERM");
  await server?.finished;
  await repository?.remove();
  await removeWithCluster(join(scratch, "data"));
  await rm(scratch, { recursive: true, force: true });
});

test("a worker and the command line use a farm under TLS", async () => {
  const env = { GRANGE_CA: certificate.cert, GRANGE_SERVER: url };

  const answered = await grangeJson(["submit", "--repo", repository.path, "--wait"], { env });

  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(answered).toMatchObject({ state: "succeeded" });
});

test("curl can access the API and the pages with any version of HTTP", needs(curl), async () => {
  for (const version of ["--http1.1", "--http2"]) {
    const asked = [
      version,
      "--silent",
      "--fail",
      "--cacert",
      certificate.cert,
      `${url}/api/v1/server`,
    ];

    const { stdout } = await promisify(execFile)("curl", asked);

    expect(JSON.parse(stdout)).toMatchObject({ version: expect.any(String) });
  }
});

test("a cache over HTTP is served under TLS, and Bazel's results in it can be read over gRPC", async () => {
  const ca = await readFile(certificate.cert, "utf8");
  const send = async (path: string, body?: Uint8Array) => {
    const sent = request(`${url}/cache/default/${path}`, {
      ca,
      agent: false,
      method: body === undefined ? "GET" : "PUT",
    });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { status: response.statusCode, body: await buffer(response) };
  };
  const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  const file = Buffer.from("an output");
  const action = { hash: hashOf(Buffer.from("an action")), sizeBytes: 9n };
  const result = create(ActionResultSchema, {
    outputFiles: [{ path: "out", digest: { hash: hashOf(file), sizeBytes: BigInt(file.length) } }],
  });
  const channel = new GrpcChannel({ url, tls: { ca } });
  onTestFinished(() => channel.stop());

  const large = randomBytes(3_000_000);
  const put = await send("gradle/abc", large);
  const got = await send("gradle/abc");
  const absent = await send("gradle/none");
  await send(`bazel/cas/${hashOf(file)}`, file);
  await send(`bazel/ac/${action.hash}`, toBinary(ActionResultSchema, result));

  expect([put.status, got.status, absent.status]).toEqual([200, 200, 404]);
  expect(got.body.equals(large)).toBe(true);
  expect(await channel.unary(ActionCache.method.getActionResult, { actionDigest: action })).toEqual(
    result,
  );
});

test("a client that does not trust the certificate gets a remedy, and so does a client without TLS", async () => {
  const untrusting = await runGrange(["workers", "--server", url], { env: { GRANGE_CA: "" } });
  const clear = await runGrange(["workers", "--server", url.replace("https:", "http:")]);
  const [response] = await once(get(url.replace("https:", "http:"), { agent: false }), "response");
  response.resume();

  expect(untrusting.stderr).toContain("name the file of its authority in GRANGE_CA");
  expect(clear.stderr).toContain("write https://");
  expect(response.statusCode).toBe(400);
});

test("grange up runs a commit under TLS, with any given certificate", async () => {
  const env = { GRANGE_TLS_CERT: certificate.cert, GRANGE_TLS_KEY: certificate.key, GRANGE_CA: "" };
  const options = ["--json", "--port", "0", "--data", join(scratch, "up")];

  const ended = await runGrange(["up", ...options, "--repo", repository.path, "--once"], { env });

  expect(lastLine(ended)).toMatchObject({
    state: "succeeded",
    url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/graphs\//),
  });
});

test("a server with an unusable certificate prints the reason, and does not start", async () => {
  const data = ["--data", join(scratch, "none"), "--port", "0"];

  const ended = await runGrange(["server", ...data, "--tls-cert", certificate.cert]);
  const gone = join(scratch, "gone.key");
  const other = await runGrange(
    ["server", ...data, "--tls-cert", certificate.cert].concat("--tls-key", gone),
  );

  expect(lastLine(ended)).toMatchObject({ ready: false });
  expect(ended.stdout + ended.stderr).toContain("GRANGE_TLS_KEY");
  expect(other.stdout + other.stderr).toContain("gone.key");
});
