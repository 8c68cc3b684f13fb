import type { CallerRegistry } from "#access/caller-registry.ts";
import type { Principal } from "#access/principal.ts";
import { requireRight } from "#access/require-right.ts";
import { Fault } from "#core/fault.ts";
import type { Right } from "#core/right.ts";
import type { CallContext } from "#grpc/call-context.ts";
import type { Method } from "#grpc/method.ts";

/** Identifies callers over gRPC. */
export interface GrpcCallers {
  /** Returns the principal of a call; throws `unauthenticated` for an invalid token. */
  of(context: CallContext): Promise<Principal>;
  /** Returns the principal with its present rights, for calls that take a while. */
  presentOf(context: CallContext): Promise<Principal>;
  /**
   * Guards the methods: a caller with an invalid token or without the method's right is refused before its handler
   * runs. `rights` has an entry for each path; throws for a method without one.
   */
  guard(methods: readonly Method[], rights: Readonly<Record<string, Right>>): Method[];
}

/** `addressOf` returns the address by which a caller is counted when its token is wrong. */
export function grpcCallers(
  registry: Pick<CallerRegistry, "identify">,
  addressOf?: (context: CallContext) => string,
): GrpcCallers {
  const known = new WeakMap<CallContext, Promise<Principal>>();
  const presentOf = (context: CallContext): Promise<Principal> => {
    const { authorization } = context.metadata;
    return registry.identify(
      typeof authorization === "string" ? authorization : undefined,
      context.certificateOf,
      addressOf?.(context),
    );
  };
  const of = (context: CallContext): Promise<Principal> => {
    const found = known.get(context);
    if (found !== undefined) return found;
    const identified = presentOf(context);
    known.set(context, identified);
    return identified;
  };
  return {
    of,
    presentOf,
    guard: (methods, rights) =>
      methods.map((method) => {
        const { path } = method;
        const right = rights[path];
        if (right === undefined) throw new Fault("internal", `no right is stated for ${path}`);
        return {
          ...method,
          async serve(call) {
            requireRight(await of(call.context), right);
            return method.serve(call);
          },
        };
      }),
  };
}
