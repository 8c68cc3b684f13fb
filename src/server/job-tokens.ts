import { fromBinary } from "@bufbuild/protobuf";
import type { FarmKey } from "#access/farm-key.ts";
import { newJobToken } from "#access/job-tokens/job-token.ts";
import { type LeasedRun, runOfToken } from "#access/job-tokens/run-of-token.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { coalescer } from "#core/coalescer.ts";
import { type JobRights, jobTokenName, rightsIn } from "#core/job-rights.ts";
import { tokenProperty } from "#core/platform.ts";
import { recentlyUsed } from "#core/recently-used.ts";
import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { type HeldLease, heldLeases } from "#execution/leasing/held-lease.store.ts";
import type { Lease } from "#execution/leasing/lease.ts";
import { ActionSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** The tokens of runs: given with a lease, valid while the lease is held. */
export interface JobTokens extends Service {
  /** Returns the token of a lease; none for an action that requests no rights. */
  tokenFor(action: Uint8Array, lease: Lease): readonly { name: string; value: Uint8Array }[];
  /** See `runOfToken`. */
  runOf(authorization: string | undefined): Promise<LeasedRun | undefined>;
}

/** As many as run at once on a large farm; each takes some hundred bytes. */
const mostRuns = 4_096;

export function openJobTokens(parts: {
  readonly db: Db;
  readonly farmKey: FarmKey;
  readonly blobsOf: (project: string) => Pick<BlobStore, "get">;
}): JobTokens {
  const { db, farmKey, blobsOf } = parts;
  /** The rights of an action never change; whether its lease is held is read each time. */
  const known = recentlyUsed<Promise<JobRights | undefined>>(mostRuns);

  const finding = coalescer<string, HeldLease | undefined>(async (ids) => {
    const found = new Map((await heldLeases(db, ids)).map((each) => [each.executionId, each]));
    return ids.map((id) => found.get(id as HeldLease["executionId"]));
  });

  const rightsOf = (held: HeldLease): Promise<JobRights | undefined> =>
    known.get(held.executionId, () => {
      const store = blobsOf(held.project);
      return store.get(held.actionDigest).then((action) => action && rightsOfAction(action));
    });

  return {
    tokenFor(action, lease) {
      if (rightsOfAction(action) === undefined) return [];
      return [{ name: jobTokenName, value: Buffer.from(newJobToken(farmKey, lease)) }];
    },
    runOf: (authorization) =>
      runOfToken(
        {
          key: farmKey,
          async find(executionId) {
            const held = await finding.add(executionId);
            const rights = held && (await rightsOf(held));
            return held && rights && { ...held, rights };
          },
        },
        authorization,
      ),
    stop: () => finding.idle(),
  };
}

/** Only the farm writes this property: definitions and requests that contain it are refused. */
function rightsOfAction(action: Uint8Array): JobRights | undefined {
  const { platform } = fromBinary(ActionSchema, action);
  const values = platform?.properties.filter(({ name }) => name === tokenProperty) ?? [];
  return values.length === 1 ? rightsIn(values[0]?.value ?? "") : undefined;
}
