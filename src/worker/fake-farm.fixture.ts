import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "#cas/blob-store.ts";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { digestFunctionValues, toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import type { TreeEntry } from "#cas/tree-entry.ts";
import type { Digest, DigestFunction } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  ActionSchema,
  type Command,
  CommandSchema,
  NodePropertiesSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import {
  type AppendLogRequest,
  AppendLogResponseSchema,
  CancellationsResponseSchema,
  ClaimResponseSchema,
  type Finished,
  FinishResponse_Verdict,
  FinishResponseSchema,
  HeartbeatResponseSchema,
  LeaseSchema,
  LookAheadResponseSchema,
  type RegisterRequest,
  RegisterResponseSchema,
  type ReleaseRequest,
  type StartedRequest,
  StartedResponseSchema,
  type Work,
  WorkSchema,
} from "#proto/grange/worker/v1/worker_pb.ts";
import type { FarmConnection } from "./farm-connection.ts";
import { leaseKey } from "./spool.ts";

/** An action that a test wants to run. */
export interface FakeJob {
  readonly script?: string;
  readonly command?: Partial<
    Pick<
      Command,
      | "arguments"
      | "workingDirectory"
      | "outputPaths"
      | "outputFiles"
      | "outputDirectories"
      | "outputDirectoryFormat"
    >
  >;
  readonly environment?: Readonly<Record<string, string>>;
  readonly inputs?: readonly (
    | TreeEntry
    | {
        readonly path: string;
        readonly text: string;
        readonly executable?: boolean;
        /** Marked as Bazel marks the inputs that are parts of a tool. */
        readonly isTool?: boolean;
      }
  )[];
  readonly platform?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly digestFunction?: DigestFunction;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly project?: string;
  readonly domain?: string;
}

/** A farm inside the test, which follows worker.proto and can be made to fail. */
export class FakeFarm implements FarmConnection {
  readonly store: BlobStore = memoryBlobStore();
  readonly finished = new Map<string, Finished>();
  readonly started = async ({ lease }: StartedRequest) => {
    this.startedIds.add(lease?.executionId ?? "");
    this.#tell();
    return create(StartedResponseSchema, { accepted: true });
  };
  /** The answer to the next `lookAhead` call: input roots. */
  upcoming: readonly Digest[] = [];
  looksAhead = 0;
  readonly lookAhead = async () => {
    this.looksAhead++;
    const ahead = this.upcoming.map((root) => ({ inputRoot: toDigestMessage(root), project: "p" }));
    return create(LookAheadResponseSchema, { ahead });
  };
  readonly startedIds = new Set<string>();
  readonly released = new Set<string>();
  /** Cancelled executions that the worker has confirmed. */
  readonly confirmedIds = new Set<string>();
  readonly logs = new Map<string, Buffer>();
  registered: RegisterRequest | undefined;
  heartbeatMs = 20;
  /** While true, every call fails as if the network were down. */
  away = false;
  claims = 0;
  finishCalls = 0;
  readonly #queue: Work[] = [];
  readonly #leased = new Set<string>();
  readonly #handedOut = new Map<string, Work>();
  readonly #lost = new Set<string>();
  readonly #cancelled = new Set<string>();
  #listeners: (() => void)[] = [];
  #ids = 0;

  blobs(): BlobStore {
    return this.store;
  }

  async submit(job: FakeJob): Promise<string> {
    const executionId = `e${++this.#ids}`;
    this.enqueue(await this.workOf(job, executionId));
    return executionId;
  }

  enqueue(work: Work): void {
    this.#queue.push(work);
    this.#tell();
  }

  async workOf(job: FakeJob, executionId: string): Promise<Work> {
    const command = create(CommandSchema, {
      arguments: ["/bin/sh", "-c", job.script ?? "true"],
      ...job.command,
      environmentVariables: Object.entries(job.environment ?? {}).map(([name, value]) => ({
        name,
        value,
      })),
    });
    const by = job.digestFunction ?? "sha256";
    const properties = Object.entries(job.platform ?? {}).map(([name, value]) => ({ name, value }));
    const entries = await Promise.all(
      (job.inputs ?? []).map(async (input): Promise<TreeEntry> => {
        if (!("text" in input)) return input;
        const bytes = Buffer.from(input.text);
        await this.store.put(digestOf(bytes, by), bytes);
        return {
          kind: "file",
          path: input.path,
          digest: digestOf(bytes, by),
          executable: input.executable ?? false,
          ...(input.isTool === true
            ? {
                properties: create(NodePropertiesSchema, {
                  properties: [{ name: "bazel_tool_input", value: "" }],
                }),
              }
            : {}),
        };
      }),
    );
    const root = await uploadDirectories(this.store, buildDirectoryTree(entries, by));
    const commandBytes = toBinary(CommandSchema, command);
    const action = create(ActionSchema, {
      commandDigest: toDigestMessage(digestOf(commandBytes, by)),
      inputRootDigest: toDigestMessage(root),
      platform: { properties },
    });
    return create(WorkSchema, {
      lease: create(LeaseSchema, { executionId, attempt: 1, epoch: 1n }),
      action: toBinary(ActionSchema, action),
      command: commandBytes,
      timeout: durationFromMs(job.timeoutMs ?? 60_000),
      project: job.project ?? "main",
      domain: job.domain ?? "protected",
      digestFunction: digestFunctionValues[by],
      secrets: Object.entries(job.secrets ?? {}).map(([name, value]) => ({
        name,
        value: Buffer.from(value),
      })),
    });
  }

  hasHandedOut(executionId: string): boolean {
    return this.#handedOut.has(executionId);
  }

  lose(executionId: string): void {
    this.#lost.add(executionId);
  }

  cancel(executionId: string): void {
    this.#cancelled.add(executionId);
    this.#tell();
  }

  /** Resolves with the value of the condition, when the condition returns one. */
  async until<T>(condition: () => T | undefined | false): Promise<T> {
    for (;;) {
      const value = condition();
      if (value !== undefined && value !== false) return value;
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
  }

  end(executionId: string): Promise<Finished> {
    return this.until(() => this.finished.get(executionId));
  }

  async run(job: FakeJob): Promise<Finished> {
    return this.end(await this.submit(job));
  }

  logOf(executionId: string): string {
    return this.logs.get(executionId)?.toString() ?? "";
  }

  register = async (request: RegisterRequest) => {
    this.#reach();
    this.registered = request;
    return create(RegisterResponseSchema, {
      heartbeatInterval: durationFromMs(this.heartbeatMs),
      leaseDuration: durationFromMs(this.heartbeatMs * 10),
    });
  };

  claim = async (request: { most: number }, signal: AbortSignal) => {
    this.#reach();
    this.claims++;
    this.#tell();
    const stop = () => this.#tell();
    signal.addEventListener("abort", stop, { once: true });
    await this.until(() => this.#queue.length > 0 || signal.aborted || this.away);
    signal.removeEventListener("abort", stop);
    if (signal.aborted) throw new Fault("cancelled", "the claim was given up");
    this.#reach();
    const leases = this.#queue.splice(0, request.most);
    for (const work of leases) {
      this.#leased.add(leaseKey(work.lease));
      this.#handedOut.set(work.lease?.executionId ?? "", work);
    }
    this.#tell();
    return create(ClaimResponseSchema, { leases });
  };

  heartbeat = async ({ leases }: { leases: Finished["lease"][] }) => {
    this.#reach();
    this.#tell();
    const known = leases.filter((lease) => lease !== undefined);
    return create(HeartbeatResponseSchema, {
      lost: known.filter(({ executionId }) => this.#lost.has(executionId)),
      cancelled: known.filter(({ executionId }) => this.#cancelled.has(executionId)),
    });
  };

  cancellations = async (
    { confirmed }: { confirmed: readonly Finished["lease"][] },
    signal: AbortSignal,
  ) => {
    this.#reach();
    for (const lease of confirmed) this.confirmedIds.add(lease?.executionId ?? "");
    this.#tell();
    const next = () =>
      [...this.#cancelled].flatMap((id) =>
        this.confirmedIds.has(id) ? [] : (this.#handedOut.get(id)?.lease ?? []),
      );
    const stop = () => this.#tell();
    signal.addEventListener("abort", stop, { once: true });
    await this.until(() => next().length > 0 || signal.aborted || this.away);
    signal.removeEventListener("abort", stop);
    if (signal.aborted) throw new Fault("cancelled", "the wait was given up");
    this.#reach();
    return create(CancellationsResponseSchema, { leases: next() });
  };

  release = async ({ leases }: ReleaseRequest) => {
    this.#reach();
    for (const { executionId } of leases) {
      this.released.add(executionId);
      const work = this.#handedOut.get(executionId);
      if (work) this.#queue.push(work);
    }
    this.#tell();
  };

  finish = async ({ finished }: { finished: Finished[] }) => {
    this.#reach();
    this.finishCalls++;
    const verdicts = finished.map((one) => {
      const id = one.lease?.executionId ?? "";
      if (this.#lost.has(id) || !this.#leased.delete(leaseKey(one.lease))) {
        return FinishResponse_Verdict.REFUSED;
      }
      this.finished.set(id, one);
      return FinishResponse_Verdict.PUBLISHED;
    });
    this.#tell();
    return create(FinishResponseSchema, { verdicts });
  };

  appendLog = async (request: AppendLogRequest) => {
    this.#reach();
    const id = request.lease?.executionId ?? "";
    const log = this.logs.get(id) ?? Buffer.alloc(0);
    const offset = Number(request.offset);
    if (offset > log.length) {
      return create(AppendLogResponseSchema, { accepted: false, nextOffset: BigInt(log.length) });
    }
    const whole = Buffer.concat([log, request.data.subarray(log.length - offset)]);
    this.logs.set(id, whole);
    this.#tell();
    return create(AppendLogResponseSchema, { accepted: true, nextOffset: BigInt(whole.length) });
  };

  close = async () => {};

  #reach(): void {
    if (this.away) throw new Fault("unavailable", "the network is gone");
  }

  #tell(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }

  /** For tests that change in other ways the data that `until` checks. */
  changed(): void {
    this.#tell();
  }
}
