import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { FinishReport } from "#execution/finishing/judge-report.ts";
import { type Lease, type LeasedExecution, leaseKey } from "#execution/leasing/lease.ts";
import {
  ActionResultSchema,
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { SimulatedProcess } from "./event-loop.ts";
import type { PlannedWorker } from "./scenario.ts";
import { type SimulatedAction, untilAnswered, type World } from "./world.ts";

/** A lease that a process has, and what it does with it. */
interface Held {
  readonly lease: Lease;
  readonly action: SimulatedAction;
  /** Ends the simulated process of the action. */
  end: (how: "done" | "cancelled" | "lost") => void;
}

/** A report on the worker's disk: it outlives the process. */
interface Report {
  readonly lease: Lease;
  readonly outcome: FinishReport["outcome"];
  readonly exitCode: number;
  readonly startedAt: Date;
  readonly token: string;
}

const callMs = 3_000;
/** How long one call waits for cancellations. */
const cancellationsMs = 5_000;

/**
 * A worker's machine: one process after the other, and its disk.
 *
 * It follows the protocol as the farm's worker does, but is not its code: the sandbox, the files and the gRPC
 * connection of that are real.
 */
export class SimulatedWorker {
  readonly name: string;
  readonly #world: World;
  readonly #planned: PlannedWorker;
  readonly #disk = new Map<string, Report>();
  #starts = 0;
  process: SimulatedProcess;

  constructor(world: World, planned: PlannedWorker) {
    this.#world = world;
    this.#planned = planned;
    this.name = planned.name;
    this.process = new SimulatedProcess(planned.name);
  }

  start(): void {
    const { loop } = this.#world;
    this.process = new SimulatedProcess(`${this.name}#${this.#starts++}`);
    loop.after(
      0,
      () => {
        const run = new WorkerProcess(this.#world, this.#planned, this.#disk, () => this.kill());
        run.begin(this.process).catch((reason: unknown) => {
          loop.trace(`ended: ${String(reason)}`);
          this.kill();
        });
        this.#run = run;
      },
      this.process,
    );
  }

  #run: WorkerProcess | undefined;

  /** Kills the process; another one starts after a while. */
  kill(): void {
    const { loop } = this.#world;
    if (!this.process.isAlive) return;
    loop.trace(`${this.process.name} is killed`);
    loop.kill(this.process);
    this.#run?.letGoOfAll();
    const pauseMs = loop.random.integer(50, this.#world.areFaultsOver ? 500 : 8_000);
    loop.after(pauseMs, () => this.start(), loop.world);
  }
}

class WorkerProcess {
  readonly #world: World;
  readonly #planned: PlannedWorker;
  readonly #disk: Map<string, Report>;
  readonly #held = new Map<string, Held>();
  readonly #die: () => void;
  readonly #identity: { readonly name: string; readonly instanceId: string };
  #process = "";
  #executed = 0;
  /** Wakes the loop that claims. */
  #freed = () => {};

  constructor(world: World, planned: PlannedWorker, disk: Map<string, Report>, die: () => void) {
    this.#world = world;
    this.#planned = planned;
    this.#disk = disk;
    this.#die = die;
    this.#identity = { name: planned.name, instanceId: world.loop.random.uuid() };
  }

  async begin(process: SimulatedProcess): Promise<void> {
    this.#process = process.name;
    await this.#register();
    for (const report of this.#disk.values()) void this.#report(report);
    void this.#beat();
    void this.#listenToCancellations();
    await this.#claim();
  }

  letGoOfAll(): void {
    for (const { lease } of this.#held.values()) this.#letGo(lease);
  }

  async #register(): Promise<void> {
    const { loop, network } = this.#world;
    const described = {
      ...this.#identity,
      platform: { OSFamily: "linux" },
      sizeClass: this.#planned.sizeClass,
      slots: this.#planned.slots,
      cpus: null,
      memoryBytes: null,
      version: "0",
      facilities: {},
      transport: "pull" as const,
      host: "",
      leaseMs: null,
      images: [],
    };
    await untilAnswered(
      loop,
      () => network.call(this.#world.anyServer(), callMs, ({ queue }) => queue.register(described)),
      (reason) => !(reason instanceof Fault && reason.code === "already_exists"),
    );
  }

  async #claim(): Promise<void> {
    const { loop, network } = this.#world;
    const { claimMs } = this.#planned;
    for (;;) {
      const free = this.#planned.slots - this.#held.size;
      if (free <= 0) {
        await new Promise<void>((resolve) => (this.#freed = resolve));
        continue;
      }
      try {
        const leased = await network.call(
          this.#world.anyServer(),
          claimMs + 1_000,
          ({ queue }, signal) => queue.claim(this.#identity, free, claimMs, signal),
        );
        for (const each of leased) this.#take(each);
      } catch (reason) {
        if (reason instanceof Fault && reason.code === "not_found") await this.#register();
        await loop.sleep(200 + 400 * loop.random.next());
      }
    }
  }

  #take(leased: LeasedExecution): void {
    const { loop } = this.#world;
    const { lease, actionDigest } = leased;
    void this.#actionOf(leased).then((action) => {
      if (action === undefined)
        throw new RangeError(`nobody knows the action ${digestKey(actionDigest)}`);
      this.#world.observe({
        kind: "handed-out",
        execution: lease.executionId,
        attempt: lease.attempt,
        epoch: lease.epoch,
        process: this.#process,
        at: loop.nowMs,
        jobs: action.jobs,
      });
      void this.#execute(lease, action);
    });
  }

  /** Jobs of graphs name themselves in their commands. */
  async #actionOf({ actionDigest }: LeasedExecution): Promise<SimulatedAction | undefined> {
    const { store, actions } = this.#world;
    const known = actions.get(digestKey(actionDigest));
    if (known !== undefined) return known;
    const bytes = await store.get(actionDigest);
    if (bytes === undefined) return undefined;
    const digest = fromDigestMessage(fromBinary(ActionSchema, bytes).commandDigest, "a command");
    const command = fromBinary(CommandSchema, (await store.get(digest)) ?? new Uint8Array());
    const name = /simulated ([\w/-]+)/.exec(command.arguments.join(" "))?.[1] ?? "";
    return actions.get(name);
  }

  async #execute(lease: Lease, action: SimulatedAction): Promise<void> {
    const { loop, network } = this.#world;
    const { behaviour } = action;
    const key = leaseKey(lease);
    const token = `${this.#process}/${++this.#executed}`;
    const startedAt = new Date(loop.nowMs);
    const ended = new Promise<"done" | "cancelled" | "lost">((resolve) => {
      this.#held.set(key, { lease, action, end: resolve });
    });
    network
      .call(this.#world.anyServer(), callMs, ({ queue }) => queue.started(lease, startedAt))
      .then(
        (isHeld) => {
          if (!isHeld) this.#held.get(key)?.end("lost");
        },
        // The end of the execution will say the same.
        () => {},
      );
    if (behaviour.ending === "kills its worker") loop.after(behaviour.durationMs, this.#die);
    else if (behaviour.ending !== "endless")
      loop.after(behaviour.durationMs, () => this.#held.get(key)?.end("done"));
    const how = await ended;
    if (how === "lost") {
      this.#letGo(lease);
      this.#forget(key);
      return;
    }
    const report = { lease, startedAt, token, ...endOf(behaviour, how, this.#planned.sizeClass) };
    this.#world.observe({
      kind: "reported",
      execution: lease.executionId,
      epoch: lease.epoch,
      outcome: report.outcome,
      token,
      jobs: action.jobs,
    });
    this.#disk.set(key, report);
    this.#letGo(lease);
    await this.#report(report);
    this.#forget(key);
  }

  #letGo({ executionId, epoch }: Lease): void {
    this.#world.observe({ kind: "let-go", execution: executionId, epoch });
  }

  #forget(key: string): void {
    this.#held.delete(key);
    this.#freed();
  }

  async #report(report: Report): Promise<void> {
    const { loop, network } = this.#world;
    const { lease, token, outcome, exitCode, startedAt } = report;
    const result = toBinary(
      ActionResultSchema,
      create(ActionResultSchema, { exitCode, stdoutRaw: Buffer.from(token) }),
    );
    const verdict = await untilAnswered(loop, () =>
      network.call(this.#world.anyServer(), callMs, ({ queue }) =>
        queue.finish({ lease, by: this.#identity, outcome, exitCode, startedAt, result }),
      ),
    );
    this.#disk.delete(leaseKey(lease));
    this.#world.observe({
      kind: "verdict",
      execution: lease.executionId,
      epoch: lease.epoch,
      outcome,
      token,
      verdict,
    });
  }

  async #beat(): Promise<void> {
    const { loop, network } = this.#world;
    for (;;) {
      await loop.sleep(this.#planned.heartbeatMs);
      const leases = [...this.#held.values()].map(({ lease }) => lease);
      const sentAt = loop.nowMs;
      try {
        const answer = await network.call(this.#world.anyServer(), callMs, ({ queue }) =>
          queue.heartbeat({ worker: this.#identity, leases, draining: false }),
        );
        const lost = new Set(answer.lost.map(leaseKey));
        for (const lease of leases)
          if (!lost.has(leaseKey(lease)))
            this.#world.observe({
              kind: "kept",
              execution: lease.executionId,
              epoch: lease.epoch,
              sentAt,
            });
        for (const lease of answer.lost) this.#held.get(leaseKey(lease))?.end("lost");
        this.#cancel(answer.cancelled);
        if (answer.isUnknown) await this.#register();
      } catch {
        // The next heartbeat says the same.
      }
    }
  }

  async #listenToCancellations(): Promise<void> {
    const { loop, network } = this.#world;
    let confirmed: readonly Lease[] = [];
    for (;;) {
      try {
        const named = confirmed;
        const cancelled = await network.call(
          this.#world.anyServer(),
          cancellationsMs + 1_000,
          ({ queue }, signal) =>
            queue.cancellations(this.#identity, named, cancellationsMs, signal),
        );
        confirmed = this.#planned.isDeaf ? [] : cancelled;
        this.#cancel(cancelled);
        // Without a confirmation the same ones would come again at once.
        if (this.#planned.isDeaf) await loop.sleep(2_000);
      } catch {
        await loop.sleep(500);
      }
    }
  }

  #cancel(leases: readonly Lease[]): void {
    if (this.#planned.isDeaf) return;
    for (const lease of leases) this.#held.get(leaseKey(lease))?.end("cancelled");
  }
}

function endOf(
  { ending }: SimulatedAction["behaviour"],
  how: "done" | "cancelled",
  sizeClass: number,
): Pick<Report, "outcome" | "exitCode"> {
  if (how === "cancelled") return { outcome: "cancelled", exitCode: 0 };
  switch (ending) {
    case "succeeds":
    case "endless":
    case "kills its worker":
      return { outcome: "succeeded", exitCode: 0 };
    case "fails":
      return { outcome: "failed", exitCode: 1 };
    case "fails on a small worker":
      return sizeClass > 1
        ? { outcome: "succeeded", exitCode: 0 }
        : { outcome: "failed", exitCode: 1 };
    case "machine fails":
      return { outcome: "infrastructure_error", exitCode: 0 };
  }
}
