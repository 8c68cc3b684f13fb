import { Fault } from "#core/fault.ts";

/** The default name of a target, when a suite defines no other. */
const thisTarget = `${process.platform}-${process.arch}`;

/**
 * Throws when the machine differs from the registered target of its collector: its figures would be compared with those
 * of another machine.
 */
export function refuseTarget(
  { name, anyTarget }: { readonly name: string; readonly anyTarget: boolean },
  { target }: { readonly target: string },
  machine = thisTarget,
): void {
  if (anyTarget || target === machine) return;
  throw new Fault(
    "failed_precondition",
    `collector ${name} is registered for ${target}, and this machine is ${machine}: register another collector for this target, or use --any-target if ${target} is the name of this machine in your suites`,
  );
}
