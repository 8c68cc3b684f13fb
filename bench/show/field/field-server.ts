import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "#core/fault.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { Capabilities } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Program } from "../../../test/support/process.ts";
import { processTree, readOrUndefined } from "../start/process-tree.ts";

/** A running server of the Remote Execution API on this machine. */
export interface FieldServer {
  /** Of gRPC, as `http://host:port`. */
  readonly url: string;
  /** Its processes; with their descendants they are all of it. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** A program that takes part in a comparison. */
export interface Contender {
  /** With its version. */
  readonly name: string;
  /** Starts it with its data in an empty directory. */
  start(directory: string): Promise<FieldServer>;
}

/** Waits until a server answers GetCapabilities. Throws with its output when the program ends before. */
export async function untilServing(url: string, program: Program): Promise<void> {
  const ended = program.finished.then(({ code, stdout, stderr }) => {
    throw new Error(`the server ended with ${code}: ${(stdout + stderr).slice(-2_000)}`);
  });
  await Promise.race([ended, untilAnswering(url)]);
}

async function untilAnswering(url: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const channel = new GrpcChannel({ url });
    try {
      await channel.unary(Capabilities.method.getCapabilities, {});
      return;
    } catch (reason) {
      if (Date.now() > deadline)
        throw new Error(`${url} does not answer within 60 s: ${messageOf(reason)}`);
      await sleep(50);
    } finally {
      await channel.stop();
    }
  }
}

/** Ends programs in this order, each after the one before has ended. */
export async function stopInOrder(programs: readonly Program[]): Promise<void> {
  for (const program of programs) {
    program.signal("SIGTERM");
    await program.finished;
  }
}

/**
 * Returns the anonymous memory of processes and their descendants, in MiB.
 *
 * Not their resident memory, because that includes pages of mapped files (Buildbarn) and shared memory, which
 * would count once for each process (PostgreSQL).
 */
export function anonymousMiB(pids: readonly number[]): number {
  const all = new Set(pids.flatMap((pid) => processTree(pid).map((each) => each.pid)));
  let kib = 0;
  for (const pid of all) {
    const status = readOrUndefined(`/proc/${pid}/status`) ?? "";
    kib += Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
  }
  return kib / 1_024;
}
