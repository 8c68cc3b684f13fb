import type { CallerRegistry } from "#access/caller-registry.ts";
import type { Principal } from "#access/principal.ts";
import type { CallContext } from "#grpc/call-context.ts";
import type { Method } from "#grpc/method.ts";

/** Who calls over gRPC. */
export interface GrpcCallers {
  /** The principal behind a call; throws `unauthenticated` for a token that is not good. */
  of(context: CallContext): Promise<Principal>;
  /** The methods, each refused to who sends a token that is not good: also those that anyone may call. */
  guard(methods: readonly Method[]): Method[];
}

export function grpcCallers(registry: Pick<CallerRegistry, "identify">): GrpcCallers {
  const known = new WeakMap<CallContext, Promise<Principal>>();
  const of = (context: CallContext): Promise<Principal> => {
    const found = known.get(context);
    if (found !== undefined) return found;
    const { authorization } = context.metadata;
    const identified = registry.identify(
      typeof authorization === "string" ? authorization : undefined,
      context.certificateOf,
    );
    known.set(context, identified);
    return identified;
  };
  return {
    of,
    guard: (methods) =>
      methods.map((method) => ({
        path: method.path,
        async serve(call) {
          await of(call.context);
          return method.serve(call);
        },
      })),
  };
}
