import type { Clock } from "#core/clock.ts";
import { type Coalescer, coalescer } from "#core/coalescer.ts";
import type { Tx } from "#db/db.ts";
import type { ExecutionRequest } from "../execution.ts";
import type { QueueTransactions } from "../queue-transactions.ts";
import { durationOracle } from "../sizing/duration-oracle.ts";
import type { SizeChooser } from "../sizing/size-chooser.ts";
import { type Submitted, submitExecutions } from "./submit-executions.store.ts";

/** Submits executions; those that arrive during a commit share the next one. */
interface Submissions extends Pick<Coalescer<ExecutionRequest, Submitted>, "add" | "idle"> {
  /** Submits inside a transaction of the queue. Returns results in the order of the requests. */
  submitIn(tx: Tx, requests: readonly ExecutionRequest[]): Promise<Submitted[]>;
}

export function submissions(parts: {
  readonly clock: Clock;
  readonly queue: QueueTransactions;
  readonly chooser: SizeChooser;
}): Submissions {
  const { clock, queue, chooser } = parts;
  const oracle = durationOracle(clock);

  const submitIn = async (tx: Tx, requests: readonly ExecutionRequest[]) => {
    const foreseen = await oracle.predictGraph(tx, requests);
    let confirmLook = () => {};
    const submitted = await submitExecutions(tx, foreseen, clock.now(), () => {
      confirmLook = queue.lookEarly(tx);
    });
    // A request that joined an execution may have improved the execution's place.
    if (submitted.every(({ isNew }) => isNew)) confirmLook();
    return submitted;
  };

  const batches = coalescer(async (requests: readonly ExecutionRequest[]) => {
    const sized = await chooser.choose(requests);
    return queue.transaction((tx) => submitIn(tx, sized));
  });
  return {
    add: (request) => batches.add(request),
    idle: () => batches.idle(),
    submitIn,
  };
}
