import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Service } from "#core/service.ts";
import { needs, skipWithout } from "../../test/support/needs/needs.ts";
import { readWorkerConfig, type WorkerConfig } from "./config.ts";
import { FakeFarm } from "./fake-farm.fixture.ts";
import { sandboxNeeds } from "./sandbox-needs.fixture.ts";
import { startWorkerOn } from "./start-worker.ts";

function configFor(dataDir: string, sandbox: WorkerConfig["sandbox"]): WorkerConfig {
  const server = "http://127.0.0.1:1";
  return readWorkerConfig({ server, name: "w1", slots: 2, dataDir, killGraceMs: 100, sandbox });
}

const sandboxes = await sandboxNeeds(["bubblewrap", "namespaces"]);

/** With bubblewrap, the sandboxes of the next jobs already exist and wait during these attempts. */
for (const { sandbox, need } of sandboxes) {
  describe(`in sandbox ${sandbox}`, needs(need), () => {
    const farm = new FakeFarm();
    let dataDir: string;
    let worker: Service;
    beforeAll(async () => {
      dataDir = mkdtempSync(join(tmpdir(), "grange-apart-"));
      worker = await startWorkerOn(farm, configFor(dataDir, sandbox), pino({ level: "silent" }));
    });
    afterAll(async () => {
      await worker?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    const printed = async (script: string) => {
      const { result } = await farm.run({ script });
      return Buffer.from(result?.stdoutRaw ?? []).toString();
    };
    /** More than the number of sandboxes that can have waited meanwhile. */
    const next = async (script: string) => {
      const all: string[] = [];
      for (let n = 0; n < 4; n++) all.push(await printed(script));
      return all;
    };
    const look = 'for d in /tmp /dev/shm "$HOME" /grange/work; do ls -A "$d"; done';

    test("files of a job do not exist for the next job", async () => {
      expect(
        await printed(`
        for d in /tmp /dev/shm "$HOME" .; do echo evil >"$d/evil" && echo wrote; done
        echo evil >/grange/evil || :
      `),
      ).toBe("wrote\n".repeat(4));

      expect(await next(look)).toEqual(["", "", "", ""]);
      expect(await next("ls -A /grange")).toEqual(Array(4).fill("home\nrestrict\nwork\n"));
    });

    test("a process that a job leaves does not run during the next job", async () => {
      await printed(`
      for n in 1 2 3; do
        setsid sh -c 'trap "" TERM HUP INT; while :; do : >/tmp/later; : >/dev/shm/later; done' \\
          >/dev/null 2>&1 &
      done
      until [ -e /dev/shm/later ]; do :; done
    `);

      expect(await next(look)).toEqual(["", "", "", ""]);
      expect((await next("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).join("")).not.toContain(
        "later",
      );
    });

    test("no other process gives a job access to its root, its directory or its stdin", async () => {
      // Inside some containers all processes of the machine are visible, including the waiting ones.
      const reached = await printed(`
      own=" $(echo /proc/self/task/* | tr / ' ') $$ $PPID 1 2 "
      for p in /proc/[0-9]*; do
        case "$own" in *" \${p#/proc/} "*) continue ;; esac
        [ "$(readlink "$p/ns/pid" 2>/dev/null)" = "$(readlink /proc/self/ns/pid)" ] && continue
        for to in root/tmp/evil root/dev/shm/evil root/grange/work/evil cwd/evil; do
          (echo evil >"$p/$to") 2>/dev/null && echo "$p/$to"
        done
        [ -p "$p/fd/0" ] && (echo 'touch /tmp/evil' >"$p/fd/0") 2>/dev/null && echo "$p/fd/0"
        kill -9 "\${p#/proc/}" 2>/dev/null && echo "killed $p"
      done
      exit 0
    `);

      expect(reached).toBe("");
      expect(await next(look)).toEqual(["", "", "", ""]);
    });

    test("a job has three open streams, and no other open file", async () => {
      // The path of a process that the shell starts, not of the shell: where a worker cannot mount its own /proc, such
      // as inside another worker's sandbox, jobs see another /proc, in which the shell has another number.
      const open = await next("ls -l /proc/self/fd");

      for (const each of open) {
        const files = [...each.matchAll(/ (\d+) -> (.*)$/gm)].map(
          ([, fd, file]) => `${fd} ${file}`,
        );
        expect(files.slice(0, 3)).toEqual([
          "0 /dev/null",
          expect.stringMatching(/^1 .*\/grange-pipes-\w+\/\d+/),
          expect.stringMatching(/^2 .*\/grange-pipes-\w+\/\d+/),
        ]);
        // The directory that ls reads, and the files that replace those of this test's process.
        for (const other of files.slice(3))
          expect(other).toMatch(/^\d+ (\/proc\/\d+\/fd|\/dev\/null)$/);
      }
    });

    test("mounts of a job are visible to no other process", async (context) => {
      const mayMount = await printed("unshare -rm true && echo yes; exit 0");
      skipWithout(context, {
        name: "jobs that may mount",
        missing: mayMount === "yes\n" ? undefined : "this worker is in a sandbox itself",
        remedy: { kind: "machine" },
      });
      const mounted = await printed(`
      unshare -rm sh -c 'mount -t tmpfs evil /tmp && mount -t tmpfs evil /grange/work && echo yes'
      mount -t tmpfs evil /tmp 2>/dev/null && echo "as itself"
      umount /tmp 2>/dev/null && echo "uncovered"
      exit 0
    `);

      expect(mounted).toBe("yes\n");
      expect((await next("cat /proc/self/mountinfo")).join("")).not.toContain("evil");
    });

    test("simultaneous jobs do not see each other's files", async () => {
      const script = (name: string) => `
      : >/tmp/${name}; : >/dev/shm/${name}; : >"$HOME/${name}"; : >${name}; sleep 0.2; ${look}`;

      const [one, other] = await Promise.all([printed(script("one")), printed(script("other"))]);

      expect(one).toBe("one\n".repeat(4));
      expect(other).toBe("other\n".repeat(4));
    });
  });
}
