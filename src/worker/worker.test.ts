import { randomInt, randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Service } from "#core/service.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { needs } from "../../test/support/needs/needs.ts";
import { readWorkerConfig, type WorkerConfig } from "./config.ts";
import { FakeFarm, type FakeJob } from "./fake-farm.fixture.ts";
import { sandboxNeeds } from "./sandbox-needs.fixture.ts";
import { startWorkerOn } from "./start-worker.ts";

const logger = pino({ level: "silent" });

function configFor(dataDir: string, more: Partial<WorkerConfig> = {}): WorkerConfig {
  return readWorkerConfig({
    server: "http://127.0.0.1:1",
    name: "w1",
    slots: 1,
    dataDir,
    killGraceMs: 500,
    drainMs: 100,
    ...more,
  });
}

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

const sandboxes = await sandboxNeeds(["bubblewrap", "namespaces", "none"]);

for (const { sandbox, need } of sandboxes) {
  describe(`a worker with sandbox ${sandbox}`, needs(need), () => {
    const farm = new FakeFarm();
    let dataDir: string;
    let worker: Service;
    beforeAll(async () => {
      dataDir = mkdtempSync(join(tmpdir(), "grange-worker-"));
      worker = await startWorkerOn(farm, configFor(dataDir, { sandbox }), logger);
    });
    afterAll(async () => {
      await worker?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const run = (job: FakeJob) => farm.run(job);
    const printed = async (job: FakeJob) => text((await run(job)).result?.stdoutRaw);

    test("reports the exit code of a process, and the output of each stream", async () => {
      const { outcome, result, usage } = await run({ script: "echo out; echo err >&2; exit 3" });

      expect(outcome).toBe(Outcome.FAILED);
      expect(result?.exitCode).toBe(3);
      expect(text(result?.stdoutRaw)).toBe("out\n");
      expect(text(result?.stderrRaw)).toBe("err\n");
      expect(usage?.measuredBy).not.toBe("");
    });

    test("keeps the order of both streams when a job merges them", async () => {
      expect(await printed({ script: "exec 2>&1; echo 1; echo 2 >&2; echo 3" })).toBe("1\n2\n3\n");
    });

    test("lets a shell open its own stdout again without losing a line", async () => {
      expect(await printed({ script: "echo 1; echo 2 >/dev/stdout; echo 3" })).toBe("1\n2\n3\n");
    });

    test("closes stdin", async () => {
      expect(await printed({ script: "cat; readlink /proc/self/fd/0" })).toBe("/dev/null\n");
    });

    test("gives exactly the command's environment, with PATH, HOME and TMPDIR, with or without network", async () => {
      const command = { arguments: ["/usr/bin/env"] };
      for (const network of ["off", "on"]) {
        const lines = await printed({
          command,
          environment: { A: "1 '\"$x", "an-odd name": "x" },
          platform: { network },
        });

        const names = lines
          .trim()
          .split("\n")
          .map((line) => line.split("=")[0]);
        expect(new Set(names)).toEqual(new Set(["A", "HOME", "PATH", "TMPDIR", "an-odd name"]));
      }
      expect(await printed({ script: 'printf %s "$A"', environment: { A: "1 '\"$x" } })).toBe(
        "1 '\"$x",
      );
    });

    test.each([
      ["the command itself", "kill -SEGV $$", 128 + 11],
      ["a command that aborts itself", "exec sh -c 'kill -ABRT $$'", 128 + 6],
      ["a command that another process ends", "sh -c 'kill -KILL $PPID'", 128 + 9],
    ])("reports 128 and the signal that ended %s, and prints nothing", async (_, script, code) => {
      for (const network of ["off", "on"]) {
        const { outcome, result } = await run({ script, platform: { network } });

        expect(outcome).toBe(Outcome.FAILED);
        expect(result?.exitCode).toBe(code);
        expect(text(result?.stderrRaw)).toBe("");
      }
    });

    test("returns 127 for a missing program", async () => {
      const { outcome, result } = await run({ command: { arguments: ["no-such-program"] } });

      expect(outcome).toBe(Outcome.FAILED);
      expect(result?.exitCode).toBe(127);
    });

    test("provides inputs, and collects outputs of every kind", async () => {
      const { result, outcome, message } = await run({
        inputs: [
          { path: "src/a.txt", text: "a" },
          { path: "bin/tool", text: "#!/bin/sh\ncat src/a.txt\n", executable: true },
          { kind: "symlink", path: "link", target: "src/a.txt" },
          { kind: "directory", path: "empty" },
        ],
        script:
          "test -d empty && cat link && bin/tool > out/x/file && mkdir -p tree/sub tree/none && echo 1 > tree/sub/f && chmod +x tree/sub/f && ln -s sub/f tree/l && ln -s src/a.txt made",
        command: { outputPaths: ["out/x/file", "tree", "made", "absent"] },
      });

      expect(message).toContain("absent");
      expect(outcome).toBe(Outcome.SUCCEEDED);
      expect(result?.outputFiles.map(({ path }) => path)).toEqual(["out/x/file"]);
      expect(result?.outputDirectories.map(({ path }) => path)).toEqual(["tree"]);
      expect(result?.outputSymlinks.map(({ path, target }) => [path, target])).toEqual([
        ["made", "src/a.txt"],
      ]);
    });

    test("gives each job its own copy of inputs", async () => {
      const job: FakeJob = {
        inputs: [{ path: "a", text: "kept" }],
        script: "cat a; rm -f a; echo broken > a; chmod 777 . ; cat a",
      };

      expect(await printed(job)).toBe("keptbroken\n");
      expect(await printed(job)).toBe("keptbroken\n");
    });

    test("lets a job write into an input, and keeps the store unchanged", async () => {
      const job: FakeJob = {
        inputs: [{ path: "a", text: "kept" }],
        script: "printf spoilt > a; cat a",
      };

      expect(await printed(job)).toBe("spoilt");
      expect(await printed({ ...job, script: "cat a" })).toBe("kept");
    });

    test("gives equal inputs an inode each, so that tar sees no hard links", async () => {
      const script = "tar cf t.tar a b c; tar tvf t.tar | grep -c 'link to' || true";
      const inputs = ["a", "b", "c"].map((path) => ({ path, text: "the same" }));

      expect(await printed({ inputs, script })).toBe("0\n");
    });

    test("rejects an output behind a symlink that leaves the tree", async () => {
      const { outcome, message } = await run({
        script: "rm -rf out && ln -s /etc out",
        command: { outputPaths: ["out/passwd"] },
      });

      expect(outcome).toBe(Outcome.FAILED);
      expect(message).toContain("symlink");
    });

    test.each([
      ["a symlink that climbs out", "ln -s ../../etc/passwd o", "leads out"],
      ["a pipe", "mkfifo o", "a pipe"],
    ])("refuses %s as an output", async (_, script, why) => {
      const { outcome, message } = await run({ script, command: { outputPaths: ["o"] } });

      expect(outcome).toBe(Outcome.FAILED);
      expect(message).toContain(why);
    });

    test("ends a process after its timeout, also outside of its process group", async () => {
      const mark = durationAsMark();
      const script = 'setsid sh -c "echo $$ >/dev/null; exec sleep $MARK" & sleep 1000';

      const { outcome, message } = await run({
        script,
        timeoutMs: 300,
        environment: { MARK: mark },
      });

      expect(outcome).toBe(Outcome.TIMED_OUT);
      expect(message).toContain("0.3 s");
      expect(commandLines()).not.toContain(`sleep ${mark}`);
    });

    test("ends processes that a job leaves behind", async () => {
      const mark = durationAsMark();
      const { outcome } = await run({
        script: `setsid sh -c 'sleep ${mark} & sleep ${mark}' >/dev/null 2>&1 & sleep 0.2`,
      });

      expect(outcome).toBe(Outcome.SUCCEEDED);
      expect(commandLines()).not.toContain(`sleep ${mark}`);
    });

    test("lets a process end by itself first", async () => {
      const { outcome, result } = await run({
        script: "trap 'echo bye; exit 0' TERM; while :; do sleep 0.02; done",
        timeoutMs: 1_000,
      });

      expect(outcome).toBe(Outcome.TIMED_OUT);
      expect(text(result?.stdoutRaw)).toBe("bye\n");
    });

    test("distinguishes a job that needs too much memory from one that fails", async () => {
      const { outcome } = await run({
        script: "exec node -e 'const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))'",
        platform: { memory: `${150 * 1024 * 1024}` },
      });

      expect(outcome).toBe(Outcome.OUT_OF_MEMORY);
    });

    test("measures the resources of the whole tree", async () => {
      const { usage } = await run({
        script:
          "node -e 'const a = Buffer.alloc(8e7, 1); while (process.cpuUsage().user < 4e5); a[0] = 2' & wait",
      });

      expect(Number(usage?.peakMemoryBytes)).toBeGreaterThan(7e7);
      const cpuMs = [usage?.userTime, usage?.systemTime].map((time) =>
        time ? durationMs(time) : 0,
      );
      expect(Math.max(...cpuMs)).toBeGreaterThan(80);
    });

    // A plain process group does not isolate.
    const isolating = sandbox === "none" ? [] : [sandbox];

    test.each(isolating)("shows neither the farm's data nor the home of its owner", async () => {
      const out = await printed({
        script: `ls -A ${dataDir} ${homedir()} /run 2>&1; echo "$HOME $PWD $TMPDIR"; id -u`,
      });

      expect(out).not.toContain("blobs");
      expect(out).not.toContain(".bash");
      expect(out).toContain("/grange/home /grange/work /tmp\n1000\n");
    });

    test.each(isolating)(
      "shows no further directories of the host, and lets no program gain rights",
      async () => {
        const out = await printed({
          script:
            "ls -d /srv /mnt /media /boot /var/lib 2>/dev/null; grep NoNewPrivs /proc/self/status",
        });

        expect(out).toBe("NoNewPrivs:\t1\n");
      },
    );

    test.each(isolating)("does not let a job write to the host outside the tree", async () => {
      const mark = `grange-test-${randomUUID()}`;
      const { result } = await run({
        script: `for d in / /usr /etc /var /opt; do touch $d/${mark} 2>/dev/null && echo $d; done; exit 0`,
      });

      // The root directory, and /var in it, belong to the job and are removed with it. Without root, the job may write
      // to them.
      const written = text(result?.stdoutRaw).split("\n");
      expect(written.filter((at) => !["", "/", "/var"].includes(at))).toEqual([]);
      expect(written.filter((at) => at !== "" && existsSync(join(at, mark)))).toEqual([]);
    });

    test.each(isolating)("has only the loopback network, unless a job requests more", async () => {
      const listener = createServer((socket) => socket.end("hello"));
      await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
      const address = listener.address();
      const port = typeof address === "object" ? address?.port : 0;
      const script = `node -e 'const s = require("net").connect(${port}, "127.0.0.1"); s.on("error", e => console.log(e.code)); s.on("data", d => console.log(String(d)))'`;

      expect(await printed({ script })).toBe("ECONNREFUSED\n");
      expect(await printed({ script, platform: { network: "on" } })).toBe("hello\n");
      await new Promise((resolve) => listener.close(resolve));
    });

    test.each(isolating)(
      "does not let a job change settings of the machine, or leave its control groups",
      async () => {
        const settings = [
          "/proc/sys/kernel/core_pattern /proc/sys/kernel/randomize_va_space /proc/sys/vm/swappiness /proc/sys/fs/suid_dumpable",
          "/proc/sysrq-trigger /proc/irq/default_smp_affinity /proc/irq/*/smp_affinity /sys/power/state",
          "/sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/*/*/cgroup.procs",
        ].join(" ");
        const look = `for f in ${settings}; do [ -e $f ] && (: >>$f) 2>/dev/null && echo "opens $f"; done`;
        const script = `
          ${look}
          unshare -Ur sh -c '${look}' 2>/dev/null
          for d in /usr /sys /sys/fs/cgroup /proc/sys /proc/irq; do
            unshare -Urm mount -o remount,bind,rw $d 2>/dev/null && echo "remounts $d"
          done
          exit 0`;

        const { outcome, result } = await run({ script });

        expect(text(result?.stdoutRaw)).toBe("");
        expect(outcome).toBe(Outcome.SUCCEEDED);
      },
    );

    test.each(isolating)("lets a job create its own user namespaces", async () => {
      expect(await printed({ script: "unshare -U true && echo yes" })).toBe("yes\n");
    });

    test("leaves nothing of its jobs behind", async () => {
      await run({ script: "mkdir d && touch d/f && chmod 0 d" });
      await run({ script: "true" });

      const owners = readdirSync(join(dataDir, "run"));
      expect(owners).toHaveLength(1);
    });
  });
}

/** Returns a number of seconds by which a test finds its own `sleep` among those of other tests. */
function durationAsMark(): string {
  return `${randomInt(100_000, 1_000_000_000)}`;
}

function commandLines(): string {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    })
    .join("\n");
}
