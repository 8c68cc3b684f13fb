import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage, functionValueOf, toDigestMessage } from "#cas/digest-message.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { ExecutionQueue } from "#execution/execution-queue.ts";
import type { LeasedExecution } from "#execution/leasing/lease.ts";
import type { RegistryLogin } from "#images/registry-login.ts";
import { ActionSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { WorkSchema } from "#proto/grange/worker/v1/worker_pb.ts";
import type { JobTokens } from "../job-tokens.ts";
import { type LoginOfProject, loginsOfLease } from "./logins-of-lease.ts";
import { type OpenSecrets, secretsOfLease } from "./secrets-of-lease.ts";
import { leaseMessage } from "./workers-service-messages.ts";

/** Less than the limit of gRPC clients for one message. A worker that gets fewer leases claims again at once. */
const mostBytesPerAnswer = 3 * 1024 * 1024;

type Work = MessageInitShape<typeof WorkSchema>;

export interface SecretsForWorkers {
  readonly open: OpenSecrets;
  /** Whether secrets may be sent without TLS. */
  readonly inClear: boolean;
  readonly loginOf: LoginOfProject;
}

/**
 * Adds Action and Command to leased executions.
 *
 * An execution whose Action or Command is missing is finished here, because no worker could run it. An execution that
 * does not fit into the answer is released, as if it had not been leased.
 */
export async function prepareWork(
  leased: readonly LeasedExecution[],
  parts: {
    readonly queue: ExecutionQueue;
    readonly blobsOf: (project: string) => BlobStore;
    readonly secrets?: SecretsForWorkers | undefined;
    readonly tokens?: Pick<JobTokens, "tokenFor"> | undefined;
  },
  isPrivate: boolean,
): Promise<Work[]> {
  const { queue, blobsOf, secrets, tokens } = parts;
  const way = {
    isPrivate: isPrivate || secrets?.inClear === true,
    open: secrets?.open,
    loginOf: secrets?.loginOf,
  };
  const read = await Promise.all(
    leased.map(async (each) => ({
      each,
      found: await actionAndCommand(each, blobsOf(each.project), way),
    })),
  );
  const work: Work[] = [];
  let bytesLeft = mostBytesPerAnswer;
  for (const { each, found } of read) {
    if (found.kind === "missing") {
      await queue.finish({
        lease: each.lease,
        outcome: "failed",
        missingInputs: found.missing,
        message: "its action or command is not in the store",
      });
    } else if (found.kind === "not-here") {
      const { message } = found;
      await queue.finish({ lease: each.lease, outcome: "infrastructure_error", message });
    } else if (found.kind === "unreadable") {
      await queue.finish({ lease: each.lease, outcome: "failed", message: found.message });
    } else {
      const { action, command } = found;
      const given = [...found.secrets, ...(tokens?.tokenFor(action, each.lease) ?? [])];
      const secretBytes =
        given.reduce((sum, { value }) => sum + value.byteLength + 80, 0) +
        found.logins.reduce(
          (sum, { user, password }) => sum + user.length + password.length + 400,
          0,
        );
      const size = action.byteLength + command.byteLength + secretBytes + 256;
      if (work.length > 0 && size > bytesLeft) await queue.release([each.lease]);
      else {
        bytesLeft -= size;
        work.push({
          lease: leaseMessage(each.lease),
          actionDigest: toDigestMessage(each.actionDigest),
          digestFunction: functionValueOf(each.actionDigest),
          action: found.action,
          command: found.command,
          timeout: durationFromMs(each.timeoutMs),
          project: each.project,
          domain: each.domain,
          secrets: given,
          registryLogins: found.logins,
        });
      }
    }
  }
  return work;
}

type ReadAction =
  | {
      readonly kind: "read";
      readonly action: Uint8Array;
      readonly command: Uint8Array;
      readonly secrets: Awaited<ReturnType<typeof secretsOfLease>>;
      readonly logins: RegistryLogin[];
    }
  | { readonly kind: "missing"; readonly missing: readonly Digest[] }
  /** Another worker might run it. */
  | { readonly kind: "not-here"; readonly message: string }
  | { readonly kind: "unreadable"; readonly message: string };

async function actionAndCommand(
  { actionDigest, project, domain }: LeasedExecution,
  blobs: BlobStore,
  way: Parameters<typeof secretsOfLease>[2] & Parameters<typeof loginsOfLease>[2],
): Promise<ReadAction> {
  const action = await blobs.get(actionDigest);
  if (action === undefined) return { kind: "missing", missing: [actionDigest] };
  let commandDigest: Digest;
  try {
    const { commandDigest: message } = fromBinary(ActionSchema, action);
    commandDigest = fromDigestMessage(message, "its command", functionOf(actionDigest));
  } catch (reason) {
    return { kind: "unreadable", message: `its action cannot be read: ${messageOf(reason)}` };
  }
  const command = await blobs.get(commandDigest);
  if (command === undefined) return { kind: "missing", missing: [commandDigest] };
  try {
    const secrets = await secretsOfLease(action, domain, way);
    const logins = await loginsOfLease({ action, command }, { project, domain }, way);
    return { kind: "read", action, command, secrets, logins };
  } catch (reason) {
    const isOfTheRun = reason instanceof Fault && reason.code === "failed_precondition";
    return { kind: isOfTheRun ? "unreadable" : "not-here", message: messageOf(reason) };
  }
}
