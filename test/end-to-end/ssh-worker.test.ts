import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Worker } from "#api/worker.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { needs } from "../support/needs/needs.ts";
import { type PrivateSshd, sshServer, startPrivateSshd } from "../support/private-sshd.ts";
import { processesWith, untilNoProcessWith } from "../support/processes-with.ts";
import { runGrange, startGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

const lines = Array.from({ length: 25 }, (_, i) => `line ${i + 1}`);

/** The parameter makes each graph's action different; it contains the first command. */
const definitions = `
version: 1
parameters:
  round: { type: string, default: "" }
jobs:
  talking:
    commands: eval "$ROUND"; i=1; while [ $i -le ${lines.length} ]; do echo "line $i"; i=$((i + 1)); sleep 0.1; done; echo made > out
    inputs: []
    outputs: [out]
    environment: { ROUND: "\${parameters.round}" }
`;

describe("a worker over ssh", { ...needs(sshServer) }, () => {
  let farm: Farm;
  let repository: SampleRepository;
  let sshd: PrivateSshd;
  /** The directory on the other machine, which is also this machine. */
  let there: string;

  beforeAll(async () => {
    there = await mkdtemp(join(tmpdir(), "grange-there-"));
    // Workers inherit the environment of the ssh sessions.
    [farm, repository, sshd] = await Promise.all([
      startFarm({ workers: 0 }),
      sampleRepository({ ".grange/farm.yml": definitions }),
      startPrivateSshd(),
    ]);
  });
  afterAll(async () => {
    await sshd.stop();
    await farm.stop();
    await repository.remove();
    // Processes that a failed test left.
    for (const { pid } of await processesWith(there)) process.kill(pid, "SIGKILL");
    await untilNoProcessWith(there);
    await rm(there, { recursive: true, force: true });
  });

  const call = (name: string, ...more: string[]) => [
    "worker",
    "--ssh",
    sshd.host,
    ...sshd.access,
    "--server",
    farm.url,
    "--remote-directory",
    there,
    "--name",
    name,
    ...more,
  ];

  async function workerCalled(name: string): Promise<Worker | undefined> {
    const workers = (await (await fetch(`${farm.url}/api/v1/workers`)).json()) as Worker[];
    return workers.find((worker) => worker.name === name);
  }

  async function outcomeOf(id: string) {
    const graph = await farm.untilOver(id);
    const { runList } = await farm.job(id, "talking");
    const printed = (await farm.log(id, "talking"))
      .split("\n")
      .filter((line) => line.startsWith("line"));
    return { state: graph.state, runList, printed };
  }

  const well = {
    state: "succeeded",
    runList: [{ number: 1, attempt: 1, outcome: "succeeded", outputs: [{ path: "out" }] }],
    printed: lines,
  };

  test("runs jobs from one copied file, and can be found, shown and ended", async () => {
    const started = await runGrange(call("plain", "--json"));
    expect(started).toMatchObject({ code: 0, stderr: "" });
    const [first] = JSON.parse(started.stdout) as { pid: number; copied: boolean }[];
    expect(first).toMatchObject({ kind: "started", copied: true, unreachable: null });

    const { id } = await farm.submit({ repository: repository.path });
    expect(await outcomeOf(id)).toMatchObject(well);
    expect(await workerCalled("plain")).toMatchObject({ transport: "ssh", finishedCount: 1 });

    const files = (await readdir(there)).filter((name) => name.endsWith(".mjs"));
    const copiedAt = (await stat(join(there, files[0] ?? ""))).mtimeMs;
    const again = JSON.parse((await runGrange(call("plain", "--json"))).stdout) as object[];
    expect(again).toMatchObject([{ kind: "already", pid: first?.pid, copied: false }]);
    expect(files).toHaveLength(1);
    expect((await stat(join(there, files[0] ?? ""))).mtimeMs).toBe(copiedAt);

    const other = await runGrange(call("plain", "--slots", "7"));
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(/a worker plain with other settings is already running.*--stop/);

    const shown = await runGrange(call("plain", "--status"));
    expect(shown.stdout).toContain(`the worker plain runs for ${farm.url} (process ${first?.pid}`);
    const stopped = await runGrange(call("plain", "--stop"));
    expect(stopped.stdout).toContain("stopped the worker plain");
    const gone = await runGrange(call("plain", "--status"));
    expect(gone.stdout).toContain("there is no worker plain on that machine");
  });

  test("for one job ends by itself after its result is delivered", async () => {
    await runGrange(call("single", "--once"));
    const { id } = await farm.submit({
      repository: repository.path,
      parameters: { round: ": once" },
    });

    expect(await outcomeOf(id)).toMatchObject(well);
    await untilNoProcessWith(join(there, "workers/single/settings.json"));
  });

  test("continues when the connection to the farm is killed", async () => {
    // The port is printed even if ssh prints no messages.
    const tunnel = startGrange(call("through", "--tunnel", "--ssh-option", "LogLevel=ERROR"));
    await tunnel.line((line) => line.includes("started the worker through"));
    const { id } = await farm.submit({
      repository: repository.path,
      parameters: { round: ": tunnel" },
    });
    await farm.untilLogged(id, "talking", "line 3");

    await sshd.cutConnections();

    expect(await outcomeOf(id)).toMatchObject(well);
    await tunnel.note((line) => line.includes("the tunnel is open again"));
    tunnel.signal("SIGTERM");
    expect((await tunnel.finished).code).toBe(0);

    // The worker has outlived the command; the next tunnel has another port.
    const second = startGrange(call("through", "--tunnel"));
    await second.line((line) => line.includes("the worker is already running: through"));
    const next = await farm.submit({
      repository: repository.path,
      parameters: { round: ": second tunnel" },
    });
    expect(await outcomeOf(next.id)).toMatchObject(well);
    await runGrange(call("through", "--stop"));
    second.signal("SIGTERM");
    await second.finished;
  });

  test("has its token in a file that only its user can read", async () => {
    const here = ["--server", farm.url];
    const made = await runGrange(["token", "create", "trusted", "--json", ...here]);
    const { token } = JSON.parse(made.stdout) as { token: string };
    await runGrange(["grant", "add", "trusted", "work", ...here]);
    await runGrange(call("trusted"), { env: { GRANGE_WORKER_TOKEN: token } });

    const settings = join(there, "workers/trusted/settings.json");
    expect((await stat(settings)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(settings, "utf8"))).toMatchObject({ token });

    // A job cannot read it either, although it runs as that user.
    const { id } = await farm.submit({
      repository: repository.path,
      parameters: { round: `cat ${settings} 2>&1` },
    });
    await farm.untilOver(id);
    expect(await farm.log(id, "talking")).toMatch(/^cat: .*(No such file|Permission denied)/m);
    await runGrange(call("trusted", "--stop"));
  });

  test.each([
    {
      what: "a key that is not let in",
      args: () => [...call("no"), "--ssh-key", sshd.wrongKey],
      says: /does not accept this user.*--ssh-key/,
    },
    {
      what: "an unknown host key",
      args: () => ["--ssh-option", "UserKnownHostsFile=/dev/null"],
      says: /does not know the host key of .*Connect once with ssh/,
    },
  ])("says what to do about $what", async ({ args, says }) => {
    const given = args();
    const own = given[0] === "worker" ? given : ["worker", ...given, ...call("no").slice(1)];

    const { code, stderr } = await runGrange(own);

    expect(code).toBe(1);
    expect(stderr).toMatch(says);
  });

  test("describes what to do without an ssh server, and without a Grange server", async () => {
    const closed = await runGrange(["worker", "--ssh", "127.0.0.1:1", "--server", farm.url]);
    const lost = await runGrange([...call("astray"), "--server", "http://127.0.0.1:1"]);
    await runGrange(call("astray", "--stop"));

    expect(closed).toMatchObject({ code: 1 });
    expect(closed.stderr).toMatch(/no ssh server listens on this port/);
    expect(lost.stdout).toMatch(/it cannot reach the farm at http:\/\/127.0.0.1:1.*ECONNREFUSED/);
  });

  test.each([
    { node: undefined, says: /has no node on the PATH that ssh gives: install Node 20/ },
    { node: "echo v18.19.1", says: /has Node 18.19.1, which is too old/ },
    { node: "echo nodal", says: /is not Node: it prints nodal/ },
  ])("says what to do where Node is $node", async ({ node, says }) => {
    const bin = await mkdtemp(join(tmpdir(), "grange-bin-"));
    await chmod(bin, 0o755);
    for (const tool of ["sh", "printf"]) await symlink(`/bin/${tool}`, join(bin, tool));
    if (node !== undefined) {
      await writeFile(join(bin, "node"), `#!/bin/sh\n${node}\n`, { mode: 0o755 });
    }
    const bare = await startPrivateSshd(bin);
    try {
      const { code, stderr } = await runGrange([
        "worker",
        "--ssh",
        bare.host,
        ...bare.access,
        "--server",
        farm.url,
        "--remote-directory",
        there,
      ]);

      expect(code).toBe(1);
      expect(stderr).toMatch(says);
    } finally {
      await bare.stop();
      await rm(bin, { recursive: true, force: true });
    }
  });

  test.each(["-oProxyCommand=touch /tmp/x", "host;id"])(
    "refuses %j as a host, and starts no ssh",
    async (host) => {
      const { code, stderr } = await runGrange(["worker", `--ssh=${host}`]);

      expect(code).toBe(2);
      expect(stderr).toContain("--ssh takes [user@]host[:port]");
    },
  );

  test("does not run a file that another user may have written or that was changed", async () => {
    const open = join(there, "open");
    await mkdir(open);
    await chmod(open, 0o777);
    const refused = await runGrange([...call("wary"), "--remote-directory", open]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/other users can write to it.*--remote-directory/);

    await chmod(open, 0o700);
    const within = [...call("wary", "--json"), "--remote-directory", open];
    await runGrange(within);
    await runGrange([...within, "--stop"]);
    const [file = ""] = (await readdir(open)).filter((name) => name.endsWith(".mjs"));
    await writeFile(join(open, file), "process.exit(7)");
    const again = await runGrange(within);
    await runGrange([...within, "--stop"]);

    expect(JSON.parse(again.stdout)).toMatchObject([{ kind: "started", copied: true }]);
  });

  test("ends a tunnel to a worker that has ended, when it is lost", async () => {
    const tunnel = startGrange(call("brief", "--tunnel"));
    await tunnel.line((line) => line.includes("started the worker brief"));
    await runGrange(call("brief", "--stop"));

    await sshd.cutConnections();

    await tunnel.note((line) => line.includes("the worker has ended"));
    expect((await tunnel.finished).code).toBe(0);
  });

  test("takes every character of a directory name literally", async () => {
    const odd = join(there, "a 'b' $(touch pwned) `c` \"d\" ~");
    await mkdir(odd);

    const { code, stderr } = await runGrange([...call("odd"), "--remote-directory", odd]);
    await runGrange([...call("odd", "--stop"), "--remote-directory", odd]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await readdir(odd)).toContain("workers");
  });
});
