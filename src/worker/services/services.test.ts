import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { type ActionService, servicesText } from "#core/action-services.ts";
import type { Service } from "#core/service.ts";
import { pushImage } from "#images/image-builder.fixture.ts";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";
import { type Finished, Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import {
  type DockerRegistry,
  registryNeed,
  startDockerRegistry,
} from "../../../test/support/docker-registry.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { readWorkerConfig } from "../config.ts";
import { FakeFarm, type FakeJob } from "../fake-farm.fixture.ts";
import { bundledProgram, runJobsCommand } from "../run-jobs.fixture.ts";
import { sandboxNeeds } from "../sandbox-needs.fixture.ts";
import { startWorkerOn } from "../start-worker.ts";
import { imageOfServices } from "./services-image.fixture.ts";

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

const sandboxes = await sandboxNeeds(["bubblewrap", "namespaces"]);

for (const { sandbox, need } of sandboxes) {
  describe(`services in sandbox ${sandbox}`, needs(registryNeed, need), () => {
    const farm = new FakeFarm();
    let registry: DockerRegistry;
    let directory: string;
    let worker: Service;
    let image: string;

    beforeAll(async () => {
      registry = await startDockerRegistry();
      directory = mkdtempSync(join(tmpdir(), "grange-services-"));
      const built = imageOfServices();
      await pushImage(registry.origin, "tests/web", "v1", built);
      image = `${registry.host}/tests/web@${built.digest}`;
      const config = readWorkerConfig({
        server: "http://127.0.0.1:1",
        name: "w1",
        slots: 2,
        dataDir: join(directory, "worker"),
        sandbox,
        registries: registry.origin,
        privateHosts: ["127.0.0.1"],
      });
      worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
    });
    afterAll(async () => {
      await worker?.stop();
      await registry?.stop();
      rmSync(directory, { recursive: true, force: true });
    });

    const service = (changes: Partial<ActionService> = {}): ActionService => ({
      name: "web",
      image,
      environment: {},
      readyTimeoutMs: 30_000,
      writable: [],
      ...changes,
    });
    const platform = (services: readonly ActionService[]) => ({
      "container-image": `docker://${image}`,
      "grange-services": servicesText(services),
    });
    const run = (job: FakeJob, ...services: ActionService[]) =>
      farm.run({ ...job, platform: platform(services) });
    const logOf = async ({ result }: Finished, name: string) => {
      const found = result?.outputFiles.find(({ path }) => path === `.grange-services/${name}.log`);
      return text(await farm.store.get(fromDigestMessage(found?.digest, "the log")));
    };

    test("the command reaches a service by its name when it listens, and its log is an output", async () => {
      const finished = await run(
        { script: "wget -qO- http://web:8080/hello; cat /etc/hosts" },
        service({ environment: { OF_JOB: "too" } }),
      );

      expect(text(finished.result?.stdoutRaw)).toContain("hello\n127.0.0.1 localhost grange web\n");
      expect(finished.outcome).toBe(Outcome.SUCCEEDED);
      expect(await logOf(finished, "web")).toBe("/srv\nyes too\n");
    });

    test("a service writes in volumes, /run and named directories only, as root of its image", async () => {
      const script =
        "id -u; for d in /srv/www /made/by/volume /run/state /run /var/tmp /tmp /link/empty; do touch $d/a || echo no $d; done; " +
        "touch /etc/a /bin/a /a; cat /srv/www/hello; cat /etc/hosts; exec httpd -f -p 8080";

      const finished = await run(
        { script: "true" },
        service({ arguments: [script], writable: ["/link/empty"] }),
      );

      const log = await logOf(finished, "web");
      expect(log).toMatch(/^0\n/);
      expect(log).not.toContain("no /");
      for (const path of ["/bin/a", "/a"])
        expect(log).toMatch(new RegExp(`touch: ${path}: (Read-only|Permission)`));
      expect(log).toMatch(/hello\n127.0.0.1 .* web\n/);
      // The image names it as a volume by `/../../etc`.
      expect(existsSync("/etc/a")).toBe(false);
    });

    test("root of a service changes to other users and owns files, but has no other right of root", async () => {
      const script =
        "id -u; chown web:web /srv/www; chmod 700 /srv/www; mount -o remount,rw / || echo no mount; " +
        "mknod /run/disk b 8 0 || echo no device; touch /bin/a || echo read-only; " +
        "exec su web -c 'id -u; id -G; touch /srv/www/mine && echo mine; touch /run/no || echo not mine; exec httpd -f -p 8080 -h /srv/www'";

      const finished = await run(
        { script: "wget -qO- http://web:8080/hello" },
        service({ arguments: [script] }),
      );

      const log = await logOf(finished, "web");
      expect(text(finished.result?.stdoutRaw)).toBe("hello\n");
      expect(log.split("\n").filter((line) => !line.includes(": "))).toEqual(
        "0|no mount|no device|read-only|900|901 902|mine|not mine|".split("|"),
      );
    });

    test("a service runs as the user that it or its image names, who owns its volumes", async () => {
      const script =
        "id -u; id -G; stat -c %u /srv/www /tmp; touch /srv/www/a /tmp/a $HOME/a && echo wrote; exec httpd -f -p 8080";
      const runAs = async (user: string) => {
        const finished = await run({ script: "true" }, service({ arguments: [script], user }));
        return { finished, log: await logOf(finished, "web") };
      };

      expect((await runAs("web")).log).toBe("900\n901 902\n900\n0\nwrote\n");
      expect((await runAs("1234:web")).log).toBe("1234\n901\n1234\n0\nwrote\n");
      expect((await runAs("grange")).log).toMatch(/^1000\n1000\n/);
      const { message } = await run({ script: "true" }, service({ user: "nobody" }));
      expect(message).toContain('service web runs as the user "nobody", and its image has none');
    });

    test("services on the same port are reached by their names, also from one another", async () => {
      const named = (name: string, others: string) =>
        service({
          name,
          arguments: [
            `echo ${name} >/srv/www/name; httpd -p 8080 -h /srv/www; for o in ${others}; do until wget -qO- http://$o:8080/name 2>/dev/null; do sleep 0.05; done; done; : >/srv/www/over; exec sleep 1000`,
          ],
          ready: { command: `test -e /srv/www/over` },
        });
      const services = [
        named("first", "second third"),
        named("second", "first third"),
        named("third", "second"),
      ];
      const script =
        "for o in first second third; do wget -qO- http://$o:8080/name; done; wget -qO- http://localhost:8080/name";

      const both = await Promise.all([run({ script }, ...services), run({ script }, ...services)]);

      for (const finished of both) {
        expect(text(finished.result?.stdoutRaw)).toBe("first\nsecond\nthird\nfirst\n");
        expect(await logOf(finished, "first")).toBe("second\nthird\n");
        expect(await logOf(finished, "second")).toBe("first\nthird\n");
        expect(await logOf(finished, "third")).toBe("second\n");
      }
    });

    test("several services have a network of their own with the command, twice at once", async () => {
      const other = service({
        name: "other-one",
        // A port that only root may use on a machine.
        arguments: ["exec httpd -f -p 80 -h /srv/www"],
        ready: { port: 80 },
      });
      const script =
        "wget -qO- http://web:8080/hello; wget -qO- http://other-one/hello; cat /proc/net/dev";

      const both = await Promise.all([
        run({ script }, service(), other),
        run({ script }, service(), other),
      ]);

      for (const { result } of both) {
        const printed = text(result?.stdoutRaw);
        expect(printed).toMatch(/^hello\nhello\n/);
        expect(printed.split("\n").filter((line) => line.includes(":"))).toHaveLength(1);
      }
    });

    test("a service that ends or is not ready in time fails the job, with the end of its log", async () => {
      const dead = await run({ script: "echo ran" }, service({ arguments: ["echo no luck"] }));
      const slow = await run(
        { script: "echo ran" },
        service({ arguments: ["echo waiting; exec sleep 1000"], readyTimeoutMs: 3_000 }),
      );
      const closed = await run({ script: "echo ran" }, service({ writable: ["/proc"] }));

      expect(dead.outcome).toBe(Outcome.FAILED);
      expect(text(dead.result?.stdoutRaw)).toMatch(
        /service web ended before it was ready.*\nno luck\n$/,
      );
      expect(text(slow.result?.stdoutRaw)).toMatch(
        /service web was not ready after 3 s.*\nwaiting\n$/,
      );
      expect(await logOf(slow, "web")).toBe("waiting\n");
      expect(closed.message).toContain("service web cannot write in /proc");
    });

    test("services end with the job, however it ends, and its exit code is that of the command", async () => {
      const marker = `${200_000 + Math.floor(Math.random() * 700_000)}`;
      const own = service({ arguments: [`sleep ${marker} & exec httpd -f -p 8080`] });

      const failed = await run({ script: "exit 7" }, own);
      expect(failed.result?.exitCode).toBe(7);
      expect(processesWith(marker)).toBe(0);
      const killed = await run({ script: "kill -9 $$" }, own);
      expect(killed.result?.exitCode).toBe(137);
      const late = await run({ script: "sleep 1000", timeoutMs: 1_500 }, own);
      expect(late.outcome).toBe(Outcome.TIMED_OUT);
      expect(processesWith(marker)).toBe(0);
    });

    test("the next worker finds no process of services of a killed one", async () => {
      const marker = `${200_000 + Math.floor(Math.random() * 700_000)}`;
      const program = join(directory, "run-jobs.mjs");
      writeFileSync(program, await bundledProgram());
      const command = (script: string) =>
        runJobsCommand(program, {
          jobs: [
            {
              script,
              platform: platform([
                service({ arguments: [`sleep ${marker} & exec httpd -f -p 8080`] }),
              ]),
            },
          ],
          settings: {
            dataDir: join(directory, "killed"),
            sandbox,
            registries: registry.origin,
            privateHosts: ["127.0.0.1"],
          },
        });
      const start = ([node = "", ...args]: readonly string[]) => {
        const child = spawnWithPipes(node, args);
        child.stdout.resume();
        child.stderr.resume();
        return child;
      };
      const first = start(command(`sleep ${marker}`));
      const exited = once(first, "exit");
      await until("job and service run", () => processesWith(`sleep\0${marker}`) >= 2);
      first.kill("SIGKILL");
      await exited;

      await once(start(command("true")), "exit");

      await until("all processes ended", () => processesWith(`sleep\0${marker}`) === 0);
      expect(processesWith(`sleep\0${marker}`)).toBe(0);
    });
  });
}

function processesWith(part: string): number {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(part);
    } catch {
      return false;
    }
  }).length;
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const end = Date.now() + 30_000;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`it took too long until ${what}`);
    await pause(5);
  }
}
