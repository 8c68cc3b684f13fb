import { anyone } from "#access/principal.ts";
import type { LimitName } from "#api/request-limits.ts";
import type { GrpcCallers } from "#caches/rev2/caller.ts";
import type { CallContext } from "#grpc/call-context.ts";
import type { Method } from "#grpc/method.ts";
import type { RequestLimits } from "../request-limits/request-limits.ts";
import { requesterAddress } from "../request-limits/requester-address.ts";

/** The limits of gRPC methods, besides that of all calls. */
export const methodLimits: Readonly<Record<string, LimitName>> = {
  "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs": "uploads",
  "/google.bytestream.ByteStream/Write": "uploads",
};

/** Refuses the calls of a caller that has too many in progress. */
export function limitedMethods(
  methods: readonly Method[],
  callers: Pick<GrpcCallers, "of">,
  limits: RequestLimits,
): Method[] {
  return methods.map((method) => {
    const names: readonly LimitName[] = ["calls", ...listOf(methodLimits[method.path])];
    return {
      ...method,
      async serve(call) {
        const { name } = await callers.of(call.context);
        const requester = { principal: name, address: addressOf(call.context) };
        const ends: (() => void)[] = [];
        try {
          for (const limit of names) ends.push(limits.begin(limit, requester));
          return await method.serve(call);
        } finally {
          for (const end of ends) end();
        }
      },
    };
  });
}

/**
 * Serves methods that need no right also while the database does not answer: a call without a token or certificate is
 * not looked up, and counts by its address. An invalid token is refused as everywhere.
 */
export function methodsWithoutDatabase(
  methods: readonly Method[],
  callers: Pick<GrpcCallers, "of">,
  limits: RequestLimits,
): Method[] {
  return methods.map((method) => ({
    ...method,
    async serve(call) {
      const { context } = call;
      const isNamed =
        context.metadata["authorization"] !== undefined || context.certificateOf !== undefined;
      const name = isNamed ? (await callers.of(context)).name : anyone;
      const end = limits.begin("calls", { principal: name, address: addressOf(context) });
      try {
        await method.serve(call);
      } finally {
        end();
      }
    },
  }));
}

function listOf(name: LimitName | undefined): readonly LimitName[] {
  return name === undefined ? [] : [name];
}

/** Returns the address by which a caller is counted. A peer is `address:port`. */
export function addressOf({ peer, metadata }: CallContext): string {
  const forwarded = metadata["x-forwarded-for"];
  return requesterAddress(
    peer.replace(/:\d+$/, ""),
    typeof forwarded === "string" ? forwarded : undefined,
  );
}
