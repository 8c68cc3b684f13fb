import type { ScaledClass } from "#api/autoscaling.ts";
import type { Platform } from "#core/platform.ts";

/** A Deployment whose pods are workers of one size class. */
export interface WorkerDeployment {
  readonly name: string;
  /** What its workers offer, at least. */
  readonly platform: Platform;
  readonly sizeClass: number;
  /** The number of pods that it should have now. */
  readonly replicas: number;
  /** The pods that it has. A pod's name is that of its worker. */
  readonly pods: readonly { readonly name: string; readonly isSurplus: boolean }[];
}

/** A change of one Deployment. */
interface ReplicaChange {
  readonly deployment: string;
  readonly replicas: { readonly from: number; readonly to: number };
  /** The pods that should be stopped first, and those that should not be any more. */
  readonly surplus: readonly string[];
  readonly noSurplus: readonly string[];
  /** The farm's reason, in a sentence. */
  readonly reason: string;
}

export interface ReplicaPlan {
  readonly changes: readonly ReplicaChange[];
  /** Deployments that are left as they are, with the reason. */
  readonly remarks: readonly string[];
}

/**
 * Returns how many pods each Deployment should have.
 *
 * A Deployment without a size class of the farm, or with several, stays as it is: a farm that knows nothing must not
 * stop workers.
 */
export function planReplicas(
  deployments: readonly WorkerDeployment[],
  classes: readonly ScaledClass[],
): ReplicaPlan {
  const changes: ReplicaChange[] = [];
  const remarks: string[] = [];
  for (const deployment of deployments) {
    const found = classesOf(deployment, classes);
    const [scaled, ...others] = found;
    if (scaled === undefined) {
      remarks.push(
        `${deployment.name}: the farm has no size class ${deployment.sizeClass} of this platform; declare it with \`grange size-class declare\``,
      );
    } else if (others.length > 0) {
      remarks.push(
        `${deployment.name}: ${found.length} size classes of the farm match; give more properties of the platform`,
      );
    } else if (isShared(deployment, deployments, scaled)) {
      remarks.push(`${deployment.name}: another Deployment has the same size class and platform`);
    } else {
      const change = changeOf(deployment, scaled);
      if (change !== undefined) changes.push(change);
    }
  }
  return { changes, remarks };
}

/** Returns the declared class with exactly this platform; otherwise all whose workers offer at least the platform. */
function classesOf(
  { platform, sizeClass }: WorkerDeployment,
  classes: readonly ScaledClass[],
): ScaledClass[] {
  const offers = (scaled: ScaledClass) =>
    scaled.sizeClass === sizeClass &&
    Object.entries(platform).every(([name, value]) => scaled.platform[name] === value);
  const exact = classes.find(
    (scaled) =>
      offers(scaled) && Object.keys(scaled.platform).length === Object.keys(platform).length,
  );
  return exact === undefined ? classes.filter(offers) : [exact];
}

function isShared(
  deployment: WorkerDeployment,
  all: readonly WorkerDeployment[],
  scaled: ScaledClass,
): boolean {
  return all.some((other) => other !== deployment && classesOf(other, [scaled]).length > 0);
}

function changeOf(
  { name, replicas, pods }: WorkerDeployment,
  { desired, drain, reason }: ScaledClass,
): ReplicaChange | undefined {
  const surplus = pods.filter((pod) => !pod.isSurplus && drain.includes(pod.name));
  const noSurplus = pods.filter((pod) => pod.isSurplus && !drain.includes(pod.name));
  if (replicas === desired && surplus.length === 0 && noSurplus.length === 0) return undefined;
  return {
    deployment: name,
    replicas: { from: replicas, to: desired },
    surplus: surplus.map((pod) => pod.name),
    noSurplus: noSurplus.map((pod) => pod.name),
    reason,
  };
}
