import { callNames, type readWorkerConfig } from "#worker/config.ts";
import type { AmountOrAll, WorkOptions } from "./work-here.ts";

type GivenSettings = NonNullable<Parameters<typeof readWorkerConfig>[0]>;

/**
 * Returns the settings that the options of `grange worker` give, for a worker on any machine. A setting without an option
 * is absent, and comes from the environment of the worker.
 */
export function givenSettings(options: WorkOptions): GivenSettings {
  const { cpus, memory, disk, allowCalls } = options;
  return withoutUndefined({
    slots: options.slots,
    sizeClass: options.sizeClass,
    cpus: cpus === undefined ? undefined : amountGiven(cpus),
    memoryBytes: memory === undefined ? undefined : amountGiven(memory),
    diskBytes: disk === undefined ? undefined : amountGiven(disk),
    allowRootJobs: options.allowRootJobs,
    allowedCalls: allowCalls === undefined ? undefined : callNames(allowCalls),
    allowsNamespaces: options.namespaces === false ? false : undefined,
    privateNetwork: options.privateNetwork,
    shownPaths: options.show && [...options.show],
    hiddenPaths: options.hide && [...options.hide],
    registries: options.registries,
    preload: options.preload && [...options.preload],
    onlyFor: options.onlyFor && [...options.onlyFor],
    leaseMs: options.lease,
    persistentWorkers: options.persistentWorkers,
    once: options.once,
  } satisfies { [Name in keyof GivenSettings]: GivenSettings[Name] | undefined });
}

function withoutUndefined<Settings extends object>(
  settings: Settings,
): { [Name in keyof Settings]?: Exclude<Settings[Name], undefined> } {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as {
    [Name in keyof Settings]?: Exclude<Settings[Name], undefined>;
  };
}

/** Returns the value for a setting: null means the whole machine. */
function amountGiven(amount: AmountOrAll): number | null {
  return amount === "all" ? null : amount;
}
