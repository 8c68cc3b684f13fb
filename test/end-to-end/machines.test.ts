import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { CreatedToken, Token } from "#api/access.ts";
import { Collectors, CollectorView } from "#api/collector.ts";
import { workerEndpoints } from "#api/endpoints/worker-endpoints.ts";

import { type ApiClient, apiClient } from "#cli/api/api-client.ts";
import { linkCluster, removeWithCluster } from "../support/prepared-cluster.ts";
import type { Program } from "../support/process.ts";
import { startGrange } from "../support/run-grange.ts";
import { type TestAuthority, testAuthority } from "../support/test-authority.ts";
import { testCertificate } from "../support/test-certificate.ts";

// Workers, collectors and granaries as separate processes of a closed farm with TLS on its only port.

// Each test starts one or two programs: this must also work on a slow machine.

const kinds = ["worker", "collector", "granary"] as const;
type Kind = (typeof kinds)[number];
type Variables = Readonly<Record<string, string>>;

let scratch: string;
let server: Program;
let url: string;
let ca: string;
let owner: ApiClient;
let anybody: ApiClient;
let ours: TestAuthority;
let theirs: TestAuthority;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "grange-machines-"));
  const own = await testCertificate(scratch);
  ca = own.cert;
  [ours, theirs] = await Promise.all([
    testAuthority(scratch, "ours"),
    testAuthority(scratch, "theirs"),
  ]);
  const files = ["--tls-cert", own.cert, "--tls-key", own.key, "--client-ca", ours.cert];
  const data = join(scratch, "server");
  await linkCluster(data);
  server = startGrange(["server", "--port", "0", "--data", data, "--close", ...files]);
  const line = await server.line((each) => each.startsWith('{"ready":true'));
  ({ url } = z.object({ url: z.string() }).parse(JSON.parse(line)));
  const token = (await readFile(join(data, "owner-token"), "utf8")).trim();
  owner = apiClient(url, { token, ca: own.pem });
  anybody = apiClient(url, { ca: own.pem });
});
afterAll(async () => {
  server?.signal("SIGTERM");
  await server?.finished;
  await removeWithCluster(join(scratch, "server"));
  await rm(scratch, { recursive: true, force: true });
});

const offer = (kind: Kind, name: string) =>
  owner.post(CreatedToken, "/enrolments", { principal: name, kind });

let sets = 0;
async function registered(kind: Kind, name: string): Promise<void> {
  if (kind !== "collector") return;
  const target = `${process.platform}-${process.arch}`;
  // Two collectors of one set would mix their figures.
  sets += 1;
  const fresh = { name, target, set: sets, mayTakeOver: [], active: true };
  await owner.post(CollectorView, "/benchmarks/collectors", fresh);
}

function start(kind: Kind, name: string, env: Variables, ...more: string[]): Program {
  const dir = join(scratch, name);
  const commands: Record<Kind, string[]> = {
    worker: ["worker", "--name", name, "--data", dir],
    collector: ["collector", "run", name, "--data-dir", dir, "--no-self-test", "--flag-load"],
    granary: ["granary", "--data", dir],
  };
  const program = startGrange([...commands[kind], ...more], {
    env: {
      GRANGE_TOKEN: "",
      GRANGE_SERVER: url,
      GRANGE_CA: ca,
      GRANGE_MEASURING_LOCK: join(scratch, "measuring.lock"),
      ...env,
    },
  });
  onTestFinished(async () => {
    program.signal("SIGKILL");
    await program.finished;
  });
  return program;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** Resolves when the farm has received data from the machine that only its principal may send. */
async function hasDoneItsWork(kind: Kind, name: string, program: Program): Promise<void> {
  const ready = await program.line((line) => line.startsWith('{"ready":true'));
  switch (kind) {
    case "worker":
      return until(async () => {
        const workers = await anybody.call(workerEndpoints.workers, {});
        return workers.some((each) => each.name === name && each.principal === name);
      });
    case "collector":
      return until(async () => {
        const { collectors } = await anybody.get(Collectors, "/benchmarks/collectors");
        return collectors.some((each) => each.name === name && each.lastHeartbeatAt !== null);
      });
    case "granary": {
      const { port } = z.object({ port: z.number() }).parse(JSON.parse(ready));
      const path = `cache/default/gradle/${name}`;
      await fetch(`http://127.0.0.1:${port}/${path}`, { method: "PUT", body: "an entry" });
      const { token } = await owner.post(CreatedToken, "/tokens", { principal: "looks" });
      const farm = start("granary", `${name}-other`, { GRANGE_TOKEN: token });
      const other = await farm.line((line) => line.startsWith('{"ready":true'));
      const at = z.object({ port: z.number() }).parse(JSON.parse(other)).port;
      return until(async () => (await fetch(`http://127.0.0.1:${at}/${path}`)).ok);
    }
  }
}

/** The farm's refusal as the process prints it: as its last line, or in its log while it continues to try. */
const refusal = (program: Program, says: RegExp) =>
  Promise.any([program.note((line) => says.test(line)), program.line((line) => says.test(line))]);

async function certified(by: TestAuthority, name: string, days?: number): Promise<Variables> {
  const extensions = ["extendedKeyUsage=clientAuth"];
  const more = days === undefined ? { extensions } : { extensions, days };
  const { cert, key } = await by.issue(`/CN=${name}`, more);
  return { GRANGE_CLIENT_CERT: cert, GRANGE_CLIENT_KEY: key };
}

describe.each(kinds)("a %s", (kind) => {
  test("enrols with a token that works once, and then authenticates with its permanent token", async () => {
    const name = `enrolled-${kind}`;
    const { token } = await offer(kind, name);
    await registered(kind, name);

    await hasDoneItsWork(kind, name, start(kind, name, {}, "--enrol", token));
    const again = start(kind, `${name}-elsewhere`, {}, "--enrol", token);

    expect(await refusal(again, /was used already, for token/)).toContain("grange token create");
  });

  test("authenticates with its certificate, without a token", async () => {
    const name = `certified-${kind}`;
    await Promise.all([offer(kind, name), registered(kind, name)]);

    const program = start(kind, name, await certified(ours, name));

    await expect(hasDoneItsWork(kind, name, program)).resolves.toBeUndefined();
  });

  test("reports the problem with its certificate", async () => {
    const name = `doubtful-${kind}`;
    await Promise.all([offer(kind, name), registered(kind, name)]);
    const [strange, over] = await Promise.all([certified(theirs, name), certified(ours, name, -1)]);

    const programs = [start(kind, name, strange), start(kind, `${name}-2`, over)] as const;

    const said = await Promise.all([
      refusal(programs[0], /not from an authority that this farm accepts/),
      refusal(programs[1], /certificate .* expired on/),
    ]);
    expect(said).toEqual([
      expect.stringContaining("GRANGE_CLIENT_CERT"),
      expect.stringContaining("GRANGE_CLIENT_CERT"),
    ]);
  });

  test("reports that its token was revoked, and that an enrolment was used or is of another kind", async () => {
    const name = `revoked-${kind}`;
    const otherKind = kind === "worker" ? "granary" : "worker";
    const [ended, others] = await Promise.all([
      offer(kind, `${name}-2`),
      offer(otherKind, `${name}-3`),
      offer(kind, name),
      registered(kind, name),
    ]);
    const own = await owner.post(CreatedToken, "/tokens", { principal: name });
    await Promise.all([ended, own].map(({ id }) => owner.post(Token, `/tokens/${id}/revoke`, {})));

    // Workers have a separate variable.
    const variable = kind === "worker" ? "GRANGE_WORKER_TOKEN" : "GRANGE_TOKEN";
    const first = start(kind, name, { [variable]: own.token });
    const second = start(kind, `${name}-2`, {}, "--enrol", ended.token);
    const third = start(kind, `${name}-3`, {}, "--enrol", others.token);

    expect(await refusal(first, /was revoked at/)).toContain(own.id);
    expect(await refusal(second, /enrolment token .* was revoked/)).toContain(ended.id);
    expect(await refusal(third, new RegExp(`is for a ${otherKind}`))).toContain(`--enrol ${kind}`);
  });
});
