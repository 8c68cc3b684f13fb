import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Service } from "#core/service.ts";
import { jobOwner } from "#machine/job-owner.ts";
import { root } from "../../test/support/needs/machine-needs.ts";
import { needs } from "../../test/support/needs/needs.ts";
import { readWorkerConfig } from "./config.ts";
import { FakeFarm } from "./fake-farm.fixture.ts";
import { openMachine } from "./machine.ts";
import { sandboxNeeds } from "./sandbox-needs.fixture.ts";
import { startWorkerOn } from "./start-worker.ts";

const directory = mkdtempSync(join(tmpdir(), "grange-root-jobs-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const settings = (name: string) => ({
  server: "http://127.0.0.1:1",
  name: "w1",
  slots: 1,
  dataDir: join(directory, name),
});

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

/** Tries actions that only root may do; prints those that succeeded. */
const attempts = `
head -c 1 "$SECRET" >/dev/null 2>&1 && echo reads a file of root
for f in core_pattern randomize_va_space panic; do
  { v=$(cat /proc/sys/kernel/$f); echo "$v" > /proc/sys/kernel/$f; } 2>/dev/null && echo writes $f
done
awk '$5 == "/proc/sys" && $6 ~ /^ro(,|$)/ { sealed = 1 } END { if (!sealed) print "/proc/sys is mounted to be written" }' /proc/self/mountinfo
for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do
  { echo $$ > $f; } 2>/dev/null && echo leaves its group by $f
done
mount -t tmpfs none /tmp 2>/dev/null && echo mounts
chroot / true 2>/dev/null && echo changes its root
[ "$(awk '{print $2}' /proc/self/uid_map)" = 0 ] && echo is root of the machine
true`;

for (const { sandbox, need } of await sandboxNeeds(["bubblewrap", "namespaces"])) {
  describe(`a worker of root, with sandbox ${sandbox}`, needs(root, need), () => {
    let worker: Service;
    let farm: FakeFarm;
    // Below a directory that all users can enter: only its mode hides it from jobs.
    const secret = `/etc/grange-test-${process.pid}-${sandbox}`;
    beforeAll(async () => {
      writeFileSync(secret, "for root alone", { mode: 0o600 });
      farm = new FakeFarm();
      const config = readWorkerConfig({ ...settings(sandbox), sandbox });
      worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
    });
    afterAll(async () => {
      await worker.stop();
      rmSync(secret, { force: true });
    });

    test("does not let jobs do what only root may do", async () => {
      const pattern = readFileSync("/proc/sys/kernel/core_pattern", "utf8");

      const { result } = await farm.run({ script: attempts.replace('"$SECRET"', secret) });

      expect(text(result?.stdoutRaw)).toBe("");
      expect(result?.exitCode).toBe(0);
      expect(readFileSync("/proc/sys/kernel/core_pattern", "utf8")).toBe(pattern);
    });

    test("gives jobs inputs, home and standard output that belong to them", async () => {
      const script = [
        "set -e; id -u; id -un; stat -c %U:%G . dir dir/input",
        "chmod u+w dir/input; echo more >> dir/input; echo new > dir/new; mkdir dir/sub out; touch $HOME/mine /tmp/mine dir/input",
        "echo to the log > /dev/stdout; cp dir/input out/file; mv out/file out/moved; chmod 0700 out",
      ].join("\n");

      const inputs = [{ path: "dir/input", text: "input\n" }];
      const { result } = await farm.run({ inputs, command: { outputPaths: ["out"] }, script });

      expect(text(result?.stdoutRaw)).toBe(
        ["1000", "grange", ...Array(3).fill("grange:grange"), "to the log", ""].join("\n"),
      );
      expect(result?.outputDirectories).toHaveLength(1);
      // The store has the farm's bytes, although a job could change its own copy.
      const again = await farm.run({ inputs, script: "cat dir/input; ls dir" });
      expect(text(again.result?.stdoutRaw)).toBe("input\ninput\n");
    });
  });
}

test("a worker of root without a sandbox refuses to start, with advice", needs(root), async () => {
  const config = readWorkerConfig({
    ...settings("refused"),
    sandbox: "none",
    allowRootJobs: false,
  });

  await expect(openMachine(config)).rejects.toThrow(
    /runs as root, and so would its jobs: the sandbox `none` was configured.*ordinary user.*--allow-root-jobs/,
  );
  expect(existsSync(config.dataDir) && statSync(config.dataDir).uid).toBe(0);
});

test("the owner of root's jobs is no existing user of the machine", needs(root), () => {
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  expect(users.some((line) => line.split(":")[2] === `${jobOwner?.uid}`)).toBe(false);
});
