import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "#core/fault.ts";
import { type Check, type Finding, fail, ok, warn } from "./check.ts";

/** The limits that protect a job's files and other jobs; weaker limits do not protect them. */
const enough = {
  sandbox: /^(bubblewrap|namespaces)/,
  "system calls": /^filtered/,
  limits: /^cgroup/,
  inputs: /^overlay/,
};

/** Checks the features that a worker of this machine would use, by the same steps as its start. */
export function workerFacilityChecks(): Check[] {
  return [
    {
      name: "a worker here uses",
      needs:
        "A worker of this machine isolates jobs, filters their system calls and limits their memory",
      fix: "A worker cannot start here; see the checks above",
      run: probe,
    },
  ];
}

async function probe(): Promise<Finding> {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-doctor-worker-"));
  try {
    const { readWorkerConfig } = await import("#worker/config.ts");
    const { probeFacilities } = await import("#worker/machine.ts");
    const facilities = await probeFacilities(readWorkerConfig({ dataDir }));
    const detail = Object.entries(facilities)
      .map(([what, found]) => `${what}: ${found}`)
      .join("; ");
    const lacking = Object.entries(enough).filter(
      ([what, good]) => !good.test(facilities[what] ?? ""),
    );
    if (lacking.length === 0) return ok(detail);
    const names = lacking.map(([what]) => what).join(", ");
    return warn(detail, `Better ${names} is possible; the checks above show what is missing`);
  } catch (reason) {
    return fail(messageOf(reason));
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
