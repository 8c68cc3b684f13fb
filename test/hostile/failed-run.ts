import { randomUUID } from "node:crypto";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { Outcome, Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import type { SampleRepository } from "../support/sample-repository.ts";
import type { HostileFarm } from "./hostile-farm.ts";
import { finishAs, honest } from "./rogue-worker.ts";

/** The run of a job that failed, and the farm that has it. */
export interface FailedRun extends HostileFarm {
  readonly graph: string;
  readonly job: string;
  /** The address of the repository. */
  readonly repository: string;
}

const { register, claim } = Workers.method;

/** Submits a graph of one job, runs it by a worker of the test, and lets it fail with this log. */
export async function failedRun(
  farm: HostileFarm,
  repository: SampleRepository,
  log: Uint8Array,
): Promise<FailedRun> {
  const worker = honest(`failing-${randomUUID()}`);
  await farm.channel.unary(register, worker);
  const job = "fails";
  const definition = `version: 1\njobs:\n  ${job}: { commands: "false", inputs: [], platform: { rogue: ${worker.name} } }\n`;
  const submitted = await farm.ask("/graphs", {
    repository: repository.path,
    definitions: { "x.yml": definition },
  });
  if (submitted.status !== 201) throw new Error(`no graph: ${submitted.text}`);
  const { id } = submitted.json() as { id: string };
  const me = { workerName: worker.name, instanceId: worker.instanceId };
  const wait = durationFromMs(20_000);
  const { leases } = await farm.channel.unary(claim, { ...me, most: 1, wait });
  const lease = leases[0]?.lease;
  if (lease === undefined) throw new Error("the worker was given nothing");
  const stdout = digestOf(log);
  await farm.blobs.put(stdout, log);
  const result = { exitCode: 1, stdoutDigest: toDigestMessage(stdout) };
  const said = await finishAs(farm, me, { lease, outcome: Outcome.FAILED, result });
  if (said !== "published") throw new Error(`the run does not end: ${said}`);
  return { ...farm, graph: id, job, repository: repository.path };
}
