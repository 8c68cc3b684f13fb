import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { rest } from "#core/resting.ts";
import { daemonEndpointFile } from "#granary/dune/daemon-endpoint-file.ts";
import { needs } from "../../support/needs/needs.ts";
import { startProgram } from "../../support/process.ts";
import {
  buildThrough,
  commitAll,
  type DuneMachine,
  dune,
  duneMachine,
  duneTwo,
  executed,
} from "./dune-machine.ts";
import { smallToy, writeToyProject } from "./toy-project.ts";

describe("a real dune 2", { ...needs(duneTwo) }, () => {
  let work: string;
  let machine: DuneMachine;
  let root: string;
  let serial = 0;

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), "grange-toys-"));
  });
  afterAll(() => rm(work, { recursive: true, force: true }));
  beforeEach(async () => {
    root = join(work, `toy${serial++}`);
    await writeToyProject(root, smallToy);
    await commitAll(root);
    machine = await duneMachine();
    return () => machine.remove();
  });

  describe("works without a granary that answers:", () => {
    /** Starts a granary in a separate process, and returns the settings for dune. */
    async function granaryProcess() {
      const directory = join(work, `door${serial}`);
      const file = daemonEndpointFile({ XDG_RUNTIME_DIR: directory }) ?? "";
      const script = new URL("granary-process.ts", import.meta.url).pathname;
      const granary = startProgram(process.execPath, ["--import", "tsx", script, directory, file]);
      await granary.line((line) => line.includes("held"));
      const variables = { ...machine.variables, XDG_RUNTIME_DIR: directory, DUNE_CACHE: "enabled" };
      return { granary, variables, file };
    }

    test("stopped before dune starts", async () => {
      const { granary, variables } = await granaryProcess();
      try {
        granary.signal("SIGSTOP");

        expect((await dune(root, variables)).code).toBe(0);
        expect(await executed(root)).toBeGreaterThan(0);
      } finally {
        granary.signal("SIGKILL");
        await granary.finished;
      }
    });

    test.each(["SIGKILL", "SIGSTOP"] as const)(
      "lost in the middle of a build, by %s",
      async (signal) => {
        const { granary, variables } = await granaryProcess();
        try {
          const building = dune(root, variables);
          await until(() => existsSync(join(root, "_build/log")));
          granary.signal(signal);

          expect((await building).code).toBe(0);
          // The build was not empty.
          expect(await executed(root)).toBeGreaterThan(0);
        } finally {
          granary.signal("SIGKILL");
          await granary.finished;
        }
      },
    );

    test("killed before dune starts: its endpoint file is removed at once", async () => {
      const { granary, variables, file } = await granaryProcess();
      granary.signal("SIGKILL");
      await granary.finished;
      await until(() => !existsSync(file));

      expect((await dune(root, variables)).code).toBe(0);
    });

    test("not running: its endpoint file is ignored, and dune starts its own daemon", async () => {
      const attached = await machine.server.attach(machine.startBuild(undefined), {
        variables: machine.variables,
        directory: root,
      });
      await machine.server.stop();

      const { code } = await dune(root, { ...machine.variables, ...attached?.settings });

      expect(code).toBe(0);
    });

    test("without Perl: dune uses its store by itself, and the granary still reads its rules", async () => {
      const plain = await duneMachine({ perl: "/nowhere/perl" });
      try {
        const { ran, tally } = await buildThrough(plain, root);

        expect(ran.code).toBe(0);
        expect(tally).toMatchObject({ used: 0, learnt: 0 });
        expect(tally.made).toBeGreaterThan(20);
        await rm(join(root, "_build"), { recursive: true });
        expect((await buildThrough(plain, root)).tally).toMatchObject({
          made: 0,
          used: tally.made,
        });
      } finally {
        await plain.remove();
      }
    });

    test("with a socket path that is too long: dune uses its store by itself", async () => {
      const directory = join(work, "x".repeat(120));
      const far = await duneMachine({ directory });
      try {
        const attached = await far.server.attach(far.startBuild(undefined), {
          variables: far.variables,
          directory: root,
        });
        expect(attached?.settings["DUNE_CACHE_TRANSPORT"]).toBe("direct");
        await attached?.learn();
        await attached?.finish();

        expect((await buildThrough(far, root)).ran.code).toBe(0);
      } finally {
        await far.remove();
      }
    });

    test("stopped during a build", async () => {
      const attached = await machine.server.attach(machine.startBuild(undefined), {
        variables: machine.variables,
        directory: root,
      });
      const building = dune(root, { ...machine.variables, ...attached?.settings });
      await until(() => existsSync(join(root, "_build/log")));
      await machine.server.stop();

      expect((await building).code).toBe(0);
    });

    test("does nothing if the cache is disabled", async () => {
      const variables = { ...machine.variables, DUNE_CACHE: "disabled" };
      const attached = await machine.server.attach(machine.startBuild(undefined), {
        variables,
        directory: root,
      });

      expect(attached).toBeUndefined();
    });
  });
});

/** Polls, because changes of another process on disk send no event. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await rest(5);
}
