import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { type Finished, ResourceUsageSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import type { Need } from "../../../test/support/needs/needs.ts";
import type { WorkerConfig } from "../config.ts";
import { ExecutionPlaces } from "../execution-places.ts";
import type { FakeFarm } from "../fake-farm.fixture.ts";
import { FifoPool } from "../logs/fifo-pool.ts";
import { openMachine } from "../machine.ts";
import { ProcessSpawner } from "../spawned-process.ts";
import { toolPath } from "../tool-path.ts";

/** Tries out whether a running sandbox of this machine sees input trees that are mounted later. */
export async function needsLaterMounts(config: WorkerConfig): Promise<Need> {
  const machine = await openMachine(config);
  const pipes = new FifoPool(machine.shell, machine.runDir);
  const spawner = new ProcessSpawner(machine, pipes, toolPath(config.path));
  const places = new ExecutionPlaces(machine, spawner, 1);
  const canWait = await places.opened;
  await places.stop();
  await pipes.close();
  await machine.close();
  const { sandbox, inputs } = machine.facilities;
  return {
    name: "sandboxes that see later mounts",
    missing:
      canWait && machine.inputRoots.kind === "overlay"
        ? undefined
        : `the sandbox is ${sandbox}, the inputs are ${inputs}`,
    remedy: { kind: "debian", packages: ["bubblewrap"] },
  };
}

/** Returns the number of the request of the process that served it; 0: it had a process of its own. */
export function requestOf({ result }: Finished): number {
  for (const any of result?.executionMetadata?.auxiliaryMetadata ?? []) {
    const usage = anyUnpack(any, ResourceUsageSchema);
    if (usage !== undefined) return usage.persistentRequest;
  }
  return -1;
}

/** Returns the content of its first output; undefined if it has none. */
export async function outputOf(farm: FakeFarm, { result }: Finished): Promise<string | undefined> {
  const [file] = result?.outputFiles ?? [];
  if (file === undefined) return undefined;
  const bytes = await farm.store.get(fromDigestMessage(file.digest, "the output", "sha256"));
  return Buffer.from(bytes ?? []).toString();
}
