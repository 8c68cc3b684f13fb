import { randomUUID } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { LeasedExecution } from "#execution/leasing/lease.ts";
import {
  ActionResultSchema,
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { farmOfKinds } from "../kinds/farm-of-kinds.fixture.ts";

type Farm = Awaited<ReturnType<typeof farmOfKinds>>;

/** The pool that the tests' chunked jobs require, so that no other worker counts. */
export const pool = "chunks";

/** A batch that was assigned to a simulated worker. */
export interface HeldBatch {
  readonly items: readonly string[];
  finish(answer?: {
    readonly fails?: boolean;
    readonly outputs?: Readonly<Record<string, string>>;
    readonly log?: string;
  }): Promise<void>;
}

/** A simulated machine with one slot, which registers, claims batches, and may disappear without notice. */
export class PretendedWorker {
  readonly name: string;
  readonly #farm: Farm;
  #instanceId = randomUUID() as string;

  constructor(farm: Farm, name: string) {
    this.#farm = farm;
    this.name = name;
  }

  /** Registers the worker, possibly again; then its earlier leases are lost. */
  async come(): Promise<void> {
    this.#instanceId = randomUUID();
    await this.#farm.queue.register({
      name: this.name,
      instanceId: this.#instanceId,
      platform: { pool },
      sizeClass: 1,
      slots: 1,
      cpus: null,
      memoryBytes: null,
      version: "0",
      facilities: {},
      transport: "pull",
      host: "",
      leaseMs: null,
      images: [],
    });
  }

  /** Takes a batch, if there is one. */
  async take(): Promise<HeldBatch | undefined> {
    const me = { name: this.name, instanceId: this.#instanceId };
    const [leased] = await this.#farm.queue.claim(me, 1, 0, new AbortController().signal);
    if (leased === undefined) return undefined;
    await this.#farm.queue.started(leased.lease, new Date());
    return this.#held(leased);
  }

  async #held({ lease, actionDigest }: LeasedExecution): Promise<HeldBatch> {
    const { store, queue } = this.#farm;
    const action = fromBinary(ActionSchema, (await store.get(actionDigest)) ?? new Uint8Array());
    const bytes = await store.get(fromDigestMessage(action.commandDigest, "the command"));
    const command = fromBinary(CommandSchema, bytes ?? new Uint8Array());
    const lines = command.environmentVariables.find(({ name }) => name === "GRANGE_ITEMS");
    return {
      items: lines?.value.split("\n") ?? [],
      async finish({ fails = false, outputs = {}, log = "" } = {}) {
        const outputFiles = await Promise.all(
          Object.entries(outputs).map(async ([path, text]) => {
            const content = Buffer.from(text);
            const digest = digestOf(content);
            await store.put(digest, content);
            return { path, digest: toDigestMessage(digest) };
          }),
        );
        const exitCode = fails ? 1 : 0;
        await queue.finish({
          lease,
          outcome: fails ? "failed" : "succeeded",
          exitCode,
          result: toBinary(
            ActionResultSchema,
            create(ActionResultSchema, { exitCode, outputFiles, stdoutRaw: Buffer.from(log) }),
          ),
        });
      },
    };
  }
}
