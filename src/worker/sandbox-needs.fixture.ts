import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "#core/fault.ts";
import type { Need } from "../../test/support/needs/needs.ts";
import { readWorkerConfig, type WorkerConfig } from "./config.ts";
import { probeFacilities } from "./machine.ts";
import { chooseRestriction } from "./sandbox/system-calls/choose-restriction.ts";

/** A kind of sandbox, and the reason why this machine cannot open one. */
interface SandboxNeed<S> {
  readonly sandbox: S;
  readonly need: Need;
}

/** Tries to open each kind of sandbox. */
export function sandboxNeeds<const S extends WorkerConfig["sandbox"]>(
  kinds: readonly S[],
): Promise<SandboxNeed<S>[]> {
  return Promise.all(
    kinds.map(async (sandbox) => ({
      sandbox,
      need: {
        name: `sandbox ${sandbox}`,
        missing: await whyNot(sandbox),
        remedy:
          sandbox === "bubblewrap"
            ? { kind: "debian", packages: ["bubblewrap"] }
            : { kind: "root" },
      },
    })),
  );
}

/** The restrictions that a sandbox of this machine can apply to jobs, besides those on files and processes. */
export async function restrictionNeeds(): Promise<{ filter: Need; scope: Need }> {
  const runDir = mkdtempSync(join(tmpdir(), "grange-probe-"));
  try {
    const { systemCalls, abstractSockets } = await chooseRestriction(
      { allowedCalls: [], allowsNamespaces: true },
      runDir,
    );
    const unless = (good: RegExp, told: string) => (good.test(told) ? undefined : told);
    const remedy = { kind: "machine" } as const;
    return {
      filter: {
        name: "filters of system calls",
        missing: unless(/^filtered/, systemCalls),
        remedy,
      },
      scope: {
        name: "Landlock with scopes",
        missing: unless(/^jobs cannot connect/, abstractSockets),
        remedy,
      },
    };
  } finally {
    rmSync(runDir, { recursive: true, force: true });
  }
}

async function whyNot(sandbox: WorkerConfig["sandbox"]): Promise<string | undefined> {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-probe-"));
  try {
    const server = "http://127.0.0.1:1";
    await probeFacilities(readWorkerConfig({ server, name: "w1", slots: 1, dataDir, sandbox }));
    return undefined;
  } catch (reason) {
    return messageOf(reason);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
