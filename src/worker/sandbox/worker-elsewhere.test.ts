import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { type Need, needs } from "../../../test/support/needs/needs.ts";
import type { FakeJob } from "../fake-farm.fixture.ts";
import { quoteForShell } from "../quote-for-shell.ts";
import { bundledProgram, JobsRun, type JobsToRun, runJobsCommand } from "../run-jobs.fixture.ts";
import { sandboxNeeds } from "../sandbox-needs.fixture.ts";

const run = promisify(execFile);

/** Every user may read the program in this directory. */
const directory = mkdtempSync(join(tmpdir(), "grange-elsewhere-"));
const program = join(directory, "run-jobs.mjs");
beforeAll(async () => {
  writeFileSync(program, await bundledProgram());
  chmodSync(directory, 0o755);
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Runs jobs with a worker in its own process, which `wrapper` starts. */
async function runJobsIn(wrapper: readonly string[], toRun: JobsToRun): Promise<JobsRun> {
  const { stdout } = await run("env", [...wrapper, ...runJobsCommand(program, toRun)], {
    timeout: 280_000,
  });
  return JobsRun.parse(JSON.parse(stdout));
}

const works = async (wrapper: readonly string[]) => {
  return run("env", [...wrapper, "true"], { timeout: 60_000 }).then(
    () => true,
    () => false,
  );
};

/** The features that every worker must have in any environment. */
const jobs: readonly FakeJob[] = [
  { script: "echo out; echo err >&2; exit 3" },
  { script: "kill -SEGV $$" },
  { command: { arguments: ["/usr/bin/env"] } },
  {
    inputs: [{ path: "in", text: "read" }],
    script: "cat in > made; cat made",
    command: { outputPaths: ["made"] },
  },
  { script: "exec sleep 1000", timeoutMs: 500 },
  { script: "setsid sleep 1000 >/dev/null 2>&1 & echo started" },
];

function expectGoodRuns({ ended }: JobsRun): void {
  expect(ended.map(({ outcome }) => outcome)).toEqual([
    Outcome.FAILED,
    Outcome.FAILED,
    Outcome.SUCCEEDED,
    Outcome.SUCCEEDED,
    Outcome.TIMED_OUT,
    Outcome.SUCCEEDED,
  ]);
  expect(ended.slice(0, 2)).toMatchObject([
    { exitCode: 3, stdout: "out\n", stderr: "err\n" },
    { exitCode: 128 + 11, stderr: "" },
  ]);
  const [, , environment, copied, , started] = ended.map(({ stdout }) => stdout);
  const names = environment?.trim().split("\n");
  const expected = ["PATH", "HOME", "TMPDIR"];
  expect(new Set(names?.map((line) => line.split("=")[0]))).toEqual(new Set(expected));
  expect([copied, started]).toEqual(["read", "started\n"]);
}

const [bubblewrap, namespaces] = await sandboxNeeds(["bubblewrap", "namespaces"]);
if (bubblewrap === undefined || namespaces === undefined) throw new Error("no needs");

const userNamespaces: Need = {
  name: "user namespaces",
  missing: (await works(["unshare", "--user", "--map-root-user"]))
    ? undefined
    : "this user may not make them",
  remedy: { kind: "machine" },
};

describe("a worker in a job of another worker", () => {
  for (const { outer, inner, need } of [
    { outer: "bubblewrap", inner: "namespaces", need: bubblewrap.need },
    { outer: "namespaces", inner: "auto", need: namespaces.need },
  ] as const) {
    const all = needs(need, userNamespaces);
    test(`in ${outer} isolates its own jobs (${inner})`, all, async () => {
      const command = runJobsCommand("./run-jobs.mjs", { sandbox: inner, jobs });
      const script = command.map(quoteForShell).join(" ");

      const { ended } = await runJobsIn([], {
        sandbox: outer,
        jobs: [{ script }],
        withProgram: true,
      });

      expect(ended).toMatchObject([{ exitCode: 0, stderr: "", message: "" }]);
      const innerRun = JobsRun.parse(JSON.parse(ended[0]?.stdout ?? ""));
      expect(innerRun.facilities["sandbox"]).toMatch(/^(bubblewrap|namespaces)/);
      expectGoodRuns(innerRun);
    });
  }
});

/**
 * Mounts like those of container engines: parts of /proc hidden or read-only, /sys read-only. Because root made them,
 * they stay hidden from a user namespace below, where the kernel then refuses a new /proc.
 */
const maskMounts = `
set -e
umount -l /proc; mount -t proc proc /proc
for f in kcore keys timer_list; do [ ! -e /proc/$f ] || mount --bind /dev/null /proc/$f; done
for f in bus fs irq sys; do [ ! -e /proc/$f ] || { mount --bind /proc/$f /proc/$f; mount -o remount,bind,ro /proc/$f; }; done
mount --rbind /sys /sys; mount -o remount,bind,ro,nosuid,nodev,noexec /sys
`;
const newProcesses = ["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"];
const asNobody = [
  "setpriv",
  "--reuid=65534",
  "--regid=65534",
  "--clear-groups",
  "env",
  "HOME=/tmp",
];

const sharedProc = /^(bubblewrap|namespaces) with the worker's \/proc, since/;

const inContainer = (become: readonly string[]) => [
  "unshare",
  ...newProcesses,
  "sh",
  "-c",
  `${maskMounts}\nexec "$@"`,
  "sh",
  ...become,
];

const container: Need = {
  name: "a container that hides parts of /proc",
  missing: (await works(inContainer(asNobody))) ? undefined : "it cannot be made",
  remedy: { kind: "root" },
};

describe("a worker in a container that hides parts of /proc", () => {
  for (const { user, sandbox, become, level } of [
    { user: "root", sandbox: "auto", become: [], level: /^(bubblewrap|namespaces)/ },
    { user: "an ordinary user", sandbox: "namespaces", become: asNobody, level: sharedProc },
    {
      user: "root of a user namespace",
      sandbox: "auto",
      become: [...asNobody, "unshare", "--user", "--map-root-user", "--mount"],
      level: sharedProc,
    },
  ] as const) {
    test(`as ${user} isolates its jobs with the available /proc`, needs(container), async () => {
      const ran = await runJobsIn(inContainer(become), { sandbox, jobs });

      expect(ran.facilities["sandbox"]).toMatch(level);
      expectGoodRuns(ran);
    });
  }
});

test(
  "a worker with the /proc of another pid namespace runs its jobs",
  needs(userNamespaces),
  async () => {
    const otherNumbers = [
      "unshare",
      "--user",
      "--map-root-user",
      "--pid",
      "--fork",
      "--kill-child",
    ];
    const wrapper = [...otherNumbers, "sh", "-c", '"$@"; exit $?', "sh"];
    const script = "trap 'echo told; exit 0' TERM; sleep 1000 & wait";

    for (const sandbox of ["auto", "none"] as const) {
      expectGoodRuns(await runJobsIn(wrapper, { sandbox, jobs }));
      const { ended } = await runJobsIn(wrapper, { sandbox, jobs: [{ script, timeoutMs: 2_000 }] });

      expect(ended).toMatchObject([{ outcome: Outcome.TIMED_OUT, stdout: "told\n", stderr: "" }]);
    }
  },
);

describe("a worker without the right to create user namespaces", () => {
  const forbid = 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"';
  const withRights = ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh"];

  for (const { rights, more } of [
    { rights: "the rights of root", more: [] },
    { rights: "no rights", more: ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] },
  ]) {
    test(
      `with ${rights} runs its jobs without a sandbox, and reports why`,
      needs(userNamespaces),
      async () => {
        const ran = await runJobsIn([...withRights, ...more], { jobs });

        expect(ran.facilities["sandbox"]).toMatch(/^none, since .*namespaces.*: unshare/);
        expectGoodRuns(ran);
      },
    );
  }
});

describe("a file system that is mounted below a shown directory is read-only in a job", () => {
  const mountBelow =
    'mount -t tmpfs -o mode=1777 tmpfs /opt && mkdir -m 777 /opt/below && mount -t tmpfs -o mode=1777 tmpfs /opt/below && exec "$@"';
  const wrapper = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mountBelow, "sh"];

  for (const { sandbox, need } of [bubblewrap, namespaces]) {
    test(`in sandbox ${sandbox}`, needs(need, userNamespaces), async () => {
      const script = "for d in /opt /opt/below; do touch $d/written && echo $d; done; ls /opt";

      const { ended } = await runJobsIn(wrapper, { sandbox, jobs: [{ script }] });

      expect(ended[0]).toMatchObject({ exitCode: 0, stdout: "below\n" });
    });
  }
});
