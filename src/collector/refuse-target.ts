import { Fault } from "#core/fault.ts";

/** The usual name of a target, where a suite defines no other. */
const thisTarget = `${process.platform}-${process.arch}`;

/** Throws for a machine that is not what its collector is registered for: its figures would be another machine's. */
export function refuseTarget(
  { name, anyTarget }: { readonly name: string; readonly anyTarget: boolean },
  { target }: { readonly target: string },
  machine = thisTarget,
): void {
  if (anyTarget || target === machine) return;
  throw new Fault(
    "failed_precondition",
    `collector ${name} is registered for ${target}, and this machine is ${machine}: register another one for it, or start it with --any-target where ${target} is what your suites call this machine`,
  );
}
